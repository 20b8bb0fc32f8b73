"""From a case to a report: its parts in their order, and the number that each source has. Pure."""

from collections.abc import Iterator, Sequence

import msgspec

from actors.evidence import Citation
from actors.research.arrange import Arrangement
from actors.research.charts import charts
from actors.research.ledger import Ledger, statements
from actors.research.messages import CloseResearch
from actors.research.ports import Page, Statement
from actors.research.prose import neat
from actors.research.records import Analysis, Block, Comparison, Line, Listed, Rated, Report, Table
from actors.research.remarks import ended_early, is_product_question, notes, still_open

TITLE_CHARACTERS = 100
QUESTION_CHARACTERS = 2000
HEADING_CHARACTERS = 200
NOT_FOUND = "Not found in the sources."
ABSENT = "—"

Written = tuple[Report, tuple[Citation, ...]]


def compose(case: CloseResearch, overview: Sequence[Statement] = ()) -> Report:
    """
    The report of all that the case holds.

    :param overview: what a model wrote for it; without, the analysis has one.
    """
    return written(case, overview)[0]


def written(case: CloseResearch, overview: Sequence[Statement] = (), remarks: Sequence[str] = ()) -> Written:
    """
    The report, and what stands behind its numbers, sentence by sentence.

    :param remarks: what else is to be said on how it was made, each a sentence.
    """
    analysis = case.analysis or Analysis()
    ledger = Ledger(case.pages, case.passages, [*overview, *statements(case.sections, case.learnings, analysis)])
    chosen = Arrangement(case.sections, analysis, overview or analysis.overview, ledger)
    report = Report(  # numbers are given on the way: the order of these is the order of reading
        title=_title(case.text),
        question=neat(case.text, QUESTION_CHARACTERS),
        overview=tuple(map(ledger.line, chosen.overview)),
        key_points=tuple(map(ledger.line, chosen.key_points)),
        sections=tuple(_block(each.question, each.statements, ledger, each.note) for each in chosen.sections),
        comparison=_table(chosen.comparison, ledger) if chosen.comparison else None,
        competitors=_competitors(case, chosen, ledger),
        features=_features(case, chosen, ledger),
        swot=_swot(case, chosen, ledger),
        contradictions=tuple((ledger.line(each.one), ledger.line(each.other)) for each in chosen.contradictions),
    )
    lines = tuple(dict.fromkeys(body(report)))
    sources = _sources(case.pages, ledger, lines)
    report = msgspec.structs.replace(
        report, unanswered=_unanswered(case, chosen), further=still_open(case), missed=case.missed, sources=sources,
        charts=charts(lines, sources, case.missed), partial=ended_early(case), notes=(*notes(case, ledger), *remarks),
    )  # fmt: skip
    return report, ledger.citations


def body(report: Report) -> Iterator[Line]:
    """All sentences of a report on its topic, in the order of reading."""
    yield from report.overview
    yield from report.key_points
    for block in report.sections:
        yield from block.lines
    for row in report.comparison.rows if report.comparison else ():
        yield from (cell for cell in row if cell.numbers)
    for block in (*report.competitors, *([report.features] if report.features else ()), *report.swot):
        yield from block.lines
    for pair in report.contradictions:
        yield from pair


def _title(text: str) -> str:
    first = next((line for line in text.splitlines() if line.strip()), "Research")
    title = neat(first, TITLE_CHARACTERS).rstrip(" .,;:-") or "Research"
    return title[0].upper() + title[1:]


def _block(title: str, found: Sequence[Statement], ledger: Ledger, note: str = "") -> Block:
    return Block(neat(title, HEADING_CHARACTERS), tuple(map(ledger.line, found)), note)


def _table(comparison: Comparison, ledger: Ledger) -> Table:
    head = ("", *(neat(side, HEADING_CHARACTERS) for side in comparison.sides))
    rows = []
    for row in comparison.rows:
        cells = (ledger.line(cell) if cell else Line(ABSENT) for cell in row.cells)
        rows.append((Line(neat(row.attribute, HEADING_CHARACTERS)), *cells))
    return Table(head, tuple(rows))


def _competitors(case: CloseResearch, chosen: Arrangement, ledger: Ledger) -> tuple[Block, ...]:
    found = tuple(_block(each.name, each.statements, ledger) for each in chosen.competitors)
    return found or _absent(case)


def _features(case: CloseResearch, chosen: Arrangement, ledger: Ledger) -> Block | None:
    if chosen.features:
        return _block("Features", chosen.features, ledger)
    return next(iter(_absent(case)), None)


def _swot(case: CloseResearch, chosen: Arrangement, ledger: Ledger) -> tuple[Block, ...]:
    found = tuple(_quadrant(title, rated, ledger) for title, rated in chosen.swot.items())
    return found or _absent(case)


def _quadrant(title: str, rated: Sequence[Rated], ledger: Ledger) -> Block:
    lines = tuple(ledger.line(each.statement, each.heading) for each in rated)
    return Block(title, lines, "" if lines else NOT_FOUND)


def _absent(case: CloseResearch) -> tuple[Block, ...]:
    """A word on what was asked for and is not there."""
    return (Block("", note=NOT_FOUND),) if is_product_question(case.text) else ()


def _unanswered(case: CloseResearch, chosen: Arrangement) -> tuple[str, ...]:
    """Questions without a sentence, with the reason where it says more than that; those never come to, too."""
    found = [(each.question, each.note) for each in chosen.unanswered]
    come_to = {each.question for each in case.sections}
    found += [(each, "") for each in (case.plan.questions if case.plan else ()) if each not in come_to]
    said = (f"{question} {'' if note == NOT_FOUND else note}" for question, note in found)
    return tuple(dict.fromkeys(neat(each, HEADING_CHARACTERS * 2) for each in said))


def _sources(pages: Sequence[Page], ledger: Ledger, lines: Sequence[Line]) -> tuple[Listed, ...]:
    """Those that are cited, by number, then those that were read for nothing, without one."""
    cited = [number for line in lines for number in line.numbers]
    order = {key: place for place, key in enumerate(ledger.numbers)}
    unique = {page.key: page for page in pages}.values()
    return tuple(
        Listed(
            ledger.numbers.get(page.key, 0), neat(page.title or page.url, HEADING_CHARACTERS), page.url, page.source,
            page.sha256, page.read_at, len(page.text), page.full_length, page.published,
            cited.count(ledger.numbers.get(page.key, -1)),
        )
        for page in sorted(unique, key=lambda page: order.get(page.key, len(order)))
    )  # fmt: skip
