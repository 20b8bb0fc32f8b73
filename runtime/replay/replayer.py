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
from runtime.replay.port_call import PortCall, PortMethod, Question, decode, make_failure
from runtime.replay.recorded_port import CALLER, Caller, RecordedActor
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


class Replayer:
    """`recorded_port.Interceptor` of an outermost run that is replayed. Times are the loop's, which passes as then."""

    def __init__(self, recording: Recording, times: "EventTimes", loop: ReplayLoop) -> None:
        """:param times: when each event came then."""
        self._loop = loop
        self._times = times
        self._calls: defaultdict[str, list[PortCall]] = defaultdict(list)
        self._used: set[int] = set()
        self._parts = recording.parts
        self._began = {call.run: call.begin for call in recording.calls if call.name == BEGAN}
        self._started: dict[str, float] = {}
        self.unknown: list[NotAsked] = []
        for call in recording.calls:
            self._calls[call.name].append(call)

    async def start(self, run: str) -> None:
        """As `Interceptor.start`."""
        await self._wait_until(self._began.get(run, 0.0))
        self._started[run] = self._loop.time()

    def wrap_actor(self, caller: Caller, actor: Actor[Any]) -> Actor[Any]:
        """As `Interceptor.wrap_actor`."""
        return _ReplayedActor(actor, caller, self)

    def make_clock(self, run: str) -> Clock | None:
        """As `Interceptor.make_clock`."""
        return _Clock(self._loop, self._loop.time(), self._times.list_timeouts(run))

    async def wait_for_event(self, caller: Caller, number: int) -> None:
        """Wait until it is the time at which an agent's answer to this handoff came."""
        at = self._times.take(caller.run, caller.agent, number)
        if at is not None:
            await self._wait_until(self._started[caller.run] + at)

    async def ask(
        self,
        caller: Caller,
        method: PortMethod,
        real: Any,  # noqa: ARG002 - a replay asks nothing of the world
        arguments: tuple[Any, ...],
        named: Any,
    ) -> Any:
        """As `Interceptor.ask`."""
        asked = method.bind(arguments, named)
        if self._times.is_cut_off(caller.run, caller.number) and not self._knows(caller, method, asked):
            await self._loop.create_future()  # the run was ended before it came so far
        call = self._find(caller, method, asked)
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

    def look(self, caller: Caller, method: PortMethod, real: Any, arguments: tuple[Any, ...]) -> Any:  # noqa: ARG002
        """As `Interceptor.look`."""
        return self._decode(self._find(caller, method, method.bind(arguments, {})), method, arguments)

    def _decode(self, call: PortCall, method: PortMethod, arguments: tuple[Any, ...]) -> Any:
        try:
            return put_in(method.decode(call.answer, arguments), self._parts)
        except (KeyError, msgspec.MsgspecError):
            raise PortFailed(f"What was recorded of {call.name} cannot be read any more.") from None

    def _knows(self, caller: Caller, method: PortMethod, asked: Question) -> bool:
        return any(
            call.digest == asked.digest and call.run == caller.run and call.order not in self._used
            for call in self._calls[method.name]
        )

    def _find(self, caller: Caller, method: PortMethod, asked: Question) -> PortCall:
        """
        The same question, whoever asked it then; where nobody did, the agent's next of its kind, so that a run goes on.

        :raises PortFailed: it asked nothing more of the kind then.
        """
        kind = self._calls[method.name]
        left = [call for call in kind if call.order not in self._used]
        own = [call for call in left if (call.run, call.agent) == (caller.run, caller.agent)]
        same = (call for calls in (own, left, kind) for call in calls if call.digest == asked.digest)
        call = next(same, None)
        if call is None or call.order in self._used:
            call = call or next(iter(own), None)
            self.unknown.append(
                NotAsked(caller.run, caller.agent, method.name, asked.about, call.about if call else "")
            )
        if call is None:
            raise PortFailed(f"Nothing is recorded of what {method.name} answers to this.")
        self._used.add(call.order)
        return call

    async def _wait_until(self, at: float) -> None:
        if (left := at - self._loop.time()) > 0:
            await asyncio.sleep(left)


class EventTimes:
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

    def list_timeouts(self, run: str) -> list[float]:
        """When a run's own timer rang."""
        return self._rang[run]


class _ReplayedActor(RecordedActor):
    """An actor that answers when it did then."""

    __slots__ = ("_replayer",)

    def __init__(self, actor: Actor[Any], caller: Caller, replayer: Replayer) -> None:
        super().__init__(actor, caller)
        self._replayer = replayer

    async def receive(self, message: Any, ctx: Context) -> Any:
        CALLER.set(self._caller._replace(number=ctx.number))
        try:
            answer = self._actor.receive(message, ctx)
            if inspect.isawaitable(answer):
                answer = await answer
        except Exception:
            await self._replayer.wait_for_event(self._caller, ctx.number)
            raise
        if answer is not None:
            await self._replayer.wait_for_event(self._caller, ctx.number)
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
