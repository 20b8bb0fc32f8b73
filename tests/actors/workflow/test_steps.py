"""Fan-out, declared repetitions, tries, times and cancelling, on a workflow that is not the helpdesk's."""

import asyncio
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from actors.workflow.outcome import EndReason
from actors.workflow.tables import CLOSING_SECONDS, ORCHESTRATOR, Limits, MemberResult
from bus import Actor, Context, Event
from tests.actors.workflow.survey import (
    AGAIN,
    TEAM,
    CloseSurvey,
    Judge,
    Judged,
    Planned,
    Seen,
    SurveyCase,
    SurveyClosed,
    Unsure,
    survey,
)
from tests.bus.parts import Waits
from tests.clock import Jumping, settle
from tests.fakes import Hangs, Says, Stage, Stubborn

SURVEY = survey()
CASE = SurveyCase(ticket_id="T-1")
Factory = Callable[[], Actor[Any]]


class Clerk(Actor[CloseSurvey]):
    """Ends the survey: well, or with the reason that it was told."""

    def __init__(self) -> None:
        self.asked: list[CloseSurvey] = []

    def receive(self, message: CloseSurvey, ctx: Context) -> SurveyClosed:
        self.asked.append(message)
        if message.reason == "cancelled":
            return SurveyClosed(status="cancelled")
        return SurveyClosed(status="resolved" if message.reason == "completed" else "error")


class Looks(Actor[Any]):
    def receive(self, message: Any, ctx: Context) -> Seen:
        return Seen(sight=f"{ctx.address}: {message.plan}")


def surveying(roles: dict[str, Factory] | None = None, *, flow: Any = SURVEY, case: SurveyCase = CASE) -> Stage:
    clerk, judge = Clerk(), Says(Judged(summary="well"))
    usual: dict[str, Factory] = {
        "planner": lambda: Says(Planned(plan="all")), "judge": lambda: judge, "clerk": lambda: clerk,
        **dict.fromkeys(TEAM, Looks), **(roles or {}),
    }  # fmt: skip
    stage = Stage(flow=flow, case=case, cast=usual)
    stage.tickets = clerk
    stage.model = judge
    return stage


def judged(stage: Stage) -> tuple[MemberResult[Seen], ...]:
    """What the judge was shown."""
    request: Judge = stage.model.asked[-1]
    return request.found


async def test_a_survey_goes_well() -> None:
    stage = surveying()

    outcome = await stage.end()

    assert (outcome.why, outcome.by, outcome.status) == (EndReason.COMPLETED, "clerk", "resolved")
    assert judged(stage) == tuple(MemberResult(role, Seen(sight=f"{role}: all")) for role in TEAM)
    assert len(outcome.handoffs) == 2 + 6 + 2 + 1


async def test_a_fan_out_goes_on_when_all_have_settled_in_the_order_of_the_team() -> None:
    north, east = Waits(), Waits()

    class Gate(Actor[Any]):
        def __init__(self, waits: Waits) -> None:
            self._waits = waits

        async def receive(self, message: Any, ctx: Context) -> Seen:
            await self._waits.go.wait()
            return Seen(sight=ctx.address)

    stage = surveying({"north": lambda: Gate(north), "east": lambda: Gate(east)})
    await settle()
    for each in (east, north):
        assert not stage.model.asked
        each.go.set()
        await settle()

    outcome = await stage.end()

    assert [each.role for each in judged(stage)] == list(TEAM)
    settled = [each.source for each in outcome.handoffs if each.target == ORCHESTRATOR and each.source in TEAM]
    assert settled == ["south", "east", "north"]


class Breaks(Actor[Any]):
    def receive(self, message: Any, ctx: Context) -> Event:
        raise OSError("no rope")


BAD: dict[str, tuple[Factory, str]] = {
    "raises": (Breaks, "An internal error (OSError)"),
    "wrong": (lambda: Says(Planned(plan="?")), "Planned is no answer to Look"),
    "strange": (lambda: Says(SurveyClosed(status="resolved")), "SurveyClosed is no answer to Look"),
    "nothing": (lambda: Says("TERMINATE_WORKFLOW"), "TypeError"),
    "hangs": (Hangs, "it did not answer in time"),
    "silent": (lambda: Says(None), "it did not answer in time"),
}


