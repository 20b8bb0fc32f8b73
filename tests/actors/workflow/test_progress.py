"""How far a research is: every stage has its mark and percentage, and the whole never goes back."""

from functools import reduce
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.workflow.outcome import AnswerRefused, EndReason, HandoffMade, Outcome, RunBegan, RunEnded
from actors.workflow.progress import FRESH, Progress, ProgressEvent, RoundBegan, Stage, StageProgress, fold

NAMES = [stage.name for stage in FRESH]


def entered(state: str, number: int = 1) -> HandoffMade:
    return HandoffMade(number=number, source="orchestrator", target="x", reason=state, state=state, seconds=0.0)


def left(state: str) -> HandoffMade:
    return HandoffMade(number=2, source="x", target="orchestrator", reason="Done", state=state, seconds=0.0)


def ended(status: Any = "suggested") -> RunEnded:
    return RunEnded(
        outcome=Outcome(
            run="R", ticket="T", workflow="research", status=status, why=EndReason.COMPLETED, by="", state=""
        )
    )


BEGAN = RunBegan(run="R-1", ticket="T-1", workflow="research", agent="planner")
ROUND = (
    StageProgress("planning", "Planned", 1, 1),
    StageProgress("searching", "Searching", 4, 4, "web: trams"),
    StageProgress("extracting", "Reading", 5, 5, "A tram"),
    StageProgress("analyzing", "Analysing", 3, 3, "What is a tram?"),
)
FIRST = (BEGAN, entered("planning"), RoundBegan(1, 2, "trams", 0), *ROUND)


def after(*events: ProgressEvent, board: Progress | None = None) -> Progress:
    """One event a second."""
    return reduce(lambda so_far, each: fold(so_far, each[1], float(each[0])), enumerate(events), board or Progress())


def marks(board: Progress) -> list[str]:
    return [stage.mark for stage in board.stages]


@pytest.mark.req("PR-28")
def test_before_anything_is_done_the_five_stages_are_pending_at_zero() -> None:
    assert NAMES == ["planning", "searching", "extracting", "analyzing", "reporting"]
    assert marks(Progress()) == ["pending"] * 5
    assert [stage.percent for stage in Progress().stages] == [0] * 5


@pytest.mark.req("PR-27", "PR-28")
def test_the_stage_at_work_has_its_step_its_items_and_its_percentage() -> None:
    board = after(*FIRST[:5], StageProgress("extracting", "Reading", 2, 5, "A tram"))

    assert marks(board) == ["completed", "completed", "running", "pending", "pending"]
    assert [stage.percent for stage in board.stages] == [100, 100, 40, 0, 0]
    running = board.running
    assert running is not None
    assert (running.step, running.done, running.total, running.item) == ("Reading", 2, 5, "A tram")


@pytest.mark.req("PR-27")
def test_the_percentage_of_the_whole_grows_with_stages_and_rounds() -> None:
    so_far = [after(*FIRST[:n]).percent for n in range(1, len(FIRST) + 1)]
    deeper: list[ProgressEvent] = [
        entered("deepening"),
        RoundBegan(2, 2, "tram depots", 4),
        *ROUND,
        entered("reporting"),
        ended(),
    ]
    then = [after(*FIRST, *deeper[:n]).percent for n in range(1, len(deeper) + 1)]

    assert so_far == sorted(so_far)
    assert so_far[-1] == 44, "not all of the first of two rounds: its analysis ends with its handoff"
    assert then == [45, 45, 47, 56, 76, 89, 90, 100]


@pytest.mark.req("PR-27")
def test_a_deeper_round_starts_its_stages_anew_and_the_whole_goes_on() -> None:
    above = after(*FIRST, left("deepening"))
    board = after(RoundBegan(2, 2, "tram depots", 4), board=above)

    assert marks(above) == ["completed"] * 4 + ["pending"]
    assert marks(board) == ["running"] + ["pending"] * 4
    assert (board.round, board.of, board.direction, board.learnings) == (2, 2, "tram depots", 4)
    assert board.percent >= above.percent


