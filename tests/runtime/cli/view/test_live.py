"""The live view: what it shows, that it leaves the terminal as it was, and that no text can break out of it."""

import io
from functools import reduce

import pytest

from actors.helpdesk.workflow import HELPDESK
from actors.workflow.outcome import HandoffMade
from runtime.cli.view.board import board
from runtime.cli.view.board import fold_board as fold
from runtime.cli.view.live import BoardView, picture
from runtime.cli.view.printing import Line, console, paragraphs
from tests.runtime.cli.view.runs import HOSTILE, outcome, progress
from tests.runtime.cli.view.terminal import HIDE, SHOW, plain


class Tty(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def _a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "100")


def drawn(elapsed: float, events: int = 99) -> list[str]:
    stream = io.StringIO()
    shown = reduce(fold, progress()[:events], board(HELPDESK))
    console(stream).print(picture(shown, elapsed, 600.0, 20))
    return stream.getvalue().splitlines()


def test_it_shows_stages_handoffs_and_the_seconds_left() -> None:
    lines = drawn(100.4)

    assert lines[0] == "Ticket T-1   100.4 s, at most 500 s left   handoff 5 of at most 20"
    assert lines[1].split() == ["✔", "Recall", "resolution", "memory", "0.2", "s"]
    assert lines[3].split() == ["●", "Resolve", "ticket", "worker", "100.0", "s"]
    assert lines[-1].split() == ["0.400", "s", "orchestrator", "→", "worker", "ticket", "analyzed"]


def test_it_never_shows_less_than_no_seconds_left() -> None:
    assert "at most 0 s left" in drawn(700.0)[0]


def test_it_gives_the_terminal_back_as_it_was() -> None:
    stream = Tty()
    view = BoardView(HELPDESK, stream, 600.0, 20)
    for event in progress(outcome()):
        view.show(event)
    view.close()

    assert stream.getvalue().count(HIDE) == stream.getvalue().count(SHOW) == 1
    assert stream.getvalue().rindex(SHOW) > stream.getvalue().rindex("Resolve ticket")


def test_a_note_stays_in_view() -> None:
    stream = Tty()
    view = BoardView(HELPDESK, stream, 600.0, 20)
    view.note("Cancelling: wait.")
    view.tick()
    view.close()

    assert plain(stream.getvalue()).count("Cancelling: wait.") >= 2


def test_text_from_outside_cannot_break_out() -> None:
    stream = Tty()
    view = BoardView(HELPDESK, stream, 600.0, 20)
    view.show(HandoffMade(number=1, source=HOSTILE, target=HOSTILE, reason=HOSTILE, state="memory_checked", seconds=0))
    view.note(HOSTILE)
    view.close()
    console(stream).print(*paragraphs([Line(HOSTILE, "good", 2)]))

    shown = plain(stream.getvalue())
    assert "\x1b" not in shown
    assert "\x07" not in shown
    assert "\x9b" not in shown
    assert "\u202e" not in shown
    assert "\x08" not in shown
    assert "[bold]markup[/bold] :smile:" in shown
