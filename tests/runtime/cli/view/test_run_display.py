"""A run is seen through whatever becomes of the terminal, and Ctrl-C ends it gently."""

import asyncio
import io
import os
import signal
from collections.abc import AsyncIterator

import pytest

from actors.helpdesk.workflow import HELPDESK
from actors.workflow.outcome import Outcome, RunEvent
from runtime.cli.view.board import PlainView, View
from runtime.cli.view.printing import can_redraw
from runtime.cli.view.run_display import Display, listen_for_stop, open_display, view_for
from runtime.settings import RunSettings
from tests.patience import HANGS_SECONDS
from tests.runtime.cli.view.runs import outcome, progress


class Going:
    """A run that goes on until it is cancelled."""

    def __init__(self) -> None:
        self.cancelled = asyncio.Event()

    async def watch(self, *, drafts: bool) -> AsyncIterator[RunEvent]:
        for event in progress():
            yield event
        await self.cancelled.wait()
        yield progress(outcome())[-1]

    async def outcome(self) -> Outcome:
        await self.cancelled.wait()
        return outcome(status="cancelled")

    def cancel(self) -> None:
        self.cancelled.set()


class Over:
    """A run that has ended."""

    async def watch(self, *, drafts: bool) -> AsyncIterator[RunEvent]:
        for event in progress(outcome()):
            yield event

    async def outcome(self) -> Outcome:
        return outcome()

    def cancel(self) -> None:
        """Too late."""


async def show(view: View) -> Outcome:
    display = Display(view)
    try:
        return await display.watch(Over())
    finally:
        await display.close()


async def test_a_pipe_gets_one_line_for_each_handoff() -> None:
    stream = io.StringIO()

    await show(PlainView(stream))

    shown = stream.getvalue().splitlines()
    assert shown[0] == "Ticket T-1: helpdesk run R-1 begins with memory"
    assert shown[1].split() == ["0.000", "s", "1", "orchestrator", "→", "memory", "memory", "check", "pending"]
    assert len(shown) == 6


def test_a_pipe_hears_now_and_then_that_somebody_is_at_work() -> None:
    stream, now = io.StringIO(), 100.0
    view = PlainView(stream, clock=lambda: now)
    view.tick()
    for event in progress():
        view.show(event)
    before = stream.getvalue()

    for now in (104.0, 105.5, 106.0, 110.0, 110.5):  # noqa: B007 - the view's clock reads it
        view.tick()

    assert stream.getvalue().removeprefix(before).splitlines() == [
        "    5.500 s       worker is at work",
        "   10.500 s       worker is at work",
    ]


async def test_a_terminal_that_went_away_does_not_harm_the_run() -> None:
    class Gone(io.StringIO):
        def write(self, text: str, /) -> int:
            raise BrokenPipeError

    assert (await show(PlainView(Gone()))).status == "resolved"


async def test_the_first_ctrl_c_cancels_gently_and_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    run = Going()
    async with asyncio.timeout(HANGS_SECONDS):
        async with open_display(RunSettings(cancel_seconds=7), HELPDESK, quiet=True) as display:
            seeing = asyncio.ensure_future(display.watch(run))
            asyncio.get_running_loop().call_soon(os.kill, os.getpid(), signal.SIGINT)
            ended = await seeing

    assert ended.status == "cancelled"
    assert "agents have up to 7 s" in capsys.readouterr().err
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


async def test_a_ctrl_c_before_there_is_a_run_cancels_it_as_soon_as_there_is() -> None:
    run = Going()
    with listen_for_stop(PlainView(io.StringIO()), 1.0) as stop:
        stop.on_signal()
        stop.on_first(run.cancel)

    assert run.cancelled.is_set()


@pytest.mark.parametrize("term", ["", "dumb"])
def test_a_terminal_that_cannot_redraw_gets_lines(term: str, monkeypatch: pytest.MonkeyPatch) -> None:
    class Tty(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setenv("TERM", term or "dumb")

    assert isinstance(view_for(HELPDESK, (), RunSettings(), Tty()), PlainView)
    monkeypatch.setenv("TERM", "xterm")
    assert can_redraw(Tty())
    assert not can_redraw(io.StringIO())
