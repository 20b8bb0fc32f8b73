"""A table that might not end, is ended by the wrong role or names what is not there is refused with its place."""

from collections.abc import Callable
from typing import Any, Literal

import msgspec
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from actors.helpdesk.workflow import HELPDESK
from actors.workflow.tables import (
    ORCHESTRATOR,
    FanOut,
    Handover,
    InvalidAnswer,
    Limits,
    RetryStage,
    RunStopped,
    Step,
    Workflow,
)
from actors.workflow.verify import MOST_REPETITIONS, MOST_RETRIES, InvalidWorkflow, verify
from bus import Event, Failed, Request
from tests.actors.workflow.survey import (
    TEAM,
    CloseSurvey,
    Judge,
    Judged,
    Look,
    Plan,
    Planned,
    Seen,
    SurveyClosed,
    Unsure,
    survey,
)
from tests.actors.workflow.tables import BOSS, FINAL, A, End, workflows

replace = msgspec.structs.replace


def with_steps(**steps: Step | FanOut) -> Workflow:
    return replace(survey(), steps={**survey().steps, **steps})


class Unknown(Event, frozen=True):
    colour: str


class Number(Event, frozen=True):
    plan: int


class Flavour(Request[Judged], frozen=True):
    flavour: str


class SameTag(Event, frozen=True, tag="Planned"):
    plan: str


class Chosen(Event, frozen=True):
    plan: Literal["a", "b"]


class Perhaps(Event, frozen=True):
    plan: str | None


class Choose(Request[Chosen], frozen=True):
    notes: int


class Consider(Request[Perhaps], frozen=True):
    notes: int


PLANNING = Step("planner", Plan, {Planned: "looking"})
LOOKING = FanOut(TEAM, Look, Seen, "found", on_all="judging", on_some="judging", on_none="judging")
JUDGING = Step("judge", Judge, {Judged: "closing", Unsure: RetryStage("planning", 3, "closing")})


def planning(**changed: Any) -> Workflow:
    return with_steps(planning=replace(PLANNING, **changed))


def looking(**changed: Any) -> Workflow:
    return with_steps(looking=replace(LOOKING, **changed))


def judging(**changed: Any) -> Workflow:
    return with_steps(judging=replace(JUDGING, **changed))


def unsure(to: str | RetryStage) -> Workflow:
    return judging(then={Judged: "closing", Unsure: to})


