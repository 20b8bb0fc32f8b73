"""What a heading says of the text under it: generic or telling, a judgement, an alternative. Pure."""

import re

from actors.evidence.passages import Passage

LONGEST = 300
"""Of a heading so much is looked at; a longer one is none, but text that a page dresses up as one."""
QUADRANTS = ("strengths", "weaknesses", "opportunities", "threats")

_RATES = {
    "strengths": r"(?:key |main |major )?(?:benefits?|advantages?|strengths?|pros)\b"
    r"(?! and (?:cons|disadv|drawb|limit|weak))",
    "weaknesses": r"(?:known |current |main )?(?:limitations?|caveats?|drawbacks?|disadvantages?|weakness(?:es)?|cons|"
    r"shortcomings?|restrictions|known issues)\b",
    "opportunities": r"(?:roadmap|planned(?: features| work)?|future(?: work| plans| directions)?|opportunit(?:y|ies)|"
    r"outlook)\b",
    "threats": r"(?:risks?|security (?:considerations?|risks?|concerns?|implications)|threats?|dangers?)\b",
    "features": r"(?:key |main |core |new |notable )?(?:features?|highlights|capabilities)\b",
}
_RATED = {part: re.compile(rf"^(?:[\d.]+\s+)?{pattern}", re.IGNORECASE) for part, pattern in _RATES.items()}
_RATED_CJK = {
    "strengths": re.compile("优势|优点|장점|강점"),
    "weaknesses": re.compile("局限|缺点|劣势|不足|限制|단점|한계|약점"),
    "opportunities": re.compile("路线图|未来|机会|로드맵|향후|기회"),
    "threats": re.compile("风险|威胁|안전|위험|위협"),
    "features": re.compile("功能|特性|기능|특징"),
}
_NOT_RATED = re.compile(r"next steps?|⚠|what's next", re.IGNORECASE)
_RIVALS = re.compile(
    r"^(?:alternatives?|competitors?|competition|competing products?|similar (?:tools|projects)|竞争|替代|경쟁|대안)",
    re.IGNORECASE,
)
_VERSUS = re.compile(
    r"(?:\bvs\.?|\bversus|compared (?:to|with)|alternative to|comparison with)\s+(?P<name>[\w.+ -]{2,40})$",
    re.IGNORECASE,
)
_GLOSSARY = re.compile(r"\bglossary\b|术语|용어", re.IGNORECASE)
_ENTRY = re.compile(r"[\[\]{}<>|=;()]|^--?\w|\w_\w|->|^[a-z][\w-]*$|^[A-Z][A-Z/]+(?: [A-Z/]{2,})*$")
_GENERIC = re.compile(
    r"^(?:[\d.]++\s*+)?+(?:"
    r"(?:[\w-]+ )?examples?(?: [\w-]+)?|notes?|descriptions?|parameters?|arguments?|options?|introduction|"
    r"overview|summary|conclusions?|see also|compatibility|authors?|outputs?|inputs?|synopsis|references?|contents?|"
    r"table of contents|getting started|next steps?|what's next|prerequisites?|requirements?|installation|faq|"
    r"frequently asked questions|help|about|home|search|index|misc(?:ellaneous)?|general|background|abstract|preface|"
    r"diagnostics|environment|files|exit status|usage|return values?|details|related(?: \w+)?|comments?|resources|"
    r"links|further reading|acknowledge?ments?|credits|licen[sc]e|changelog|news|contact|share|tags?|external links|"
    r"bibliography|sources|footnotes|appendix|history|caution|warning|important|tip|limitations|caveats)$|"
    r"^(?:示例|例子|简介|概述|参考|总结|目录|예제|소개|개요|참고|요약|목차)$",
    re.IGNORECASE,
)


def leaf(heading: str) -> str:
    return heading.rpartition(" > ")[2][:LONGEST].strip()


def generic(heading: str) -> bool:
    """Whether a heading could stand over anything."""
    return not heading or bool(_GENERIC.match(heading[:LONGEST].strip(" .:")))


def nearest(passage: Passage) -> str:
    """The heading that tells what a passage is about: the title of its page where the last one could stand anywhere."""
    last = leaf(passage.heading)
    return passage.title if generic(last) else last


def is_entry(heading: str) -> bool:
    """Whether it is the name of a parameter, column, function or command: what stands under it speaks of that alone."""
    return bool(_ENTRY.search(leaf(heading)) or _GLOSSARY.search(heading))


def quadrant(heading: str) -> str:
    """The part of a landscape that the text under a heading belongs to, by the heading's own words; else empty."""
    last = leaf(heading)
    if _NOT_RATED.search(last):
        return ""
    for part, pattern in _RATED.items():
        if pattern.match(last) or _RATED_CJK[part].search(last):
            return part
    return ""


def alternatives(heading: str) -> str:
    """The name of another product that a heading announces; else empty."""
    path = [each[:LONGEST].strip() for each in heading.split(" > ")]
    if len(path) > 1 and _RIVALS.match(path[-2]) and not generic(path[-1]):
        return path[-1]
    found = _VERSUS.search(path[-1])
    return found["name"].strip() if found and not found["name"][0].islower() else ""
