"""A fan-out: which way it leads, how a member is asked again within its own time, and what it hands in at a cancel."""

import asyncio
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from actors.workflow.advance import advance, begin
from actors.workflow.outcome import EndReason
from actors.workflow.tables import ORCHESTRATOR, FanOut, Limits, MemberResult, Run, RunResumed, RunStopped, Step
from actors.workflow.transitions import HandOff, RequestPartial, Wait
from actors.workflow.verify import verify
from bus import Actor, Context, Event, Failed, Request
from tests.actors.workflow.survey import TEAM, Judged, Planned, Seen, Settle, survey
from tests.actors.workflow.test_steps import CASE, HandsIn, Looks, judged, surveying
from tests.fakes import Hangs, Says, Stage, Stubborn

replace = msgspec.structs.replace
TABLE = survey()
LOOKING = TABLE.steps["looking"]
assert isinstance(LOOKING, FanOut)


class Guess(Request[Judged], frozen=True):
    plan: str


class LookHard(Request[Seen], frozen=True):
    plan: str
    refused: tuple[str, ...] = ()


def forked(*, ask: type[Request[Any]] = LOOKING.ask, **changed: Any) -> Any:
    """A survey that leads elsewhere when some, or none, saw anything."""
    steps = {
        **TABLE.steps,
        "looking": replace(LOOKING, ask=ask, on_some="patching", on_none="guessing", returns_partial=True),
        "patching": Step("patcher", Guess, {Judged: "closing"}),
        "guessing": Step("guesser", Guess, {Judged: "closing"}),
    }
    return survey(**{"steps": steps, **changed})


FORKED = forked()


def stage_of(roles: dict[str, Callable[[], Actor[Any]]], flow: Any = FORKED, **more: Any) -> Stage:
    clerks = {role: lambda: Says(Judged(summary="so it seems")) for role in ("patcher", "guesser")}
    return surveying({**clerks, **roles}, flow=flow, **more)


@pytest.mark.parametrize(
    ("bad", "role"), [((), "judge"), (("north",), "patcher"), (("south", "east"), "patcher"), (TEAM, "guesser")]
)
@pytest.mark.parametrize("kind", [Hangs, lambda: Says(OSError("?")), lambda: Says(Planned(plan="?"))])
async def test_where_it_leads_depends_on_how_many_answered(
    bad: tuple[str, ...], role: str, kind: Callable[[], Actor[Any]]
) -> None:
    stage = stage_of(dict.fromkeys(bad, kind))

    outcome = await stage.end()

    assert (outcome.why, outcome.by) == (EndReason.COMPLETED, "clerk")
    assert {each.target for each in outcome.handoffs} & {"judge", "patcher", "guesser"} == {role}
    assert [each.role for each in stage.replayed().case.found if each.answer is None] == list(bad)


@pytest.mark.parametrize(("bad", "role"), [("south", "judge"), ("east", "patcher")])
async def test_only_those_who_were_asked_count(bad: str, role: str) -> None:
    stage = stage_of({bad: Hangs}, case=replace(CASE, team=("north", "east")))

    outcome = await stage.end()

    assert {each.target for each in outcome.handoffs} & {"judge", "patcher", "guesser"} == {role}


async def test_where_nobody_is_asked_nobody_answered() -> None:
    stage = stage_of({}, case=replace(CASE, team=("nobody",)))

    outcome = await stage.end()

    assert outcome.why is EndReason.COMPLETED
    assert "guesser" in {each.target for each in outcome.handoffs}


async def test_a_member_that_fails_early_is_asked_again_and_heard() -> None:
    failing = Says(OSError("?"), Seen(sight="after all"))
    stage = stage_of({"south": lambda: failing})

    outcome = await stage.end()

    assert judged(stage)[1] == MemberResult("south", Seen(sight="after all"))
    assert [(each.source, each.target) for each in outcome.handoffs if "south" in {each.source, each.target}] == [
        (ORCHESTRATOR, "south"), ("south", ORCHESTRATOR), (ORCHESTRATOR, "south"), ("south", ORCHESTRATOR),
    ]  # fmt: skip
    assert len(outcome.handoffs) == 2 + 8 + 2 + 1
    assert stage.replayed().case.found == judged(stage)


async def test_asking_again_gives_a_member_no_more_time() -> None:
    left: list[float] = []

    class Late(Actor[Any]):
        async def receive(self, message: Any, ctx: Context) -> Event:
            left.append(ctx.remaining_seconds())
            over = asyncio.Event()
            stage.clock.call_later(12.0, over.set)
            await over.wait()
            raise OSError("?")

    stage = stage_of({"south": Late}, flow=forked(default_limits=Limits(60.0, 9)))

    outcome = await stage.end()

    assert left == [30, 18, 6]
    assert outcome.seconds == 30
    assert stage.replayed().case.found[1] == MemberResult("south", None, "it did not answer in time")


async def test_it_is_asked_as_often_as_its_limits_say() -> None:
    failing = Says(OSError("?"))
    stage = stage_of({"south": lambda: failing}, flow=forked(limits={"south": Limits(5.0, 3)}))

    outcome = await stage.end()

    assert len(failing.asked) == 4
    assert outcome.why is EndReason.COMPLETED
    assert "An internal error (OSError)" in stage.replayed().case.found[1].error


async def test_who_is_asked_again_is_told_why_and_nobody_else_is() -> None:
    wrong, right = Says(Planned(plan="?"), Seen(sight="now")), Says(OSError("?"), Seen(sight="now"))
    stage = stage_of({"north": lambda: wrong, "south": lambda: right}, flow=forked(ask=LookHard))

    await stage.end()

    assert [each.refused for each in wrong.asked] == [(), ("Planned is no answer to LookHard",)]
    assert [each.refused for each in right.asked] == [(), ()]


