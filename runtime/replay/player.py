"""Answers a run by what was recorded, at the time and in the order in which that came, and notes what it asks anew."""

import asyncio
import inspect
from collections import defaultdict
from collections.abc import Callable, Container, Mapping, Sequence
from typing import Any

import msgspec

from actors.ports import Entry, PortFailed
from actors.workflow.tables import RunStopped, TimeUp
from bus import Actor, Clock, Context, Timer
from runtime.replay.counterfactual import Change
from runtime.replay.port_call import FILL, PortCall, PortMethod, Question, decode, make_failure
from runtime.replay.recorded_port import TURN, RecordedActor, Turn
from runtime.replay.recorded_run import Recording
from runtime.replay.recorder import BEGAN
from runtime.replay.replay_loop import ReplayLoop
from runtime.replay.shared_parts import put_in

AHEAD_SECONDS = 0.002
"""How much earlier than then an answer comes, so that the event which rests on it is never late."""
LATE_SECONDS = 5.0
"""How late a timer of a busy process may have rung."""


class NotAsked(msgspec.Struct, frozen=True):
    """Where a run asks the world for something else than then."""

    run: str
    agent: str
    name: str
    """Of the port and its method."""
    now: str
    """What it asks."""
    then: str
    """What was asked then in its place; empty: nothing."""


class Player:
    """`recorded_port.Tape` of an outermost run that is replayed. Times are the loop's, which passes as then."""

    def __init__(self, recording: Recording, moments: "Moments", change: Change, loop: ReplayLoop) -> None:
        """:param moments: when each event came then."""
        self._loop = loop
        self._moments = moments
        self._change = change
        self._calls: defaultdict[str, list[PortCall]] = defaultdict(list)
        self._used: set[int] = set()
        self._parts = recording.parts
        self._began = {call.run: call.begin for call in recording.calls if call.name == BEGAN}
        self._started: dict[str, float] = {}
        self.unknown: list[NotAsked] = []
        for call in recording.calls:
            self._calls[call.name].append(call)

    async def start(self, run: str) -> None:
        """As `Tape.start`."""
        await self._wait_until(self._began.get(run, 0.0))
        self._started[run] = self._loop.time()

    def seat(self, turn: Turn, actor: Actor[Any]) -> Actor[Any]:
        """As `Tape.seat`."""
        return _PunctualActor(actor, turn, self)

    def clock(self, run: str) -> Clock | None:
        """As `Tape.clock`."""
        return _Clock(self._loop, self._loop.time(), self._moments.times_up(run))

    async def wait_for_event(self, turn: Turn, number: int) -> None:
        """Wait until it is the time at which an agent's answer to this handoff came."""
        at = self._moments.take(turn.run, turn.agent, number)
        if at is not None:
            await self._wait_until(self._started[turn.run] + at)

    async def ask(self, turn: Turn, method: PortMethod, real: Any, arguments: tuple[Any, ...], named: Any) -> Any:
        """As `Tape.ask`."""
        if method.name == FILL and self._change.asks(turn.agent):
            with self._loop.let_out():
                return await real(*arguments, **named)
        asked = method.bind(arguments, named)
        if self._moments.is_cut_off(turn.run, turn.number) and not self._knows(turn, method, asked):
            await self._loop.create_future()  # the run was ended before it came so far
        call = self._find(turn, method, asked)
        for at, name, body in call.heard:
            await self._wait_until(at - AHEAD_SECONDS)
            named[name](decode(body, method.listeners[name]))
        if call.end is None:
            await self._loop.create_future()  # it never came
        else:
            await self._wait_until(call.end - AHEAD_SECONDS)
        if call.failure is not None:
            raise make_failure(call.failure)
        if call.omitted:
            raise PortFailed(f"The answer to {call.name} was too large to be recorded.")
        return self._decode(call, method, arguments)

    def look(self, turn: Turn, method: PortMethod, real: Any, arguments: tuple[Any, ...]) -> Any:  # noqa: ARG002
        """As `Tape.look`."""
        return self._decode(self._find(turn, method, method.bind(arguments, {})), method, arguments)

    def _decode(self, call: PortCall, method: PortMethod, arguments: tuple[Any, ...]) -> Any:
        try:
            return put_in(method.decode(call.answer, arguments), self._parts)
        except (KeyError, msgspec.MsgspecError):
            raise PortFailed(f"What was recorded of {call.name} cannot be read any more.") from None

    def _knows(self, turn: Turn, method: PortMethod, asked: Question) -> bool:
        return any(
            call.digest == asked.digest and call.run == turn.run and call.order not in self._used
            for call in self._calls[method.name]
        )

    def _find(self, turn: Turn, method: PortMethod, asked: Question) -> PortCall:
        """
        The same question, whoever asked it then; where nobody did, the agent's next of its kind, so that a run goes on.

        :raises PortFailed: it asked nothing more of the kind then.
        """
        kind = self._calls[method.name]
        left = [call for call in kind if call.order not in self._used]
        own = [call for call in left if (call.run, call.agent) == (turn.run, turn.agent)]
        same = (call for calls in (own, left, kind) for call in calls if call.digest == asked.digest)
        call = next(same, None)
        if call is None or call.order in self._used:
            call = call or next(iter(own), None)
            self.unknown.append(NotAsked(turn.run, turn.agent, method.name, asked.about, call.about if call else ""))
        if call is None:
            raise PortFailed(f"Nothing is recorded of what {method.name} answers to this.")
        self._used.add(call.order)
        return call

    async def _wait_until(self, at: float) -> None:
        if (left := at - self._loop.time()) > 0:
            await asyncio.sleep(left)


