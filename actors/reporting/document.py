"""
A report as a list of parts, in the order of reading: what every output format renders, each in its own way. Pure.

Words of ours and words of sources come in different parts; every format escapes both.
"""

from collections.abc import Iterator
from typing import NamedTuple

from actors.reporting.failed_sources import group_failures
from actors.reporting.links import display_url
from actors.reporting.report import IN_PART, Chart, Report, ReportSection, ReportSentence, SourceEntry, Table, body
from actors.text.comparison_targets import question_on
from actors.text.source_text import flat
from actors.text.truncate import shorten

FURTHER = "Further exploration needed"
UNCITED = 20
TIMES = {1: "cited once", 2: "cited twice"}
ANSWER = "Answer"
"""The heading where the question is the title of the report, and need not be read twice."""
NO_HITS = "The searches found no page on this, so none was read."
FEW = 6
"""So few things that were not obtained need no headings: each says why."""


class Heading(NamedTuple):
    text: str
    level: int
    """2 or 3; the title is 1."""


class Remark(NamedTuple):
    """A sentence of ours."""

    text: str
    warns: bool = False


class Passages(NamedTuple):
    """Sentences of sources, each with its numbers: a list, or running text."""

    lines: tuple[ReportSentence, ...]
    running: bool = False


class Disagreements(NamedTuple):
    """Pairs of sentences that cannot both be right."""

    pairs: tuple[tuple[ReportSentence, ReportSentence], ...]


class Points(NamedTuple):
    """A plain list."""

    items: tuple[str, ...]
    more: int = 0
    """How many are not shown."""


class Works(NamedTuple):
    """The sources that are cited, in the order of their numbers."""

    listed: tuple[SourceEntry, ...]


class Quotes(NamedTuple):
    """A heading, and below it the words of the sources behind sentences that are reworded."""

    title: str
    lines: tuple[ReportSentence, ...]


Part = Heading | Remark | Passages | Disagreements | Points | Table | Chart | Works | Quotes


def outline(report: Report) -> Iterator[Part]:
    """Everything below the title."""
    if _plain(report.question) != _plain(report.title):
        yield Remark(f"Question: {report.question}")
    if report.partial:
        yield Remark(f"This report is partial. {report.partial}", warns=True)
    if report.further:
        yield Remark(f"{FURTHER}: see the list below.", warns=True)
    yield from _findings(report)
    yield from _analysis(report)
    yield from _open(report)
    yield from _grounds(report)


def _findings(report: Report) -> Iterator[Part]:
    if any(body(report)):
        yield Heading("Summary", 2)
        if report.overview:
            yield Passages(report.overview, running=all("\n" not in line.text for line in report.overview))
        yield Remark(in_short(report))
    if report.key_points:
        yield Heading("Key points", 2)
        yield Passages(report.key_points)
    for block in report.sections:
        yield Heading(ANSWER if _plain(block.title) == _plain(report.title) else block.title, 2)
        yield from _block(block)
    if not any(body(report)):
        yield Heading("Findings", 2)
        yield Remark(_explain_nothing(report))


def _explain_nothing(report: Report) -> str:
    if report.sources:
        so_far = "has been found to answer the question so far" if report.partial else "answers the question"
        return f"Nothing in what was read {so_far}."
    if report.missed:
        return "No page was read, for the reasons below, so nothing is answered."
    return "No page was read before it ended." if report.partial else NO_HITS


def in_short(report: Report) -> str:
    """What the report comes to, in one sentence of facts."""
    asked, sentences = len(_questions_with_answers(report)) + len(report.unanswered), sum(1 for _ in body(report))
    read, cited = len(report.sources), sum(1 for each in report.sources if each.number)
    said = f"{sentences} cited {'sentence' if sentences == 1 else 'sentences'}"
    whole = {1: "the one page", 2: "both pages"}.get(read, f"all {read} pages")
    of = whole if cited >= read or read == 1 else f"{cited} of {read} pages"
    found = f"{said}, from {of} that {'was' if read == 1 else 'were'} read."
    if any(line.quote for line in body(report)):
        return f"{_count_answers(report, asked)}: {found}"
    them = "it" if asked <= 1 else "them"
    return f"{_count_quotes(report, asked)}: {found} Nobody has judged how far they answer {them}."


