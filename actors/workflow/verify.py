"""
Checks that every run of a table must end; each table is checked when it is imported.

Every way that a run may take is counted in handoffs by the rules of `advance`, without its events:
what is known of a case is whether it may have changed.
"""

import functools
import math
import typing
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

from msgspec.structs import replace

from actors.workflow.codec import decoder
from actors.workflow.loops import repeating_pattern
from actors.workflow.run_end import ENDS
from actors.workflow.tables import (
    ORCHESTRATOR,
    REFUSED,
    FanOut,
    Handover,
    InvalidAnswer,
    MemberResult,
    RetryStage,
    Step,
    SystemEvent,
    Workflow,
)
from actors.workflow.transitions import count_seats
from bus import Event, Failed, Request

MOST_SEARCHED = 40
"""So far over its cap it is looked for what a table needs."""

Pairs = tuple[tuple[str, str], ...]


class _Repeated(NamedTuple):
    """A declared repetition that was taken."""

    source: str
    target: str
    times: int
    changed: bool
    """Since then something may have been added to the case."""


class _Place(NamedTuple):
    """A run about to enter a state."""

    state: str
    handoffs: int
    """That were made before."""
    repeated: frozenset[_Repeated] = frozenset()
    handovers: Pairs = ()
    asked: tuple[str, ...] = ()
    """By the Orchestrator, in their order; only where a table takes that for loops."""


class WayOut(NamedTuple):
    """One way out of a state."""

    state: str
    by: str
    """The answer that leads there, or what else does."""
    to: str


class _Way(NamedTuple):
    exit: WayOut
    to: _Place


def count_most(flow: Workflow) -> int:
    """The most handoffs that any run of a table can take, the one that closes the case after a breach included."""
    seen, waiting, most = set[_Place](), [_Place(flow.first, 0)], 0
    while waiting and most < flow.max_handoffs:
        place = waiting.pop()
        if place in seen:
            continue
        seen.add(place)
        walk = _Walk(flow, place, spare=False)
        for way in walk.leave():
            most = max(most, way.to.handoffs, walk.most)
            waiting.append(way.to)
            if most >= flow.max_handoffs:
                break
        most = max(most, walk.most)
    return min(most, flow.max_handoffs) + 1


def find_unreached(flow: Workflow) -> tuple[WayOut, int] | None:
    """A way out of a state that no run takes to its end within the cap, and the cap that it takes; 0: nobody knows."""
    wanted = dict.fromkeys(each for state in _list_reached(flow) for each in _list_exits(flow, state))
    reached = _list_taken(flow)
    missing = next((each for each in wanted if each not in reached), None)
    if missing is None:
        return None
    caps = range(flow.max_handoffs + 1, flow.max_handoffs + MOST_SEARCHED)
    return missing, next((cap for cap in caps if missing in _list_taken(replace(flow, max_handoffs=cap))), 0)


def find_dead_states(flow: Workflow) -> list[str]:
    """The states that nothing leads to."""
    return sorted(set(flow.steps) - set(_list_reached(flow)))


def _list_reached(flow: Workflow) -> list[str]:
    reached = [flow.first]
    for state in reached:
        for each in _list_exits(flow, state, taken=False):
            if each.to in flow.steps and each.to not in reached:
                reached.append(each.to)
    return reached


def _list_exits(flow: Workflow, state: str, *, taken: bool = True) -> Iterator[WayOut]:
    """The ways out of a state; with `taken` those that can be taken at all: some of a team are two at least."""
    step = flow.steps[state]
    if isinstance(step, FanOut):
        yield WayOut(state, "all of the team", step.on_all)
        if step.seats > 1 or not taken:
            yield WayOut(state, "some of the team", step.on_some)
        yield WayOut(state, "none of the team", step.on_none)
        return
    for kind, to in step.then.items():
        if isinstance(to, RetryStage):
            yield WayOut(state, kind.__name__, to.to)
            yield WayOut(state, f"{kind.__name__}, repeated {to.at_most} times,", to.otherwise)
        else:
            yield WayOut(state, kind.__name__, to)
    if step.on_failed:
        yield WayOut(state, "a failure", step.on_failed)


def _list_taken(flow: Workflow) -> set[WayOut]:
    """The exits that some run takes to a proper end while nobody is asked in vain who need not be."""
    ways = dict[_Place, list[_Way]]()
    ends = set[_Place]()
    taken = set[WayOut]()
    waiting = [_Place(flow.first, 0)]
    while waiting:
        place = waiting.pop()
        if place in ways:
            continue
        walk = _Walk(flow, place, spare=True)
        ways[place] = list(walk.leave())
        if walk.ended:
            ends.add(place)
            taken |= walk.ended
        waiting += [way.to for way in ways[place]]
    while grown := {place for place, its in ways.items() if place not in ends and any(way.to in ends for way in its)}:
        ends |= grown
    return taken | {way.exit for its in ways.values() for way in its if way.to in ends}