@pytest.mark.parametrize("kind", BAD)
@pytest.mark.parametrize("bad", [("north",), ("east",), ("north", "south"), TEAM], ids="+".join)
async def test_what_some_could_not_say_is_known_and_the_others_are_heard(kind: str, bad: tuple[str, ...]) -> None:
    make, error = BAD[kind]
    stage = surveying(dict.fromkeys(bad, make))

    outcome = await stage.end()

    assert (outcome.why, outcome.by) == (EndReason.COMPLETED, "clerk")
    for each in judged(stage):
        if each.role in bad:
            assert each.answer is None
            assert error in each.error
        else:
            assert each == MemberResult(each.role, Seen(sight=f"{each.role}: all"))
    assert outcome.seconds == (30 if kind in {"hangs", "silent"} else 0)
    assert stage.replayed().case.found == judged(stage)


async def test_each_member_has_its_own_time_and_is_interrupted_when_it_is_over() -> None:
    waits = Waits()

    class Slow(Actor[Any]):
        async def receive(self, message: Any, ctx: Context) -> Seen:
            assert ctx.remaining_seconds() == 30
            try:
                await waits.go.wait()
            except asyncio.CancelledError:
                waits.interrupted.append(ctx.address)
                raise
            return Seen(sight="too late")

    judge = Waits()

    class Judges(Actor[Any]):
        async def receive(self, message: Any, ctx: Context) -> Judged:
            await judge.go.wait()
            return Judged(summary="")

    stage = surveying({"south": Slow, "judge": Judges})
    await stage.until(29.9)
    assert waits.interrupted == []

    await stage.until(30)
    assert waits.interrupted == ["south"]
    waits.go.set()
    judge.go.set()
    outcome = await stage.end()

    assert (outcome.why, outcome.refused, outcome.seconds) == (EndReason.COMPLETED, 0, 30)


async def test_a_late_answer_of_a_member_is_refused() -> None:
    contexts: list[Context] = []

    class Keeps(Actor[Any]):
        def receive(self, message: Any, ctx: Context) -> None:
            contexts.append(ctx)

    judge = Waits()

    class Judges(Actor[Any]):
        async def receive(self, message: Any, ctx: Context) -> Judged:
            await judge.go.wait()
            return Judged(summary="")

    stage = surveying({"south": Keeps, "judge": Judges})
    await stage.until(31)
    contexts[0].tell(ORCHESTRATOR, Seen(sight="late"), number=contexts[0].number)
    await settle()
    judge.go.set()

    outcome = await stage.end()

    assert (outcome.why, outcome.refused) == (EndReason.COMPLETED, 1)


async def test_a_member_cannot_answer_for_another_nor_twice() -> None:
    class Meddles(Actor[Any]):
        def receive(self, message: Any, ctx: Context) -> Seen:
            for number in range(20):
                if number != ctx.number:
                    ctx.tell(ORCHESTRATOR, Seen(sight="forged"), number=number)
            ctx.tell(ORCHESTRATOR, Seen(sight="first"), number=ctx.number)
            return Seen(sight="second")

    stage = surveying({"south": Meddles})

    outcome = await stage.end()

    assert outcome.refused == 20
    assert [each.answer for each in judged(stage)] == [
        Seen(sight="north: all"), Seen(sight="first"), Seen(sight="east: all"),
    ]  # fmt: skip


async def test_only_those_who_are_picked_are_asked() -> None:
    stage = surveying(case=msgspec.structs.replace(CASE, team=("east", "unknown", "north")))

    outcome = await stage.end()

    assert [each.role for each in judged(stage)] == ["north", "east"]
    assert len(outcome.handoffs) == 2 + 4 + 2 + 1


