"""What `verify` says of handoffs is what `advance` does, compared with all that can happen in small tables."""

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from actors.workflow.advance import advance, begin
from actors.workflow.outcome import EndReason
from actors.workflow.tables import FanOut, Handover, Limits, RetryStage, Run, Step, TimeUp, Workflow
from actors.workflow.transitions import Terminate, Transition
from actors.workflow.verify import InvalidWorkflow, TooFewHandoffs, _list_taken, count_most, verify
from bus import Event, Failed, Request
from runtime.families.helpdesk import FAMILY as HELPDESK_FAMILY
from runtime.families.limits import configure
from runtime.settings import ConfigError, RunSettings, Settings
from tests.actors.workflow.tables import BOSS, FINAL, A, Close, End, TableCase, workflows

MOST_RUNS = 8_000


def shrink(flow: Workflow, cap: int) -> Workflow:
    """The same table with few retries and a small cap, in which nobody is picked."""
    steps = {
        state: replace(step, pick="", limits=shrink_limits(flow.limits_of(step, step.team[0])), team=step.team[:2])
        if isinstance(step, FanOut)
        else replace(step, pick="", limits=shrink_limits(flow.limits_of(step, step.hand_to)))
        for state, step in flow.steps.items()
    }
    return replace(flow, steps=steps, max_handoffs=cap, max_seconds=1e6)


def shrink_limits(limits: Limits) -> Limits:
    return Limits(1e5, limits.retries % 3)


def answers(flow: Workflow, run: Run) -> Iterator[Event]:
    """All that an agent may say, save what only its words tell apart."""
    step = flow.steps[run.state]
    kinds = [step.answer] if isinstance(step, FanOut) else list(step.then)
    for kind in kinds:
        if kind is End:
            yield End(status="resolved")
        else:
            yield from ([kind(fact=n) for n in (0, 1)] if kind.__struct_fields__ else [kind()])
    yield Failed(request="", error="It broke.")
    if isinstance(step, Step):
        yield from (Handover(to=peer, reason="-", context=word) for peer in sorted(step.peers) for word in "ab")


def moves(flow: Workflow, run: Run) -> Iterator[Transition]:
    for opened in run.open:
        for event in answers(flow, run):
            yield advance(flow, run, event, sender=opened.role, number=opened.number, elapsed=0.0)
    yield advance(flow, run, TimeUp(), sender="", number=0, elapsed=max(each.due for each in run.open))


class Explored:
    """Everything that can happen in a run that nobody stops and whose own time does not end."""

    def __init__(self, flow: Workflow) -> None:
        self.most = 0
        self.completed: set[str] = set()
        first = begin(flow, TableCase(ticket_id="T-1"))[0]
        known, waiting = {self.key(first): first}, [first]
        led, ends = dict[Any, set[Any]](), set[Any]()
        while waiting:
            run = waiting.pop()
            self.most = max(self.most, len(run.handoffs) + (not run.breach))
            if run.breach:
                continue
            here = self.key(run)
            for then, verdict in moves(flow, run):
                if isinstance(verdict, Terminate):
                    if verdict.why is EndReason.COMPLETED:
                        ends.add(here)
                    continue
                there = self.key(then)
                led.setdefault(there, set()).add(here)
                if there not in known:
                    assume(len(known) < MOST_RUNS)
                    known[there] = then
                    waiting.append(then)
        good = list(ends)
        for each in good:
            self.completed.add(known[each].state)
            fresh = led.get(each, set()) - ends
            ends |= fresh
            good += fresh

    @staticmethod
    def key(run: Run) -> Any:
        opened = tuple((each.number, each.role, each.retries, each.overreaches) for each in run.open)
        return run.state, run.case, len(run.handoffs), opened, run.handovers, run.stage_retries, run.breach


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(workflows(), st.integers(2, 9))
def test_the_most_handoffs_and_what_can_be_reached_are_what_really_can_happen(flow: Workflow, cap: int) -> None:
    flow = shrink(flow, cap)

    found = Explored(flow)

    assert count_most(flow) == found.most
    assert {each.state for each in _list_taken(flow)} == found.completed


class Told(Event, frozen=True):
    fact: int


class Rejected(Event, frozen=True):
    fact: int


class Tell(Request[Told], frozen=True):
    fact: int


class Weigh(Request[Told | Rejected], frozen=True):
    fact: int


def reviewed(at_most: int, **changed: Any) -> Workflow:
    """A planner, two analysts side by side, and a critic who may send their work back."""
    return Workflow(
        **{
            "name": "reviewed", "case": TableCase, "terminator": BOSS, "close": Close, "closed": End, "final": FINAL,
            "steps": {
                "planning": Step("r1", Tell, {Told: "analysing"}),
                "analysing": FanOut(("r2", "r3"), AskBoth, A, "found", "weighing", "weighing", "weighing"),
                "weighing": Step("r4", Weigh, {Told: "closing", Rejected: RetryStage("analysing", at_most, "closing")}),
                "closing": Step(BOSS, Close, {End: FINAL}),
            },
            **changed,
        }
    )  # fmt: skip


class AskBoth(Request[A], frozen=True):
    fact: int


def test_a_repetition_that_the_cap_cuts_off_is_refused_with_what_it_takes() -> None:
    with pytest.raises(InvalidWorkflow) as refused:
        verify(reviewed(2))

    assert str(refused.value) == (
        "reviewed.weighing: Rejected, repeated 2 times, leads to closing, and no run comes to its end from there "
        "within 20 handoffs: that takes 21"
    )
    assert verify(reviewed(2, max_handoffs=21)) == 22
    assert verify(reviewed(1, default_limits=Limits(retries=0))) == 2 + 2 * 6 + 1 + 1
    assert verify(reviewed(2), every_way=False) == 21, "an operator may give it less"


def test_a_run_that_all_goes_well_in_still_has_a_sentence_of_its_own() -> None:
    with pytest.raises(TooFewHandoffs) as refused:
        verify(reviewed(1, max_handoffs=8))
    assert refused.value.least == 9


def test_an_answer_that_no_step_takes_and_a_state_that_nothing_leads_to_are_refused() -> None:
    flow = reviewed(1)
    deaf = {**flow.steps, "weighing": Step("r4", Weigh, {Told: "closing"})}
    dead = {**flow.steps, "waiting": Step("r4", Tell, {Told: "closing"})}

    with pytest.raises(
        InvalidWorkflow, match=r"reviewed\.weighing: Weigh may be answered by \['Rejected'\], which no step"
    ):
        verify(replace(flow, steps=deaf))
    with pytest.raises(InvalidWorkflow, match=r"reviewed: nothing leads to \['waiting'\]"):
        verify(replace(flow, steps=dead))


def test_a_table_that_cannot_be_used_is_named_and_not_the_configuration() -> None:
    family = replace(HELPDESK_FAMILY, flow=reviewed(2), staff=lambda flow, _: flow)

    with pytest.raises(
        ConfigError, match=r"^The table of reviewed cannot be used: reviewed\.weighing: Rejected, repeated"
    ):
        configure(family, Settings())
    few = Settings(run=RunSettings(max_handoffs=11))
    assert configure(replace(family, flow=reviewed(1)), few).max_handoffs == 11