FAULTS: dict[str, tuple[Callable[[], Workflow], str]] = {
    "an unknown state": (lambda: planning(then={Planned: "nowhere"}), r"unknown states \['nowhere'\]"),
    "an unknown state to repeat": (lambda: unsure(RetryStage("nowhere", 3, "closing")), "nowhere"),
    "an unknown state when used up": (lambda: unsure(RetryStage("planning", 3, "nowhere")), "nowhere"),
    "an unknown state when all have answered": (lambda: looking(on_all="nowhere"), "nowhere"),
    "an unknown state when some have": (lambda: looking(on_some="nowhere"), "nowhere"),
    "an unknown state when none has": (lambda: looking(on_none="nowhere"), "nowhere"),
    "a circle when none has answered": (lambda: looking(on_none="planning"), "goes in a circle over"),
    "a team that reads its own answers": (lambda: looking(ask=Judge), "Judge reads found, which grows"),
    "a repetition to the end": (lambda: unsure(RetryStage("over", 3, "closing")), "cannot lead to the end"),
    "no repetition at all": (lambda: unsure(RetryStage("planning", 0, "closing")), "repeats 0 times"),
    "too many repetitions": (
        lambda: unsure(RetryStage("planning", MOST_REPETITIONS + 1, "closing")),
        "repeats 11 times",
    ),
    "no answer": (lambda: planning(then={}), "no answer leads anywhere"),
    "a circle": (lambda: unsure("planning"), "goes in a circle over"),
    "a circle of one": (lambda: planning(then={Planned: "planning"}), "cannot end from"),
    "a circle when used up": (lambda: unsure(RetryStage("looking", 1, "planning")), "goes in a circle over"),
    "no way out": (lambda: judging(then={Judged: "planning"}), "cannot end from"),
    "ended by another": (
        lambda: with_steps(closing=Step("planner", CloseSurvey, {SurveyClosed: "over"})),
        "only clerk may terminate",
    ),
    "ended by a peer": (
        lambda: with_steps(closing=Step("clerk", CloseSurvey, {SurveyClosed: "over"}, peers=frozenset({"judge"}))),
        "only clerk may terminate",
    ),
    "ended by a team": (lambda: looking(on_all="over"), "only clerk may terminate"),
    "ended by a team that failed": (lambda: looking(on_none="over"), "only clerk may terminate"),
    "ended by another word": (
        lambda: with_steps(closing=Step("clerk", Judge, {Judged: "over"})),
        "SurveyClosed leads to over, and nothing else",
    ),
    "its word leads on": (
        lambda: with_steps(planning=Step("clerk", Plan, {Planned: "looking", SurveyClosed: "looking"})),
        "SurveyClosed leads to over",
    ),
    "its word repeats": (
        lambda: with_steps(
            planning=Step("clerk", Plan, {Planned: "looking", SurveyClosed: RetryStage("looking", 1, "closing")})
        ),
        "SurveyClosed leads to over",
    ),
    "its word from a team": (lambda: looking(answer=SurveyClosed), "SurveyClosed leads to over"),
    "asked to close, it may not": (
        lambda: with_steps(closing=Step("clerk", CloseSurvey, {SurveyClosed: "over", Judged: "planning"})),
        "answered by SurveyClosed alone",
    ),
    "handed over to the terminator": (lambda: planning(peers=frozenset({"clerk"})), "must not be handed over to clerk"),
    "the terminator in a team": (lambda: looking(team=("north", "clerk")), "never clerk"),
    "a team of nobody": (lambda: looking(team=()), "at least one"),
    "a member twice": (lambda: looking(team=("north", "north")), "each member once"),
    "work for the Orchestrator": (lambda: planning(hand_to=ORCHESTRATOR), "does no work"),
    "a peer that is the Orchestrator": (lambda: planning(peers=frozenset({ORCHESTRATOR})), "does no work"),
    "a fact that the case lacks": (lambda: planning(then={Unknown: "looking"}), "Unknown.colour is not in the case"),
    "a fact of another type": (lambda: planning(then={Number: "looking"}), "Number.plan is"),
    "a question about what the case lacks": (lambda: judging(ask=Flavour), "Flavour.flavour is not in the case"),
    "settled into nothing": (lambda: looking(into="lost"), "lost is not in the case"),
    "picked by nothing": (lambda: looking(pick="lost"), "lost is not in the case"),
    "picked by nothing in a step": (lambda: planning(pick="lost"), "lost is not in the case"),
    "a handover as an answer": (
        lambda: planning(then={Planned: "looking", Handover: "looking"}),
        "Handover is not an answer",
    ),
    "a failure as an answer": (
        lambda: planning(then={Planned: "looking", Failed: "closing"}),
        "Failed is not an answer",
    ),
    "no answer as an answer": (lambda: planning(then={InvalidAnswer: "looking"}), "InvalidAnswer is not an answer"),
    "an order from outside as an answer": (
        lambda: planning(then={RunStopped: "looking"}),
        "RunStopped is not an answer",
    ),
    "two events of one name": (lambda: planning(then={Planned: "looking", SameTag: "looking"}), "cannot be told apart"),
    "no steps": (lambda: replace(survey(), steps={}), "has no steps"),
    "a step that is named as an end": (
        lambda: replace(survey(), steps={"cancelled": PLANNING, **survey().steps}),
        r"\['cancelled'\] are reasons of an end",
    ),
    "repetitions that would be loops": (
        lambda: replace(survey(), asking_loops=True),
        "cannot both declare repetitions",
    ),
    "a step after the end": (lambda: with_steps(over=PLANNING), "is its end and cannot be a step"),
    "no handoffs": (lambda: replace(survey(), max_handoffs=0), "must be bounds"),
    "too few handoffs": (
        lambda: replace(survey(), max_handoffs=10),
        "takes 11 handoffs when all goes well, over its cap 10",
    ),
    "no time": (lambda: replace(survey(), max_seconds=0.0), "must be bounds"),
    "endless time": (lambda: replace(survey(), max_seconds=float("inf")), "must be bounds"),
    "a time that is none": (lambda: replace(survey(), max_seconds=float("nan")), "must be bounds"),
    "endless cancelling": (lambda: replace(survey(), cancel_seconds=float("inf")), "must be bounds"),
    "no time for an agent": (lambda: replace(survey(), default_limits=Limits(within=0.0)), "must give some time"),
    "a time for a role that is none": (
        lambda: replace(survey(), limits={"judge": Limits(within=float("nan"))}),
        "must give some time",
    ),
    "endless tries": (lambda: planning(limits=Limits(retries=MOST_RETRIES + 1)), "at most 10 retries"),
    "negative tries": (lambda: replace(survey(), limits={"judge": Limits(retries=-1)}), "at most 10 retries"),
}


