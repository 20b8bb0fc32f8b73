"""Child runs: own counters, the parent's time, the parent's end."""

import asyncio
import functools
from typing import Any

import msgspec

from actors.helpdesk import messages as m
from actors.helpdesk.workflow import TicketCase
from actors.workflow.outcome import EndReason, Outcome
from actors.workflow.tables import Run, Step, Workflow
from bus import Cast, Event
from runtime.engine.run import ChildRun, LiveRun
from tests.clock import Jumping, settle
from tests.fakes import CASE, HELPDESK, PLAIN, Hangs, PassesOn, helpdesk, obtained, targets


class Family:
    """A parent whose worker is a whole helpdesk run, which may itself have such a worker."""

    def __init__(self, clock: Jumping, depth: int = 1, **leaf: Any) -> None:
        self.clock, self.depth, self.leaf = clock, depth, leaf
        self.children: list[LiveRun] = []

    def cast(self, run_id: str, depth: int) -> Cast:
        if depth == 0:
            return helpdesk(run_id=run_id, **self.leaf)
        child = functools.partial(ChildRun, run_id, HELPDESK, functools.partial(self.open, depth - 1), self.report)
        return helpdesk(run_id=run_id, worker=child)

    async def open(self, depth: int, run_id: str, flow: Workflow, request: Any) -> LiveRun:
        case = TicketCase(ticket_id=CASE.ticket_id, text=request.text)
        child = LiveRun(run_id, flow, case, self.cast(run_id, depth), clock=self.clock)
        self.children.append(child)
        return child

    @staticmethod
    def report(_: Run, outcome: Outcome) -> Event:
        if outcome.resolution is None:
            return m.NothingFound(detail=outcome.detail, unavailable=(), degraded="")
        return obtained(f"from {outcome.run}")

    def begin(self) -> LiveRun:
        return LiveRun("R-1", HELPDESK, CASE, self.cast("R-1", self.depth), clock=self.clock)


async def test_a_child_run_answers_for_its_role_and_counts_its_own_handoffs() -> None:
    family = Family(Jumping(), depth=2)

    outcome = await family.begin().outcome()

    assert targets(outcome) == PLAIN
    assert outcome.resolution is not None
    assert outcome.resolution.text == "from R-1.5"
    assert [child.id for child in family.children] == ["R-1.5", "R-1.5.5"]


async def test_a_child_that_reaches_a_limit_ends_alone_and_its_parent_goes_on() -> None:
    ring: dict[str, Any] = {role: functools.partial(PassesOn, "network") for role in ("worker", "network")}

    outcome = await Family(Jumping(), 1, **ring).begin().outcome()

    assert (outcome.why, outcome.status) == (EndReason.COMPLETED, "not_found")
    assert "in a circle" in outcome.summary


async def test_a_child_run_never_outlives_its_parent() -> None:
    clock = Jumping()
    family = Family(clock, worker=Hangs)
    parent = family.begin()
    await settle()
    await clock.jump(299)  # the parent's worker has 300 s, the child's own worker too
    assert not family.children[0].is_over

    await clock.jump(302)

    outcome = await parent.outcome()
    assert outcome.why is EndReason.TIMED_OUT
    assert all(child.is_over for child in family.children)
    assert outcome.seconds <= HELPDESK.max_seconds + 2


async def test_a_cancelled_parent_takes_its_child_with_it() -> None:
    clock = Jumping()
    family = Family(clock, worker=Hangs)
    parent = family.begin()
    await settle()

    parent.cancel()
    await settle()

    assert (await parent.outcome()).status == "cancelled"
    assert family.children[0].is_over
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_a_step_that_hands_in_asks_its_child_to_end_too() -> None:
    step = HELPDESK.steps["ticket_analyzed"]
    assert isinstance(step, Step)
    gentle = msgspec.structs.replace(
        HELPDESK, steps={**HELPDESK.steps, "ticket_analyzed": msgspec.structs.replace(step, returns_partial=True)}
    )
    clock = Jumping()
    family = Family(clock, worker=Hangs)
    parent = LiveRun("R-1", gentle, CASE, family.cast("R-1", 1), clock=clock)
    await settle()

    parent.cancel()
    await settle()

    child = await family.children[0].outcome()
    assert child.status == "cancelled"
    assert (await parent.outcome()).why is EndReason.CANCELLED
