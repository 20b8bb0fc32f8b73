"""What came of a run, as lines for people and as JSON for programs. Pure; nothing in it can command a terminal."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from urllib.parse import quote

from actors.evidence.claims import Citation, Resolution
from actors.evidence.places import name_place
from actors.reporting.report import Report
from actors.text.normalize import sanitize_markdown
from actors.text.truncate import shorten
from actors.workflow.outcome import SENTENCES, EndReason, Handoff, Outcome
from runtime.cli import Exit
from runtime.cli.view.printing import Line, Link
from runtime.families import writes_report
from runtime.program import command
from runtime.user_text import pluralize, safe, spell_out

QUOTE_CHARACTERS = 400
NO_FILES: Mapping[str, str] = MappingProxyType({})

HEADLINES = {
    "resolved": ("Resolved", "good"),
    "suggested": ("Suggested: nobody has confirmed that it helps", "unsure"),
    "not_found": ("Not found in the sources", "poor"),
    "error": ("Stopped before it was finished", "bad"),
    "cancelled": ("Cancelled", "poor"),
}
JUDGEMENTS = {
    "confirmed": ("and a person confirmed that it helped", "good"),
    "rejected": ("but a person said that it did not help", "poor"),
    "taught": ("but a person has given another answer since", "poor"),
}
SUMMARIZER = "summarization"
REPORT_HEADLINES = {
    "resolved": ("The report answers the question", "good"),
    "suggested": ("The report quotes what was found; nobody has judged that it is complete", "unsure"),
    "cancelled": ("Cancelled: the report holds what was found so far", "poor"),
}
LIMITS = frozenset({
    EndReason.LOOP_DETECTED, EndReason.MAX_HANDOFFS_EXCEEDED, EndReason.TIMED_OUT, EndReason.STEP_TIMED_OUT,
    EndReason.ANSWERS_REFUSED,
})  # fmt: skip
EXITS = {"resolved": Exit.DONE, "suggested": Exit.DONE, "not_found": Exit.NOT_FOUND, "cancelled": Exit.CANCELLED}
BEST_FIRST = (Exit.DONE, Exit.NOT_FOUND, Exit.LIMIT, Exit.FAILED, Exit.BAD_INPUT, Exit.CANCELLED)


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

    :param judgement: what a person said of the answer since, `confirmed`, `rejected` or `taught`: another one.
    :param files: the paths of those sources of the answer that are files here.
    :param verbose: how it came to that before it, for the answer stands last: the handoffs and the summary.
    :param quotes: under each source the whole quote, also where it was just read.
    """
    if verbose:
        yield from handoffs(outcome.handoffs)
    if writes_report(outcome.workflow):
        yield from _describe_report(outcome, report, named=named)
        return
    if verbose and outcome.summary:
        yield from (Line("Summary", "strong"), Line(outcome.summary, indent=2), Line(""))
    headline, style = HEADLINES[outcome.status]
    if judgement and outcome.status in {"resolved", "suggested"}.union({"not_found"} if judgement == "taught" else ()):
        said, style = JUDGEMENTS[judgement]
        headline = f"{spell_out(outcome.status).capitalize()}, {said}"
    yield Line(headline, style)
    if outcome.summary and not verbose and SUMMARIZER not in {each.source for each in outcome.handoffs}:
        yield Line(outcome.summary)  # nobody summed up: it says how it came to an answer that others had before
    yield from _besides(outcome)
    if outcome.resolution is not None:
        yield Line("")
        if outcome.status not in {"resolved", "suggested"}:
            yield Line("What was found so far", "strong")
        yield from _describe_answer(outcome.resolution, files, quotes=quotes)
    yield Line("")
    yield from ending(outcome, named=named)


def _describe_report(outcome: Outcome, report: Report | None, *, named: bool) -> Iterator[Line]:
    """How it ended, and where to look next; what was found is the report."""
    known = REPORT_HEADLINES if outcome.resolution is not None else {}
    headline, style = known.get(outcome.status) or HEADLINES[outcome.status]
    yield Line(headline, style)
    failed = {each.place: each.detail for each in report.missed if each.reason == "source_failed"} if report else {}
    yield from _besides(outcome, failed)
    yield from ending(outcome, named=named)
    ticket = safe(outcome.ticket)
    if outcome.status == "not_found":
        yield Line(f"{command('doctor')} shows which sources are configured, and how to add others.", "faint")
    elif report is not None:
        yield Line(f"As a page: {command(f'report {ticket} --out report.html')}, or .docx, .pdf, .md.", "faint")


