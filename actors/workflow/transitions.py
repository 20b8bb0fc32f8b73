"""The moves of a run: entering a step, giving control to an agent, asking it again, closing. Pure, as `advance.py`."""

import functools
from typing import Any

import msgspec
from msgspec.structs import replace

from actors.text.catalogue import say
from actors.workflow.loops import repeating_pattern
from actors.workflow.outcome import EndReason, Handoff, explain_end, marker
from actors.workflow.tables import (
    CLOSING_SECONDS,
    ORCHESTRATOR,
    REFUSED,
    FanOut,
    MemberResult,
    PendingHandoff,
    RetryStage,
    Run,
    StageRetry,
    Step,
    SystemEvent,
    Workflow,
)
from bus import Request


class HandoffWarning(msgspec.Struct, frozen=True, gc=False):
    """What is written to the log as a warning when a verdict is carried out."""

    event: str
    """As logs name it, such as `handoff.repeated`."""
    target: str
    """The agent that it is about."""
    reason: str


class HandOff(msgspec.Struct, frozen=True, gc=False):
    """Ask the agents of these pending handoffs. A number that was handed out before asks its agent again."""

    numbers: tuple[int, ...]
    """Of the run's pending handoffs."""
    warnings: tuple[HandoffWarning, ...] = ()


class Wait(msgspec.Struct, frozen=True, gc=False):
    """Accepted; somebody else's answer is still to come."""

    made: int = 0
    """Handoffs that were made by now."""


class RequestPartial(msgspec.Struct, frozen=True, gc=False):
    """Ask everybody to hand in what they have."""


class Refuse(msgspec.Struct, frozen=True, gc=False):
    """The event is not accepted: nothing changes, and it is logged once."""

    reason: str


class Terminate(msgspec.Struct, frozen=True, gc=False):
    """The end of the run. `by` is empty when it is sealed without its terminator."""

    why: EndReason
    by: str


Verdict = HandOff | Wait | RequestPartial | Refuse | Terminate
Transition = tuple[Run, Verdict]


class Recorded(SystemEvent, frozen=True):
    """The journal holds the event that led to this verdict; now it may be carried out."""

    verdict: Verdict
    error: Exception | None = None


class JournalTimedOut(SystemEvent, frozen=True):
    """The journal was silent for too long about the end; whoever waits for the answer gets it without."""


REASON_CHARACTERS = 500
TO_CLOSE = 3
"""Handoffs that are kept for what follows a fan-out: another agent and back, and the terminator."""


def brief(text: str) -> str:
    """An agent may say a lot; the handoffs and the ticket take a sentence of it."""
    return text if len(text) <= REASON_CHARACTERS else text[: REASON_CHARACTERS - 1] + "…"


def close(
    flow: Workflow, run: Run, why: EndReason, elapsed: float, detail: str = "",
    warnings: tuple[HandoffWarning, ...] = (),
) -> Transition:  # fmt: skip
    """
    Stop working and let the terminator put the case in order; asked twice, end without it.

    :param detail: what a person reads of it; empty: what is said of such an end.
    """
    if run.breach:
        return replace(run, state=flow.final, open=()), Terminate(run.breach, "")
    told = detail or explain_end(why, run.case.language, flow.max_handoffs)
    case: Any = replace(run.case, reason=str(why), detail=told)
    warnings += _warn_twice(run.handoffs, flow.terminator)
    handoffs = (*run.handoffs, Handoff(ORCHESTRATOR, flow.terminator, why, elapsed))
    opened = PendingHandoff(len(handoffs), flow.terminator, elapsed + CLOSING_SECONDS)
    run = replace(run, case=case, breach=why, handoffs=handoffs, open=(opened,))
    return run, HandOff((opened.number,), warnings)


