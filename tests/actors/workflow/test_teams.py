"""A fan-out: who is asked, how long each has, what is shown and logged of it, and that what became of it is stored."""

from typing import Any

import msgspec
import pytest
from structlog.testing import capture_logs

from actors.workflow.advance import advance, begin
from actors.workflow.broadcast import list_past
from actors.workflow.codec import decoder, validate_event
from actors.workflow.outcome import AnswerReady, EndReason, HandoffMade, Outcome
from actors.workflow.tables import ORCHESTRATOR, FanOut, Limits, MemberResult, Step
from actors.workflow.transitions import HandOff, Wait
from actors.workflow.verify import InvalidWorkflow, verify
from bus import Actor, Context, Event
from tests.actors.workflow.survey import (
    TEAM,
    CloseSurvey,
    Judged,
    Look,
    Planned,
    Seen,
    Settle,
    SurveyCase,
    SurveyClosed,
    survey,
)
from tests.actors.workflow.test_steps import CASE, judged, surveying
from tests.bus.parts import Waits
from tests.clock import settle
from tests.fakes import Hangs, Says, Stage

replace = msgspec.structs.replace
TABLE = survey()
LOOKING = TABLE.steps["looking"]


def looking(limits: Limits | None = None, **changed: Any) -> Any:
    """The survey with another fan-out, or with other limits of its roles."""
    assert isinstance(LOOKING, FanOut)
    return survey(steps={**TABLE.steps, "looking": replace(LOOKING, limits=limits)}, **changed)


def times(flow: Any) -> list[float]:
    """How long each member has."""
    run, _ = begin(flow, CASE)
    run, verdict = advance(flow, run, Planned(plan="all"), sender="planner", number=1, elapsed=0.0)
    assert isinstance(verdict, HandOff)
    assert verdict.numbers == tuple(each.number for each in run.open)
    return [each.due for each in run.open]


@pytest.mark.parametrize(
    ("flow", "within"),
    [
        (looking(), [30, 30, 30]),
        (looking(limits=Limits(50.0)), [50, 50, 50]),
        (looking(default_limits=Limits(10.0)), [10, 10, 10]),
    ],
    ids=["as usual", "by the table", "as configured for all"],
)
def test_a_members_time_is_its_tables_or_the_tighter_of_what_is_configured(flow: Any, within: list[float]) -> None:
    assert times(flow) == within


def test_each_member_may_have_a_time_of_its_own_and_none_more_than_the_run() -> None:
    flow = survey(limits={"north": Limits(5.0), "south": Limits(300.0)}, max_seconds=20.0)

    assert times(flow) == [5, 20, 20]


async def ended(stage: Stage) -> tuple[Outcome, list[Any]]:
    with capture_logs() as lines:
        outcome = await stage.end()
    return outcome, list(lines)


@pytest.mark.req("HD-7.2")
async def test_each_answer_of_a_member_is_shown_and_logged_when_it_comes() -> None:
    gates = {role: Waits() for role in TEAM}

    class Gate(Actor[Any]):
        async def receive(self, message: Any, ctx: Context) -> Seen:
            await gates[ctx.address].go.wait()
            return Seen(sight=ctx.address)

    stage = surveying(dict.fromkeys(TEAM, Gate))

    def shown() -> list[str]:
        return [each.source for each in stage.heard if isinstance(each, HandoffMade)][5:]

    with capture_logs() as lines:
        await settle()
        for number, role in enumerate(("east", "north", "south"), 1):
            gates[role].go.set()
            await settle()
            assert shown()[:number] == ["east", "north", "south"][:number]
        outcome = await stage.end()

    made = [(each["number"], each["source"]) for each in lines if each["event"] == "handoff.made"]
    assert made == [(n, each.source) for n, each in enumerate(outcome.handoffs, 1)]
    told = [each for each in stage.heard if isinstance(each, HandoffMade)]
    assert [each.number for each in told] == list(range(1, len(outcome.handoffs) + 1)), "each once"


async def test_what_is_shown_of_a_run_that_is_over_is_what_was_shown_of_it() -> None:
    for stage in (surveying(), surveying({"north": Hangs}), surveying({"judge": lambda: Says(OSError("?"))}), Stage()):
        outcome = await stage.end()

        began, *others = [each for each in stage.heard[:-1] if not isinstance(each, AnswerReady)]
        known = replace(began, language=outcome.language)  # what it is written in may be found out on the way
        assert list_past(outcome) == [known, *others]
        assert len({each.state for each in list_past(outcome) if isinstance(each, HandoffMade)}) > 2


async def test_who_comes_late_hears_each_handoff_once() -> None:
    stage = surveying({"judge": Hangs})
    await stage.until(1)
    late: list[Any] = list(stage.live.so_far())
    stage.live.watch(late.append)
    outcome = await stage.end()

    assert [each.number for each in late if isinstance(each, HandoffMade)] == list(range(1, len(outcome.handoffs) + 1))
    assert late == stage.heard


