"""Progress and results as plain lines: what pipes, files and terminals without rich get."""

import sys
import time
from collections.abc import Callable
from typing import TextIO, assert_never

from actors.workflow.outcome import AnswerReady, AnswerRefused, HandoffMade, RunBegan, RunEnded, RunEvent
from actors.workflow.progress import (
    HEARTBEAT_SECONDS,
    AgentSelected,
    AnswerText,
    DraftChecked,
    Progress,
    ProgressEvent,
    RoundBegan,
    StageProgress,
    StatusChanged,
    fold,
)
from runtime.cli.view.activity_lines import describe_activity
from runtime.cli.view.round_lines import describe_changes, enters_stage, standing
from runtime.user_text import safe, spell_out

ITEM_SECONDS = 0.1
"""Items that are completed closer together are told together."""


class View:
    """Shows runs on their way; this one nothing but what the user must know. Every method returns at once."""

    shows_drafts = False
    """Whether answers are shown while they are being written."""

    def show(self, event: ProgressEvent, number: int = 0) -> None:
        """Something happened on the ticket of this number, from 0."""

    def tick(self) -> None:
        """Some time passed."""

    def note(self, sentence: str) -> None:
        """Tell the user something besides."""
        print(safe(sentence), file=sys.stderr, flush=True)

    def close(self) -> None:
        """Leave the terminal as it was. May be called twice."""


class PlainView(View):
    """One line for each event, and one now and then while nothing happens."""

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream, self._clock = stream, clock
        self._began = self._said = clock()
        self._agent = self._language = ""
        self._reached = 0.0
        """Seconds into the run, as it counts them: a line never has an earlier time than the handoff above it."""
        self._board = Progress()
        self._staged = False
        """It is told by its stages instead of its handoffs."""
        self._held = ""
        """An item that was completed too soon after another to be a line of its own."""

    def show(self, event: ProgressEvent, number: int = 0) -> None:  # noqa: ARG002 - there is one run
        if isinstance(event, AnswerText | DraftChecked):
            return  # a line cannot be taken back, and nobody has checked it
        if isinstance(event, RunBegan):
            self._began, self._language = self._clock(), event.language
        if isinstance(event, HandoffMade):
            self._agent, self._reached = event.target, event.seconds
        self._staged = self._staged or enters_stage(event)
        at = self._clock() - self._began
        before, self._board = self._board, fold(self._board, event, at)
        told = self._staged and isinstance(event, HandoffMade)
        if isinstance(event, StatusChanged | AgentSelected):
            self.note(f"{max(at, self._reached):9.3f} s       {describe_activity(event, self._language)}")
        elif not isinstance(event, StageProgress | RoundBegan) and not told and (text := sentence(event)):
            self.note(text)
        for line, now in describe_changes(before, self._board, event, at):
            if now or self._clock() - self._said >= ITEM_SECONDS:
                self.note(line)
            else:
                self._held = line
        if isinstance(event, RunEnded):
            self._release()

    def tick(self) -> None:
        silent = self._clock() - self._said
        if self._held and silent >= ITEM_SECONDS:
            self._release()
        elif silent >= HEARTBEAT_SECONDS and self._agent:
            at = self._clock() - self._began
            self.note(standing(self._board, at) or f"{at:9.3f} s       {self._agent} is at work")

    def note(self, sentence: str) -> None:
        self._release()
        self._said = self._clock()
        print(safe(sentence), file=self._stream, flush=True)

    def _release(self) -> None:
        """Say the last item that was held back; those before it are in its count."""
        if line := self._held:
            self._held = ""
            self.note(line)


def sentence(event: RunEvent) -> str:
    """An event as a line; empty where the result says it anyway."""
    match event:
        case RunBegan():
            return f"Ticket {event.ticket}: {event.workflow} run {event.run} begins with {event.agent}"
        case HandoffMade():
            return (
                f"{event.seconds:9.3f} s  {event.number:>3}  {event.source} → {event.target}  {spell_out(event.reason)}"
            )
        case AnswerRefused():
            return f"An answer of {event.sender} was refused: {event.reason}"
        case AnswerReady():
            return "The answer is there; what is left is the note on the ticket."
        case RunEnded():
            return ""
    assert_never(event)