async def test_the_runs_deadline_is_tighter_than_a_members_time() -> None:
    stage = surveying({"south": Hangs}, flow=survey(max_seconds=10.0))

    outcome = await stage.end()

    assert (outcome.why, outcome.by, outcome.seconds) == (EndReason.TIMED_OUT, "clerk", 10)


async def test_a_declared_repetition_is_taken_as_often_as_it_may_be_and_is_no_loop() -> None:
    stage = surveying({"judge": lambda: Says(*(Unsure(notes=n) for n in range(1, 9)))})

    outcome = await stage.end()

    assert (outcome.why, outcome.status) == (EndReason.COMPLETED, "resolved")
    assert [each.target for each in outcome.handoffs].count("planner") == 1 + AGAIN


async def test_a_repetition_that_added_nothing_is_the_last() -> None:
    stage = surveying({"judge": lambda: Says(Unsure(notes=1), Unsure(notes=2), Unsure(notes=2))})

    outcome = await stage.end()

    assert outcome.why is EndReason.COMPLETED
    assert [each.target for each in outcome.handoffs].count("planner") == 3, "the third added nothing to the second"


async def test_each_role_is_asked_as_often_as_its_limits_say() -> None:
    limits = {"planner": Limits(within=5.0, retries=3), "judge": Limits(within=7.0, retries=0)}
    for role, tries, seconds in (("planner", 4, 20), ("judge", 1, 7), ("clerk", 2, 120 + CLOSING_SECONDS)):
        stage = surveying({role: Hangs}, flow=survey(limits=limits))

        outcome = await stage.end()

        expected = tries + (role == "clerk")  # it is asked to close besides
        assert [each.target for each in outcome.handoffs].count(role) == expected, role
        assert (outcome.why, outcome.seconds) == (EndReason.STEP_TIMED_OUT, seconds), role


async def test_an_agent_that_is_asked_again_is_interrupted_first() -> None:
    waits = Waits()

    class Once(Actor[Any]):
        def __init__(self) -> None:
            self.asked = 0

        async def receive(self, message: Any, ctx: Context) -> Planned:
            self.asked += 1
            if self.asked == 1:
                try:
                    await waits.go.wait()
                except asyncio.CancelledError:
                    waits.interrupted.append(str(stage.clock.now))
                    raise
            return Planned(plan=f"try {self.asked}")

    once = Once()
    stage = surveying({"planner": lambda: once})

    outcome = await stage.end()

    assert waits.interrupted == ["60.0"]
    assert (outcome.why, outcome.seconds, stage.replayed().case.plan) == (EndReason.COMPLETED, 60, "try 2")


@pytest.mark.req("HD-3.2")
async def test_asking_the_same_agent_twice_in_a_row_is_warned_of() -> None:
    from structlog.testing import capture_logs

    stage = surveying({"planner": lambda: Says(OSError("?"), Planned(plan="p"))})
    with capture_logs() as lines:
        await stage.end()

    (line,) = [each for each in lines if each["event"] == "handoff.repeated"]
    assert (line["log_level"], line["target"]) == ("warning", "planner")


class HandsIn(Actor[Any]):
    """Works until it is asked to hand in, and so many seconds more."""

    def __init__(self, clock: Callable[[], Jumping], seconds: float, answer: Any) -> None:
        self._clock = clock
        self._seconds = seconds
        self._answer = answer

    async def receive(self, message: Any, ctx: Context) -> Any:
        stop, done = asyncio.Event(), asyncio.Event()
        ctx.on_stop(stop.set)
        await stop.wait()
        assert ctx.stopping
        self._clock().call_later(self._seconds, done.set)
        await done.wait()
        return self._answer


@pytest.mark.parametrize("answer", [Planned(plan="half"), OSError("?"), "no answer"], ids=["half", "fails", "wrong"])
async def test_an_agent_that_hands_in_in_time_is_heard_and_the_run_is_cancelled(answer: Any) -> None:
    stage = surveying({"planner": lambda: HandsIn(lambda: stage.clock, 1.5, answer)})
    await stage.until(10)

    stage.live.cancel()
    outcome = await stage.end()

    assert (outcome.why, outcome.by, outcome.status, outcome.seconds) == (
        EndReason.CANCELLED,
        "clerk",
        "cancelled",
        11.5,
    )
    assert stage.replayed().case.plan == ("half" if answer == Planned(plan="half") else "")
    assert stage.tickets.asked[-1].reason == "cancelled"
    assert "judge" not in {each.target for each in outcome.handoffs}, "nothing new is begun"