@pytest.mark.parametrize("picked", [("east", "unknown"), ("unknown", "east", "x" * 1000)])
async def test_an_unknown_name_is_warned_of_and_left_out(picked: tuple[str, ...]) -> None:
    stage = surveying(case=replace(CASE, team=picked))

    outcome, lines = await ended(stage)

    assert judged(stage) == (MemberResult("east", Seen(sight="east: all")),)
    (line,) = [each for each in lines if each["event"] == "pick.unknown"]
    assert line["log_level"] == "warning"
    assert line["target"].startswith("unknown")
    assert len(line["target"]) <= 500
    assert {each.target for each in outcome.handoffs} & set(TEAM) == {"east"}


async def test_where_no_name_is_known_nobody_is_asked_and_the_run_goes_on() -> None:
    stage = surveying(case=replace(CASE, team=("nobody", "unknown")))

    outcome, lines = await ended(stage)

    assert (outcome.why, outcome.status, judged(stage)) == (EndReason.COMPLETED, "resolved", ())
    assert not {each.target for each in outcome.handoffs} & set(TEAM)
    assert [(each["target"], each["reason"]) for each in lines if each["event"] == "pick.unknown"] == [
        ("nobody, unknown", "not in the team of looking, so not asked")
    ]
    assert stage.replayed().case.found == ()


@pytest.mark.req("HD-5.4")
async def test_a_member_that_claims_the_end_goes_on_with_its_task() -> None:
    liar = Says(SurveyClosed(status="resolved"), Seen(sight="after all"))
    stage = surveying({"south": lambda: liar})

    outcome, lines = await ended(stage)

    assert (outcome.why, len(outcome.handoffs)) == (EndReason.COMPLETED, 2 + 6 + 2 + 1)
    assert judged(stage)[1] == MemberResult("south", Seen(sight="after all"))
    assert [each["target"] for each in lines if each["event"] == "termination.refused"] == ["south"]


@pytest.mark.req("HD-3.2")
async def test_a_team_that_begins_with_who_was_asked_just_now_is_warned_of() -> None:
    steps = {**TABLE.steps, "planning": Step("north", TABLE.steps["planning"].ask, {Planned: "looking"})}
    shared = Says(Planned(plan="all"), Seen(sight="?"))
    stage = surveying({"north": lambda: shared}, flow=survey(steps=steps))

    _, lines = await ended(stage)

    assert [each["target"] for each in lines if each["event"] == "handoff.repeated"] == ["north"]


@pytest.mark.req("HD-3.2")
async def test_two_steps_of_one_agent_after_another_are_warned_of() -> None:
    judging = Step("clerk", Settle, {Judged: "closing"})
    clerk = Says(Judged(summary="well"), SurveyClosed(status="resolved"))
    stage = surveying({"clerk": lambda: clerk}, flow=survey(steps={**TABLE.steps, "judging": judging}))

    outcome, lines = await ended(stage)

    assert outcome.why is EndReason.COMPLETED
    assert [(each["target"], each["reason"]) for each in lines if each["event"] == "handoff.repeated"] == [
        ("clerk", "orchestrator hands to clerk twice in a row")
    ]


class Merged(Event, frozen=True):
    """An event that hands on what became of a team."""

    found: tuple[MemberResult[Seen], ...]


FOUND: tuple[MemberResult[Seen], ...] = (
    MemberResult("north", Seen(sight="trams")),
    MemberResult("south", None, "it did not answer in time"),
)


def test_what_became_of_a_team_can_be_stored_in_an_event_and_in_a_case() -> None:
    judging = Step("judge", Look, {Merged: "closing"})
    flow = survey(steps={**TABLE.steps, "judging": judging})
    event = Merged(found=FOUND)

    assert validate_event(flow, event) == event
    assert decoder(flow).decode(msgspec.msgpack.encode(event)) == event
    case = SurveyCase(ticket_id="T-1", found=FOUND)
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(case), type=SurveyCase) == case


class Untyped(SurveyCase, frozen=True, kw_only=True, gc=False):
    found: tuple[MemberResult[Any], ...] = ()


class OfOthers(SurveyCase, frozen=True, kw_only=True, gc=False):
    found: tuple[MemberResult[Judged], ...] = ()  # type: ignore[assignment]


class NotMany(SurveyCase, frozen=True, kw_only=True, gc=False):
    found: MemberResult[Seen] | None = None  # type: ignore[assignment]


@pytest.mark.parametrize("case", [Untyped, OfOthers, NotMany])
def test_a_case_that_does_not_say_of_which_answers_is_refused(case: type[SurveyCase]) -> None:
    with pytest.raises(InvalidWorkflow, match=r"must be tuple\[MemberResult\[Seen\], ...\]"):
        verify(replace(TABLE, case=case))


def test_the_others_are_waited_for_and_all_that_was_made_by_then_is_known() -> None:
    run, _ = begin(TABLE, CASE)
    run, _ = advance(TABLE, run, Planned(plan="all"), sender="planner", number=1, elapsed=0.0)

    run, verdict = advance(TABLE, run, Seen(sight="?"), sender="east", number=5, elapsed=1.0)

    assert verdict == Wait(made=6)
    assert run.handoffs[-1].source == "east"
    assert CloseSurvey is TABLE.close
    assert run.handoffs[-1].target == ORCHESTRATOR
