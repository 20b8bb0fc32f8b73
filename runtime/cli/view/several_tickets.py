"""Several tickets that are worked on side by side: a row for each, as a fold of their progress, and as plain lines."""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TextIO

import msgspec

from actors.workflow.outcome import HandoffMade, RunBegan, RunEnded
from actors.workflow.progress import HEARTBEAT_SECONDS, AgentSelected, ProgressEvent, StageProgress, StatusChanged
from actors.workflow.tables import ORCHESTRATOR
from runtime.cli.view.activity_lines import describe_activity
from runtime.cli.view.plain_lines import View
from runtime.cli.view.ticket_board import Mark
from runtime.times import format_duration
from runtime.user_text import pluralize, safe, spell_out


class Row(msgspec.Struct, frozen=True, gc=False):
    """One of the tickets."""

    name: str
    """Of its file."""
    mark: Mark = "pending"
    ticket: str = ""
    doing: str = ""
    """Who is at work, or at which stage it is; then how it ended."""
    began: float = 0.0
    """Seconds since the first was begun."""
    seconds: float = 0.0
    """How long it took, as soon as it is over."""
    language: str = ""
    """Of the ticket."""


def fold(row: Row, event: ProgressEvent, at: float) -> Row:
    """The row after one more event, which came so many seconds after the first ticket was begun."""
    replace = msgspec.structs.replace
    match event:
        case RunBegan(ticket=ticket, language=language):
            return replace(row, mark="running", ticket=ticket, language=language, began=at)
        case HandoffMade(target=target) if target != ORCHESTRATOR:
            return replace(row, doing=target)
        case StageProgress(stage=stage):
            return replace(row, doing=spell_out(stage))
        case StatusChanged() | AgentSelected():
            return replace(row, doing=describe_activity(event, row.language))
        case RunEnded(outcome=outcome):
            mark: Mark = "failed" if outcome.status in {"error", "cancelled"} else "completed"
            return replace(row, mark=mark, doing=spell_out(outcome.status), seconds=outcome.seconds)
        case _:
            return row


def short(names: Sequence[str]) -> list[str]:
    """Files without their folders, where that tells them apart."""
    last = [Path(name).name or name for name in names]
    return last if len(set(last)) == len(last) else list(names)


def tally(rows: Iterable[Row]) -> str:
    """`3 tickets: 1 done, 2 going on, 0 waiting`."""
    rows = list(rows)
    marks = Counter(row.mark for row in rows)
    done = marks["completed"] + marks["failed"]
    return f"{pluralize(len(rows), 'ticket')}: {done} done, {marks['running']} going on, {marks['pending']} waiting"


def room_for(rows: Sequence[Row], most: int) -> list[Row]:
    """As many rows as have room: what goes on first, then what ended last, then what waits; in their order."""
    rank = {"running": 0, "failed": 1, "completed": 1}
    order = sorted(range(len(rows)), key=lambda n: (rank.get(rows[n].mark, 2), -rows[n].began, n))
    return [rows[n] for n in sorted(order[:most])]


class PlainSeveral(View):
    """A line when a ticket is begun and when it has ended, and one now and then while nothing happens."""

    def __init__(self, names: Sequence[str], stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream, self._clock = stream, clock
        self._began = self._said = clock()
        self._rows = [Row(name) for name in names]

    def show(self, event: ProgressEvent, number: int = 0) -> None:
        row = self._rows[number] = fold(self._rows[number], event, self._clock() - self._began)
        if isinstance(event, RunBegan):
            self.note(f"{row.name}: ticket {row.ticket} begins")
        elif isinstance(event, RunEnded):
            self.note(f"{row.name}: {row.doing} after {format_duration(row.seconds)}")

    def tick(self) -> None:
        if self._clock() - self._said >= HEARTBEAT_SECONDS:
            self.note(tally(self._rows))

    def note(self, sentence: str) -> None:
        self._said = self._clock()
        print(safe(sentence), file=self._stream, flush=True)
