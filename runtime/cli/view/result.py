"""What came of a run, as lines for people and as JSON for programs. Pure; nothing in it can command a terminal."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from urllib.parse import quote

from actors.evidence.claims import Citation, Resolution
from actors.evidence.places import name_place
from actors.reporting.report import Report
from actors.text.catalogue import every_form, say, say_count, say_name, say_step
from actors.text.normalize import sanitize_markdown, unescape_markdown
from actors.text.truncate import shorten
from actors.workflow.outcome import EndReason, Handoff, Outcome, Question, explain_incomplete, say_headline
from runtime.cli import Exit
from runtime.cli.view.printing import Line, Link
from runtime.families import writes_report
from runtime.program import command
from runtime.user_text import safe, spell_out

RULE = "| ---"


def unfold_tables(text: str) -> str:
    """The text with each Markdown table row by row: what its first cell names, then each column with its cell."""
    lines = text.split("\n")
    return "\n".join(_unfold(lines))


def _unfold(lines: Sequence[str]) -> Iterator[str]:
    head: list[str] = []
    for line, below in zip(lines, [*lines[1:], ""], strict=True):
        if not line.startswith("| "):
            head = []
            yield line
        elif below.startswith(RULE):
            head = _split(line)
        elif not head:
            yield line
        elif not line.startswith(RULE):
            name, *cells = _split(line)
            yield name
            yield from (f"  {column}: {cell}" for column, cell in zip(head[1:], cells, strict=False))
            yield ""


def _split(row: str) -> list[str]:
    return [each.strip() for each in row.strip().strip("|").split(" | ")]


def describe_questions(outcome: Outcome) -> Iterator[Line]:
    """The questions of an outcome, numbered, and the command that answers them; nothing when there are none."""
    if not outcome.questions:
        return
    yield Line("")
    if outcome.status != "needs_input":
        yield Line(say("still_missing", outcome.language), "strong")
    for number, each in enumerate(outcome.questions, 1):
        yield Line(f"{number}. {each.name}: {each.ask}", indent=2)
        if hint := describe_form(each, outcome.language):
            yield Line(hint, "faint", 5)
    if outcome.status == "needs_input":
        answers = command(f"answer {safe(outcome.ticket)}")
        yield Line(say("answer_them", outcome.language, command=answers), "strong")


def describe_form(question: Question, language: str) -> str:
    """What an answer looks like, as far as the question says."""
    parts = (
        say("question_choices", language, choices=", ".join(question.choices)) if question.choices else "",
        say("question_example", language, example=question.example) if question.example else "",
        say("question_optional", language) if question.optional else "",
    )
    return "; ".join(filter(None, parts))


QUOTE_CHARACTERS = 400
NO_FILES: Mapping[str, str] = MappingProxyType({})

HEADLINES = {
    "resolved": "good", "suggested": "unsure", "not_found": "poor", "needs_input": "unsure", "error": "bad",
    "cancelled": "poor",
}  # fmt: skip
"""How a status is shown; what it says stands in the catalogue, and so with the next two."""
JUDGEMENTS = {"confirmed": "good", "confirmed_place": "good", "rejected": "poor", "taught": "poor"}
REPORT_HEADLINES = {"resolved": "good", "suggested": "unsure", "cancelled": "poor"}
SUMMARIZER = "summarization"
LIMITS = frozenset({
    EndReason.LOOP_DETECTED, EndReason.MAX_HANDOFFS_EXCEEDED, EndReason.TIMED_OUT, EndReason.STEP_TIMED_OUT,
    EndReason.ANSWERS_REFUSED, EndReason.ASKED_TOO_OFTEN,
})  # fmt: skip
EXITS = {
    "resolved": Exit.DONE, "suggested": Exit.DONE, "not_found": Exit.NOT_FOUND, "needs_input": Exit.NEEDS_INPUT,
    "cancelled": Exit.CANCELLED,
}  # fmt: skip
BEST_FIRST = (
    Exit.DONE, Exit.NEEDS_INPUT, Exit.NOT_FOUND, Exit.DIFFERS, Exit.LIMIT, Exit.FAILED, Exit.BAD_INPUT, Exit.CANCELLED,
)  # fmt: skip


def exit_status(outcome: Outcome) -> Exit:
    """What `submit` returns for an outcome."""
    if outcome.status in EXITS:
        return EXITS[outcome.status]
    if outcome.why is EndReason.CANCEL_FORCED:
        return Exit.CANCELLED
    return Exit.LIMIT if outcome.why in LIMITS else Exit.FAILED


def worst(statuses: Iterable[Exit]) -> Exit:
    """The exit status of several tickets: that of the one that went worst."""
    return max(statuses, key=BEST_FIRST.index, default=Exit.DONE)


def lines(
    outcome: Outcome, report: Report | None = None, judgement: str = "", files: Mapping[str, str] = NO_FILES, *,
    verbose: bool = False, named: bool = True, quotes: bool = False,
) -> Iterator[Line]:  # fmt: skip
    """
    How it stands, the resolution, its sources, and why it ended; of a run that writes a report, all but that.

    :param judgement: what a person said of the answer since, as `TicketMemory.judgement` names it.
    :param files: the paths of those sources of the answer that are files here.
    :param verbose: how it came to that before it, for the answer stands last: the handoffs and the summary.
    :param quotes: under each source the whole quote, also where it was just read.
    """
    language = outcome.language
    if verbose:
        yield from handoffs(outcome.handoffs, language)
    if writes_report(outcome.workflow):
        yield from _describe_report(outcome, report, named=named)
        return
    if verbose and outcome.summary:
        yield Line(say("summary", language), "strong")
        yield Line(unescape_markdown(outcome.summary), indent=2)
        yield Line("")
    headline, style = say_headline(outcome, language), HEADLINES[outcome.status]
    if judgement and outcome.status in {"resolved", "suggested"}.union({"not_found"} if judgement == "taught" else ()):
        status, said = say(f"status_{outcome.status}", language), say(f"judged_{judgement}", language)
        headline, style = say("judged", language, status=status, said=said), JUDGEMENTS[judgement]
    yield Line(headline, style)
    whole = " ".join(outcome.resolution.text.split()) if outcome.resolution else ""
    summed_up = SUMMARIZER in {each.source for each in outcome.handoffs}
    if outcome.summary not in {"", whole, outcome.detail} and not verbose and not summed_up:
        yield Line(unescape_markdown(outcome.summary))  # nobody summed up: it says whose answer it is
    yield from _besides(outcome)
    yield from describe_questions(outcome)
    if outcome.resolution is not None:
        yield Line("")
        if outcome.status not in {"resolved", "suggested"}:
            yield Line(say("found_so_far", language), "strong")
        yield from _describe_answer(outcome.resolution, files, language, quotes=quotes)
    yield Line("")
    yield from ending(outcome, named=named)


def _describe_report(outcome: Outcome, report: Report | None, *, named: bool) -> Iterator[Line]:
    """How it ended, and where to look next; what was found is the report."""
    language = outcome.language
    if outcome.resolution is not None and outcome.status in REPORT_HEADLINES:
        yield Line(say(f"report_{outcome.status}", language), REPORT_HEADLINES[outcome.status])
    else:
        yield Line(say_headline(outcome, language), HEADLINES[outcome.status])
    yield from _besides(outcome)
    yield from describe_questions(outcome)
    yield from ending(outcome, named=named)
    ticket = safe(outcome.ticket)
    if outcome.status == "not_found":
        yield Line(say("configured_sources", language, command=command("doctor")), "faint")
    elif report is not None:
        page = command(f"report {ticket} --out report.html")
        yield Line(say("as_a_page", language, command=page), "faint")


def _besides(outcome: Outcome) -> Iterator[Line]:
    """What was not as it should be."""
    if outcome.detail and outcome.detail not in every_form("end_cancelled"):
        yield Line(unescape_markdown(outcome.detail))
    if outcome.degraded:
        yield Line(say_name(outcome.degraded, outcome.language), "poor")
    if lacks := explain_incomplete(outcome, outcome.language):
        yield Line(lacks, "poor")
    for missing in outcome.unavailable:
        yield Line(say("unavailable", outcome.language, what=missing), "poor")


def _describe_answer(
    resolution: Resolution, files: Mapping[str, str], language: str, *, quotes: bool
) -> Iterator[Line]:
    """The text, in which a place leads to where it stands; then the sources that it did not name itself."""
    given = not resolution.citations  # by a person, whose words are shown as they are
    places = {unescape_markdown(name_place(citation)): citation for citation in resolution.citations}
    named: set[int] = set()
    for paragraph in (resolution.text if given else unescape_markdown(unfold_tables(resolution.text))).splitlines():
        place = places.get(paragraph)
        if place is None:
            yield Line(paragraph)
        else:
            named.add(place.number)
            yield Line(paragraph, "strong", link=_link(place, files))
    left = [each for each in resolution.citations if quotes or each.number not in named]
    yield from _sources(resolution, left, language, quotes=quotes)


def _link(citation: Citation, files: Mapping[str, str]) -> Link:
    """Where a citation's source can be opened, and how that is written where nothing can be clicked."""
    path, anchor = files.get(citation.source, ""), f"#{citation.anchor}" if citation.anchor else ""
    address = (path or citation.source) + anchor
    if path:
        return Link(Path(path).as_uri() + quote(anchor, safe="#"), address)
    return Link(address if citation.source.startswith(("https://", "http://")) else "", address)


