"""
Which statement is put where in a report, so that nothing is said twice. Pure.

A comparison that the task asks for chooses first, for it must be whole, and so do SWOT, competitors and features where
the task asks for them; else they have what the sections leave. An overview is only what somebody wrote for it.
"""

from collections.abc import Iterator, Sequence

import msgspec

from actors.evidence.sources import Statement
from actors.reporting.citations import CitationIndex, UsedTexts, verbatim
from actors.research.comparison import question_on
from actors.research.methodology import is_product_question
from actors.research.models import Analysis, Comparison, Competitor, Contradiction, Row, Section, SwotItem
from actors.text.catalogue import say
from actors.text.normalize import normalize

OVERVIEW = 5
LEAST_QUADRANTS = 2
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
        self.comparison = _comparison(analysis.comparison, register, parts)
        self.swot: dict[str, tuple[SwotItem, ...]] = {}
        self.competitors: tuple[Competitor, ...] = ()
        self.features: tuple[Statement, ...] = ()
        surveyed = is_product_question(task)
        if surveyed:
            self._choose(analysis, register, parts)
        found = [(each, tuple(filter(register.supports, each.statements))) for each in merge(sections)]
        in_table = _in_table(self.comparison)
        self.unanswered = tuple(each for each, standing in found if not standing and each.question not in in_table)
        answered = [(each, standing) for each, standing in found if standing and each.question not in in_table]
        self.sections = _sections(task, answered, register, UsedTexts(above, parts), language)
        if not surveyed:
            self._choose(analysis, register, UsedTexts(parts, _collect_used(self.sections)))
        self.contradictions = _contradictions(analysis.contradictions, register)

    def _choose(self, analysis: Analysis, register: CitationIndex, said: UsedTexts) -> None:
        """SWOT, competitors and features, of what is not said yet."""
        self.swot = _swot(analysis, register, said)
        self.competitors = _competitors(analysis.competitors, register, said)
        self.features = tuple(register.fresh(analysis.features, said))


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


def _collect_used(sections: Sequence[Section]) -> UsedTexts:
    return UsedTexts.of(each.text for section in sections for each in section.statements)


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
        said = _collect_used((section,))
        if any(said.holds(each.text) for each in standing):
            return say("elsewhere", language, title=section.question)
    return say("said_elsewhere", language)


def _comparison(comparison: Comparison | None, register: CitationIndex, said: UsedTexts) -> Comparison | None:
    """
    The table that the task asks for: a row a criterion, a column a side; none where no row has two cells.

    A sentence on two sides, or on two criteria, is in the cells of both.
    """
    if comparison is None:
        return None
    rows = [
        Row(row.attribute, tuple(cell if cell and register.supports(cell) else None for cell in row.cells))
        for row in comparison.rows
    ]
    if not any(sum(cell is not None for cell in row.cells) >= LEAST_CELLS for row in rows):
        return None
    for cell in (cell for row in rows for cell in row.cells if cell):
        said.add(cell.text)
    return msgspec.structs.replace(comparison, rows=tuple(rows))


def _swot(analysis: Analysis, register: CitationIndex, said: UsedTexts) -> dict[str, tuple[SwotItem, ...]]:
    """All quadrants, or none: one by itself weighs nothing."""
    standing = {
        title: [r for r in rated if register.supports(r.statement)] for title, rated in analysis.swot.quadrants.items()
    }
    if sum(map(bool, standing.values())) < LEAST_QUADRANTS:
        return {}
    chosen = {title: tuple(r for r in rated if said.add(r.statement.text)) for title, rated in standing.items()}
    return chosen if sum(map(bool, chosen.values())) >= LEAST_QUADRANTS else {}


def _competitors(competitors: Sequence[Competitor], register: CitationIndex, said: UsedTexts) -> tuple[Competitor, ...]:
    found = (Competitor(each.name, tuple(register.fresh(each.statements, said))) for each in competitors)
    return tuple(each for each in found if each.statements)


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
    yield from analysis.features
    for competitor in analysis.competitors:
        yield from competitor.statements
    for quadrant in analysis.swot.quadrants.values():
        yield from (rated.statement for rated in quadrant)
    for row in analysis.comparison.rows if analysis.comparison else ():
        yield from (cell for cell in row.cells if cell is not None)
    for pair in analysis.contradictions:
        yield from (pair.one, pair.other)
