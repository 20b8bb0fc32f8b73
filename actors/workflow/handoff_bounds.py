"""
Every way that a run may take through a table, counted in handoffs: the most there can be, and what the cap cuts off.

It follows the rules of `advance` without its events: what is known of a case is whether it may have changed.
"""

from collections.abc import Iterator
from typing import NamedTuple

from msgspec.structs import replace

from actors.workflow.loops import repeating_pattern
from actors.workflow.tables import FanOut, RetryStage, Step, Workflow
from actors.workflow.transitions import count_seats

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
