"""The moves of a run: entering a step, giving control to an agent, asking it again, closing. Pure, as `advance.py`."""

import functools
import operator
from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from actors.workflow.loops import repeating_pattern
from actors.workflow.outcome import SENTENCES, EndReason, Handoff, marker
from actors.workflow.tables import (
    CLOSING_SECONDS,
    ORCHESTRATOR,
    REFUSED,
    Case,
    FanOut,
    PendingHandoff,
    Repeated,
    RetryStage,
    Run,
    Settled,
    Step,
    Workflow,
)
from actors.workflow.verdicts import HandOff, HandOffs, Terminate, Transition, Wait, Warned
from bus import Request

TOLD = {
    EndReason.STEP_TIMED_OUT: "The agent {} did not answer in time.",
    EndReason.ANSWERS_REFUSED: "The agent {} gave no valid answer.",
}
"""What a person is told of an agent that was asked in vain."""

REASON_CHARACTERS = 500


def brief(text: str) -> str:
    """An agent may say a lot; the handoffs and the ticket take a sentence of it."""
    return text if len(text) <= REASON_CHARACTERS else text[: REASON_CHARACTERS - 1] + "…"


def close(flow: Workflow, run: Run, why: EndReason, elapsed: float, detail: str = "") -> Transition:
    """Stop working and let the terminator put the case in order; asked twice, end without it."""
    if run.breach:
        return replace(run, state=flow.final, open=()), Terminate(run.breach, "")
    case: Any = replace(run.case, reason=str(why), detail=detail or SENTENCES[why].format(flow.max_handoffs))
    warnings = _twice(run.handoffs, flow.terminator)
    handoffs = (*run.handoffs, Handoff(ORCHESTRATOR, flow.terminator, why, elapsed))
    opened = PendingHandoff(len(handoffs), flow.terminator, elapsed + CLOSING_SECONDS)
    run = replace(run, case=case, breach=why, handoffs=handoffs, open=(opened,))
    request = project(case, flow.close)
    return run, HandOff(opened.number, flow.terminator, request, CLOSING_SECONDS, warnings)


def loop(
    flow: Workflow, run: Run, pattern: tuple[tuple[str, str], ...], elapsed: float, failure: str = ""
) -> Transition:
    """Close a run that goes in a circle: its next handoff would be the end of the third round."""
    detail = "The same handoffs came three times in a row: " + ", ".join(f"{a} to {b}" for a, b in pattern) + "."
    detail += f" Last failure: {failure}" if failure else ""
    return close(flow, replace(run, loop=pattern), EndReason.LOOP_DETECTED, elapsed, detail)


def proceed(flow: Workflow, run: Run, to: str | RetryStage, elapsed: float) -> Transition:
    """Go where an answer leads, unless time or the user say otherwise."""
    if elapsed > flow.max_seconds:
        return close(flow, run, EndReason.TIMED_OUT, elapsed)
    if run.cancelling:
        return close(flow, run, EndReason.CANCELLED, elapsed)
    if type(to) is RetryStage:
        before = [each for each in run.repeated if each.source == run.state and each.target == to.to]
        if len(before) >= to.at_most or (before and before[-1].case == run.case):
            return enter(flow, run, to.otherwise, elapsed)
        run = replace(run, repeated=(*run.repeated, Repeated(run.state, to.to, run.case)))
        return enter(flow, run, to.to, elapsed)
    return enter(flow, run, to, elapsed)


def enter(flow: Workflow, run: Run, state: str, elapsed: float) -> Transition:
    step = flow.steps[state]
    if type(step) is FanOut:
        return _fan_out(flow, run, state, step, elapsed)
    role = step.hand_to
    warnings: tuple[Warned, ...] = ()
    picked = getattr(run.case, step.pick) if step.pick else ""
    if picked in step.peers:
        role = picked
    elif picked and picked != role:
        warnings = _unknown(picked, f"{state} cannot begin with it, so {role} is asked")
    return hand(flow, run, step, Handoff(ORCHESTRATOR, role, state, elapsed), state=state, warnings=warnings)


