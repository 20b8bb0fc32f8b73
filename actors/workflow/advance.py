"""
The rules of ending: the one pure function that moves a run through its table.

Nothing here awaits, logs or reads a clock, so every rule can be tested with plain values, and the journal of accepted
events is enough to rebuild a run.
"""

import math
from collections.abc import Iterable, Iterator

from msgspec.structs import asdict, replace

from actors.workflow.loops import repeating_pattern
from actors.workflow.outcome import EndReason, Handoff, marker
from actors.workflow.tables import (
    CLOSING_SECONDS,
    MAX_RESUMES,
    ORCHESTRATOR,
    SYSTEM_EVENTS,
    Case,
    FanOut,
    Handover,
    InvalidAnswer,
    MemberResult,
    NotDelivered,
    PendingHandoff,
    Run,
    RunResumed,
    RunStopped,
    Step,
    TimeUp,
    Workflow,
)
from actors.workflow.transitions import (
    HandOff,
    Refuse,
    RequestPartial,
    Terminate,
    Transition,
    Wait,
    ask_again,
    ask_member_again,
    brief,
    close,
    due_of,
    enter,
    hand,
    keep_on,
    loop,
    proceed,
    settle,
)
from bus import Event, Failed

MOST_OVERREACHES = 2
"""How often an agent's attempt to end the run costs it nothing; after that it is an answer that is none."""
SILENT = "it did not answer in time"


def begin(flow: Workflow, case: Case) -> Transition:
    """Hand out the first step."""
    first = flow.first
    return enter(flow, Run(first, case), first, 0.0)


def advance(flow: Workflow, run: Run, event: Event, *, sender: str, number: int, elapsed: float) -> Transition:
    """Apply one event, `elapsed` seconds after the run began, and say what must happen next."""
    if run.state == flow.final:
        return run, Refuse("the run has ended")
    if type(event) in SYSTEM_EVENTS:  # cheaper than `isinstance`, for each answer comes by here
        by_itself = not sender or sender == ORCHESTRATOR
        return _hear_system(flow, run, event, elapsed) if by_itself else (run, Refuse("not its to say"))
    for opened in run.open:
        if opened.number == number and opened.role == sender:
            if run.resumed:  # the process has lived through a turn of it
                run = replace(run, resumed=0)
            return _hear(flow, run, opened, event, elapsed)
    return run, Refuse(f"handoff {number} to {sender} is not in force")


def next_due(flow: Workflow, run: Run) -> float:
    """When `TimeUp` must be said, in seconds since the run began; infinite when it has ended."""
    if run.state == flow.final:
        return math.inf
    due = math.inf if run.breach else flow.max_seconds
    for opened in run.open:  # not `min`, which costs four times as much for the one that there usually is
        if opened.due < due:
            due = opened.due
    return due


def replay(
    flow: Workflow, case: Case, entries: Iterable[tuple[Event, str, int, float]], *, strict: bool = False
) -> Transition:
    """
    Rebuild a run from its journalled (event, sender, number, elapsed).

    :raises ValueError: as `replay_each`.
    """
    *_, last = replay_each(flow, case, entries, strict=strict)
    return last


def replay_each(
    flow: Workflow, case: Case, entries: Iterable[tuple[Event, str, int, float]], *, strict: bool = False
) -> Iterator[Transition]:
    """
    How a run began, and how it stood after each of its journalled (event, sender, number, elapsed).

    Whoever answered was a peer at that time: an agent that is gone since does not change what has happened.

    :param strict: the table may have changed since.
    :raises ValueError: then, this table would not have accepted one of these events.
    """
    entries = list(entries)
    flow = _with_peers(flow, {sender for _, sender, _, _ in entries} - {"", ORCHESTRATOR})
    run, verdict = begin(flow, case)
    yield run, verdict
    for event, sender, number, elapsed in entries:
        run, verdict = advance(flow, run, event, sender=sender, number=number, elapsed=elapsed)
        if strict and type(verdict) is Refuse:
            raise ValueError(verdict.reason)
        yield run, verdict


def _with_peers(flow: Workflow, names: set[str]) -> Workflow:
    """The table in which these agents, too, may be handed what can be handed over."""
    for step in flow.steps.values():
        names -= set(step.team) if isinstance(step, FanOut) else {step.hand_to, *step.peers}
    if not names:
        return flow
    steps = {
        state: replace(step, peers=step.peers | names) if isinstance(step, Step) and step.peers else step
        for state, step in flow.steps.items()
    }
    return replace(flow, steps=steps)


