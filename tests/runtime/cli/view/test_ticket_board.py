"""Stages follow the handoffs: what runs, what is done, what was not needed."""

from functools import reduce

import pytest

from actors.workflow.outcome import AnswerRefused, EndReason, HandoffMade, RunBegan, RunEvent
from runtime.cli.view.board import LATEST, Board, board
from runtime.cli.view.board import fold_board as fold
from tests.fakes import HELPDESK
from tests.runtime.cli.view.runs import outcome, progress


def after(events: list[RunEvent]) -> Board:
    return reduce(fold, events, board(HELPDESK))


def marks(shown: Board) -> dict[str, str]:
    return {stage.label: stage.mark for stage in shown.stages}


def test_before_the_run_begins_all_stages_are_pending_and_named_for_people() -> None:
    shown = marks(board(HELPDESK))

    assert list(shown)[:3] == ["Recall resolution", "Triage ticket", "Resolve ticket"]
    assert set(shown.values()) == {"pending"}
    assert len(shown) == len(board(HELPDESK).stages)


def test_the_stage_of_the_last_handoff_runs_and_those_before_it_are_done() -> None:
    shown = after(progress())

    assert marks(shown)["Triage ticket"] == "completed"
    assert marks(shown)["Resolve ticket"] == "running"
    assert marks(shown)["Close ticket"] == "pending"
    assert [stage.seconds for stage in shown.stages[:2]] == pytest.approx([0.2, 0.2])
    assert (shown.ticket, shown.handoffs) == ("T-1", 5)


def test_a_handover_keeps_the_stage_and_names_its_new_agent() -> None:
    passed = HandoffMade(
        number=6, source="worker", target="network", reason="not mine", state="ticket_analyzed", seconds=3
    )
    shown = after([*progress(), passed])

    (stage,) = [each for each in shown.stages if each.mark == "running"]
    assert (stage.agent, stage.began) == ("network", 0.4)


def test_what_a_hit_jumps_over_was_not_needed() -> None:
    shown = after(progress(outcome()))

    assert marks(shown)["Resolve ticket"] == "completed"
    assert marks(shown)["Close ticket"] == "skipped"
    assert "running" not in marks(shown).values()


@pytest.mark.parametrize(("status", "why"), [("error", EndReason.TIMED_OUT), ("cancelled", EndReason.CANCELLED)])
def test_a_run_that_ends_badly_failed_where_it_stood(status: str, why: EndReason) -> None:
    shown = after(progress(outcome(status=status, why=why)))

    assert [stage.label for stage in shown.stages if stage.mark == "failed"] == ["Resolve ticket"]


def test_only_the_latest_handoffs_are_kept_and_refused_answers_are_counted() -> None:
    begins: list[RunEvent] = [RunBegan(run="R-1", ticket="T-1", workflow="helpdesk", agent="memory")]
    many: list[RunEvent] = [
        HandoffMade(number=n, source="a", target="b", reason="r", state="ticket_analyzed", seconds=n) for n in range(50)
    ]
    shown = after([*begins, *many, AnswerRefused(sender="worker", reason="no answer")])

    assert [handoff.at for handoff in shown.latest] == list(range(50))[-LATEST:]
    assert shown.refused == 1


def test_a_state_that_the_table_does_not_have_changes_no_stage() -> None:
    odd = HandoffMade(number=1, source="a", target="b", reason="r", state="elsewhere", seconds=0)

    assert after([odd]).stages == board(HELPDESK).stages
