"""References to articles: 《劳动合同法》第三十九条 and its other forms, found in a text and rendered. Pure."""

import re
import unicodedata
from collections.abc import Callable

import msgspec

from actors.evidence.han_numbers import read_number
from actors.statutes.jurisdiction import Jurisdiction

NAME_CHARACTERS = 60
CHARACTERS = 20_000
"""So much of a text is looked at."""
REFERENCES = 40

_HAN = "零〇○一二三四五六七八九十百千两"
_NUMBER = rf"[{_HAN}]{{1,10}}|\d{{1,4}}"
_ARTICLE = re.compile(
    rf"第\s*({_NUMBER})\s*条(?:\s*之\s*([{_HAN}]{{1,3}}|\d{{1,2}}))?"
    rf"(?:\s*第\s*({_NUMBER})\s*款)?(?:\s*第\s*[(（]?\s*({_NUMBER})\s*[)）]?\s*项)?"
)
_NAMED = re.compile(r"《((?:[^《》]|《[^《》]{1,40}》){1,80})》\s*(?:[（(][^（）()]{0,30}[)）])?\s*$")
"""A name may hold the name of another law: 《关于适用《民法典》的解释》."""
LOOKED_BACK = 160
_BOUNDARY = re.compile(r"[\s《》“”\"'。，,；;：:？?！!]")
_GOES_ON = re.compile(r"^\s*(?:[、，,；;和及与或至到]|以及|或者)?\s*$")


class Reference(msgspec.Struct, frozen=True, order=True):
    """An article of a law, by name and number."""

    law: str
    number: int
    sub: int = 0
    """Of 第十七条之一: 1."""
    paragraph: int = 0
    item: int = 0


def find_references(
    text: str, jurisdiction: Jurisdiction, find_law: Callable[[str], str] = lambda _: ""
) -> tuple[Reference, ...]:
    """
    The articles that a text names, in its order, each once.

    :param find_law: the name of the law that is called so, however it is written; empty: there is none.
    """
    text = unicodedata.normalize("NFKC", text[:CHARACTERS])
    found: dict[Reference, None] = {}
    law, end = "", 0
    for each in _ARTICLE.finditer(text):
        before = text[end : each.start()]
        law = _name_before(text[: each.start()], jurisdiction, find_law) or (law if _GOES_ON.match(before) else "")
        end = each.end()
        if law and len(found) < REFERENCES:
            found[Reference(law, *(read_number(part) for part in each.groups()))] = None
    return tuple(found)


def render_reference(reference: Reference, jurisdiction: Jurisdiction) -> str:
    """As lawyers write it."""
    written = jurisdiction.citation.format(law=reference.law, number=write_han(reference.number))
    return written + (jurisdiction.sub.format(sub=write_han(reference.sub)) if reference.sub else "")


def write_han(number: int) -> str:
    """A number below 10,000 in Chinese numerals, as articles are numbered."""
    digits, parts, gap = "零一二三四五六七八九", list[str](), False
    for power, name in ((1000, "千"), (100, "百"), (10, "十"), (1, "")):
        digit = number // power % 10
        if digit:
            parts.append(("零" if gap and parts else "") + digits[digit] + name)
        gap = bool(parts) and not digit
    written = "".join(parts)
    return written[1:] if written.startswith("一十") else written


def _name_before(text: str, jurisdiction: Jurisdiction, find_law: Callable[[str], str]) -> str:
    if named := _NAMED.search(text[-LOOKED_BACK:]):
        name = jurisdiction.strip_prefix(named[1].strip())
        return find_law(name) or name
    tail = _BOUNDARY.split(text[-NAME_CHARACTERS:].rstrip())[-1]
    for start in range(len(tail)):
        if len(tail) - start > 1 and (name := find_law(jurisdiction.strip_prefix(tail[start:]))):
            return name
    return ""
