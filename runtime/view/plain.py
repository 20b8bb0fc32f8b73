"""Progress and results as plain lines: what pipes, files and terminals without rich get."""

import sys
import time
from collections.abc import Callable, Iterable
from typing import Protocol, TextIO, assert_never

from actors.outcome import AnswerRefused, HandoffMade, Progress, RunBegan, RunEnded
from runtime.view.report import Line
from runtime.wording import safe, spoken

HEARTBEAT_SECONDS = 5.0
"""After so long without a line a reader of a pipe may think that it hangs."""


class View(Protocol):
    """Shows a run on its way. Every method returns at once."""

    def show(self, event: Progress) -> None: ...

    def tick(self) -> None:
        """Some time passed."""

    def note(self, sentence: str) -> None:
        """Tell the user something besides."""

    def close(self) -> None:
        """Leave the terminal as it was. May be called twice."""


class Silent:
    """Shows nothing but what the user must know."""

    def show(self, event: Progress) -> None:
        """Not wanted."""

    def tick(self) -> None:
        """Nothing to refresh."""

    def note(self, sentence: str) -> None:
        print(safe(sentence), file=sys.stderr, flush=True)

    def close(self) -> None:
        """Nothing to put back."""


class PlainView:
    """One line for each event, and one now and then while nothing happens."""

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream, self._clock = stream, clock
        self._began = self._said = clock()
        self._agent = ""

    def show(self, event: Progress) -> None:
        if isinstance(event, HandoffMade):
            self._agent = event.target
        if text := sentence(event):
            self.note(text)

    def tick(self) -> None:
        if self._agent and self._clock() - self._said >= HEARTBEAT_SECONDS:
            self.note(f"{self._clock() - self._began:9.3f} s       {self._agent} is at work")

    def note(self, sentence: str) -> None:
        self._said = self._clock()
        print(safe(sentence), file=self._stream, flush=True)

    def close(self) -> None:
        """Nothing to put back."""


def sentence(event: Progress) -> str:
    """An event as a line; empty where the result says it anyway."""
    match event:
        case RunBegan():
            return f"Ticket {event.ticket}: {event.workflow} run {event.run} begins with {event.agent}"
        case HandoffMade():
            return f"{event.seconds:9.3f} s  {event.number:>3}  {event.source} → {event.target}  {spoken(event.reason)}"
        case AnswerRefused():
            return f"An answer of {event.sender} was refused: {event.reason}"
        case RunEnded():
            return ""
    assert_never(event)


def write(lines: Iterable[Line], stream: TextIO) -> None:
    """Print lines with nothing but their indentation."""
    for line in lines:
        print((" " * line.indent + safe(line.text)).rstrip(), file=stream)
