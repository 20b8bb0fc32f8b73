"""Whether a workflow must end: run over every table when it is imported."""

import functools
import typing
from collections.abc import Iterator
from typing import Any, Literal

from actors.workflow import ORCHESTRATOR, Again, FanOut, Step, Workflow

MOST_REPETITIONS = 10
"""The longest declared repetition that a table may ask for."""


class InvalidWorkflow(Exception):
    """A workflow could run forever, be ended by the wrong role, or names what does not exist."""


def verify(flow: Workflow) -> int:
    """
    Raise unless every run of this workflow must end.

    :returns: the most handoffs that any run of it can take, the one that closes the case after a breach included.
    :raises InvalidWorkflow: naming the state and what is wrong with it.
    """
    for state, step in flow.steps.items():
        for complaint in (*_targets(flow, step), *_roles(flow, step), *_facts(flow, step)):
            raise InvalidWorkflow(f"{flow.name}.{state}: {complaint}")
    _must_end(flow)
    least = _longest(flow, retries=False)
    if least > flow.max_handoffs:
        raise InvalidWorkflow(
            f"{flow.name} takes {least} handoffs when all goes well, over its cap {flow.max_handoffs}"
        )
    if any(isinstance(step, Step) and step.peers for step in flow.steps.values()):
        return flow.max_handoffs + 1
    return min(_longest(flow, retries=True), flow.max_handoffs) + 1


def _next(step: Step | FanOut) -> list[str | Again]:
    return [step.to] if isinstance(step, FanOut) else list(step.then.values())


def _targets(flow: Workflow, step: Step | FanOut) -> Iterator[str]:
    known = {*flow.steps, flow.final}
    for to in _next(step):
        named = {to.to, to.otherwise} if isinstance(to, Again) else {to}
        if unknown := named - known:
            yield f"leads to unknown states {sorted(unknown)}"
        if isinstance(to, Again) and flow.final in named:
            yield "a repetition cannot lead to the end: it needs a step that the terminator answers"
        if isinstance(to, Again) and not 1 <= to.at_most <= MOST_REPETITIONS:
            yield f"repeats {to.at_most} times, which is not 1 to {MOST_REPETITIONS}"
    if not _next(step):
        yield "no answer leads anywhere"


def _roles(flow: Workflow, step: Step | FanOut) -> Iterator[str]:
    roles = set(step.team) if isinstance(step, FanOut) else {step.hand_to} | step.peers
    if ORCHESTRATOR in roles:
        yield f"{ORCHESTRATOR} does no work"
    if flow.final in _next(step) and roles != {flow.terminator}:
        yield f"only {flow.terminator} may terminate, not {sorted(roles)}"
    if isinstance(step, Step) and flow.terminator in step.peers:
        yield f"the task must not be handed over to {flow.terminator}, which ends runs"
    if isinstance(step, FanOut) and (not step.team or len(roles) != len(step.team) or flow.terminator in roles):
        yield f"a team has each member once, at least one, and never {flow.terminator}"
    if isinstance(step, Step) and step.ask is flow.close and set(step.then) != {flow.closed}:
        yield f"{flow.close.__name__} is answered by {flow.closed.__name__} alone"


def _facts(flow: Workflow, step: Step | FanOut) -> Iterator[str]:
    facts = typing.get_type_hints(flow.case)
    answers = (step.answer,) if isinstance(step, FanOut) else tuple(step.then)
    puts = () if isinstance(step, FanOut) else answers
    for message in (*puts, step.ask, flow.close, flow.closed):
        hints = typing.get_type_hints(message)
        for name in message.__struct_fields__:
            if name not in facts:
                yield f"{message.__name__}.{name} is not in the case"
            elif message in puts and not _fits(hints[name], facts[name]):
                yield f"{message.__name__}.{name} is {hints[name]}, but {facts[name]} in the case"
    if isinstance(step, FanOut) and step.into not in facts:
        yield f"{step.into} is not in the case"
    if step.pick and step.pick not in facts:
        yield f"{step.pick} is not in the case"


def _fits(narrow: Any, wide: Any) -> bool:
    """Every type of an event's field is one of the case's field."""
    if typing.get_origin(narrow) is Literal and typing.get_origin(wide) is not Literal:
        return {type(value) for value in typing.get_args(narrow)} <= _arms(wide)
    return wide is Any or narrow == wide or _arms(narrow) <= _arms(wide)


def _arms(hint: Any) -> set[Any]:
    return set(typing.get_args(hint)) or {hint}


def _must_end(flow: Workflow) -> None:
    ends = {flow.final}
    while grown := {s for s, step in flow.steps.items() if s not in ends and _reaches(step, ends)}:
        ends |= grown
    if stuck := set(flow.steps) - ends:
        raise InvalidWorkflow(f"{flow.name} cannot end from {sorted(stuck)}")
    done: set[str] = set()
    while free := {s for s, step in flow.steps.items() if s not in done and _plain(step) <= done | {flow.final}}:
        done |= free
    if circle := set(flow.steps) - done:
        raise InvalidWorkflow(f"{flow.name} goes in a circle over {sorted(circle)} without a declared repetition")


def _reaches(step: Step | FanOut, ends: set[str]) -> bool:
    """Some answer leads on; a repetition counts by where it goes when it is used up."""
    return any((to.otherwise if isinstance(to, Again) else to) in ends for to in _next(step))


def _plain(step: Step | FanOut) -> set[str]:
    """Where a step may lead without using up a repetition."""
    return {to.otherwise if isinstance(to, Again) else to for to in _next(step)}


def _longest(flow: Workflow, *, retries: bool) -> int:
    """The most handoffs on any way through the table, exactly: every repetition taken as often as it may be."""

    @functools.cache
    def most(state: str, used: frozenset[tuple[str, str, int]]) -> int:
        if state == flow.final:
            return -1  # the terminator's last answer hands control to nobody
        step = flow.steps[state]
        if isinstance(step, FanOut):
            cost = 2 * len(step.team)
        else:
            tries = max(flow.limits_of(step, role).retries for role in {step.hand_to} | step.peers)
            cost = 2 * (1 + (tries if retries else 0))
        return cost + max(follow(state, to, used) for to in _next(step))

    def follow(state: str, to: str | Again, used: frozenset[tuple[str, str, int]]) -> int:
        if isinstance(to, str):
            return most(to, used)
        count = next((n for source, target, n in used if (source, target) == (state, to.to)), 0)
        if not retries or count >= to.at_most:
            return most(to.otherwise, used)
        more = used - {(state, to.to, count)} | {(state, to.to, count + 1)}
        return max(most(to.otherwise, used), most(to.to, more))

    return most(next(iter(flow.steps)), frozenset())
