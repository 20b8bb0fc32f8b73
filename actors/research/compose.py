"""From a case to a report: its parts in their order, and the number that each source has. Pure."""

from collections.abc import Iterable, Sequence

import msgspec

from actors.evidence.claims import Citation
from actors.evidence.sources import Page, Statement
from actors.reporting.charts import charts, subject
from actors.reporting.report import Report, ReportSection, ReportSentence, SourceEntry, Table, body
from actors.research.citations import CitationIndex, statements
from actors.research.layout import Arrangement
from actors.research.messages import CloseResearch
from actors.research.methodology import ended_early, is_product_question, notes, still_open
from actors.research.models import Analysis, Comparison, SwotItem
from actors.text.normalize import normalize
from actors.text.truncate import shorten

TITLE_CHARACTERS = 100
QUESTION_CHARACTERS = 2000
HEADING_CHARACTERS = 200
NOT_FOUND = "Not found in the sources."
ABSENT = "—"
OWN = "knowledge"
"""Own documents are in the index from end to end, whatever part of one the case holds."""

Written = tuple[Report, tuple[Citation, ...]]


def compose(case: CloseResearch, overview: Sequence[Statement] = ()) -> Report:
    """
    The report of all that the case holds.

    :param overview: what a model wrote for it; without, the analysis has one.
    """
    return render_report(case, overview)[0]


def render_report(
    case: CloseResearch,
    overview: Sequence[Statement] = (),
    remarks: Sequence[str] = (),
    register: CitationIndex | None = None,
) -> Written:
    """
    The report, and what stands behind its numbers, sentence by sentence.

    :param remarks: what else is to be said on how it was made, each a sentence.
    :param register: one that knows already what stands; checking that is most of the work.
    """
    analysis = case.analysis or Analysis()
    register = register or CitationIndex(case.pages, case.passages)
    for each in (*overview, *statements(case.sections, case.learnings, analysis)):
        register.stands(each)
    chosen = Arrangement(case.text, case.sections, analysis, overview or analysis.overview, register)
    report = Report(  # numbers are given on the way: the order of these is the order of reading
        title=_title(case.text),
        question=shorten(case.text, QUESTION_CHARACTERS),
        overview=tuple(map(register.line, chosen.overview)),
        key_points=tuple(map(register.line, chosen.key_points)),
        sections=tuple(_block(each.question, each.statements, register, each.note) for each in chosen.sections),
        comparison=_table(chosen.comparison, register) if chosen.comparison else None,
        competitors=_competitors(case, chosen, register),
        features=_features(case, chosen, register),
        swot=_swot(case, chosen, register),
        contradictions=tuple((register.line(each.one), register.line(each.other)) for each in chosen.contradictions),
    )
    lines = tuple(dict.fromkeys(body(report)))
    sources = _sources(case.pages, register, lines)
    drawn = (*subject(lines, register.cited_passages, report.comparison), *charts(lines, sources, case.missed))
    report = msgspec.structs.replace(
        report, unanswered=_open_questions(case, chosen), further=still_open(case), missed=case.missed, sources=sources,
        charts=drawn, partial=ended_early(case), notes=(*notes(case, register), *remarks),
    )  # fmt: skip
    return report, register.citations


def _title(text: str) -> str:
    first = next((line for line in text.splitlines() if line.strip()), "Research")
    title = shorten(first, TITLE_CHARACTERS).rstrip(" .,;:-") or "Research"
    return title[0].upper() + title[1:]


def _block(title: str, found: Sequence[Statement], register: CitationIndex, note: str = "") -> ReportSection:
    return ReportSection(shorten(title, HEADING_CHARACTERS), _below(title, map(register.line, found)), note)


def _below(title: str, lines: Iterable[ReportSentence]) -> tuple[ReportSentence, ...]:
    """A heading of the source that is ours as well, or that of the line before, is not named again."""
    below: list[ReportSentence] = []
    above = normalize(title)[0]
    for line in lines:
        under = normalize(line.under)[0]
        below.append(msgspec.structs.replace(line, under="") if under == above else line)
        above = under
    return tuple(below)


def _table(comparison: Comparison, register: CitationIndex) -> Table:
    head = ("", *(shorten(side, HEADING_CHARACTERS) for side in comparison.sides))
    rows = []
    for row in comparison.rows:
        absent = ReportSentence(NOT_FOUND if comparison.asked else ABSENT)
        cells = (register.line(cell) if cell else absent for cell in row.cells)
        rows.append((ReportSentence(shorten(row.attribute, HEADING_CHARACTERS)), *cells))
    return Table(head, tuple(rows), comparison.asked)


def _competitors(case: CloseResearch, chosen: Arrangement, register: CitationIndex) -> tuple[ReportSection, ...]:
    found = tuple(_block(each.name, each.statements, register) for each in chosen.competitors)
    return found or _absent(case)


def _features(case: CloseResearch, chosen: Arrangement, register: CitationIndex) -> ReportSection | None:
    if chosen.features:
        return _block("Features", chosen.features, register)
    return next(iter(_absent(case)), None)


def _swot(case: CloseResearch, chosen: Arrangement, register: CitationIndex) -> tuple[ReportSection, ...]:
    found = tuple(_quadrant(title, rated, register) for title, rated in chosen.swot.items())
    return found or _absent(case)


def _quadrant(title: str, rated: Sequence[SwotItem], register: CitationIndex) -> ReportSection:
    lines = _below(title, (register.line(each.statement, each.heading) for each in rated))
    return ReportSection(title, lines, "" if lines else NOT_FOUND)


def _absent(case: CloseResearch) -> tuple[ReportSection, ...]:
    """A word on what was asked for and is not there."""
    return (ReportSection("", note=NOT_FOUND),) if is_product_question(case.text) else ()


def _open_questions(case: CloseResearch, chosen: Arrangement) -> tuple[str, ...]:
    """Questions without a sentence, with the reason where it says more than that; those never come to, too."""
    found = [(each.question, each.note) for each in chosen.unanswered]
    come_to = {each.question for each in case.sections}
    found += [(each, "") for each in (case.plan.questions if case.plan else ()) if each not in come_to]
    said = (question if note == NOT_FOUND or not case.pages else _with_note(question, note) for question, note in found)
    return tuple(dict.fromkeys(shorten(each, HEADING_CHARACTERS * 2) for each in said))


def _with_note(question: str, note: str) -> str:
    """A question and a sentence on it."""
    return f"{question}{'' if not note or question.endswith(('?', '.', '!', '？', '。')) else ':'} {note}"


def _sources(
    pages: Sequence[Page], register: CitationIndex, lines: Sequence[ReportSentence]
) -> tuple[SourceEntry, ...]:
    """Those that are cited, by number, then those that were read for nothing, without one."""
    cited = [number for line in lines for number in line.numbers]
    order = {key: place for place, key in enumerate(register.numbers)}
    unique = {page.key: page for page in pages}.values()
    return tuple(
        SourceEntry(
            register.numbers.get(page.key, 0), shorten(page.title or page.url, HEADING_CHARACTERS), page.url,
            page.source, page.sha256, page.read_at, page.full_length if page.source == OWN else len(page.text),
            page.full_length, page.published, cited.count(register.numbers.get(page.key, -1)),
        )
        for page in sorted(unique, key=lambda page: order.get(page.key, len(order)))
    )  # fmt: skip
