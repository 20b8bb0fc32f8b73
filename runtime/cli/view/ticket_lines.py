"""Tickets as lines for people: the list of the latest, the head of one, the question that one asks. Pure."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from actors.text.catalogue import say
from actors.text.normalize import unescape_markdown
from runtime.cli.view.printing import Line
from runtime.cli.view.width import columns, fit, pad
from runtime.engine.run_record import Record
from runtime.times import ago, format_duration, local
from runtime.user_text import safe, spell_out

if TYPE_CHECKING:
    from runtime.storage.sqlite.purging import Found

STYLES = {
    "resolved": "good", "suggested": "unsure", "not_found": "poor", "error": "bad", "cancelled": "poor",
    "needs_input": "unsure", "running": "going", "interrupted": "bad",
}  # fmt: skip
MOST_ID = 40
"""Columns of the list: a longer id, which is rare, pushes its own row to the right."""
LEAST_QUESTION = 24
"""With less room beside the rest a question stands on a line of its own."""
QUESTION_COLUMNS = 320
"""As much of a question as is shown of one ticket, four lines; all of it is in `--json`."""
ASIDE_COLUMNS = 200


def table(rows: Sequence[tuple[Record, str]], now: float, width: int) -> Iterator[Line]:
    """
    Tickets, a row each.

    :param rows: each with what else is known of where it stands.
    :param now: seconds since 1970.
    :param width: columns of the terminal.
    """
    now_and_took = [
        (ago(each.started.timestamp(), now), "" if each.seconds is None else format_duration(each.seconds))
        for each, _ in rows
    ]
    ids = max(6, *(min(MOST_ID, columns(safe(each.ticket))) for each, _ in rows))
    statuses = max(6, *(len(spell_out(each.status)) for each, _ in rows))
    whens, tooks = (max(4, *map(len, each)) for each in zip(*now_and_took, strict=True))
    left = width - ids - statuses - whens - tooks - 8
    apart = left < LEAST_QUESTION
    head = f"{'ticket':<{ids}}  {'status':<{statuses}}  {'when':<{whens}}  {'took':>{tooks}}"
    yield Line(head if apart else f"{head}  question", "strong")
    for (each, stands), (when, took) in zip(rows, now_and_took, strict=True):
        ticket, status = pad(safe(each.ticket), ids), spell_out(each.status)
        row = f"{ticket}  {status:<{statuses}}  {when:<{whens}}  {took:>{tooks}}"
        said = ": ".join(filter(None, (stands, shortly(each))))
        if not apart:
            row = f"{row}  {fit(said, left)}"
        yield Line(row.rstrip(), spans=((len(ticket) + 2, len(ticket) + 2 + len(status), STYLES.get(each.status, "")),))
        if apart:
            yield Line(fit(said, max(width - 4, LEAST_QUESTION)), indent=4)


def head(record: Record, now: float, note: str = "", language: str = "") -> Iterator[Line]:
    """Which ticket it is, when it came, what it asks, and what was noted on it in its language."""
    start = f"Ticket {safe(record.ticket)}, run {safe(record.run)}: "
    status = spell_out(record.status)
    yield Line(start + status, "strong", spans=((len(start), len(start) + len(status), STYLES.get(record.status, "")),))
    started, asker = (
        record.started.timestamp(),
        f" by {fit(record.requester, ASIDE_COLUMNS)}" if record.requester else "",
    )
    created = record.created.timestamp()
    first = f", for the first time on {local(created)}" if started - created >= 1 else ""
    took = "" if record.seconds is None else f"; it took {format_duration(record.seconds)}"
    yield Line(f"Asked {_since(started, now)}{asker}{first}{took}.")
    if record.subject:
        yield Line(say("subject_line", language, subject=fit(record.subject, QUESTION_COLUMNS)))
    if record.question:
        yield Line(quote(record.question, QUESTION_COLUMNS))
    if note:
        yield Line(say("note_line", language, note=fit(unescape_markdown(note), ASIDE_COLUMNS)), "faint")


def question(record: "Record | Found") -> Line:
    """The question, for what is done to a ticket: nobody knows tickets by their ids."""
    return Line(quote(shortly(record), ASIDE_COLUMNS), indent=2)


def shortly(record: "Record | Found") -> str:
    """A ticket in a few words: its subject, then its first line."""
    first = next(filter(str.strip, record.question.splitlines()), "").strip()
    return ": ".join(filter(None, (record.subject, first)))


def quote(text: str, most: int) -> str:
    return f"“{fit(text, most)}”"


def _since(started: float, now: float) -> str:
    near, exact = ago(started, now), local(started)
    return f"on {exact}" if exact.startswith(near) else f"{near}, on {exact}"