async def test_it_is_not_asked_again_where_the_others_could_not_answer_any_more() -> None:
    flow = forked(max_handoffs=13, default_limits=Limits(60.0, 9))
    stage = stage_of({"north": lambda: Says(OSError("?")), "south": Looks}, flow=flow)

    outcome = await stage.end()

    assert [each.answer is not None for each in stage.replayed().case.found] == [False, True, True]
    assert len(outcome.handoffs) <= verify(flow, every_way=False) == 14


def at_looking(flow: Any = FORKED) -> Run:
    run, _ = begin(flow, CASE)
    run, _ = advance(flow, run, Planned(plan="all"), sender="planner", number=1, elapsed=0.0)
    return run


def test_where_asking_a_third_time_is_a_loop_a_member_is_not_asked_a_third_time() -> None:
    steps = {
        "looking": replace(LOOKING, team=("north",), pick="", limits=Limits(30.0, 9)),
        "judging": Step("judge", Settle, {Judged: "closing"}),
        "closing": TABLE.steps["closing"],
    }
    flow = survey(steps=steps, asking_loops=True)
    run, _ = begin(flow, CASE)

    for number in (1, 3):
        assert (run.state, run.open[0].number) == ("looking", number)
        run, _ = advance(flow, run, Failed(request="", error="?"), sender="north", number=number, elapsed=1.0)

    assert (run.state, run.breach, run.case.found) == ("judging", None, (MemberResult("north", None, "?"),))


def test_a_crash_forgets_no_retry_and_no_answer() -> None:
    run = at_looking()
    run, _ = advance(FORKED, run, Seen(sight="trams"), sender="north", number=3, elapsed=1.0)
    run, again = advance(FORKED, run, Failed(request="", error="?"), sender="south", number=4, elapsed=2.0)
    assert isinstance(again, HandOff)
    assert again.numbers == (8,)
    assert [(each.number, each.due) for each in run.open] == [(8, 30.0), (5, 30.0)]

    run, _ = advance(FORKED, run, RunResumed(), sender="", number=0, elapsed=10.0)

    assert [(each.role, each.retries) for each in run.open] == [("south", 1), ("east", 0)]
    run, _ = advance(FORKED, run, Failed(request="", error="?"), sender="south", number=8, elapsed=11.0)
    run, _ = advance(FORKED, run, Seen(sight="trees"), sender="east", number=5, elapsed=12.0)
    assert (run.state, [each.answer is None for each in run.case.found]) == ("patching", [False, True, False])


async def test_at_a_cancel_members_hand_in_what_they_have() -> None:
    def slow(role: str) -> Callable[[], Actor[Any]]:
        return lambda: HandsIn(lambda: stage.clock, 2.0, Seen(sight=f"{role}: half"))

    stage = stage_of({"south": slow("south"), "east": slow("east")})
    await stage.until(10)

    stage.live.cancel()
    outcome = await stage.end()

    assert (outcome.why, outcome.by, outcome.status, outcome.seconds) == (
        EndReason.CANCELLED, "clerk", "cancelled", 12,
    )  # fmt: skip
    assert [each.answer.sight for each in stage.replayed().case.found if each.answer] == [
        "north: all", "south: half", "east: half",
    ]  # fmt: skip
    assert not {each.target for each in outcome.handoffs} & {"judge", "patcher", "guesser"}, "nothing new is begun"


async def test_who_does_not_hand_in_in_time_costs_nobody_elses_answer() -> None:
    stubborn = Stubborn(Seen(sight="late"))
    flow = forked(cancel_seconds=5.0)
    stage = stage_of({"south": lambda: stubborn, "east": Hangs}, flow=flow)
    await stage.until(10)

    stage.live.cancel()
    outcome = await stage.end()

    assert (outcome.why, outcome.by, outcome.status, outcome.seconds) == (
        EndReason.CANCELLED, "clerk", "cancelled", 15,
    )  # fmt: skip
    silent = "it did not answer in time"
    assert stage.replayed().case.found == (
        MemberResult("north", Seen(sight="north: all")),
        MemberResult("south", None, silent),
        MemberResult("east", None, silent),
    )
    await stubborn.release()


def test_a_member_that_fails_once_the_run_is_cancelled_is_not_asked_again() -> None:
    run, verdict = advance(FORKED, at_looking(), RunStopped(), sender="", number=0, elapsed=1.0)
    assert isinstance(verdict, RequestPartial)

    run, verdict = advance(FORKED, run, Failed(request="", error="?"), sender="south", number=4, elapsed=2.0)

    assert isinstance(verdict, Wait)
    assert run.case.found == (MemberResult("south", None, "?"),)


@pytest.mark.parametrize("returns_partial", [True, False])
async def test_whatever_cuts_it_short_the_answers_so_far_are_kept(*, returns_partial: bool) -> None:
    steps = {**FORKED.steps, "looking": replace(FORKED.steps["looking"], returns_partial=returns_partial)}
    for flow, cancels in ((survey(steps=steps, max_seconds=20.0), 0), (survey(steps=steps), 2)):
        stage = stage_of({"south": Hangs}, flow=flow)
        await stage.until(10)
        for _ in range(cancels):
            stage.live.cancel()

        outcome = await stage.end()

        assert outcome.why is (EndReason.CANCELLED if cancels else EndReason.TIMED_OUT)
        assert [each.role for each in stage.replayed().case.found] == ["north", "east"]
