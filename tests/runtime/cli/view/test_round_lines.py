"""A research on its way: its rounds stay on the screen, stages and items are told at once, no text breaks out."""

import io
from collections.abc import Iterable
from typing import Any

import pytest

from actors.research.workflow import RESEARCH
from actors.workflow.outcome import HandoffMade, RunBegan, RunEnded
from actors.workflow.progress import HEARTBEAT_SECONDS, ProgressEvent, RoundBegan, StageProgress
from runtime.cli.view.board import DIRECTION_CHARACTERS, PlainView, board
from runtime.cli.view.board import fold_board as fold
from runtime.cli.view.live import BoardView, picture
from runtime.cli.view.printing import console
from runtime.cli.view.run_display import view_for
from runtime.settings import RunSettings
from tests.runtime.cli.view.runs import HOSTILE, outcome
from tests.runtime.cli.view.terminal import HIDE, SHOW, plain

BEGAN = RunBegan(run="R-1", ticket="T-1", workflow="research", agent="planner")


def entered(number: int, state: str) -> HandoffMade:
    return HandoffMade(number=number, source="orchestrator", target="x", reason=state, state=state, seconds=0.0)


NEWS: tuple[ProgressEvent, ...] = (
    BEGAN,
    entered(1, "planning"),
    RoundBegan(1, 3, "How are trams\nkept?", 0),
    StageProgress("planning", "Planned", 1, 1, "trams"),
    entered(3, "searching"),
    StageProgress("searching", "Searching", 1, 2, "web: trams"),
    StageProgress("searching", "Searching", 2, 2, "rss: trams"),
    entered(5, "extracting"),
    StageProgress("extracting", "Reading", 2, 5, "The tram depot"),
)


class Plain:
    """A plain view with a clock that a test moves."""

    def __init__(self) -> None:
        self.now, self.stream = 100.0, io.StringIO()
        self.view = PlainView(self.stream, clock=lambda: self.now)

    def show(self, events: Iterable[ProgressEvent], seconds: float = 1.0) -> list[str]:
        """The lines that are new after these events, so many seconds apart."""
        before = len(self.lines)
        for event in events:
            self.now += seconds
            self.view.show(event)
        return self.lines[before:]

    @property
    def lines(self) -> list[str]:
        return self.stream.getvalue().splitlines()


@pytest.mark.req("DR-11", "PR-29")
def test_a_pipe_gets_a_line_for_each_round_stage_and_item() -> None:
    assert Plain().show(NEWS) == [
        "Ticket T-1: research run R-1 begins with planner",
        "    1.000 s    0 %  planning",
        "[Depth 1/3] Exploring: How are trams kept?",
        "  0 learnings so far",
        "    3.000 s    1 %    planning 1/1  trams",
        "    4.000 s    1 %  searching",
        "    5.000 s    4 %    searching 1/2  web: trams",
        "    6.000 s    7 %    searching 2/2  rss: trams",
        "    7.000 s    7 %  extracting",
        "    8.000 s   12 %    extracting 2/5  The tram depot",
    ]


@pytest.mark.req("DR-11")
def test_a_deeper_round_says_how_much_was_learned() -> None:
    pipe = Plain()
    pipe.show(NEWS)

    said = pipe.show([RoundBegan(2, 3, "tram depots", 1), RoundBegan(2, 3, "tram depots", 1)])

    assert said[:2] == ["[Depth 2/3] Exploring: tram depots", "  1 learning so far"]
    assert sum("Exploring" in line for line in said) == 1, "a round that is planned anew is no new round"


def test_items_that_come_close_together_are_told_together_and_the_last_is_never_lost() -> None:
    pipe = Plain()
    pipe.show(NEWS)
    many = [StageProgress("extracting", "Reading", n, 5, f"page {n}") for n in (3, 4, 5)]

    assert pipe.show(many, seconds=0.01) == []
    assert [line.split("  ")[-1] for line in pipe.show([entered(7, "analyzing")], seconds=0.01)] == [
        "page 5",
        "analyzing",
    ]


def test_an_item_that_was_held_back_is_told_by_the_next_tick() -> None:
    pipe = Plain()
    pipe.show(NEWS)
    pipe.show([StageProgress("extracting", "Reading", 3, 5, "page 3")], seconds=0.01)
    pipe.now += 0.2
    pipe.view.tick()

    assert pipe.lines[-1].endswith("extracting 3/5  page 3")


