"""The moves of a run: entering a step, giving control to an agent, asking it again, closing. Pure, as `advance.py`."""

import functools
import operator
from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from actors.outcome import SENTENCES, Handoff, Why
from actors.workflow import (
    CLOSING_SECONDS,
    ORCHESTRATOR,
    Again,
    Case,
    FanOut,
    HandOff,
    HandOffs,
    Moved,
    Open,
    Repeated,
    Run,
    Step,
    Terminate,
    Workflow,
)
from bus import Request

TOLD = {
    Why.STEP_TIMED_OUT: "The agent {} did not answer in time.",
    Why.ANSWERS_REFUSED: "The agent {} gave no valid answer.",
}
"""What a person is told of an agent that was asked in vain."""


def close(flow: Workflow, run: Run, why: Why, elapsed: float, detail: str = "") -> Moved:
    """Stop working and let the terminator put the case in order; asked twice, end without it."""
    if run.breach:
        return replace(run, state=flow.final, open=()), Terminate(run.breach, "")
    case: Any = replace(run.case, reason=str(why), detail=detail or SENTENCES[why].format(flow.max_handoffs))
    handoffs = (*run.handoffs, Handoff(ORCHESTRATOR, flow.terminator, why, elapsed))
    opened = Open(len(handoffs), flow.terminator, elapsed + CLOSING_SECONDS)
    run = replace(run, case=case, breach=why, handoffs=handoffs, open=(opened,))
    request = project(case, flow.close)
    return run, HandOff(opened.number, flow.terminator, request, CLOSING_SECONDS)


def proceed(flow: Workflow, run: Run, to: str | Again, elapsed: float) -> Moved:
    """Go where an answer leads, unless time or the user say otherwise."""
    if elapsed > flow.max_seconds:
        return close(flow, run, Why.TIMED_OUT, elapsed)
    if run.cancelling:
        return close(flow, run, Why.CANCELLED, elapsed)
    if type(to) is Again:
        before = [each for each in run.repeated if each.source == run.state and each.target == to.to]
        if len(before) >= to.at_most or (before and before[-1].case == run.case):
            return enter(flow, run, to.otherwise, elapsed)
        run = replace(run, repeated=(*run.repeated, Repeated(run.state, to.to, run.case)))
        return enter(flow, run, to.to, elapsed)
    return enter(flow, run, to, elapsed)


def enter(flow: Workflow, run: Run, state: str, elapsed: float) -> Moved:
    step = flow.steps[state]
    if type(step) is FanOut:
        return _fan_out(flow, run, state, step, elapsed)
    role = step.hand_to
    if step.pick and (picked := getattr(run.case, step.pick)) in step.peers:
        role = picked
    return hand(flow, run, step, Handoff(ORCHESTRATOR, role, state, elapsed), state=state)


def hand(
    flow: Workflow, run: Run, step: Step, handoff: Handoff, *, state: str = "", tries: int = 0, warning: str = ""
) -> Moved:
    """Make one handoff, if the cap leaves room for it."""
    handoffs, target, state = run.handoffs, handoff.target, state or run.state
    if len(handoffs) >= flow.max_handoffs:
        return close(flow, replace(run, state=state, tries=tries), Why.MAX_HANDOFFS_EXCEEDED, handoff.at)
    if not warning and len(handoffs) > 1 and handoffs[-2].target == target and handoffs[-2].source == handoff.source:
        warning = f"{handoff.source} hands to {target} twice in a row"
    within = min(flow.limits_of(step, target).within, flow.max_seconds - handoff.at)
    handoffs = (*handoffs, handoff)
    number = len(handoffs)
    opened = Open(number, target, handoff.at + within)
    run = replace(run, state=state, handoffs=handoffs, open=(opened,), tries=tries)
    return run, HandOff(number, target, project(run.case, step.ask), within, warning=warning)


def ask_again(flow: Workflow, run: Run, opened: Open, elapsed: float, why: Why, what: str) -> Moved:
    """
    Take control back from an agent and ask it once more, within its tries.

    :param what: what happened, for the log; where the agent itself said what failed, for the user too.
    """
    told = TOLD[why].format(opened.role) if why in TOLD else what
    step = flow.steps[run.state]
    assert isinstance(step, Step)  # noqa: S101 - a fan-out settles its failures
    if run.cancelling:
        return close(flow, run, Why.CANCELLED, elapsed, told)
    if elapsed >= flow.max_seconds:
        return close(flow, run, Why.TIMED_OUT, elapsed, told)
    if run.tries >= flow.limits_of(step, opened.role).retries:
        return close(flow, run, why, elapsed, told)
    if len(run.handoffs) >= flow.max_handoffs:
        return close(flow, run, Why.MAX_HANDOFFS_EXCEEDED, elapsed)
    run = replace(run, handoffs=(*run.handoffs, Handoff(opened.role, ORCHESTRATOR, why, elapsed)))
    again = Handoff(ORCHESTRATOR, opened.role, run.state, elapsed)
    return hand(flow, run, step, again, warning=f"asked again: {what}", tries=run.tries + 1)


def _fan_out(flow: Workflow, run: Run, state: str, step: FanOut, elapsed: float) -> Moved:
    picked = getattr(run.case, step.pick) if step.pick else ()
    team = tuple(role for role in step.team if role in picked) or step.team
    if len(run.handoffs) + len(team) > flow.max_handoffs:
        return close(flow, replace(run, state=state), Why.MAX_HANDOFFS_EXCEEDED, elapsed)
    within = min(step.limits.within, flow.max_seconds - elapsed)
    request = project(run.case, step.ask)
    first = len(run.handoffs) + 1
    handoffs = (*run.handoffs, *(Handoff(ORCHESTRATOR, role, state, elapsed) for role in team))
    opened = tuple(Open(first + n, role, elapsed + within) for n, role in enumerate(team))
    run = replace(run, state=state, handoffs=handoffs, open=opened, settled=(), tries=0)
    return run, HandOffs(tuple(HandOff(each.number, each.role, request, within) for each in opened))


def project(case: Case, request: type[Request[Any]]) -> Request[Any]:
    """A request takes what it needs from the case by field name."""
    return request(*_fields_of(request)(case))


@functools.lru_cache(maxsize=1024)
def _fields_of(request: type[Request[Any]]) -> Callable[[Case], tuple[Any, ...]]:
    names = request.__struct_fields__
    if len(names) > 1:
        return operator.attrgetter(*names)
    return lambda case: tuple(getattr(case, name) for name in names)
