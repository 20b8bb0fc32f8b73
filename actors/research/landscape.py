"""Competitors, features and SWOT of an analysis, from verified claims, each with its heading in the source. Pure."""

import re
from collections.abc import Collection, Iterable, Sequence

import msgspec

from actors.evidence.claims import Claim
from actors.evidence.passages import Passage, last_heading
from actors.evidence.sources import Statement
from actors.evidence.trace_steps import CheckedClaim
from actors.research.learnings import remove_repeats, verify_claims
from actors.research.models import Analysis, Competitor, Swot, SwotItem
from actors.research.output_schemas import Landscape

COMPETITORS, FEATURES, RATED = 6, 8, 4
QUADRANTS = ("strengths", "weaknesses", "opportunities", "threats")
CHARACTERS = 4000
"""So much of a task is looked at."""
NAME_CHARACTERS = 80
LEAST_QUADRANTS = 2
"""One quadrant by itself is no SWOT."""
ASPECTS = ("advantages", "limitations", "features", "alternatives", "security risks", "roadmap")

_CHOICE = re.compile(
    r"\bcompetit(?:ors?|ion|ive)\b|\bswot\b|\bmarkets?\b|\balternatives?\b|\bpros and cons\b|"
    r"\b(?:advantages?|benefits|strengths?) (?:and|or|vs) (?:disadvantages?|drawbacks|weaknesses)\b|"
    r"\b(?:product|tool|vendor|library|framework|platform|technology)s? "
    r"(?:analysis|research|comparison|review|selection|choice)\b|"
    r"\b(?:choose|evaluate|adopt|migrate to|switch to|buy|versus)\b|\bshould (?:we|i) use\b|\bvs\.?\b|\bcompare[ds]?\b|"
    r"竞品|竞争|产品|选型|优缺点|对比|比较|경쟁|제품|장단점|비교|선택",
    re.IGNORECASE,
)


def is_choice(task: str) -> bool:
    """Whether a task is about a product or the choice of a technology, so that a landscape is asked for."""
    return bool(_CHOICE.search(task[:CHARACTERS]))


def lookups(about: Iterable[str]) -> tuple[str, ...]:
    """What to look for in the pages that were read, for a landscape of these things."""
    return tuple(f"{thing} {aspect}" for thing in about if thing for aspect in ASPECTS)


def list_claims(draft: Landscape) -> tuple[Claim, ...]:
    rivals = (claim for each in draft.competitors[:COMPETITORS] for claim in each.claims[:RATED])
    return (
        *rivals,
        *draft.features[:FEATURES],
        *(claim for part in QUADRANTS for claim in getattr(draft, part)[:RATED]),
    )


def keep_claims(draft: Landscape, texts: Collection[str]) -> Landscape:
    """The same with no other claims than those with these texts."""

    def keep(claims: Iterable[Claim]) -> tuple[Claim, ...]:
        return tuple(each for each in claims if each.text in texts)

    rivals = tuple(msgspec.structs.replace(each, claims=keep(each.claims)) for each in draft.competitors)
    parts = {part: keep(getattr(draft, part)) for part in ("features", *QUADRANTS)}
    return msgspec.structs.replace(draft, competitors=rivals, **parts)


def survey(
    draft: Landscape, passages: Sequence[Passage], number: int, task: str = ""
) -> tuple[Analysis, list[CheckedClaim]]:
    """The landscape part of an analysis, and what became of each claim. One quadrant a sentence."""
    of = {each.id: each for each in passages}
    taken: list[Statement] = []
    checked: list[CheckedClaim] = []

    def keep(claims: Sequence[Claim], most: int) -> tuple[Statement, ...]:
        found = verify_claims(claims, passages, number, task)
        checked.extend(found.checked)
        fresh = remove_repeats(found.statements, taken)[:most]
        taken.extend(fresh)
        return fresh

    rated = {
        part: tuple(SwotItem(each, last_heading(of[each.passage])) for each in keep(getattr(draft, part), RATED))
        for part in QUADRANTS
    }
    swot = Swot(**rated) if sum(map(bool, rated.values())) >= LEAST_QUADRANTS else Swot()
    rivals = ((_name(each.name), keep(each.claims, RATED)) for each in draft.competitors[:COMPETITORS])
    competitors = tuple(Competitor(name, said) for name, said in rivals if name and _is_name_shown(name, said, of))
    return Analysis(competitors=competitors, features=keep(draft.features, FEATURES), swot=swot), checked


def _name(name: str) -> str:
    return " ".join(name.split())[:NAME_CHARACTERS]


def _is_name_shown(name: str, said: Sequence[Statement], of: dict[str, Passage]) -> bool:
    """Whether the name is found where the statements were read: a competitor is not invented either."""
    wanted = name.casefold()
    return any(wanted in f"{of[s.passage].title} {of[s.passage].heading} {of[s.passage].text}".casefold() for s in said)
