"""From a case to a report: its parts in their order, and the number that each source has. Pure."""

from collections.abc import Sequence

import msgspec

from actors.evidence.claims import Citation
from actors.evidence.sources import Statement
from actors.reporting.charts import charts, draw_product
from actors.reporting.citations import CitationIndex
from actors.reporting.report import Report, ReportSection, ReportSentence, Table, body
from actors.reporting.sections import HEADING_CHARACTERS, list_sources, make_section, make_title
from actors.research.layout import Arrangement, statements
from actors.research.messages import CloseResearch
from actors.research.methodology import ended_early, notes, still_open
from actors.research.models import Analysis, Cell, Comparison, Profile
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
    report = Report(  # numbers are given on the way: the order of these is the order of reading
        title=make_title(case.text, case.language),
        question=shorten(case.text, QUESTION_CHARACTERS),
        overview=tuple(map(register.line, chosen.overview)),
        sections=_sections(case, chosen, register),
        comparison=_table(chosen.comparison, register, case.language) if chosen.comparison else None,
        language=case.language,
    )
    if chosen.profile:
        report = _add_profile(report, chosen.profile, register)
    pairs = tuple((register.line(each.one), register.line(each.other)) for each in chosen.contradictions)
    report = msgspec.structs.replace(report, contradictions=pairs)
    lines = tuple(dict.fromkeys(body(report)))
    sources = list_sources(case.pages, register, lines)
    drawn = draw_product(report, chosen.profile.product) if chosen.profile else ()
    said = [each for each in lines if not each.short]
    drawn += charts(said, register.cited_passages, sources, report.comparison, case.language)
    report = msgspec.structs.replace(
        report, unanswered=_open_questions(case, chosen), further=still_open(case), missed=case.missed, sources=sources,
        charts=drawn, partial=ended_early(case), notes=(*notes(case, register), *filter(None, (remark,))),
    )  # fmt: skip
    return report, register.citations


def _add_profile(report: Report, profile: Profile, register: CitationIndex) -> Report:
    """The parts that were asked for; of one that has nothing an honest word, for without a reader nobody knows."""
    language = report.language
    judged = register.has_paraphrase
    nothing = say("not_in_sources" if judged else "not_headed", language)

    def section(title: str, said: Sequence[Statement]) -> ReportSection:
        return make_section(title, said, register, "" if said else nothing)

    def places(name: str, said: Sequence[Statement]) -> ReportSection:
        """Below a heading that stands there already."""
        return msgspec.structs.replace(section(say(name, language), said), title="")

    rivals = tuple(
        section(each.name, each.statements) if each.name else places("competitors", each.statements)
        for each in profile.competitors
    )
    asked = [name for name in profile.swot.lists if name in profile.parts]
    swot = [section(say(name, language), said) for name, said in profile.swot.lists.items() if name in asked and said]
    if judged and swot:
        swot = [section(say(name, language), profile.swot.lists[name]) for name in asked]
    if unsorted := profile.swot.unsorted:
        swot.append(section(say("unsorted", language), unsorted) if swot else places("swot", unsorted))
    return msgspec.structs.replace(
        report,
        competitors=rivals or ((section("", ()),) if "competitors" in profile.parts else ()),
        features=section(say("features", language), profile.features) if "features" in profile.parts else None,
        swot=tuple(swot) or ((section("", ()),) if asked else ()),
    )


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


def _table(comparison: Comparison, register: CitationIndex, language: str) -> Table:
    """A table of statements, or of verdicts, where what is not known is said so."""
    head = ("", *(shorten(side, HEADING_CHARACTERS) for side in comparison.sides))
    verdicts = any(cell.verdict for row in comparison.rows for cell in row.cells if cell)
    absent = ReportSentence(say("unknown" if verdicts else "not_in_sources", language))
    rows = []
    for row in comparison.rows:
        cells = (_cell(cell, register, language) if cell else absent for cell in row.cells)
        rows.append((ReportSentence(shorten(row.attribute, HEADING_CHARACTERS)), *cells))
    return Table(head, tuple(rows))


def _cell(cell: Cell, register: CitationIndex, language: str) -> ReportSentence:
    shown = say(cell.verdict, language) if cell.verdict in {"yes", "no"} else shorten(cell.verdict, HEADING_CHARACTERS)
    return msgspec.structs.replace(register.line(cell.said), short=shown)


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