@pytest.mark.req("SY-3")
@pytest.mark.parametrize("fault", FAULTS)
def test_a_table_with_a_fault_is_refused(fault: str) -> None:
    make, sentence = FAULTS[fault]

    with pytest.raises(InvalidWorkflow, match=sentence):
        verify(make())


def test_it_says_how_many_handoffs_there_can_be_at_most() -> None:
    assert verify(HELPDESK) == 21, "a task may be handed over, so only the cap bounds it"
    assert verify(replace(survey(), default_limits=Limits(retries=0), max_handoffs=1000)) == 4 * 10 + 1 + 1
    assert verify(replace(survey(), default_limits=Limits(retries=1), max_handoffs=1000)) == 4 * (4 + 12 + 4) + 3 + 1
    assert verify(replace(survey(), default_limits=Limits(retries=0), max_handoffs=20)) == 21


def test_a_narrower_fact_fits() -> None:
    assert verify(planning(ask=Choose, then={Chosen: "looking"}))


def broken(flow: Workflow, dice: Any) -> Workflow:
    """The same table with one fault of any kind, anywhere."""
    state = dice.choice(sorted(flow.steps))
    step = flow.steps[state]
    if isinstance(step, FanOut):
        fault: Any = dice.choice(
            [
                *({exit_: to} for exit_ in ("on_all", "on_some", "on_none") for to in ("nowhere", FINAL, state)),
                {"team": ()}, {"team": (*step.team, BOSS)},
                {"team": (*step.team, step.team[0])}, {"into": "lost"}, {"pick": "lost"}, {"team": (ORCHESTRATOR,)},
                {"at_most": -1},
            ]
        )  # fmt: skip
    else:
        kind = dice.choice(sorted(step.then, key=lambda each: each.__name__))
        ways: dict[str, Any] = {
            "nowhere": {**step.then, kind: "nowhere"}, "itself": dict.fromkeys(step.then, state), "none": {},
            "repeats the end": {**step.then, kind: RetryStage(FINAL, 1, "closing")},
            "repeats for ever": {**step.then, kind: RetryStage(state, 99, "closing")},
            "itself when used up": {A: RetryStage("closing", 1, state)},
            "ends by anybody": {**step.then, A: FINAL}, "puts what is not there": {**step.then, Unknown: "closing"},
        }  # fmt: skip
        faults: list[dict[str, Any]] = [{"then": each} for each in ways.values()]
        faults += [{"hand_to": ORCHESTRATOR}, {"pick": "lost"}, {"peers": frozenset({BOSS})}, {"ask": Flavour}]
        faults += [{"on_failed": each} for each in ("nowhere", FINAL, state)]
        faults += [{"limits": Limits(within=-1.0)}, {"limits": Limits(retries=-1)}]
        if End in step.then:
            faults += [{"hand_to": "r1"}]
        fault = dice.choice(faults)
    return replace(flow, steps={**flow.steps, state: replace(step, **fault)})


@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(workflows(), st.randoms(use_true_random=False))
def test_one_fault_anywhere_in_any_table_is_found(flow: Workflow, dice: Any) -> None:
    try:
        verify(flow, every_way=False)
    except InvalidWorkflow:
        assume(False)

    with pytest.raises(InvalidWorkflow, match=flow.name):
        verify(broken(flow, dice))


def test_an_event_may_leave_a_fact_unsaid() -> None:
    verify(planning(ask=Consider, then={Perhaps: "looking"}))
