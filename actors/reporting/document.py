"""
A report as a list of parts, in the order of reading: what every output format renders, each in its own way. Pure.

Words of ours and words of sources come in different parts; every format escapes both.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec

from actors.reporting.failed_sources import group_failures
from actors.reporting.links import display_url
from actors.reporting.report import Chart, Report, ReportSection, ReportSentence, SourceEntry, Table, body
from actors.text.catalogue import every_form, say, say_count
from actors.text.source_text import flat
from actors.text.truncate import shorten

UNCITED = 20
TIMES = {1: "cited_once", 2: "cited_twice"}
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
        yield Remark(say("question_line", report.language, question=report.question))
    yield Remark(in_short(report))
    if report.partial:
        yield Remark(say("partial", report.language, why=report.partial), warns=True)
    yield from _findings(report)
    yield from _analysis(report)
    yield from _open(report)
    yield from _grounds(report)


def _findings(report: Report) -> Iterator[Part]:
    """What was found at the top: an overview, or else the best passage of each question; then the rest of it."""
    language = report.language
    answers = [each for each in report.sections if not each.aside]
    if not any(body(report)):
        yield Heading(say("found", language), 2)
        yield Remark(_explain_nothing(report))
    elif report.overview:
        yield Heading(say("found", language), 2)
        yield Passages(report.overview, running=True)
        for block in answers:
            is_title = _plain(block.title) == _plain(report.title)  # it need not be read twice
            yield Heading(say("answer", language) if is_title else block.title, 2)
            yield from _block(block)
    elif answers:
        yield Heading(say("found", language), 2)
        yield from _under_questions([_cut(block, 0, _lead(block)) for block in answers], named=bool(report.unanswered))
        if rest := [_cut(block, _lead(block)) for block in answers if len(block.lines) > _lead(block)]:
            yield Heading(say("further_passages", language), 2)
            yield from _under_questions(rest, named=len(answers) > 1)
    if asides := [each for each in report.sections if each.aside]:
        yield Heading(say("beside", language), 2)
        yield from _under_questions(asides, named=True)


def _under_questions(blocks: Sequence[ReportSection], *, named: bool = False) -> Iterator[Part]:
    """Each under its question, unless there is but one, which the title names."""
    for block in blocks:
        if named or len(blocks) > 1:
            yield Heading(block.title, 3)
        yield from _block(block)


def _lead(block: ReportSection) -> int:
    """How many of its lines are read first: all that somebody wrote, of quotes the best."""
    return len(block.lines) if any(line.quote for line in block.lines) else 1


def _cut(block: ReportSection, start: int, end: int | None = None) -> ReportSection:
    return msgspec.structs.replace(block, lines=block.lines[start:end], note="" if start else block.note)


def _explain_nothing(report: Report) -> str:
    if report.sources:
        return say("nothing_found_so_far" if report.partial else "nothing_found", report.language)
    if report.missed:
        return say("nothing_read", report.language)
    return say("nothing_read_in_time" if report.partial else "no_hits", report.language)


def in_short(report: Report) -> str:
    """Who speaks, how old it is, and how sure it is, in one line."""
    said, language = tuple(body(report)), report.language
    written = any(line.quote for line in said)
    read, cited = len(report.sources), sum(1 for each in report.sources if each.number)
    day = max((when(each.read_at).partition(" ")[0] for each in report.sources), default="")
    mode = "nothing_to_cite" if not said else "by_a_model" if written else "in_source_words"
    found = [say(mode, language), say("read_on", language, day=day) if day else ""]
    found += [say_count("pages_cited", language, read, cited=cited)] if read else []
    if said:
        found += [_count_answers(report)] if written else [_count_passages(report), say("unjudged", language)]
    return " · ".join(filter(None, found))


def _questions(report: Report) -> tuple[int, int, int]:
    """How many questions there are, on how many of them something of their own was found, and in part only."""
    answers = [each for each in report.sections if not each.aside]
    cells = [
        cell for row in (report.comparison.rows if report.comparison else ()) for cell in row[1:] if not cell.short
    ]
    found = sum(bool(each.lines) for each in answers) + sum(bool(cell.numbers) for cell in cells)
    empty = {_plain(each.title) for each in answers if not each.lines}
    asked = found + len(empty) + len(report.unanswered)
    return asked, found, sum(each.note in every_form("in_part") for each in answers)


def _count_passages(report: Report) -> str:
    asked, found, _ = _questions(report)
    if asked <= 1:
        return say("closest_passages", report.language)
    return say("closest_passages_for", report.language, found=found, asked=asked)


def _count_answers(report: Report) -> str:
    asked, found, in_part = _questions(report)
    if asked <= 1:
        return say("answered_in_part" if in_part else "answered", report.language)
    if not in_part:
        return say("questions_answered", report.language, found=found, asked=asked)
    return say("questions_answered_in_part", report.language, found=found, asked=asked, part=in_part)


def _analysis(report: Report) -> Iterator[Part]:
    language = report.language
    if report.comparison:
        yield Heading(say("comparison", language), 2)
        yield report.comparison
    features = (report.features,) if report.features else ()
    for key, blocks in (("competitors", report.competitors), ("features", features), ("swot", report.swot)):
        title = say(key, language)
        if blocks:
            yield Heading(title, 2)
        for block in blocks:
            if block.title not in {"", title}:
                yield Heading(block.title, 3)
            yield from _block(block)
    if report.contradictions:
        yield Heading(say("sources_disagree", language), 2)
        yield Disagreements(report.contradictions)


def _open(report: Report) -> Iterator[Part]:
    if report.unanswered:
        yield Heading(say("not_answered", report.language), 2)
        yield Points(report.unanswered)
    if report.further:
        yield Heading(say("further", report.language), 2)
        yield Points(report.further)


def _grounds(report: Report) -> Iterator[Part]:
    language = report.language
    if report.charts:
        yield Heading(say("figures", language), 2)
        yield from report.charts
    if report.missed:
        yield Heading(say("not_obtained", language), 2)
    groups = group_failures(report.missed, language)
    if sum(len(group.items) for group in groups) <= FEW and not any(group.more for group in groups):
        yield from (Points(tuple(item for group in groups for item in group.items)),) if groups else ()
    else:
        for group in groups:
            yield Heading(group.title, 3)
            yield Points(group.items, group.more)
    cited = tuple(each for each in report.sources if each.number)
    others = tuple(each for each in report.sources if not each.number)
    if cited:
        yield Heading(say("sources", language), 2)
        yield Works(cited)
    if others:
        yield Heading(say("read_not_cited", language), 2 if not cited else 3)
        named = tuple(f"{each.title} ({display_url(each.url)})" for each in others[:UNCITED])
        yield Points(named, max(0, len(others) - UNCITED))
    if reworded := tuple(dict.fromkeys(line for line in body(report) if line.quote)):
        yield Quotes(say("words_behind", language), reworded)
    if report.notes:
        yield Heading(say("how_made", language), 2)
        yield Points(report.notes)
    if cited:
        yield Heading(say("appendix", language), 2)
        yield Points(tuple(f"{each.number}: {each.sha256}" for each in cited))


def reading(listed: SourceEntry, language: str) -> str:
    """How a source was read, in a sentence for those who check it."""
    whole, part = listed.full_length, listed.characters
    said = [say("published", language, date=shorten(listed.published, 40))] if listed.published else []
    said.append(say("read_at", language, moment=when(listed.read_at)))
    if part < whole:
        said.append(say("first_characters", language, part=part, whole=whole))
    times = TIMES.get(listed.cited)
    said.append(say(times, language) if times else say("cited_times", language, times=listed.cited))
    text = say("joined_by", language).join(said)
    return text[0].upper() + text[1:] + say("full_stop", language)


def when(moment: str) -> str:
    """An ISO time in UTC as people write it; what is none stays as it is."""
    day, _, time = shorten(moment, 40).partition("T")
    return f"{day} {time[:5]} UTC" if time else day


def more_items(more: int, language: str) -> str:
    """How a list goes on that is not shown whole."""
    return say("more", language, more=more)


def _block(block: ReportSection) -> Iterator[Part]:
    if block.lines:
        yield Passages(block.lines, running=all(line.quote for line in block.lines))
    if block.note:
        yield Remark(block.note)


def _plain(text: str) -> str:
    return flat(text).casefold().rstrip(" .")