def _besides(outcome: Outcome, failed: Mapping[str, str] = MappingProxyType({})) -> Iterator[Line]:
    """
    What was not as it should be.

    :param failed: what else is known of that which was unavailable.
    """
    if outcome.detail and outcome.detail != SENTENCES[EndReason.CANCELLED]:
        yield Line(outcome.detail)
    if outcome.degraded:
        yield Line(outcome.degraded, "poor")
    for missing in outcome.unavailable:
        yield Line(failed.get(missing) or f"Unavailable: {missing}", "poor")


def _describe_answer(resolution: Resolution, files: Mapping[str, str], *, quotes: bool) -> Iterator[Line]:
    """The text, in which a place leads to where it stands; then the sources that it did not name itself."""
    places = {name_place(citation): citation for citation in resolution.citations}
    named: set[int] = set()
    for paragraph in resolution.text.splitlines():
        place = places.get(paragraph)
        if place is None:
            yield Line(paragraph)
        else:
            named.add(place.number)
            yield Line(paragraph, "strong", link=_link(place, files))
    left = [each for each in resolution.citations if quotes or each.number not in named]
    yield from _sources(resolution, left, quotes=quotes)


def _link(citation: Citation, files: Mapping[str, str]) -> Link:
    """Where a citation's source can be opened, and how that is written where nothing can be clicked."""
    path, anchor = files.get(citation.source, ""), f"#{citation.anchor}" if citation.anchor else ""
    address = (path or citation.source) + anchor
    if path:
        return Link(Path(path).as_uri() + quote(anchor, safe="#"), address)
    return Link(address if citation.source.startswith(("https://", "http://")) else "", address)


def _sources(resolution: Resolution, citations: Sequence[Citation], *, quotes: bool) -> Iterator[Line]:
    """
    Where it stands, and the heading and the words there unless they were just read.

    :param quotes: the words of each in any case, and all of them.
    """
    if citations:
        yield Line("")
        yield Line("Sources", "strong")
    said = _flat(resolution.text)
    for citation in citations:
        where = citation.source + (f"#{citation.anchor}" if citation.anchor else "")
        titles = [] if citation.heading.startswith(citation.title) else [citation.title]
        headings = [part for part in (*titles, citation.heading) if part and _flat(sanitize_markdown(part)) not in said]
        yield Line(f"[{citation.number}] {where}" + (f"  {' · '.join(headings)}" if headings else ""), indent=2)
        if quotes:
            yield Line(f"“{_flat(citation.quote)}”", "quote", 6)
        elif _flat(sanitize_markdown(citation.quote)) not in said:
            yield Line(f"“{shorten(citation.quote, QUOTE_CHARACTERS)}”", "quote", 6)


def _flat(text: str) -> str:
    return " ".join(text.split())


def handoffs(made: tuple[Handoff, ...]) -> Iterator[Line]:
    """The handoff sequence."""
    if not made:
        return
    yield Line(f"Handoffs ({len(made)})", "strong")
    left = max(len(safe(each.source)) for each in made)
    right = max(len(safe(each.target)) for each in made)
    for number, each in enumerate(made, 1):
        route = f"{safe(each.source):>{left}} → {safe(each.target):<{right}}"
        yield Line(f"{number:>3}  {each.at:8.3f} s  {route}  {spell_out(each.reason)}", "faint", 1)
    yield Line("")


def ending(outcome: Outcome, *, named: bool = True) -> Iterator[Line]:
    """Why it ended, by whom, and what it cost; which ticket it is where nothing above says so."""
    by = f"Closed by {outcome.by}" if outcome.by else "Cut off, with nobody to close it,"
    why = "" if outcome.why is EndReason.COMPLETED else f": {spell_out(outcome.why)}"
    style = "faint" if outcome.why is EndReason.COMPLETED else ""
    yield Line(f"{by} after {outcome.seconds:.2f} s and {pluralize(len(outcome.handoffs), 'handoff')}{why}.", style)
    spent, parts = outcome.spent, []
    if spent.calls:
        about = "about " if spent.estimated else ""
        parts.append(
            f"{pluralize(spent.calls, 'model call')}, {about}{spent.tokens_in:,} tokens in, {spent.tokens_out:,} out"
        )
    if outcome.refused:
        parts.append(pluralize(outcome.refused, "message") + " refused")
    if parts:
        yield Line("; ".join(parts) + ".", "faint")
    if named:
        yield Line(f"Ticket {outcome.ticket}, run {outcome.run}.", "faint")