def loop(
    flow: Workflow, run: Run, pattern: tuple[tuple[str, str], ...], elapsed: float,
    warnings: tuple[HandoffWarning, ...] = (),
) -> Transition:  # fmt: skip
    """Close a run that goes in a circle: its next handoff would be the end of the third round."""
    detail = say("end_loop_of", run.case.language, pattern=", ".join(f"{a} → {b}" for a, b in pattern))
    return close(flow, replace(run, loop=pattern), EndReason.LOOP_DETECTED, elapsed, detail, warnings)


def proceed(flow: Workflow, run: Run, to: str | RetryStage, elapsed: float) -> Transition:
    """Go where an answer leads, unless time or the user say otherwise."""
    if elapsed > flow.max_seconds:
        return close(flow, run, EndReason.TIMED_OUT, elapsed)
    if run.cancelling:
        return close(flow, run, EndReason.CANCELLED, elapsed)
    if type(to) is RetryStage:
        before = [each for each in run.stage_retries if each.source == run.state and each.target == to.to]
        if len(before) >= to.at_most or (before and before[-1].case == run.case):
            return enter(flow, run, to.otherwise, elapsed)
        run = replace(run, stage_retries=(*run.stage_retries, StageRetry(run.state, to.to, run.case)))
        return enter(flow, run, to.to, elapsed)
    return enter(flow, run, to, elapsed)


def enter(flow: Workflow, run: Run, state: str, elapsed: float) -> Transition:
    """Go to a state and ask whoever works on it."""
    step = flow.steps[state]
    if type(step) is FanOut:
        return _fan_out(flow, run, state, step, elapsed)
    role = step.hand_to
    warnings: tuple[HandoffWarning, ...] = ()
    picked = getattr(run.case, step.pick) if step.pick else ""
    if picked in step.peers:
        role = picked
    elif picked and picked != role:
        warnings = _warn_about_name(picked, f"{state} cannot begin with it, so {role} is asked")
    return hand(flow, run, step, Handoff(ORCHESTRATOR, role, state, elapsed), state=state, warnings=warnings)


def hand(
    flow: Workflow, run: Run, step: Step, handoff: Handoff, *, state: str = "", again: PendingHandoff | None = None,
    warnings: tuple[HandoffWarning, ...] = (),
) -> Transition:  # fmt: skip
    """
    Make one handoff, if the cap leaves room for it.

    :param again: what is held against the agent that is asked once more.
    """
    number, target, state = len(run.handoffs) + 1, handoff.target, state or run.state
    if number > flow.max_handoffs:
        return close(flow, replace(run, state=state), EndReason.MAX_HANDOFFS_EXCEEDED, handoff.at)
    if again is None and handoff.source == ORCHESTRATOR:
        warnings += _warn_twice(run.handoffs, target)
    due = min(handoff.at + flow.limits_of(step, target).within, flow.max_seconds)
    opened = PendingHandoff(number, target, due) if again is None else replace(again, number=number, due=due)
    run = replace(run, state=state, handoffs=(*run.handoffs, handoff), open=(opened,))
    return run, HandOff((number,), warnings)


def due_of(flow: Workflow, step: Step | FanOut, role: str, elapsed: float) -> float:
    """When control is taken back from an agent that is asked now, in seconds since the run began."""
    return min(elapsed + flow.limits_of(step, role).within, flow.max_seconds)


def _warn_twice(handoffs: tuple[Handoff, ...], target: str) -> tuple[HandoffWarning, ...]:
    """A warning when the Orchestrator's last handoff was to the same agent."""
    for made in reversed(handoffs):  # not `next`, which costs three times as much for the one that it looks at
        if made.source == ORCHESTRATOR:
            if made.target != target:
                break
            return (HandoffWarning("handoff.repeated", target, f"{ORCHESTRATOR} hands to {target} twice in a row"),)
    return ()


def _add_warnings(verdict: Verdict, warnings: tuple[HandoffWarning, ...]) -> Verdict:
    """What led to a handoff is told before what is said of it."""
    return replace(verdict, warnings=warnings + verdict.warnings) if isinstance(verdict, HandOff) else verdict


