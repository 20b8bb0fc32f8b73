"""
Which statement is put where in a report, so that nothing is said twice. Pure.

A comparison and the parts of a product analysis that the task asks for choose first; the answers have what these leave.
An overview is only what somebody wrote for it.
"""

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from actors.evidence.sources import Statement
from actors.reporting.citations import CitationIndex, UsedTexts, verbatim
from actors.research.comparison import question_on
from actors.research.models import Analysis, Cell, Comparison, Competitor, Contradiction, Profile, Row, Section, Swot
from actors.text.catalogue import say
from actors.text.normalize import normalize

OVERVIEW = 5
LEAST_CELLS = 2
"""With fewer cells no row compares anything."""


class Arrangement:
    """The parts of a report as supported statements."""

    def __init__(
        self, task: str, sections: Sequence[Section], analysis: Analysis, overview: Sequence[Statement],
        register: CitationIndex, language: str,
    ) -> None:  # fmt: skip
        above, parts = UsedTexts(), UsedTexts()
        self.overview = tuple(register.fresh((each for each in overview if not verbatim(each)), above))[:OVERVIEW]
        on_criteria = _support(analysis.comparison, register, parts, LEAST_CELLS)
        self.profile = _choose(analysis.profile, register, parts) if analysis.profile else None
        self.comparison = on_criteria or (self.profile.comparison if self.profile else None)
        found = [(each, tuple(filter(register.supports, each.statements))) for each in merge(sections)]
        in_table = _in_table(on_criteria)
        self.unanswered = tuple(each for each, standing in found if not standing and each.question not in in_table)
        answered = [(each, standing) for each, standing in found if standing and each.question not in in_table]
        self.sections = _sections(task, answered, register, UsedTexts(above, parts), language)
        self.contradictions = _contradictions(analysis.contradictions, register)


def merge(sections: Sequence[Section]) -> tuple[Section, ...]:
    """One section a question, whatever round asked it."""
    of: dict[str, Section] = {}
    for each in sections:
        key = normalize(each.question)[0]
        known = of.get(key, each)
        of[key] = each if known is each else Section(
            known.question, (*known.statements, *each.statements), known.answered or each.answered,
            each.note or known.note, known.round,
        )  # fmt: skip
    return tuple(of.values())


def _sections(
    task: str, answered: Sequence[tuple[Section, tuple[Statement, ...]]], register: CitationIndex, taken: UsedTexts,
    language: str,
) -> tuple[Section, ...]:  # fmt: skip
    """A section a question, with what no part above it says; one that is left without says where to look."""
    sections: list[Section] = []
    for section, standing in answered:
        rest = tuple(register.fresh(standing, taken))
        if rest:
            partly = say("comes_closest" if all(map(verbatim, rest)) else "in_part", language)
            sections.append(msgspec.structs.replace(section, statements=rest, note="" if section.answered else partly))
        elif len(answered) > 1 and normalize(section.question) != normalize(task):
            sections.append(msgspec.structs.replace(section, statements=(), note=_where(standing, sections, language)))
    return tuple(sections)


def _in_table(comparison: Comparison | None) -> frozenset[str]:
    """The questions that cells of the table that the task asks for answer."""
    if comparison is None:
        return frozenset()
    return frozenset(
        question_on(side, row.attribute)
        for row in comparison.rows
        for side, cell in zip(comparison.sides, row.cells, strict=True)
        if cell
    )


def _where(standing: Sequence[Statement], sections: Sequence[Section], language: str) -> str:
    """Under which other question stands what was found on one."""
    for section in sections:
        said = UsedTexts.of(each.text for each in section.statements)
        if any(said.holds(each.text) for each in standing):
            return say("elsewhere", language, title=section.question)
    return say("said_elsewhere", language)


def _support(comparison: Comparison | None, register: CitationIndex, said: UsedTexts, least: int) -> Comparison | None:
    """
    A table of what is supported; none where no row has so many cells.

    A sentence on two sides, or on two criteria, is in the cells of both.
    """
    if comparison is None:
        return None
    rows = [
        Row(row.attribute, tuple(cell if cell and register.supports(cell.said) else None for cell in row.cells))
        for row in comparison.rows
    ]
    if not any(sum(cell is not None for cell in row.cells) >= least for row in rows):
        return None
    for cell in _cells(rows):
        said.add(cell.said.text)
    return msgspec.structs.replace(comparison, rows=tuple(rows))


def _choose(profile: Profile, register: CitationIndex, said: UsedTexts) -> Profile:
    """A profile of what is supported, each statement in one part."""
    rivals = (Competitor(each.name, tuple(register.fresh(each.statements, said))) for each in profile.competitors)
    competitors = tuple(each for each in rivals if each.statements)
    return msgspec.structs.replace(
        profile,
        competitors=competitors,
        features=tuple(register.fresh(profile.features, said)),
        swot=Swot(**{name: tuple(register.fresh(each, said)) for name, each in profile.swot.lists.items()}),
        comparison=_support(profile.comparison, register, said, 1),
    )


def _cells(rows: Iterable[Row]) -> Iterator[Cell]:
    return (cell for row in rows for cell in row.cells if cell)


def _contradictions(pairs: Sequence[Contradiction], register: CitationIndex) -> tuple[Contradiction, ...]:
    """Both sides of each, though one was quoted before: who reads of a contradiction must see both."""
    found: dict[frozenset[str], Contradiction] = {}
    for pair in pairs:
        if register.supports(pair.one) and register.supports(pair.other) and pair.one.page != pair.other.page:
            found.setdefault(frozenset((normalize(pair.one.text)[0], normalize(pair.other.text)[0])), pair)
    return tuple(found.values())


def statements(sections: Sequence[Section], learnings: Sequence[Statement], analysis: Analysis) -> Iterator[Statement]:
    """All that a case holds, some of it several times."""
    yield from analysis.overview
    for section in sections:
        yield from section.statements
    yield from learnings
    for pair in analysis.contradictions:
        yield from (pair.one, pair.other)
    tables = [analysis.comparison]
    if profile := analysis.profile:
        tables.append(profile.comparison)
        for rival in profile.competitors:
            yield from rival.statements
        yield from profile.features
        for each in profile.swot.lists.values():
            yield from each
    for table in filter(None, tables):
        yield from (cell.said for cell in _cells(table.rows))