class _Walk:
    """One state of one run, from its entry to each way out of it."""

    def __init__(self, flow: Workflow, place: _Place, *, spare: bool) -> None:
        """:param spare: nobody is asked again or hands over, and of a team no more are asked than is needed."""
        self.flow = flow
        self.place = place
        self.spare = spare
        self.most = place.handoffs
        """Handoffs, at any moment of it."""
        self.ended = set[WayOut]()
        """The exits by which the run ends."""

    def leave(self) -> Iterator[_Way]:
        step = self.flow.steps[self.place.state]
        return self._leave_team(step) if isinstance(step, FanOut) else self._leave_step(step)

    def _count(self, handoffs: int) -> int:
        self.most = max(self.most, handoffs)
        return handoffs

    def _leave_step(self, step: Step) -> Iterator[_Way]:
        cap, seen = self.flow.max_handoffs, set[tuple[str, int, int, Pairs, tuple[str, ...]]]()
        if self.place.handoffs >= cap:
            return
        first = [step.hand_to, *(sorted(step.peers) if step.pick else ())]
        made = self._count(self.place.handoffs + 1)
        at = [(role, made, 0, self.place.handovers, self._ask(self.place.asked, role)) for role in first]
        while at:
            position = at.pop()
            if position in seen:
                continue
            seen.add(position)
            role, made, tries, handovers, asked = position
            yield from self._answer(step, role, made, handovers, asked)
            if made >= cap:
                continue
            most_tries = self.flow.limits_of(step, role).retries
            if step.on_failed and tries == most_tries:
                yield self._go(
                    WayOut(self.place.state, "a failure", step.on_failed), self._count(made + 1), handovers, asked
                )
            if tries < most_tries and (step.on_failed or not self.spare) and not self._loops(asked, role):
                self._count(made + 1)
                if made + 2 <= cap:
                    at.append((role, self._count(made + 2), tries + 1, handovers, self._ask(asked, role)))
            for peer in () if self.spare else sorted(step.peers, reverse=True):
                passed = (*handovers, (role, peer))
                if repeating_pattern(passed) is None:
                    at.append((peer, self._count(made + 1), 0, passed, asked))

    def _answer(self, step: Step, role: str, made: int, handovers: Pairs, asked: tuple[str, ...]) -> Iterator[_Way]:
        state = self.place.state
        for kind, to in step.then.items():
            exit_ = WayOut(state, kind.__name__, to.to if isinstance(to, RetryStage) else to)
            if to == self.flow.final:
                self.ended |= {exit_} if role == self.flow.terminator else set()
            elif made < self.flow.max_handoffs:
                changes = bool(kind.__struct_fields__) or handovers != self.place.handovers
                self._count(made + 1)
                if isinstance(to, RetryStage):
                    yield from self._repeat(to, kind.__name__, made + 1, handovers, asked, changes=changes)
                else:
                    yield self._go(exit_, made + 1, handovers, asked, changes=changes)

    def _repeat(
        self, to: RetryStage, name: str, made: int, handovers: Pairs, asked: tuple[str, ...], *, changes: bool
    ) -> Iterator[_Way]:
        state = self.place.state
        before = next((each for each in self.place.repeated if (each.source, each.target) == (state, to.to)), None)
        moved = before is None or before.changed or changes
        times = before.times if before else 0
        if times < to.at_most and moved:
            now = _Repeated(state, to.to, times + 1, changed=False)
            kept = frozenset(each for each in self._mark(changes=changes) if each[:2] != now[:2])
            yield _Way(WayOut(state, name, to.to), _Place(to.to, made, kept | {now}, handovers, asked))
        if before is not None:
            is_over = times >= to.at_most or not moved
            by = f"{name}, repeated {to.at_most} times," if is_over else name
            yield self._go(WayOut(state, by, to.otherwise), made, handovers, asked, changes=changes)

    def _leave_team(self, step: FanOut) -> Iterator[_Way]:
        n, cap, state = self.place.handoffs, self.flow.max_handoffs, self.place.state
        seats = count_seats(self.flow, n, step)
        none = WayOut(state, "none of the team", step.on_none)
        if step.pick:
            yield self._go(none, n, self.place.handovers, self.place.asked)
        retries = {role: self.flow.limits_of(step, role).retries for role in step.team}
        for asked in self._pick_members(step, seats, retries):
            if n + len(asked) > cap:
                continue
            self._count(n + len(asked))
            for again, order in self._ask_members_again(asked, retries, (cap - n - 2 * len(asked)) // 2):
                made = self._count(min(cap, n + 2 * len(asked) + 2 * again))
                yield self._go(WayOut(state, "all of the team", step.on_all), made, self.place.handovers, order)
                yield self._go(none, made, self.place.handovers, order)
                if len(asked) > 1:
                    yield self._go(WayOut(state, "some of the team", step.on_some), made, self.place.handovers, order)

    def _pick_members(self, step: FanOut, seats: int, retries: dict[str, int]) -> Iterator[tuple[str, ...]]:
        """Teams that differ in how many they are, or in who may be asked again; of those alike, one."""
        if not step.pick:
            yield step.team[:seats]
            return
        patient = sorted(step.team, key=lambda role: -retries[role])
        for size in range(1, min(seats, 2) + 1 if self.spare else seats + 1):
            yield tuple(sorted(patient[:size], key=step.team.index))

    def _ask_members_again(
        self, team: tuple[str, ...], retries: dict[str, int], room: int
    ) -> Iterator[tuple[int, tuple[str, ...]]]:
        """How often members of a team may be asked again in all, and whom the Orchestrator has asked by then."""
        start = self.place.asked
        for role in team:
            start = self._ask(start, role)
        if not self.flow.asking_loops or self.spare:
            most = 0 if self.spare else min(sum(retries[role] for role in team), max(0, room))
            yield from ((again, start) for again in range(most + 1))
            return
        seen, at = set[tuple[str, ...]](), [start]
        while at:
            asked = at.pop()
            if asked in seen:
                continue
            seen.add(asked)
            again = asked[len(start) :]
            yield len(again), asked
            at += [
                (*asked, role) for role in team
                if len(again) < room and again.count(role) < retries[role] and not self._loops(asked, role)
            ]  # fmt: skip

    def _ask(self, asked: tuple[str, ...], role: str) -> tuple[str, ...]:
        return (*asked, role) if self.flow.asking_loops else ()

    def _loops(self, asked: tuple[str, ...], role: str) -> bool:
        return self.flow.asking_loops and repeating_pattern((*asked, role)) is not None

    def _mark(self, *, changes: bool) -> frozenset[_Repeated]:
        return frozenset(each._replace(changed=each.changed or changes) for each in self.place.repeated)

    def _go(self, exit_: WayOut, made: int, handovers: Pairs, asked: tuple[str, ...], *, changes: bool = True) -> _Way:
        return _Way(exit_, _Place(exit_.to, made, self._mark(changes=changes), handovers, asked))


MOST_REPETITIONS = 10
"""The longest declared repetition that a table may ask for."""
MOST_RETRIES = 10
"""How often an agent may be asked again at most."""


class InvalidWorkflow(Exception):
    """A workflow could run forever, be ended by the wrong role, or names what does not exist."""


class TooFewHandoffs(InvalidWorkflow):
    """A run in which all goes well would be cut short."""

    def __init__(self, flow: Workflow, least: int) -> None:
        super().__init__(f"{flow.name} takes {least} handoffs when all goes well, over its cap {flow.max_handoffs}")
        self.least = least
        """What the cap must be at least."""


def verify(flow: Workflow, *, every_way: bool = True) -> int:
    """
    Raise unless every run of this workflow must end, and all that its table declares can come to pass.

    :param every_way: False: an operator gives a run less than the table was written for, so that its cap may cut off
        repetitions, and what is done for those that fail.
    :returns: the most handoffs that any run of it can take, the one that closes the case after a breach included.
    :raises InvalidWorkflow: naming the state and what is wrong with it.
    """
    for complaint in _whole(flow):
        raise InvalidWorkflow(f"{flow.name}: {complaint}")
    for state, step in flow.steps.items():
        for complaint in (*_targets(flow, step), *_roles(flow, step), *_answers(flow, step), *_facts(flow, step)):
            raise InvalidWorkflow(f"{flow.name}.{state}: {complaint}")
    _refuse_endless(flow)
    _refuse_unused(flow)
    least = _least(flow)
    if least > flow.max_handoffs:
        raise TooFewHandoffs(flow, least)
    if every_way and (found := find_unreached(flow)) is not None:
        (state, by, to), needed = found
        more = f": that takes {needed}" if needed else ""
        raise InvalidWorkflow(
            f"{flow.name}.{state}: {by} leads to {to}, and no run comes to its end from there within "
            f"{flow.max_handoffs} handoffs{more}"
        )
    return count_most(flow)


def _whole(flow: Workflow) -> Iterator[str]:
    """What is wrong with the numbers and names that belong to no single step."""
    if not flow.steps:
        yield "it has no steps"
    if flow.final in flow.steps:
        yield f"{flow.final} is its end and cannot be a step"
    if taken := ENDS & set(flow.steps):
        yield f"{sorted(taken)} are reasons of an end and cannot be steps"
    if flow.asking_loops and any(isinstance(to, RetryStage) for step in flow.steps.values() for to in _next(step)):
        yield "it cannot both declare repetitions and take them for loops"
    if flow.max_handoffs < 1 or not 0 < flow.max_seconds < math.inf or not 0 <= flow.cancel_seconds < math.inf:
        yield "max_handoffs, max_seconds and cancel_seconds must be bounds"
    limits = [flow.default_limits, *flow.limits.values(), *(s.limits for s in flow.steps.values() if s.limits)]
    for each in limits:
        if not each.within > 0 or not 0 <= each.retries <= MOST_RETRIES:
            yield f"{each} must give some time and at most {MOST_RETRIES} retries"
    try:
        decoder(flow)
    except TypeError as error:
        yield f"its events cannot be told apart: {error}"


def _next(step: Step | FanOut) -> list[str | RetryStage]:
    if isinstance(step, FanOut):
        return list(step.exits)
    return [*step.then.values(), *([step.on_failed] if step.on_failed else [])]


def _agents(step: Step | FanOut) -> list[str]:
    return list(step.team) if isinstance(step, FanOut) else [step.hand_to, *step.peers]


def _targets(flow: Workflow, step: Step | FanOut) -> Iterator[str]:
    known = {*flow.steps, flow.final}
    for to in _next(step):
        named = {to.to, to.otherwise} if isinstance(to, RetryStage) else {to}
        if unknown := named - known:
            yield f"leads to unknown states {sorted(unknown)}"
        if isinstance(to, RetryStage) and flow.final in named:
            yield "a repetition cannot lead to the end: it needs a step that the terminator answers"
        if isinstance(to, RetryStage) and not 1 <= to.at_most <= MOST_REPETITIONS:
            yield f"repeats {to.at_most} times, which is not 1 to {MOST_REPETITIONS}"
    if isinstance(step, Step) and not step.then:
        yield "no answer leads anywhere"
    if isinstance(step, Step) and step.on_failed and (step.on_failed == flow.final or step.ask is flow.close):
        yield f"a failure leads to another step than the one that closes the case, and not to {flow.final}"


def _roles(flow: Workflow, step: Step | FanOut) -> Iterator[str]:
    roles = set(_agents(step))
    if ORCHESTRATOR in roles:
        yield f"{ORCHESTRATOR} does no work"
    if flow.final in _next(step) and roles != {flow.terminator}:
        yield f"only {flow.terminator} may terminate, not {sorted(roles)}"
    if isinstance(step, Step) and flow.terminator in step.peers:
        yield f"the task must not be handed over to {flow.terminator}, which ends runs"
    if isinstance(step, FanOut) and (not step.team or len(roles) != len(step.team) or flow.terminator in roles):
        yield f"a team has each member once, at least one, and never {flow.terminator}"
    if isinstance(step, FanOut) and step.at_most < 0:
        yield f"{step.at_most} of a team cannot be asked"
    if isinstance(step, Step) and step.ask is flow.close and set(step.then) != {flow.closed}:
        yield f"{flow.close.__name__} is answered by {flow.closed.__name__} alone"


def _answers(flow: Workflow, step: Step | FanOut) -> Iterator[str]:
    """The terminator's word leads to the end and nothing else does; what the rules use themselves is no answer."""
    ways = [(step.answer, to) for to in step.exits] if isinstance(step, FanOut) else step.then.items()
    for kind, to in ways:
        if (kind is flow.closed) != (to == flow.final):
            yield f"{flow.closed.__name__} leads to {flow.final}, and nothing else does; not {kind.__name__} to {to}"
        if issubclass(kind, (SystemEvent, Handover, Failed, InvalidAnswer)):
            yield f"{kind.__name__} is not an answer"


def _facts(flow: Workflow, step: Step | FanOut) -> Iterator[str]:
    facts = typing.get_type_hints(flow.case)
    answers = (step.answer,) if isinstance(step, FanOut) else tuple(step.then)
    puts = () if isinstance(step, FanOut) else answers
    for message in (*puts, step.ask, flow.close, flow.closed):
        hints = typing.get_type_hints(message)
        for name in message.__struct_fields__:
            if name not in facts and not (name == REFUSED and issubclass(message, Request)):
                yield f"{message.__name__}.{name} is not in the case"
            elif message in puts and not _fits(hints[name], facts[name]):
                yield f"{message.__name__}.{name} is {hints[name]}, but {facts[name]} in the case"
    if isinstance(step, FanOut) and step.into in step.ask.__struct_fields__:
        yield f"{step.ask.__name__} reads {step.into}, which grows while the team answers"
    if isinstance(step, FanOut) and step.into not in facts:
        yield f"{step.into} is not in the case"
    elif isinstance(step, FanOut) and not _holds(facts[step.into], step.answer):
        needed = f"tuple[MemberResult[{step.answer.__name__}], ...]"
        yield f"{step.into} is {facts[step.into]} in the case, but must be {needed}"
    if step.pick and step.pick not in facts:
        yield f"{step.pick} is not in the case"


def _holds(hint: Any, answer: type[Event]) -> bool:
    """Whether what becomes of a team can be kept there, and stored: its answers are told apart by their types."""
    settled = typing.get_args(hint)[:1]
    return (
        typing.get_origin(hint) is tuple
        and typing.get_origin(settled[0]) is MemberResult
        and answer in _arms(typing.get_args(settled[0])[0])
    )


def _fits(narrow: Any, wide: Any) -> bool:
    """Every type of an event's field is one of the case's field; None says nothing and fits everywhere."""
    if type(None) in (arms := _arms(narrow)):
        return all(_fits(arm, wide) for arm in arms - {type(None)})
    if typing.get_origin(narrow) is Literal and typing.get_origin(wide) is not Literal:
        return {type(value) for value in typing.get_args(narrow)} <= _arms(wide)
    return wide is Any or narrow == wide or _arms(narrow) <= _arms(wide)


def _arms(hint: Any) -> set[Any]:
    return set(typing.get_args(hint)) or {hint}


def _refuse_endless(flow: Workflow) -> None:
    ends = {flow.final}
    while grown := {s for s, step in flow.steps.items() if s not in ends and _plain(step) & ends}:
        ends |= grown
    if stuck := set(flow.steps) - ends:
        raise InvalidWorkflow(f"{flow.name} cannot end from {sorted(stuck)}")
    done: set[str] = set()
    while free := {s for s, step in flow.steps.items() if s not in done and _plain(step) <= done | {flow.final}}:
        done |= free
    if circle := set(flow.steps) - done:
        raise InvalidWorkflow(f"{flow.name} goes in a circle over {sorted(circle)} without a declared repetition")


def _refuse_unused(flow: Workflow) -> None:
    """Each state is led to, and each answer that a request declares is taken by a step that asks it."""
    if dead := find_dead_states(flow):
        raise InvalidWorkflow(f"{flow.name}: nothing leads to {dead}")
    taken = dict[type[Request[Any]], set[type]]()
    for step in flow.steps.values():
        answers: set[type] = {step.answer} if isinstance(step, FanOut) else {*step.then}
        answers |= {Handover} if isinstance(step, Step) and step.peers else set()
        taken.setdefault(step.ask, set()).update(answers)
    for state, step in flow.steps.items():
        if unused := _list_declared_answers(step.ask) - taken[step.ask]:
            names = sorted(each.__name__ for each in unused)
            raise InvalidWorkflow(
                f"{flow.name}.{state}: {step.ask.__name__} may be answered by {names}, which no step takes"
            )


def _list_declared_answers(request: type[Request[Any]]) -> set[type]:
    """The answers that a request declares, as in `Request[Judged | Unsure]`."""
    for base in (each for kind in request.__mro__ for each in getattr(kind, "__orig_bases__", ())):
        if typing.get_origin(base) is Request:
            (hint,) = typing.get_args(base)
            return {each for each in _arms(hint) if isinstance(each, type)} - {Event}
    return set()


def _plain(step: Step | FanOut) -> set[str]:
    """Where a step may lead when no repetition is left."""
    return {to.otherwise if isinstance(to, RetryStage) else to for to in _next(step)}


def _least(flow: Workflow) -> int:
    """The most handoffs that a run takes in which all goes well: nothing is repeated, and nobody is asked again."""

    @functools.cache
    def most(state: str) -> int:
        if state == flow.final:
            return -1  # the terminator's last answer hands control to nobody
        step = flow.steps[state]
        if isinstance(step, FanOut):  # all goes well with one, where it is chosen how many there are
            return 2 * (1 if step.at_most else step.seats) + max(map(most, step.exits))
        ways = (to.otherwise if isinstance(to, RetryStage) else to for to in step.then.values())
        return 2 + max(map(most, ways))

    return most(flow.first)
