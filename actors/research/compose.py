"""From a case to a report: its parts in their order, and the number that each source has. Pure."""

from collections.abc import Sequence

import msgspec

from actors.evidence.claims import Citation
from actors.evidence.sources import Statement
from actors.reporting.charts import charts
from actors.reporting.citations import CitationIndex
from actors.reporting.report import Report, ReportSection, ReportSentence, Table, body
from actors.reporting.sections import HEADING_CHARACTERS, list_sources, make_section, make_title, name_headings_once
from actors.research.layout import Arrangement, statements
from actors.research.messages import CloseResearch
from actors.research.methodology import ended_early, is_product_question, notes, still_open
from actors.research.models import Analysis, Comparison, SwotItem
from actors.text.catalogue import every_form, say
from actors.text.truncate import shorten

QUESTION_CHARACTERS = 2000


def render_report(
    case: CloseResearch,
    overview: Sequence[Statement] = (),
    remark: str = "",
    register: CitationIndex | None = None,
) -> tuple[Report, tuple[Citation, ...]]:
    """
    The report, and what is behind its numbers, sentence by sentence.

    :param remark: what else is to be said on how it was made, in a sentence.
    :param register: one that knows already what is supported; checking that is most of the work.
    """
    analysis = case.analysis or Analysis()
    register = register or CitationIndex(case.pages, case.passages)
    for each in (*overview, *statements(case.sections, case.learnings, analysis)):
        register.supports(each)
    chosen = Arrangement(case.text, case.sections, analysis, overview or analysis.overview, register, case.language)
    absent = (
        (ReportSection("", note=say("not_in_sources", case.language)),) if is_product_question(case.text) else ()
    )  # it was asked for
    report = Report(  # numbers are given on the way: the order of these is the order of reading
        title=make_title(case.text, case.language),
        question=shorten(case.text, QUESTION_CHARACTERS),
        overview=tuple(map(register.line, chosen.overview)),
        sections=_sections(case, chosen, register),
        comparison=_table(chosen.comparison, register, case.language) if chosen.comparison else None,
        competitors=tuple(make_section(each.name, each.statements, register) for each in chosen.competitors) or absent,
        features=_features(case, chosen, register) if chosen.features else next(iter(absent), None),
        swot=tuple(_quadrant(key, rated, register, case.language) for key, rated in chosen.swot.items()) or absent,
        contradictions=tuple((register.line(each.one), register.line(each.other)) for each in chosen.contradictions),
        language=case.language,
    )
    lines = tuple(dict.fromkeys(body(report)))
    sources = list_sources(case.pages, register, lines)
    drawn = charts(lines, register.cited_passages, sources, report.comparison, case.language)
    report = msgspec.structs.replace(
        report, unanswered=_open_questions(case, chosen), further=still_open(case), missed=case.missed, sources=sources,
        charts=drawn, partial=ended_early(case), notes=(*notes(case, register), *filter(None, (remark,))),
    )  # fmt: skip
    return report, register.citations


def _sections(case: CloseResearch, chosen: Arrangement, register: CitationIndex) -> tuple[ReportSection, ...]:
    """The sections; those of a direction that a deeper round explored stand beside the question."""
    if not chosen.overview:  # then the first sentence of each is read first, and so is its number
        for each in chosen.sections:
            tuple(map(register.line, each.statements[:1]))
    asked = {each.question for each in case.sections if each.round == 1}
    return tuple(
        msgspec.structs.replace(
            make_section(each.question, each.statements, register, each.note),
            aside=each.round > 1 and bool(asked) and each.question not in asked,
        )
        for each in chosen.sections
    )


def _features(case: CloseResearch, chosen: Arrangement, register: CitationIndex) -> ReportSection:
    return make_section(say("features", case.language), chosen.features, register)


def _table(comparison: Comparison, register: CitationIndex, language: str) -> Table:
    head = ("", *(shorten(side, HEADING_CHARACTERS) for side in comparison.sides))
    rows = []
    for row in comparison.rows:
        absent = ReportSentence(say("not_in_sources", language))
        cells = (register.line(cell) if cell else absent for cell in row.cells)
        rows.append((ReportSentence(shorten(row.attribute, HEADING_CHARACTERS)), *cells))
    return Table(head, tuple(rows))


def _quadrant(key: str, rated: Sequence[SwotItem], register: CitationIndex, language: str) -> ReportSection:
    title = say(key, language)
    lines = name_headings_once(title, (register.line(each.statement, each.heading) for each in rated))
    return ReportSection(title, lines, "" if lines else say("not_in_sources", language))


def _open_questions(case: CloseResearch, chosen: Arrangement) -> tuple[str, ...]:
    """Questions without a sentence, with the reason where it says more than that; those never come to, too."""
    found = [(each.question, each.note) for each in chosen.unanswered]
    come_to = {each.question for each in case.sections}
    found += [(each, "") for each in (case.plan.questions if case.plan else ()) if each not in come_to]
    plain = every_form("not_in_sources")
    said = (question if note in plain or not case.pages else _with_note(question, note) for question, note in found)
    return tuple(dict.fromkeys(shorten(each, HEADING_CHARACTERS * 2) for each in said))


def _with_note(question: str, note: str) -> str:
    """A question and a sentence on it."""
    return f"{question}{'' if not note or question.endswith(('?', '.', '!', '？', '。')) else ':'} {note}"
