"""A fan-out that asks no more of its team than there are seats."""

from typing import Any

import msgspec
from msgspec.structs import replace

from actors.workflow.advance import begin
from actors.workflow.tables import FanOut, Limits, Run, Step, Workflow
from actors.workflow.transitions import HandOff
from actors.workflow.verify import verify
from tests.actors.workflow.tables import BOSS, FINAL, A, Ask, Close, End, TableCase

TEAM = tuple(f"r{n}" for n in range(1, 13))
ASKING = FanOut(TEAM, Ask, A, "found", "closing", "closing", "closing", "team", Limits(30.0, 0), at_most=3)


def table(**changed: Any) -> Workflow:
    return Workflow(
        name="table", case=TableCase, terminator=BOSS, close=Close, closed=End, final=FINAL,
        default_limits=Limits(30.0, 0),
        steps={"asking": replace(ASKING, **changed), "closing": Step(BOSS, Close, {End: FINAL})},
    )  # fmt: skip


def ask(*picked: str, **changed: Any) -> tuple[Run, HandOff]:
    run, verdict = begin(table(**changed), TableCase(ticket_id="T-1", team=picked))
    assert isinstance(verdict, HandOff)
    return run, verdict


def test_the_first_that_the_case_picks_are_asked_and_the_others_named_in_a_warning() -> None:
    run, verdict = ask("r9", "r2", "r5", "r1", "r2")

    assert [each.role for each in run.open] == ["r2", "r5", "r9"]
    assert [each.target for each in verdict.warnings] == ["r1"]


def test_where_the_case_picks_nobody_the_first_of_the_team_are_asked() -> None:
    run, _ = ask()

    assert [each.role for each in run.open] == ["r1", "r2", "r3"]


def test_a_run_takes_no_more_handoffs_than_there_are_seats() -> None:
    assert verify(table()) == 2 * 3 + 1 + 1
    assert verify(table(at_most=6)) == 2 * 6 + 1 + 1, "a team of twelve, of which six are asked, fits"


def test_where_the_cap_leaves_no_room_for_all_seats_fewer_are_asked() -> None:
    flow = msgspec.structs.replace(table(at_most=6), max_handoffs=10)

    run, verdict = begin(flow, TableCase(ticket_id="T-1", team=TEAM))

    assert isinstance(verdict, HandOff)
    assert len(run.open) == 3, "three answers, another agent and back, and the terminator fit in ten"
    assert verify(flow) == 2 * 3 + 1 + 1, "and no run makes more"
