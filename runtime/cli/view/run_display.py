"""Sees a run through in a terminal or a pipe: shows it while it goes on, and turns Ctrl-C into a gentle end."""

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from importlib.util import find_spec
from typing import Protocol, TextIO

from actors.helpdesk.workflow import HELPDESK
from actors.workflow.outcome import Outcome
from actors.workflow.progress import ProgressEvent
from runtime.cli import Exit
from runtime.cli.view.plain_lines import PlainView, Silent, View
from runtime.cli.view.result import Line
from runtime.cli.view.several_tickets import PlainTogether, SilentTogether, Together
from runtime.program import command
from runtime.settings import RunSettings, Settings

TICK_SECONDS = 0.1
PIPE_COLUMNS = 120
SIGNALS = (signal.SIGINT, signal.SIGTERM)
GONE = (OSError, ValueError)
"""What writing raises when the terminal went away, or the stream was closed."""


def view_for(limits: RunSettings, stream: TextIO, *, research: bool = False) -> View:
    """The live view on a terminal, plain lines otherwise."""
    if not can_redraw(stream):
        return PlainView(stream)
    from runtime.cli.view.live import LiveView, RoundsView
    from runtime.cli.view.ticket_board import board

    if research:
        return RoundsView(stream, limits.max_seconds)
    return LiveView(board(HELPDESK), stream, limits.max_seconds, limits.max_handoffs)


def write(lines: Iterable[Line], stream: TextIO) -> None:
    """Print a result: wrapped and coloured on a terminal, plain otherwise."""
    if can_redraw(stream):
        from runtime.cli.view.live import write as write_live

        write_live(lines, stream)
    else:
        from runtime.cli.view.plain_lines import write as write_plain

        write_plain(lines, stream)


def can_redraw(stream: TextIO) -> bool:
    """Whether lines can be drawn over on it."""
    return stream.isatty() and os.environ.get("TERM", "dumb") != "dumb" and find_spec("rich") is not None


def width(stream: TextIO) -> int:
    """Columns that a line may have there: those of the terminal, of COLUMNS, or enough for a list in a file."""
    import shutil

    with contextlib.suppress(OSError, ValueError):
        if not os.environ.get("COLUMNS"):
            return os.get_terminal_size(stream.fileno()).columns
    return shutil.get_terminal_size((PIPE_COLUMNS, 24)).columns


async def follow(events: AsyncIterator[ProgressEvent], view: View) -> None:
    """Show events until they end. A terminal that went away must not harm the run: then nothing is shown any more."""
    ticking = asyncio.ensure_future(_tick(view))
    try:
        async for event in events:
            view.show(event)
    except GONE:
        return
    finally:
        ticking.cancel()
        with contextlib.suppress(asyncio.CancelledError, *GONE):
            await ticking
        with contextlib.suppress(*GONE):
            view.close()


async def _tick(view: "Ticking") -> None:
    while True:
        await asyncio.sleep(TICK_SECONDS)
        with contextlib.suppress(*GONE):
            view.tick()


class WatchableRun(Protocol):
    """A run in progress."""

    def watch(self) -> AsyncIterator[ProgressEvent]: ...

    async def outcome(self) -> Outcome: ...

    def cancel(self) -> object: ...


@contextlib.asynccontextmanager
async def open_display(
    settings: Settings, *, quiet: bool = False, research: bool = False
) -> AsyncIterator[Callable[[WatchableRun], Awaitable[Outcome]]]:
    """Listen to Ctrl-C, and give a function that shows a run through to its outcome."""
    view: View = Silent() if quiet else view_for(settings.run, sys.stderr, research=research)
    try:
        with stopping(view, settings.run.cancel_seconds) as stop:

            async def watch(run: WatchableRun) -> Outcome:
                stop.gently(run.cancel)
                await follow(run.watch(), view)
                return await run.outcome()

            yield watch
    finally:
        with contextlib.suppress(*GONE):
            view.close()


@contextlib.asynccontextmanager
async def watched_together(
    settings: Settings, names: Sequence[str], *, quiet: bool = False
) -> AsyncIterator["Watching"]:
    """Listen to Ctrl-C, and give what shows several runs through to their outcomes."""
    view = _together_for(names, sys.stderr, quiet=quiet)
    watching = Watching(view)
    try:
        with stopping(view, settings.run.cancel_seconds) as stop:
            stop.gently(watching.cancel)
            yield watching
    finally:
        await watching.close()


class Watching:
    """Several runs in progress."""

    def __init__(self, view: Together) -> None:
        self.cancelled = False
        """Nothing more is to be begun."""
        self._view = view
        self._runs: list[WatchableRun] = []
        self._ticking = asyncio.ensure_future(_tick(view))

    async def watch(self, number: int, run: WatchableRun) -> Outcome:
        """Show a run through to its outcome. A terminal that went away must not harm it."""
        self._runs.append(run)
        if self.cancelled:
            run.cancel()
        with contextlib.suppress(*GONE):
            async for event in run.watch():
                self._view.show(number, event)
        return await run.outcome()

    def cancel(self) -> None:
        self.cancelled = True
        for run in self._runs:
            run.cancel()

    def note(self, sentence: str) -> None:
        with contextlib.suppress(*GONE):
            self._view.note(sentence)

    async def close(self) -> None:
        """Take away what was drawn, so that results can take its place. May be called twice."""
        self._ticking.cancel()
        await asyncio.wait([self._ticking])
        with contextlib.suppress(*GONE):
            self._view.close()


def _together_for(names: Sequence[str], stream: TextIO, *, quiet: bool) -> Together:
    if quiet:
        return SilentTogether()
    if not can_redraw(stream):
        return PlainTogether(names, stream)
    from runtime.cli.view.live_several import LiveTogether

    return LiveTogether(names, stream)


class Noting(Protocol):
    """What can tell the user something besides."""

    def note(self, sentence: str) -> None: ...

    def close(self) -> None: ...


class Ticking(Protocol):
    """What changes when time passes."""

    def tick(self) -> None: ...


class Stopping:
    """What Ctrl-C does: nothing to lose yet, a gentle end, an end at once."""

    def __init__(self, view: Noting, grace: float) -> None:
        self._view, self._grace = view, grace
        self._cancel: Callable[[], object] | None = None
        self._asked = False

    def gently(self, cancel: Callable[[], object]) -> None:
        """From now on there is a run that can be asked to end."""
        self._cancel = cancel
        if self._asked:
            cancel()

    def on_signal(self) -> None:
        if self._asked:
            with contextlib.suppress(*GONE):
                self._view.close()
                print(
                    f"Stopped at once. What had not ended goes on with {command('resume')}.",
                    file=sys.stderr,
                    flush=True,
                )
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
def stopping(view: Noting, grace: float) -> Iterator[Stopping]:
    """Listen to Ctrl-C and SIGTERM for as long as this is open."""
    loop, stop = asyncio.get_running_loop(), Stopping(view, grace)
    for each in SIGNALS:
        loop.add_signal_handler(each, stop.on_signal)
    try:
        yield stop
    finally:
        for each in SIGNALS:
            loop.remove_signal_handler(each)