def _hear(flow: Workflow, run: Run, opened: PendingHandoff, event: Event, elapsed: float) -> Transition:
    step, kind = flow.steps[run.state], type(event)
    if run.breach:
        if kind is not flow.closed:
            return close(flow, run, run.breach, elapsed)
        # Asked to close because of the breach, or already closing a good case when the deadline fell?
        asked = run.handoffs[opened.number - 1].reason
        return _terminate(flow, run, event, run.breach if asked == run.breach else EndReason.COMPLETED, opened.role)
    if kind is flow.closed and _is_let_off(flow, run, opened):
        return keep_on(flow, run, opened)
    if type(step) is FanOut:
        return _hear_member(flow, run, step, opened, event, elapsed)
    if kind is Handover and event.to in step.peers:  # type: ignore[attr-defined] # told by `kind`, which is cheaper
        return _hand_over(flow, run, step, opened, event, elapsed)  # type: ignore[arg-type]
    if kind is Failed:
        what, told = brief(event.error), brief(event.told)  # type: ignore[attr-defined]
        return ask_again(flow, run, opened, elapsed, EndReason.STEP_FAILED, what, told)
    to = step.then.get(kind)
    if to == flow.final and opened.role == flow.terminator:
        return _terminate(flow, run, event, EndReason.COMPLETED, opened.role)
    if to is None or to == flow.final:
        return ask_again(flow, run, opened, elapsed, EndReason.ANSWERS_REFUSED, _what_is_wrong(step, opened, event))
    case = put(run.case, event)
    if len(run.handoffs) >= flow.max_handoffs:
        return close(flow, replace(run, case=case), EndReason.MAX_HANDOFFS_EXCEEDED, elapsed)
    handoffs = (*run.handoffs, Handoff(opened.role, ORCHESTRATOR, kind.__name__, elapsed, marker(kind)))
    run = replace(run, case=case, handoffs=handoffs)
    return proceed(flow, run, to, elapsed)


def _is_let_off(flow: Workflow, run: Run, opened: PendingHandoff) -> bool:
    """Whether this attempt to end the run costs the agent that made it nothing."""
    return opened.role != flow.terminator and not run.cancelling and opened.overreaches < MOST_OVERREACHES


def _name_of(event: Event) -> str:
    return brief(event.what) if isinstance(event, InvalidAnswer) else type(event).__name__


def _what_is_wrong(step: Step, opened: PendingHandoff, event: Event) -> str:
    """Why this event is no answer, for the log and for the agent that is asked again."""
    if isinstance(event, Handover) and step.peers:
        peers = ", ".join(sorted(step.peers))
        return f"{opened.role} cannot hand over to {brief(event.to)!r}, only to one of: {peers}"
    return f"{_name_of(event)} of {opened.role} is no answer to {step.ask.__name__}"


def put(case: Case, event: Event) -> Case:
    """What an event says becomes part of the case, by field name; None says nothing, so the case keeps what it has."""
    facts = asdict(event)
    if None in facts.values():
        facts = {name: value for name, value in facts.items() if value is not None}
    return replace(case, **facts) if facts else case


def _terminate(flow: Workflow, run: Run, event: Event, why: EndReason, by: str) -> Transition:
    return replace(run, state=flow.final, case=put(run.case, event), open=()), Terminate(why, by)


def _hand_over(
    flow: Workflow, run: Run, step: Step, opened: PendingHandoff, event: Handover, elapsed: float
) -> Transition:
    """An agent chose to pass its task on: one handoff, and the only kind that can become a loop."""
    handovers = (*run.handovers, (opened.role, event.to))
    run = replace(run, handovers=handovers, case=replace(run.case, context=event.context, handed_over=event.found))
    if run.cancelling:
        return close(flow, run, EndReason.CANCELLED, elapsed)
    if pattern := repeating_pattern(handovers):
        return loop(flow, run, pattern, elapsed)
    return hand(flow, run, step, Handoff(opened.role, event.to, brief(event.reason), elapsed))