async def test_one_that_does_not_hand_in_is_cut_off_after_its_time() -> None:
    stubborn = Stubborn(Planned(plan="late"))
    stage = surveying({"planner": lambda: stubborn}, flow=survey(default_limits=Limits(within=300.0)))
    await stage.until(10)

    stage.live.cancel()
    outcome = await stage.end()

    assert (outcome.why, outcome.by, outcome.status, outcome.seconds) == (EndReason.CANCEL_FORCED, "", "error", 40)
    await stubborn.release()


async def test_a_second_cancel_does_not_wait() -> None:
    stubborn = Stubborn()
    stage = surveying({"planner": lambda: stubborn})
    await stage.until(10)

    stage.live.cancel()
    await stage.until(12)
    assert not stage.live.is_over
    stage.live.cancel()
    outcome = await stage.end()

    assert (outcome.why, outcome.by, outcome.status, outcome.seconds) == (EndReason.CANCELLED, "clerk", "cancelled", 12)
    await stubborn.release()


@pytest.mark.parametrize("role", ["south", "judge"])
async def test_where_nobody_hands_in_a_cancel_ends_the_run_at_once(role: str) -> None:
    stage = surveying({role: Hangs})
    await stage.until(10)

    stage.live.cancel()
    outcome = await stage.end()

    assert (outcome.why, outcome.by, outcome.status, outcome.seconds) == (EndReason.CANCELLED, "clerk", "cancelled", 10)


async def test_a_cancel_while_the_run_is_being_closed_changes_nothing() -> None:
    clerk = Waits()

    class Closes(Actor[Any]):
        async def receive(self, message: CloseSurvey, ctx: Context) -> SurveyClosed:
            clerk.heard.append(message.reason)
            await clerk.go.wait()
            return SurveyClosed(status="resolved")

    stage = surveying({"clerk": Closes})
    await settle()
    stage.live.cancel()
    stage.live.cancel()
    await settle()
    clerk.go.set()

    outcome = await stage.end()

    assert (outcome.why, outcome.status, outcome.refused) == (EndReason.COMPLETED, "resolved", 2)
    assert clerk.heard == ["completed"]


async def test_a_cancel_after_the_end_changes_nothing() -> None:
    stage = surveying()
    outcome = await stage.end()

    stage.live.cancel()
    await stage.until(100)

    assert await stage.live.outcome() == outcome


@pytest.mark.parametrize("when", [0.0, 5.0, 29.0])
async def test_the_deadline_wins_over_a_cancel_that_waits(when: float) -> None:
    stage = surveying({"planner": Hangs}, flow=survey(max_seconds=10.0 + when, default_limits=Limits(within=300.0)))
    await stage.until(10)
    stage.live.cancel()

    outcome = await stage.end()

    assert (outcome.why, outcome.by, outcome.seconds) == (EndReason.TIMED_OUT, "clerk", 10 + when)


async def test_how_long_an_answer_is_of_use_is_told_to_each() -> None:
    left: list[float] = []

    class Tells(Looks):
        def receive(self, message: Any, ctx: Context) -> Seen:
            left.append(ctx.remaining_seconds())
            return super().receive(message, ctx)

    await surveying({"south": Tells}).end()
    await surveying({"south": Tells}, flow=survey(max_seconds=20.0)).end()

    class TellsPlan(Actor[Any]):
        def receive(self, message: Any, ctx: Context) -> Planned:
            left.append(ctx.remaining_seconds())
            return Planned(plan="p")

    await surveying({"planner": TellsPlan}).end()
    await surveying({"planner": TellsPlan}, flow=survey(max_seconds=20.0)).end()

    assert left == [30, 20, 60, 20]