def _warn_about_name(name: str, what: str) -> tuple[HandoffWarning, ...]:
    return (HandoffWarning("pick.unknown", brief(name), what),)


def ask_again(
    flow: Workflow, run: Run, opened: PendingHandoff, elapsed: float, why: EndReason, what: str, told: str = ""
) -> Transition:
    """
    Take control back from an agent and ask it once more, within its tries.

    :param what: what happened, for the log.
    :param told: what a person reads of it, where the agent said so.
    """
    failed = (HandoffWarning("step.failed", opened.role, what),)
    step = flow.steps[run.state]
    assert isinstance(step, Step)  # noqa: S101 - see `ask_member_again`
    if run.cancelling:
        return close(flow, run, EndReason.CANCELLED, elapsed, warnings=failed)
    if elapsed >= flow.max_seconds:
        return close(flow, run, EndReason.TIMED_OUT, elapsed, warnings=failed)
    spent = opened.retries >= flow.limits_of(step, opened.role).retries
    if spent and not step.on_failed:
        return close(flow, run, why, elapsed, told, failed)
    if len(run.handoffs) >= flow.max_handoffs:
        return close(flow, run, EndReason.MAX_HANDOFFS_EXCEEDED, elapsed, warnings=failed)
    if spent:
        handoffs = (*run.handoffs, Handoff(opened.role, ORCHESTRATOR, why, elapsed))
        case: Any = replace(run.case, detail=told or explain_end(why, run.case.language, flow.max_handoffs))
        run, verdict = enter(flow, replace(run, handoffs=handoffs, case=case), step.on_failed, elapsed)
        return run, _add_warnings(verdict, failed)
    if pattern := _asking_loop(flow, run, opened.role):
        return loop(flow, run, pattern, elapsed, failed)
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
        return settle(flow, run, step, opened, MemberResult(opened.role, None, what), elapsed)
    back = Handoff(opened.role, ORCHESTRATOR, why, elapsed)
    handoffs = (*run.handoffs, back, Handoff(ORCHESTRATOR, opened.role, run.state, elapsed))
    again = replace(_again(opened, why, what), number=len(handoffs))
    return _swap(replace(run, handoffs=handoffs), opened, again), HandOff((again.number,), _warn_again(opened, what))


def _swap(run: Run, opened: PendingHandoff, again: PendingHandoff) -> Run:
    return replace(run, open=tuple([again if each is opened else each for each in run.open]))


def _asking_loop(flow: Workflow, run: Run, role: str) -> tuple[tuple[str, str], ...] | None:
    """The pattern that asking this role once more would repeat, where the table takes that for a loop."""
    if not flow.asking_loops:
        return None
    asked = [(made.source, made.target) for made in run.handoffs if made.source == ORCHESTRATOR]
    return repeating_pattern([*asked, (ORCHESTRATOR, role)])


def _again(opened: PendingHandoff, why: EndReason, what: str) -> PendingHandoff:
    refused = (*opened.refused, what) if why is EndReason.ANSWERS_REFUSED else opened.refused
    return replace(opened, retries=opened.retries + 1, refused=refused)


def _warn_again(opened: PendingHandoff, what: str) -> tuple[HandoffWarning, ...]:
    return (HandoffWarning("handoff.repeated", opened.role, f"asked again: {what}"),)


def keep_on(flow: Workflow, run: Run, opened: PendingHandoff) -> Transition:
    """
    Refuse an agent's attempt to end the run.

    It keeps its task, its time and its tries: no handoff is made, and it is asked the same under the same number.
    """
    what = f"{opened.role} tried to end the run, which only {flow.terminator} may"
    again = replace(opened, overreaches=opened.overreaches + 1, refused=(*opened.refused, what))
    warning = HandoffWarning("termination.refused", opened.role, f"{what}; it is asked again")
    return _swap(run, opened, again), HandOff((opened.number,), (warning,))


