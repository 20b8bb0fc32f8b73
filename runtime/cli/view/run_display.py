"""Sees runs through in a terminal or a pipe: shows them while they go on, and turns Ctrl-C into a gentle end."""

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import Protocol, TextIO

from actors.workflow.outcome import Outcome
from actors.workflow.progress import ProgressEvent
from actors.workflow.tables import Workflow
from runtime.cli import Exit
from runtime.cli.view.board import PlainSeveral, PlainView, View
from runtime.cli.view.printing import can_redraw
from runtime.program import command
from runtime.settings import RunSettings

TICK_SECONDS = 0.1
SIGNALS = (signal.SIGINT, signal.SIGTERM)
GONE = (OSError, ValueError)
"""What writing raises when the terminal went away, or the stream was closed."""


def view_for(flow: Workflow, names: Sequence[str], limits: RunSettings, stream: TextIO) -> View:
    """
    The live view on a terminal, plain lines otherwise.

    :param flow: the table that runs go by.
    :param names: of the tickets, where they are several.
    """
    several = len(names) > 1
    if not can_redraw(stream):
        return PlainSeveral(names, stream) if several else PlainView(stream)
    from runtime.cli.view.live import BoardView, SeveralView

    return SeveralView(names, stream) if several else BoardView(flow, stream, limits.max_seconds, limits.max_handoffs)


class WatchableRun(Protocol):
    """A run in progress."""

    def watch(self, *, drafts: bool) -> AsyncIterator[ProgressEvent]: ...

    async def outcome(self) -> Outcome: ...

    def cancel(self) -> object: ...


@contextlib.asynccontextmanager
async def open_display(
    limits: RunSettings, flow: Workflow, names: Sequence[str] = (), *, quiet: bool = False
) -> AsyncIterator["Display"]:
    """Listen to Ctrl-C, and give what shows runs through to their outcomes."""
    view = View() if quiet else view_for(flow, names, limits, sys.stderr)
    display = Display(view)
    try:
        with listen_for_stop(view, limits.cancel_seconds) as stop:
            stop.on_first(display.cancel)
            yield display
    finally:
        await display.close()


class Display:
    """Shows one or several runs in progress."""

    def __init__(self, view: View) -> None:
        self.cancelled = False
        """Nothing more is to be begun."""
        self._view = view
        self._runs: list[WatchableRun] = []
        self._ticking = asyncio.ensure_future(self._tick())

    async def watch(self, run: WatchableRun, number: int = 0) -> Outcome:
        """Show a run through to its outcome. A terminal that went away must not harm it: then nothing is shown."""
        self._runs.append(run)
        if self.cancelled:
            run.cancel()
        with contextlib.suppress(*GONE):
            async for event in run.watch(drafts=self._view.shows_drafts):
                self._view.show(event, number)
        return await run.outcome()

    def cancel(self) -> None:
        self.cancelled = True
        for run in self._runs:
            run.cancel()

    async def close(self) -> None:
        """Take away what was drawn, so that results can take its place. May be called twice."""
        self._ticking.cancel()
        await asyncio.wait([self._ticking])
        with contextlib.suppress(*GONE):
            self._view.close()

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(TICK_SECONDS)
            with contextlib.suppress(*GONE):
                self._view.tick()


class Stop:
    """What Ctrl-C does: nothing to lose yet, a gentle end, an end at once."""

    def __init__(self, view: View, grace: float) -> None:
        self._view, self._grace = view, grace
        self._cancel: Callable[[], object] | None = None
        self._asked = False

    def on_first(self, cancel: Callable[[], object]) -> None:
        """From now on there is something that can be asked to end."""
        self._cancel = cancel
        if self._asked:
            cancel()

    def on_signal(self) -> None:
        if self._asked:
            with contextlib.suppress(*GONE):
                self._view.close()
                what = f"Stopped at once. What had not ended goes on with {command('resume')}."
                print(what, file=sys.stderr, flush=True)
            os._exit(Exit.CANCELLED)  # what is on disk is enough for `resume`; worker processes die with this one
        self._asked = True
        if self._cancel is not None:
            self._cancel()
        with contextlib.suppress(*GONE):
            self._view.note(
                f"Cancelling: agents have up to {self._grace:g} s to hand in what they have. "
                "Press Ctrl-C again to stop at once."
            )


@contextlib.contextmanager
def listen_for_stop(view: View, grace: float) -> Iterator[Stop]:
    """Listen to Ctrl-C and SIGTERM for as long as this is open."""
    loop, stop = asyncio.get_running_loop(), Stop(view, grace)
    for each in SIGNALS:
        loop.add_signal_handler(each, stop.on_signal)
    try:
        yield stop
    finally:
        for each in SIGNALS:
            loop.remove_signal_handler(each)