@pytest.mark.req("PR-29", "PR-27")
def test_a_pipe_is_never_silent_for_longer_than_a_heartbeat() -> None:
    pipe = Plain()
    pipe.show(NEWS[:-1])
    pipe.show(NEWS[-1:], seconds=10.0)
    pipe.now += HEARTBEAT_SECONDS
    pipe.view.tick()
    pipe.view.tick()
    pipe.now += 3 * HEARTBEAT_SECONDS
    pipe.view.tick()

    assert pipe.lines[-2:] == [
        "   22.000 s   12 %  extracting 2/5 goes on, about 10 s left for it",
        "   37.000 s   12 %  extracting 2/5 goes on",
    ], "what was estimated has passed: nothing is known"


def test_the_last_item_is_told_before_the_end() -> None:
    pipe = Plain()
    pipe.show(NEWS)

    said = pipe.show(
        [StageProgress("extracting", "Reading", 5, 5, "page 5"), RunEnded(outcome=outcome())], seconds=0.01
    )

    assert said[-1].endswith("page 5")


def test_an_endless_direction_is_cut() -> None:
    said = Plain().show([BEGAN, RoundBegan(1, 1, "tram " * 10_000, 0)])

    assert all(len(line) < DIRECTION_CHARACTERS + 50 for line in said)


class Tty(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def tty(monkeypatch: pytest.MonkeyPatch) -> Tty:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "100")
    return Tty()


def drawn(events: Iterable[ProgressEvent], at: float, **more: Any) -> list[str]:
    """What is on the screen after these, of which one came each second."""
    shown = board(RESEARCH)
    for second, event in enumerate(events):
        shown = fold(shown, event, float(second))
    stream = io.StringIO()
    console(stream).print(picture(shown, at, 600.0, 20, **more))
    return [line.rstrip() for line in stream.getvalue().splitlines()]


@pytest.mark.req("PR-27", "PR-28")
def test_a_terminal_shows_five_stages_with_icon_percentage_items_and_time(tty: Tty) -> None:
    lines = drawn(NEWS, 8.5)

    assert lines[0] == "Research T-1   12 %   round 1 of at most 3   8.5 s, at most 592 s left"
    assert [line.split() for line in lines[1:]] == [
        ["✔", "Planning", "100", "%", "1/1", "3.0", "s", "trams"],
        ["✔", "Searching", "100", "%", "2/2", "3.0", "s", "rss:", "trams"],
        ["●", "Extracting", "40", "%", "2/5", "about", "1", "s", "left", "The", "tram", "depot"],
        ["○", "Analyzing", "0", "%"],
        ["○", "Reporting", "0", "%"],
    ]


@pytest.mark.req("PR-27")
def test_a_terminal_shows_how_long_all_will_take_once_that_can_be_known(tty: Tty) -> None:
    rounds: tuple[ProgressEvent, ...] = (RoundBegan(2, 3, "depots", 2), entered(9, "extracting"))

    assert "37 %, about 17 s to go   round 2 of at most 3" in drawn([*NEWS, *rounds], 10.0)[0]
    assert "37 %   round 2 of at most 3" in drawn([*NEWS, *rounds], 60.0)[0], "an estimate that has passed was wrong"


@pytest.mark.req("PR-28")
def test_the_stage_that_was_stopped_is_marked_as_failed(tty: Tty) -> None:
    lines = drawn([*NEWS, RunEnded(outcome=outcome(status="cancelled"))], 10.0)

    assert lines[3].split()[:2] == ["✘", "Extracting"]


@pytest.mark.req("DR-11")
def test_rounds_stay_above_what_is_redrawn(tty: Tty) -> None:
    view = view_for(RESEARCH, (), RunSettings(), tty)
    assert isinstance(view, BoardView)
    for event in (*NEWS, RoundBegan(2, 3, "depots", 2), RunEnded(outcome=outcome())):
        view.show(event)
    view.note("Cancelling: wait.")
    view.close()

    shown = plain(tty.getvalue())
    assert shown.count("[Depth 1/3] Exploring: How are trams kept?\n  0 learnings so far\n") == 1
    assert shown.count("[Depth 2/3] Exploring: depots\n  2 learnings so far\n") == 1
    assert tty.getvalue().count(HIDE) == tty.getvalue().count(SHOW) == 1


def test_text_from_outside_cannot_break_out(tty: Tty) -> None:
    pipe = Plain()
    hostile = (
        BEGAN,
        entered(1, "planning"),
        RoundBegan(1, 3, HOSTILE, 0),
        StageProgress("extracting", HOSTILE, 1, 2, HOSTILE),
    )
    pipe.show(hostile)
    view = BoardView(RESEARCH, tty, 600.0, 20)
    for event in hostile:
        view.show(event)
    view.tick()
    view.close()

    for shown in (pipe.stream.getvalue(), plain(tty.getvalue())):
        assert "[bold]markup" in shown
        for harmful in "\x1b\x07\x9b\u202e\x08":
            assert harmful not in shown