def hand(
    flow: Workflow, run: Run, step: Step, handoff: Handoff, *, state: str = "", again: PendingHandoff | None = None,
    warnings: tuple[Warned, ...] = (),
) -> Transition:  # fmt: skip
    """
    Make one handoff, if the cap leaves room for it.

    :param again: what is held against the agent that is asked once more.
    """
    handoffs, target, state = run.handoffs, handoff.target, state or run.state
    if len(handoffs) >= flow.max_handoffs:
        return close(flow, replace(run, state=state), EndReason.MAX_HANDOFFS_EXCEEDED, handoff.at)
    if again is None and handoff.source == ORCHESTRATOR:
        warnings += _twice(handoffs, target)
    within = min(flow.limits_of(step, target).within, flow.max_seconds - handoff.at)
    handoffs = (*handoffs, handoff)
    number, due = len(handoffs), handoff.at + within
    opened = PendingHandoff(number, target, due) if again is None else replace(again, number=number, due=due)
    run = replace(run, state=state, handoffs=handoffs, open=(opened,))
    return run, HandOff(number, target, project(run.case, step.ask, opened.refused), within, warnings)


def _twice(handoffs: tuple[Handoff, ...], target: str) -> tuple[Warned, ...]:
    """A warning when the Orchestrator's last handoff was to the same agent."""
    for made in reversed(handoffs):  # not `next`, which costs three times as much for the one that it looks at
        if made.source == ORCHESTRATOR:
            if made.target != target:
                break
            return (Warned("handoff.repeated", target, f"{ORCHESTRATOR} hands to {target} twice in a row"),)
    return ()


def _unknown(name: str, what: str) -> tuple[Warned, ...]:
    return (Warned("pick.unknown", brief(name), what),)


def ask_again(
    flow: Workflow, run: Run, opened: PendingHandoff, elapsed: float, why: EndReason, what: str
) -> Transition:
    """
    Take control back from an agent and ask it once more, within its tries.

    :param what: what happened, for the log; where the agent itself said what failed, for the user too.
    """
    told = TOLD[why].format(opened.role) if why in TOLD else what
    step = flow.steps[run.state]
    assert isinstance(step, Step)  # noqa: S101 - see `ask_member_again`
    if run.cancelling:
        return close(flow, run, EndReason.CANCELLED, elapsed, told)
    if elapsed >= flow.max_seconds:
        return close(flow, run, EndReason.TIMED_OUT, elapsed, told)
    if opened.retries >= flow.limits_of(step, opened.role).retries:
        return close(flow, run, why, elapsed, told)
    if len(run.handoffs) >= flow.max_handoffs:
        return close(flow, run, EndReason.MAX_HANDOFFS_EXCEEDED, elapsed)
    if pattern := _asking_loop(flow, run, opened.role):
        return loop(flow, run, pattern, elapsed, told)
    run = replace(run, handoffs=(*run.handoffs, Handoff(opened.role, ORCHESTRATOR, why, elapsed)))
    handoff = Handoff(ORCHESTRATOR, opened.role, run.state, elapsed)
    return hand(flow, run, step, handoff, again=_again(opened, why, what), warnings=_warn_again(opened, what))


def ask_member_again(
    flow: Workflow, run: Run, step: FanOut, opened: PendingHandoff, elapsed: float, why: EndReason, what: str
) -> Transition:
    """Ask a member of a fan-out once more, in what is left of its time, or settle that it failed."""
    spent = opened.retries >= flow.limits_of(step, opened.role).retries or elapsed >= opened.due or run.cancelling
    full = len(run.handoffs) + 2 + len(run.open) > flow.max_handoffs  # the others must be able to answer
    if spent or full or _asking_loop(flow, run, opened.role):
        return settle(flow, run, step, opened, Settled(opened.role, None, what), elapsed)
    back = Handoff(opened.role, ORCHESTRATOR, why, elapsed)
    handoffs = (*run.handoffs, back, Handoff(ORCHESTRATOR, opened.role, run.state, elapsed))
    again = replace(_again(opened, why, what), number=len(handoffs))
    run = replace(run, handoffs=handoffs, open=tuple(again if each is opened else each for each in run.open))
    request = project(run.case, step.ask, again.refused)
    return run, HandOff(again.number, again.role, request, opened.due - elapsed, _warn_again(opened, what))


def _asking_loop(flow: Workflow, run: Run, role: str) -> tuple[tuple[str, str], ...] | None:
    """The pattern that asking this role once more would repeat, where the table takes that for a loop."""
    if not flow.asking_loops:
        return None
    asked = [(made.source, made.target) for made in run.handoffs if made.source == ORCHESTRATOR]
    return repeating_pattern([*asked, (ORCHESTRATOR, role)])