def _sources(resolution: Resolution, citations: Sequence[Citation], language: str, *, quotes: bool) -> Iterator[Line]:
    """
    Where it stands, and the heading and the words there unless they were just read.

    :param quotes: the words of each in any case, and all of them.
    """
    if citations:
        yield Line("")
        yield Line(say("sources", language), "strong")
    said = _flat(resolution.text)
    shown: dict[str, list[int]] = {}
    for citation in citations:
        where = citation.source + (f"#{citation.anchor}" if citation.anchor else "")
        titles = [] if citation.heading.startswith(citation.title) else [citation.title]
        headings = [part for part in (*titles, citation.heading) if part and _flat(sanitize_markdown(part)) not in said]
        place = where + (f"  {' · '.join(headings)}" if headings else "")
        if not quotes and _flat(sanitize_markdown(citation.quote)) in said:
            shown.setdefault(place, []).append(citation.number)
            continue
        yield Line(f"[{citation.number}] {place}", indent=2)
        words = _flat(citation.quote) if quotes else shorten(citation.quote, QUOTE_CHARACTERS)
        yield Line(f"“{words}”", "quote", 6)
    for place, numbers in shown.items():
        yield Line(f"{''.join(f'[{number}]' for number in numbers)} {place}", indent=2)


def _flat(text: str) -> str:
    return " ".join(text.split())


