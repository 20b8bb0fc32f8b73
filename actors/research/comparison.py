"""A comparison of the sides of a task on the criteria that it names. Pure."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from actors.evidence.sources import Statement
from actors.research.models import Comparison, Row, Section
from actors.text.comparison_targets import question_on
from actors.text.keywords import share, terms

CELL_CHARACTERS = 350
LEAST_SIDES = 2
STEM = 5
"""`mutability` and `mutable` have so many letters in common."""

_ATTRIBUTES = {
    "Performance": r"performan\w+|speed|fast(?:er|est)?|slow(?:er|est)?|latency|throughput|efficien\w+|overhead|"
    "性能|速度|성능|속도",
    "Size": r"disk|storage|space|bytes|megabytes|gigabytes|\d ?[KMGT]B|compress\w*|smaller|larger|大小|存储|용량|저장",
    "Memory": r"memory|RAM|cache[sd]?|内存|메모리",
    "Cost": r"costs?|prices?|pricing|cheap(?:er)?|expensive|fees?|价格|成本|费用|가격|비용",
    "Licence": r"licen[cs]e[sd]?|licensing|open[- ]source|proprietary|许可|라이선스",
    "Security": r"secur\w+|encrypt\w*|authenticat\w+|privileges?|permissions?|安全|加密|보안|암호",
    "Reliability": r"reliab\w+|durab\w+|crash(?:es)?|fail(?:s|ed|ure|over)|recover\w*|可靠|장애|복구|신뢰",
    "Concurrency": r"concurren\w+|parallel\w*|locks?|locking|deadlocks?|并发|锁|동시|잠금",
    "Consistency": r"consisten\w+|transaction\w*|isolation|synchronous\w*|asynchronous\w*|一致|事务|일관|트랜잭션",
    "Granularity": r"granular\w*|per[- ](?:table|row|column|database|user)|individual \w+|whole|entire|subset",
    "Operators": r"operators?|comparisons?|equality|range queries|sort(?:ed)? order",
    "Limits": r"limit(?:s|ed|ation|ations)?|restrict\w*|not support\w*|cannot|unable|限制|제한|한계",
    "Compatibility": r"compatib\w+|versions?|platforms?|architectures?|portab\w+|兼容|호환",
    "Configuration": r"configur\w+|settings?|parameters?|set up|配置|설정",
    "Use": r"use cases?|useful|suit(?:s|ed|able)|best for|recommended|intended|designed|适合|适用|적합",
}
_PATTERNS = {name: re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE) for name, pattern in _ATTRIBUTES.items()}


def on_criteria(
    sides: Sequence[str], criteria: Sequence[str], sections: Iterable[Section], headings: Mapping[str, str]
) -> Comparison | None:
    """
    What is said of each side on each criterion of the task; a cell of which nothing is said is None.

    :param headings: the headings above a passage, by its id: a sentence under "Hash" speaks of hash indexes.
    """
    if len(sides) < LEAST_SIDES or not criteria:
        return None
    sections = tuple(sections)
    of = _by_side(sides, (said for each in sections for said in each.statements), headings)
    answers: dict[str, list[Statement]] = {}
    for each in sections:
        answers.setdefault(each.question, []).extend(each.statements)

    def cell(side: str, criterion: str) -> Statement | None:
        answered = answers.get(question_on(side, criterion), ())
        return _answer((side, criterion), sides, answered, headings) or _on(criterion, of[side])

    rows = [Row(criterion, tuple(cell(side, criterion) for side in sides)) for criterion in criteria]
    return Comparison(tuple(sides), tuple(rows))


def speaking_of(
    cell: tuple[str, str], sides: Sequence[str], statements: Iterable[Statement], headings: Mapping[str, str]
) -> Iterator[Statement]:
    """The statements that speak of a side and a criterion, by themselves or by the headings above them."""
    side, criterion = cell
    for each in statements:
        above = headings.get(each.passage, "")
        names = side in _sides_in(sides, each.text) or side in _sides_in(sides, above)
        if names and (_touches(criterion, each.text) or _touches(criterion, above)):
            yield each


def _answer(
    cell: tuple[str, str], sides: Sequence[str], answers: Iterable[Statement], headings: Mapping[str, str]
) -> Statement | None:
    """Of what was answered to a cell's question the best: on this side rather than on several, and short."""
    fitting = list(speaking_of(cell, sides, answers, headings))

    def worse(place: int) -> tuple[bool, int, int]:
        return len(fitting[place].text) > CELL_CHARACTERS, len(_sides_in(sides, fitting[place].text)), place

    return fitting[min(range(len(fitting)), key=worse)] if fitting else None


def _on(criterion: str, statements: Sequence[Statement]) -> Statement | None:
    """What else is said of a side that speaks of a criterion."""
    wanted = terms(criterion)
    fitting = [each for each in statements if _touches(criterion, each.text)]
    return min(fitting, key=lambda each: (-share(wanted, terms(each.text)), len(each.text)), default=None)


def _touches(criterion: str, text: str) -> bool:
    """Whether a text speaks of a criterion: in its words, in words of its stem, or in others of its kind."""
    if any(pattern.search(criterion) and pattern.search(text) for pattern in _PATTERNS.values()):
        return True
    wanted, said = terms(criterion), terms(text)
    found = sum(
        each in said or any(each[:STEM] == other[:STEM] for other in said if len(each) >= STEM) for each in wanted
    )
    return found >= len(wanted) / 2


def _by_side(
    sides: Sequence[str], statements: Iterable[Statement], headings: Mapping[str, str]
) -> dict[str, list[Statement]]:
    """The statements that speak of one side only: its own terms are in them or above them, no other's."""
    found: dict[str, list[Statement]] = {side: [] for side in sides}
    for each in statements:
        named = _sides_in(sides, each.text) or _sides_in(sides, headings.get(each.passage, ""))
        if len(named) == 1 and len(each.text) <= CELL_CHARACTERS:
            found[named[0]].append(each)
    return found


def _sides_in(sides: Sequence[str], text: str) -> list[str]:
    """Which sides a text names: by the terms that the others do not share, or, like `C`, by nothing but the name."""
    wanted, said = {side: terms(side) for side in sides}, terms(text)
    shared = frozenset.intersection(*wanted.values()) if wanted else frozenset()

    def names(side: str) -> bool:
        if own := (wanted[side] - shared) or wanted[side]:
            return share(own, said) == 1.0
        return bool(re.search(rf"(?<![\w-]){re.escape(side)}(?![\w+#-])", text))

    return [side for side in sides if names(side)]