def _again(opened: PendingHandoff, why: EndReason, what: str) -> PendingHandoff:
    refused = (*opened.refused, what) if why is EndReason.ANSWERS_REFUSED else opened.refused
    return replace(opened, retries=opened.retries + 1, refused=refused)


def _warn_again(opened: PendingHandoff, what: str) -> tuple[Warned, ...]:
    return (Warned("handoff.repeated", opened.role, f"asked again: {what}"),)


def keep_on(flow: Workflow, run: Run, opened: PendingHandoff, elapsed: float) -> Transition:
    """
    Refuse an agent's attempt to end the run.

    It keeps its task, its time and its tries: no handoff is made, and it is asked the same under the same number.
    """
    what = f"{opened.role} tried to end the run, which only {flow.terminator} may"
    again = replace(opened, overreaches=opened.overreaches + 1, refused=(*opened.refused, what))
    run = replace(run, open=tuple(again if each is opened else each for each in run.open))
    request = project(run.case, flow.steps[run.state].ask, again.refused)
    warned = Warned("termination.refused", opened.role, f"{what}; it is asked again")
    return run, HandOff(opened.number, opened.role, request, max(0.0, opened.due - elapsed), (warned,))


def _fan_out(flow: Workflow, run: Run, state: str, step: FanOut, elapsed: float) -> Transition:
    picked = getattr(run.case, step.pick) if step.pick else ()
    team = tuple(role for role in step.team if role in picked) if picked else step.team
    strangers = [str(name) for name in picked if name not in step.team]
    warnings = _unknown(", ".join(strangers), f"not in the team of {state}, so not asked") if strangers else ()
    if team and len(run.handoffs) + len(team) > flow.max_handoffs:
        return close(flow, replace(run, state=state), EndReason.MAX_HANDOFFS_EXCEEDED, elapsed)
    run = replace(run, case=replace(run.case, **{step.into: ()}))
    if not team:
        run, verdict = enter(flow, run, step.on_none, elapsed)
        if isinstance(verdict, HandOff | HandOffs):
            verdict = replace(verdict, warnings=warnings + verdict.warnings)
        return run, verdict
    left = flow.max_seconds - elapsed
    within = [min(flow.limits_of(step, role).within, left) for role in team]
    request = project(run.case, step.ask)
    first = len(run.handoffs) + 1
    warnings += _twice(run.handoffs, team[0])
    handoffs = (*run.handoffs, *(Handoff(ORCHESTRATOR, role, state, elapsed) for role in team))
    opened = tuple(PendingHandoff(first + n, role, elapsed + within[n]) for n, role in enumerate(team))
    run = replace(run, state=state, handoffs=handoffs, open=opened)
    hands = tuple(HandOff(each.number, each.role, request, within[n]) for n, each in enumerate(opened))
    return run, HandOffs(hands, warnings)


def settle(
    flow: Workflow, run: Run, step: FanOut, opened: PendingHandoff, settled: Settled[Any], elapsed: float
) -> Transition:
    """One member of a fan-out has answered, failed or run out of time: the others go on."""
    if len(run.handoffs) < flow.max_handoffs:
        kind = type(settled.answer) if settled.answer else None
        reason, named = (kind.__name__, marker(kind)) if kind else (settled.error, "")
        run = replace(run, handoffs=(*run.handoffs, Handoff(opened.role, ORCHESTRATOR, reason, elapsed, named)))
    each = sorted((*getattr(run.case, step.into), settled), key=lambda member: step.team.index(member.role))
    left = tuple(other for other in run.open if other is not opened)
    run = replace(run, open=left, case=replace(run.case, **{step.into: tuple(each)}))
    if left:
        return run, Wait(len(run.handoffs))
    answered = sum(member.answer is not None for member in each)
    to = step.on_none if not answered else step.on_all if answered == len(each) else step.on_some
    return proceed(flow, run, to, elapsed)


def project(case: Case, request: type[Request[Any]], refused: tuple[str, ...] = ()) -> Request[Any]:
    """A request takes what it needs from the case by field name, and why the answers to it were refused so far."""
    if refused and REFUSED in request.__struct_fields__:
        return request(*_fields_of(request)(case), refused=refused)
    return request(*_fields_of(request)(case))


@functools.lru_cache(maxsize=1024)
def _fields_of(request: type[Request[Any]]) -> Callable[[Case], tuple[Any, ...]]:
    names = tuple(name for name in request.__struct_fields__ if name != REFUSED)
    if len(names) > 1:
        return operator.attrgetter(*names)
    return lambda case: tuple(getattr(case, name) for name in names)