def _questions_with_answers(report: Report) -> tuple[str, ...]:
    """The questions on which something was found: the sections' and, of a table that was asked for, the cells'."""
    titles = tuple(each.title for each in report.sections)
    table = report.comparison if report.comparison and report.comparison.asked else Table((), ())
    cells = (
        question_on(side, row[0].text)
        for row in table.rows
        for side, cell in zip(table.head[1:], row[1:], strict=False)  # who edits a state file may leave a cell out
        if cell.numbers
    )
    return (*titles, *(each for each in cells if each not in titles))


def _count_quotes(report: Report, asked: int) -> str:
    """On how many questions something was found, where nobody judged what it is worth."""
    found = len(_questions_with_answers(report))
    if asked <= 1:
        return "Quotes on the question were found"
    every = "both questions" if asked == 2 else f"all {asked} questions"
    return f"Quotes on {every if found == asked else f'{found} of {asked} questions'} were found"


def _count_answers(report: Report, asked: int) -> str:
    """How many questions are answered, and of how many that is said with a reserve."""
    answered, in_part = len(_questions_with_answers(report)), sum(1 for each in report.sections if each.note == IN_PART)
    if asked <= 1:
        return f"The question is answered{' in part' if in_part else '' if answered else ' nowhere'}"
    every = "Both questions" if asked == 2 else f"All {asked} questions"
    which = every if answered == asked else f"{answered or 'None'} of {asked} questions"
    verb = "is" if which[:5] in {"1 of ", "None "} else "are"
    whole = "" if not in_part else " in part" if in_part == answered else f", {in_part} of them in part"
    return f"{which} {verb} answered{whole}"


def _analysis(report: Report) -> Iterator[Part]:
    if report.comparison:
        yield Heading("Comparison", 2)
        yield report.comparison
    features = (report.features,) if report.features else ()
    for title, blocks in (("Competitors", report.competitors), ("Features", features), ("SWOT", report.swot)):
        if blocks:
            yield Heading(title, 2)
        for block in blocks:
            if block.title not in {"", title}:
                yield Heading(block.title, 3)
            yield from _block(block)
    if report.contradictions:
        yield Heading("Sources disagree", 2)
        yield Disagreements(report.contradictions)


def _open(report: Report) -> Iterator[Part]:
    if report.unanswered:
        yield Heading("Not answered", 2)
        yield Points(report.unanswered)
    if report.further:
        yield Heading(FURTHER, 2)
        yield Points(report.further)


def _grounds(report: Report) -> Iterator[Part]:
    if report.charts:
        yield Heading("Figures", 2)
        yield from report.charts
    if report.missed:
        yield Heading("Not obtained", 2)
    groups = group_failures(report.missed)
    if sum(len(group.items) for group in groups) <= FEW and not any(group.more for group in groups):
        yield from (Points(tuple(item for group in groups for item in group.items)),) if groups else ()
    else:
        for group in groups:
            yield Heading(group.title, 3)
            yield Points(group.items, group.more)
    cited = tuple(each for each in report.sources if each.number)
    others = tuple(each for each in report.sources if not each.number)
    if cited:
        yield Heading("Sources", 2)
        yield Works(cited)
    if others:
        yield Heading("Read, but not cited", 2 if not cited else 3)
        named = tuple(f"{each.title} ({display_url(each.url)})" for each in others[:UNCITED])
        yield Points(named, max(0, len(others) - UNCITED))
    if reworded := tuple(dict.fromkeys(line for line in body(report) if line.quote)):
        yield Quotes("Words behind the sentences", reworded)
    if report.notes:
        yield Heading("How this report was made", 2)
        yield Points(report.notes)


def reading(listed: SourceEntry) -> str:
    """How a source was read, in a sentence for those who check it."""
    whole, part = listed.full_length, listed.characters
    said = [f"Published {shorten(listed.published, 40)}"] if listed.published else []
    said.append(f"read {when(listed.read_at)}")
    if part < whole:
        said.append(f"first {part:,} of {whole:,} characters")
    said.append(TIMES.get(listed.cited, f"cited {listed.cited} times"))
    text = "; ".join(said)
    return text[0].upper() + text[1:]


def when(moment: str) -> str:
    """An ISO time in UTC as people write it; what is none stays as it is."""
    day, _, time = shorten(moment, 40).partition("T")
    return f"{day} {time[:5]} UTC" if time else day


def more_items(more: int) -> str:
    """How a list goes on that is not shown whole."""
    return f"and {more:,} more"


def _block(block: ReportSection) -> Iterator[Part]:
    if block.lines:
        yield Passages(block.lines)
    if block.note:
        yield Remark(block.note)


def _plain(text: str) -> str:
    return flat(text).casefold().rstrip(" .")
