"""
Which statement is put where in a report, so that nothing is said twice. Pure.

A comparison chooses first, for it must be whole, and so do SWOT, competitors and features where the task asks for
them; else they have what the sections leave. An overview is only what somebody wrote for it: quotes belong where their
question is answered. Of a long section the first statement is a key point.
"""

from collections.abc import Iterator, Sequence

import msgspec

from actors.evidence.sources import Statement
from actors.reporting.citations import CitationIndex, UsedTexts, verbatim
from actors.reporting.report import IN_PART
from actors.research.methodology import is_product_question
from actors.research.models import Analysis, Comparison, Competitor, Contradiction, Row, Section, SwotItem
from actors.text.comparison_targets import question_on
from actors.text.normalize import normalize

OVERVIEW = 5
KEY_POINTS = 5
ENOUGH_FOR_KEY_POINTS = 6
"""With fewer statements the sections are read as fast as key points."""
LONG_SECTION = 3
LEAST_QUADRANTS = 2
HEADINGS = 3
"""So many are named where a question is answered elsewhere."""

ELSEWHERE = "What the sources say on this stands under {}."


class Arrangement:
    """The parts of a report as supported statements."""

    def __init__(
        self, task: str, sections: Sequence[Section], analysis: Analysis, overview: Sequence[Statement],
        register: CitationIndex,
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
        taken = UsedTexts(above, parts)
        answered = [(section, standing) for section, standing in found if standing]
        self.key_points = _key_points([standing for _, standing in answered], register, taken)
        self.sections = _sections(task, answered, register, taken, self._parts(), in_table)
        if not surveyed:
            self._choose(analysis, register, taken)
        self.contradictions = _contradictions(analysis.contradictions, register)

    def _choose(self, analysis: Analysis, register: CitationIndex, said: UsedTexts) -> None:
        """SWOT, competitors and features, of what is not said yet."""
        self.swot = _swot(analysis, register, said)
        self.competitors = _competitors(analysis.competitors, register, said)
        self.features = tuple(register.fresh(analysis.features, said))

    def _parts(self) -> dict[str, UsedTexts]:
        """What each part but the sections has used up, by its heading, in the order of reading."""
        said = {
            "Summary": self.overview,
            "Key points": self.key_points,
            "Comparison": tuple(each for row in self.comparison.rows for each in row.cells if each)
            if self.comparison
            else (),
            "Competitors": tuple(each for one in self.competitors for each in one.statements),
            "Features": self.features,
            "SWOT": tuple(each.statement for rated in self.swot.values() for each in rated),
        }
        return {title: UsedTexts.of(each.text for each in found) for title, found in said.items()}


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
    task: str,
    answered: Sequence[tuple[Section, tuple[Statement, ...]]],
    register: CitationIndex,
    taken: UsedTexts,
    parts: dict[str, UsedTexts],
    in_table: frozenset[str],
) -> tuple[Section, ...]:
    sections = []
    for section, standing in answered:
        rest = tuple(register.fresh(standing, taken))
        whole = len(answered) == 1 or normalize(section.question) == normalize(task) or section.question in in_table
        if rest or not whole:  # what the overview says on the task as a whole needs no section beside it
            note = _where(standing, parts) if not rest else "" if section.answered else IN_PART
            sections.append(Section(section.question, rest, section.answered, note))
            parts = {**parts, f"“{section.question}”": UsedTexts.of(each.text for each in rest)}
    return tuple(sections)


def _in_table(comparison: Comparison | None) -> frozenset[str]:
    """The questions that cells of the table that the task asks for answer."""
    if comparison is None or not comparison.asked:
        return frozenset()
    return frozenset(
        question_on(side, row.attribute)
        for row in comparison.rows
        for side, cell in zip(comparison.sides, row.cells, strict=True)
        if cell
    )


def _where(standing: Sequence[Statement], parts: dict[str, UsedTexts]) -> str:
    """Under which headings a question is answered that has nothing left for its own."""
    found = [title for title, said in parts.items() if any(said.holds(each.text) for each in standing)][:HEADINGS]
    return ELSEWHERE.format(" and ".join(found) or "another heading")


def _key_points(
    found: Sequence[tuple[Statement, ...]], register: CitationIndex, taken: UsedTexts
) -> tuple[Statement, ...]:
    """The first statement of each question that has much more to say."""
    if len(found) < 2 or sum(map(len, found)) < ENOUGH_FOR_KEY_POINTS:
        return ()
    firsts = [standing[0] for standing in found if len(standing) >= LONG_SECTION]
    if len(firsts) < 2:
        return ()
    return tuple(register.fresh(firsts[:KEY_POINTS], taken))


def _comparison(comparison: Comparison | None, register: CitationIndex, said: UsedTexts) -> Comparison | None:
    if comparison is None:
        return None
    if comparison.asked:
        return _asked_table(comparison, register, said)
    rows = []
    for row in comparison.rows:
        cells = tuple(next(register.fresh([cell] if cell else [], said), None) for cell in row.cells)
        if any(cells):
            rows.append(Row(row.attribute, cells))
    return Comparison(comparison.sides, tuple(rows)) if rows else None


def _asked_table(comparison: Comparison, register: CitationIndex, said: UsedTexts) -> Comparison | None:
    """
    The table that the task asks for, with what was not found in it; none where nothing was found at all.

    A sentence on two sides, or on two criteria, is in the cells of both.
    """
    rows = [
        Row(row.attribute, tuple(cell if cell and register.supports(cell) else None for cell in row.cells))
        for row in comparison.rows
    ]
    for cell in (cell for row in rows for cell in row.cells if cell):
        said.add(cell.text)
    return msgspec.structs.replace(comparison, rows=tuple(rows)) if any(any(row.cells) for row in rows) else None


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
