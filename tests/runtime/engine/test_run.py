"""A live run: who waits, who watches, who cancels, and random tables played by random actors on a jumping clock."""

import asyncio
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings

from actors.helpdesk.workflow import HELPDESK
from actors.workflow.advance import replay
from actors.workflow.outcome import EndReason, HandoffMade, Outcome, RunBegan, RunEnded
from actors.workflow.tables import Workflow
from actors.workflow.verify import InvalidWorkflow, verify
from bus import Actor, Context, Message
from runtime.engine.run import LiveRun
from tests.actors.workflow.tables import BOSS, ROLES, Script, TableCase, as_answer, cases, scripts, workflows
from tests.clock import Jumping, settle
from tests.fakes import CASE, OBTAINED, PLAIN, Hangs, Notebook, Says, Stage, helpdesk


async def test_many_may_wait_for_the_outcome_and_one_that_gives_up_takes_it_from_nobody() -> None:
    stage = Stage({"worker": Hangs})
    waiting = [asyncio.ensure_future(stage.live.outcome()) for _ in range(3)]
    await settle()

    waiting[0].cancel()
    outcome = await stage.end()

    assert await asyncio.gather(*waiting[1:]) == [outcome, outcome]
    with pytest.raises(asyncio.CancelledError):
        await waiting[0]


async def test_who_watches_hears_the_whole_run_in_order() -> None:
    stage = Stage()
    outcome = await stage.end()

    began, *made, ended = stage.heard
    assert began == RunBegan(run="R-1", ticket="T-1", workflow="helpdesk", agent="memory")
    assert [each.target for each in made if isinstance(each, HandoffMade)] == PLAIN
    assert [each.number for each in made if isinstance(each, HandoffMade)] == list(range(1, len(PLAIN) + 1))
    assert ended == RunEnded(outcome=outcome)


async def test_what_was_missed_can_be_caught_up() -> None:
    stage = Stage({"worker": Hangs})
    await settle()
    late: list[Message] = list(stage.live.so_far())

    stage.live.watch(late.append)
    await stage.end()

    assert [e.number for e in late if isinstance(e, HandoffMade)] == [
        e.number for e in stage.heard if isinstance(e, HandoffMade)
    ]
    assert isinstance(late[0], RunBegan)


async def test_only_the_orchestrator_can_say_how_the_run_goes() -> None:
    class Forges(Actor[Any]):
        def receive(self, message: Any, ctx: Context) -> Any:
            ctx.publish(RunEnded(outcome=None))  # type: ignore[arg-type]
            ctx.publish(HandoffMade(number=99, source="a", target="b", reason="", state="", seconds=0.0))
            return OBTAINED

    stage = Stage({"worker": Forges})
    outcome = await stage.end()

    assert [each.outcome for each in stage.heard if isinstance(each, RunEnded)] == [outcome]
    assert 99 not in [each.number for each in stage.heard if isinstance(each, HandoffMade)]


async def test_a_watcher_that_fails_harms_no_run() -> None:
    def fails(message: Message) -> None:
        raise OSError("the terminal is gone")

    stage = Stage()
    stage.live.watch(fails)

    assert (await stage.end()).why is EndReason.COMPLETED


async def test_an_abandoned_run_has_no_end_and_its_journal_says_so() -> None:
    notebook = Notebook()
    over: list[str] = []
    ended: list[Outcome] = []
    live = LiveRun("R-1", HELPDESK, CASE, helpdesk(worker=Hangs), clock=Jumping(), journal=notebook)
    live.when_over(lambda: over.append("over"))
    live.on_end(ended.append)
    await settle()

    live.abandon()
    await settle()

    assert (over, ended, notebook.outcomes) == (["over"], [], [])
    assert live.outcome_so_far() is None
    with pytest.raises(asyncio.CancelledError):
        await live.outcome()


async def test_an_end_is_told_to_those_who_asked_for_it_before_and_after() -> None:
    stage, before, after = Stage(), list[Outcome](), list[Outcome]()
    stage.live.on_end(before.append)
    outcome = await stage.end()
    stage.live.on_end(after.append)
    await settle()

    assert before == after == [outcome]
    assert stage.live.outcome_so_far() == outcome


class Rolls(Actor[Any]):
    """Does what the script's next number says: answers, lies, keeps silent, hangs or breaks."""

    def __init__(self, role: str, script: Script, live: list[LiveRun]) -> None:
        self._role, self._script, self._live = role, script, live

    def receive(self, message: Any, ctx: Context) -> Any:
        roll = self._script.rolls.pop() if self._script.rolls else 0
        what, roll = roll % 12, roll // 12
        if what == 0:
            return None
        if what == 1:
            return self._hang()
        if what == 2:
            raise OSError("broken")
        run = self._live[0]._orchestrator._run
        if run.state not in self._live[0]._orchestrator._flow.steps:
            return None
        answer = as_answer(self._live[0]._orchestrator._flow, run, self._script.mood, roll, self._role)
        if what == 3:
            ctx.tell("orchestrator", answer, number=ctx.number)
        if what == 4:
            self._live[0].cancel()
        return answer

    async def _hang(self) -> None:
        await asyncio.Event().wait()


@pytest.mark.req("HD-1.2", "HD-1.3", "HD-1.4", "SY-2")
@settings(max_examples=120, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(workflows(), cases(), scripts)
async def test_every_live_run_of_every_table_ends_once_in_time(flow: Workflow, case: TableCase, script: Script) -> None:
    try:
        verify(flow, every_way=False)
    except InvalidWorkflow:
        assume(False)
    live: list[LiveRun] = []
    cast = {role: lambda role=role: Rolls(role, script, live) for role in (*ROLES, BOSS)}
    stage = Stage(flow=flow, case=case, cast=cast)
    live.append(stage.live)

    outcome = await stage.end()

    assert len(stage.notebook.outcomes) == 1
    assert outcome.by in {"", BOSS}
    assert (outcome.why is EndReason.COMPLETED) <= (outcome.by == BOSS)
    entries = [(e.event, e.sender, e.number, e.at) for e in stage.notebook.entries]
    again, _ = replay(flow, case, entries)
    assert again.handoffs == outcome.handoffs
    assert again.state == flow.final
    assert stage.clock.waiting <= 1 + len(outcome.handoffs), "only what counts the abandoned"


async def test_a_run_that_has_ended_holds_no_timer_of_its_own() -> None:
    stage = Stage()
    await stage.end()

    assert stage.clock.waiting == 0


async def test_says_that_nothing_came_is_not_taken_for_an_answer() -> None:
    stage = Stage({"memory": lambda: Says(None)})

    assert (await stage.end()).why in {EndReason.STEP_TIMED_OUT, EndReason.TIMED_OUT}