def handoffs(made: tuple[Handoff, ...], language: str = "") -> Iterator[Line]:
    """The handoff sequence."""
    if not made:
        return
    yield Line(say("handoffs_made", language, made=len(made)), "strong")
    left = max(len(safe(each.source)) for each in made)
    right = max(len(safe(each.target)) for each in made)
    for number, each in enumerate(made, 1):
        route = f"{safe(each.source):>{left}} → {safe(each.target):<{right}}"
        yield Line(f"{number:>3}  {each.at:8.3f} s  {route}  {say_step(spell_out(each.reason), language)}", "faint", 1)
    yield Line("")


def ending(outcome: Outcome, *, named: bool = True) -> Iterator[Line]:
    """Why it ended, by whom, and what it cost; which ticket it is where nothing above says so."""
    language, made = outcome.language, say_count("handoffs", outcome.language, len(outcome.handoffs))
    why = "" if outcome.why is EndReason.COMPLETED else f": {say(f'why_{outcome.why}', language)}"
    by = {"agent": outcome.by} if outcome.by else {}
    key = "closed_by" if outcome.by else "closed_by_nobody"
    style = "faint" if outcome.why is EndReason.COMPLETED else ""
    yield Line(say(key, language, seconds=float(outcome.seconds), handoffs=made, why=why, **by), style)
    spent, parts = outcome.spent, []
    if spent.calls:
        calls, used = say_count("model_calls", language, spent.calls), "spent_about" if spent.estimated else "spent"
        parts.append(say(used, language, calls=calls, tokens_in=spent.tokens_in, tokens_out=spent.tokens_out))
    if outcome.refused:
        parts.append(say_count("messages_refused", language, outcome.refused))
    if parts:
        yield Line("; ".join(parts) + ".", "faint")
    if named:
        yield Line(say("ticket_and_run", language, ticket=outcome.ticket, run=outcome.run), "faint")