class Moments:
    """When each event of a recording came, in seconds since its run began."""

    def __init__(self, events: Mapping[str, Sequence[Entry]], whole: Container[str]) -> None:
        """
        :param events: by run.
        :param whole: runs that came to an end of their own; others ended with the run above them.
        """
        self._known: defaultdict[tuple[str, int], list[Entry]] = defaultdict(list)
        self._rang: defaultdict[str, list[float]] = defaultdict(list)
        self._answered = {(run, entry.number) for run, entries in events.items() for entry in entries}
        self._ended_early = {
            run
            for run, entries in events.items()
            if run not in whole or any(isinstance(entry.event, RunStopped | TimeUp) for entry in entries)
        }
        for run, entries in events.items():
            for entry in entries:
                self._known[run, entry.number].append(entry)
                if isinstance(entry.event, TimeUp):
                    self._rang[run].append(entry.at)

    def take(self, run: str, sender: str, number: int) -> float | None:
        """When the answer to this handoff came, by whomever if this agent gave none; None: nobody answered."""
        known = self._known[run, number]
        entry = next((each for each in known if each.sender == sender), next(iter(known), None))
        if entry is not None:
            known.remove(entry)
        return entry.at if entry else None

    def is_cut_off(self, run: str, number: int) -> bool:
        """Whether the answer to this handoff never came, for the run was stopped or its time was up."""
        return run in self._ended_early and (run, number) not in self._answered

    def times_up(self, run: str) -> list[float]:
        """When a run's own timer rang."""
        return self._rang[run]


class _PunctualActor(RecordedActor):
    """An actor that answers when it did then."""

    __slots__ = ("_player",)

    def __init__(self, actor: Actor[Any], turn: Turn, player: Player) -> None:
        super().__init__(actor, turn)
        self._player = player

    async def receive(self, message: Any, ctx: Context) -> Any:
        TURN.set(self._turn._replace(number=ctx.number))
        try:
            answer = self._actor.receive(message, ctx)
            if inspect.isawaitable(answer):
                answer = await answer
        except Exception:
            await self._player.wait_for_event(self._turn, ctx.number)
            raise
        if answer is not None:
            await self._player.wait_for_event(self._turn, ctx.number)
        return answer


class _Clock:
    """The loop's time; a run's own timer rings as late as it did."""

    def __init__(self, loop: asyncio.AbstractEventLoop, started: float, rang: list[float]) -> None:
        self._loop = loop
        self._started = started
        self._rang = rang

    def time(self) -> float:
        return self._loop.time()

    def call_later(self, delay: float, callback: Callable[..., object], *args: Any) -> Timer:
        due = self._loop.time() + delay
        if args and type(args[0]) is TimeUp:
            at = next((at + self._started for at in self._rang if at + self._started >= due - 1e-6), due)
            if at - due < LATE_SECONDS:
                due = at
        return self._loop.call_at(due, callback, *args)