def _hear_member(
    flow: Workflow, run: Run, step: FanOut, opened: PendingHandoff, event: Event, elapsed: float
) -> Transition:
    """What one member of a fan-out says moves it alone, until it is the last."""
    if type(event) is step.answer:
        return settle(flow, run, step, opened, MemberResult(opened.role, event), elapsed)
    if isinstance(event, Failed):
        return ask_member_again(flow, run, step, opened, elapsed, EndReason.STEP_FAILED, brief(event.error))
    what = f"{_name_of(event)} is no answer to {step.ask.__name__}"
    return ask_member_again(flow, run, step, opened, elapsed, EndReason.ANSWERS_REFUSED, what)


def _hear_system(flow: Workflow, run: Run, event: Event, elapsed: float) -> Transition:
    match event:
        case TimeUp():
            return _time_up(flow, run, elapsed)
        case RunStopped():
            return _stop(flow, run, elapsed)
        case NotDelivered(handoff=number, error=error):
            return _fail_delivery(flow, run, number, error, elapsed)
        case RunResumed(orderly=orderly):
            return _resume(flow, run, elapsed, crashed=not orderly)
        case _:
            return run, Refuse("the run has begun already")


def _time_up(flow: Workflow, run: Run, elapsed: float) -> Transition:
    late = [opened for opened in run.open if opened.due <= elapsed]
    if run.breach:
        return close(flow, run, run.breach, elapsed) if late else (run, Refuse("not due yet"))
    step = flow.steps[run.state]
    if elapsed >= flow.max_seconds:
        if step.ask is flow.close:  # the terminator is at it already: give it its grace
            grace = tuple(replace(opened, due=elapsed + CLOSING_SECONDS) for opened in run.open)
            return replace(run, breach=EndReason.TIMED_OUT, open=grace), Wait(len(run.handoffs))
        return close(flow, run, EndReason.TIMED_OUT, elapsed)
    if not late:
        return run, Refuse("not due yet")
    if isinstance(step, FanOut):
        moved: Transition = (run, Wait(len(run.handoffs)))
        for opened in late:
            moved = settle(flow, moved[0], step, opened, MemberResult(opened.role, None, SILENT), elapsed)
        return moved
    if run.cancelling:
        return replace(run, state=flow.final, open=()), Terminate(EndReason.CANCEL_FORCED, "")
    what = f"{late[0].role} did not answer in time"
    return ask_again(flow, run, late[0], elapsed, EndReason.STEP_TIMED_OUT, what)


def _stop(flow: Workflow, run: Run, elapsed: float) -> Transition:
    """Cancelled. Agents that can are given time to hand in; a second cancel does not wait for them."""
    if run.breach:
        return run, Refuse("the run is closing already")
    step = flow.steps[run.state]
    if step.ask is flow.close and not step.returns_partial:
        return run, Refuse("the run is ending already")
    if run.cancelling or not step.returns_partial or step.ask is flow.close:
        return close(flow, run, EndReason.CANCELLED, elapsed)
    until = elapsed + flow.cancel_seconds
    opened = tuple(replace(each, due=min(each.due, until)) for each in run.open)
    return replace(run, cancelling=True, open=opened), RequestPartial()


def _fail_delivery(flow: Workflow, run: Run, number: int, error: str, elapsed: float) -> Transition:
    for opened in run.open:
        if opened.number == number:
            return _hear(flow, run, opened, Failed(request="", error=error), elapsed)
    return run, Refuse(f"handoff {number} is not in force")


def _resume(flow: Workflow, run: Run, elapsed: float, *, crashed: bool) -> Transition:
    """Ask again what was open when the process ended; it costs no try of the agent, a crash but a resume of the run."""
    run = replace(run, resumed=run.resumed + crashed)
    if crashed and run.resumed > MAX_RESUMES:
        return close(flow, run, EndReason.CRASHED_REPEATEDLY, elapsed)
    if elapsed >= flow.max_seconds and not run.breach and flow.steps[run.state].ask is flow.close:
        run = replace(run, breach=EndReason.TIMED_OUT)  # it was closing already, so it has the grace of `_time_up`
    if run.breach:
        again = [replace(each, due=elapsed + CLOSING_SECONDS) for each in run.open]
    elif elapsed >= flow.max_seconds:
        return close(flow, run, EndReason.TIMED_OUT, elapsed)
    elif run.cancelling:
        return close(flow, run, EndReason.CANCELLED, elapsed)
    else:
        step = flow.steps[run.state]
        again = [replace(each, due=due_of(flow, step, each.role, elapsed)) for each in run.open]
    return replace(run, open=tuple(again)), HandOff(tuple(each.number for each in again))