def test_a_stage_that_is_repeated_runs_again_and_the_whole_does_not_go_back() -> None:
    before = after(*FIRST[:6])
    again = after(entered("searching"), board=before)

    assert marks(again) == ["completed", "running", "pending", "pending", "pending"]
    assert again.percent == before.percent


def test_a_round_that_is_planned_anew_is_the_same_round() -> None:
    board = after(*FIRST, RoundBegan(1, 2, "trams", 0))

    assert (board.round, marks(board)) == (1, ["running"] + ["pending"] * 4)


def test_what_a_round_above_says_late_changes_nothing() -> None:
    board = after(*FIRST, RoundBegan(2, 2, "tram depots", 4))

    assert after(RoundBegan(1, 2, "trams", 0), board=board).direction == "tram depots"


@pytest.mark.req("PR-28")
@pytest.mark.parametrize("status", ["error", "cancelled"])
def test_the_stage_at_which_it_was_stopped_is_failed(status: str) -> None:
    board = after(*FIRST[:5], ended(status))

    assert marks(board) == ["completed", "failed", "pending", "pending", "pending"]
    assert board.percent < 100
    assert board.remaining_seconds(10.0) is None


@pytest.mark.parametrize("status", ["resolved", "suggested", "not_found"])
def test_a_good_end_completes_all(status: str) -> None:
    board = after(*FIRST[:5], ended(status))

    assert (marks(board), board.percent) == (["completed"] * 5, 100)


@pytest.mark.req("PR-27")
def test_the_time_left_is_said_only_when_it_can_be_known() -> None:
    begun = after(*FIRST[:4])
    half = after(*FIRST, entered("deepening"))
    reading = Stage("extracting", "running", done=2, total=5, began=10.0, latest=14.0)

    assert begun.remaining_seconds(3.0) is None, "nearly nothing is done yet"
    assert (half.percent, half.moved) == (45, 7.0)
    assert half.remaining_seconds(8.0) == pytest.approx(7 * 55 / 45 - 1)
    assert reading.remaining_seconds(14.0) == pytest.approx(6.0), "two in four seconds, three to go"
    assert reading.remaining_seconds(16.0) == pytest.approx(4.0)
    assert reading.remaining_seconds(21.0) is None, "an estimate that has passed was wrong"
    for unknown in (Stage("x", "running", done=2), Stage("x", "running", total=5), Stage("x", "pending", total=5)):
        assert unknown.remaining_seconds(14.0) is None


def test_how_long_a_stage_took_is_kept() -> None:
    board = Progress()
    told: list[tuple[float, ProgressEvent]] = [(1.0, entered("planning")), (3.5, entered("searching")), (4.0, ended())]
    for at, event in told:
        board = fold(board, event, at)

    assert [stage.seconds for stage in board.stages] == [2.5, 0.5, 0.0, 0.0, 0.0]


numbers = st.integers(-3, 12)
events = st.one_of(
    st.builds(StageProgress, st.sampled_from([*NAMES, "deepening", "?"]), st.just("step"), numbers, numbers, st.text()),
    st.builds(RoundBegan, numbers, numbers, st.text(), numbers),
    st.builds(entered, st.sampled_from([*NAMES, "deepening", "completed", "?"])),
    st.builds(left, st.sampled_from(NAMES)),
    st.just(BEGAN),
    st.just(AnswerRefused(sender="x", reason="y")),
    st.builds(ended, st.sampled_from(["suggested", "error", "cancelled", "not_found"])),
)


@given(st.lists(events, max_size=60))
def test_whatever_is_said_the_percentage_is_one_and_never_goes_back(said: list[ProgressEvent]) -> None:
    board, at = Progress(), 0.0
    for event in said:
        at += 0.5
        after_it = fold(board, event, at)
        assert board.percent <= after_it.percent <= 100
        assert [stage.name for stage in after_it.stages] == NAMES
        assert sum(stage.mark == "running" for stage in after_it.stages) <= 1
        assert all(0 <= stage.percent <= 100 and stage.seconds >= 0 for stage in after_it.stages)
        left_of_it = after_it.remaining_seconds(at)
        assert left_of_it is None or left_of_it >= 0
        board = after_it