def _fan_out(flow: Workflow, run: Run, state: str, step: FanOut, elapsed: float) -> Transition:
    """Ask all members of the team that the case picks."""
    picked = getattr(run.case, step.pick) if step.pick else ()
    seats = count_seats(flow, len(run.handoffs), step)
    asked = [role for role in dict.fromkeys(picked or step.team) if role in step.team][:seats]
    team = tuple(role for role in step.team if role in asked)
    strangers = [str(name) for name in picked if name not in step.team]
    warnings = _warn_about_name(", ".join(strangers), f"not in the team of {state}, so not asked") if strangers else ()
    if spare := [str(name) for name in picked or step.team if name in step.team and name not in asked]:
        warnings += _warn_about_name(", ".join(spare), f"{state} asks {seats} at most")
    if team and len(run.handoffs) + len(team) > flow.max_handoffs:
        return close(flow, replace(run, state=state), EndReason.MAX_HANDOFFS_EXCEEDED, elapsed)
    run = replace(run, case=replace(run.case, **{step.into: ()}))
    if not team:
        run, verdict = enter(flow, run, step.on_none, elapsed)
        return run, _add_warnings(verdict, warnings)
    numbers = tuple(range(len(run.handoffs) + 1, len(run.handoffs) + len(team) + 1))
    warnings += _warn_twice(run.handoffs, team[0])
    handoffs = (*run.handoffs, *(Handoff(ORCHESTRATOR, role, state, elapsed) for role in team))
    opened = [PendingHandoff(n, role, due_of(flow, step, role, elapsed)) for n, role in zip(numbers, team, strict=True)]
    return replace(run, state=state, handoffs=handoffs, open=tuple(opened)), HandOff(numbers, warnings)


def count_seats(flow: Workflow, handoffs: int, step: FanOut) -> int:
    """How many are asked at most: where a table says how many may be, no more than can answer within the cap."""
    if not step.at_most:
        return step.seats
    return max(1, min(step.seats, (flow.max_handoffs - handoffs - TO_CLOSE) // 2))


def settle(
    flow: Workflow, run: Run, step: FanOut, opened: PendingHandoff, result: MemberResult[Any], elapsed: float
) -> Transition:
    """One member of a fan-out has answered, failed or run out of time: the others go on."""
    if len(run.handoffs) < flow.max_handoffs:
        kind = type(result.answer) if result.answer else None
        reason, tag = (kind.__name__, marker(kind)) if kind else (result.error, "")
        run = replace(run, handoffs=(*run.handoffs, Handoff(opened.role, ORCHESTRATOR, reason, elapsed, tag)))
    each = sorted((*getattr(run.case, step.into), result), key=lambda member: step.team.index(member.role))
    left = tuple(other for other in run.open if other is not opened)
    run = replace(run, open=left, case=replace(run.case, **{step.into: tuple(each)}))
    if left:
        return run, Wait(len(run.handoffs))
    answered = sum(member.answer is not None for member in each)
    to = step.on_none if not answered else step.on_all if answered == len(each) else step.on_some
    return proceed(flow, run, to, elapsed)


def make_request(flow: Workflow, run: Run, opened: PendingHandoff) -> Request[Any]:
    """
    What the agent of a pending handoff is asked.

    The request takes what it needs from the case by field name, and why earlier answers to it were refused.
    """
    ask = flow.close if run.breach else flow.steps[run.state].ask
    known = {name: getattr(run.case, name) for name in _fields_of(ask)}
    if opened.refused and REFUSED in ask.__struct_fields__:
        known[REFUSED] = opened.refused
    return ask(**known)


@functools.lru_cache(maxsize=1024)
def _fields_of(request: type[Request[Any]]) -> tuple[str, ...]:
    return tuple(name for name in request.__struct_fields__ if name != REFUSED)
