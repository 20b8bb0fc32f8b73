"""A port through which whoever records hears what goes to the world and comes from it; one wrapper for all ports."""

from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from typing import Any, NamedTuple, Protocol, TypeVar, cast

from actors.ports import Cases, Fetch, Knowledge, Memory, Reading, Search, Statutes, Tickets
from bus import Actor, Cast, Clock, Context
from runtime.replay.port_call import PortMethod, find_method

T = TypeVar("T")


class Tape(Protocol):
    """What stands between a run and the world: it notes what is asked and answered, or answers by what was noted."""

    async def ask(self, turn: "Turn", method: PortMethod, real: Any, arguments: tuple[Any, ...], named: Any) -> Any:
        """The answer of a port."""

    def look(self, turn: "Turn", method: PortMethod, real: Any, arguments: tuple[Any, ...]) -> Any:
        """What a port says without being awaited, such as the names of the sources."""

    async def start(self, run: str) -> None:
        """A run begins now, or one within it."""

    def seat(self, turn: "Turn", actor: Actor[Any]) -> Actor[Any]:
        """Who plays a role, so that what it asks is known for its."""

    def clock(self, run: str) -> Clock | None:
        """By which a run goes; None: that of the loop."""


class Turn(NamedTuple):
    """Who asks, and who hears of it."""

    tape: Tape
    run: str
    agent: str
    number: int = 0
    """Of the handoff, where a replay needs it."""


TURN: ContextVar[Turn | None] = ContextVar("turn", default=None)
"""Of the agent that is at work. Within a call of a port it is nobody's: what one asks of another is its own."""


class RecordedPort:
    """Any protocol of `actors.ports`, over the real thing."""

    __slots__ = ("_protocol", "_real")

    def __init__(self, real: Any, protocol: Any) -> None:
        self._real = real
        self._protocol = protocol

    def __getattr__(self, name: str) -> Any:
        turn = TURN.get()
        if turn is None:
            return getattr(self._real, name)
        method = find_method(self._protocol, name)
        if not method.called:
            return turn.tape.look(turn, method, lambda: getattr(self._real, name), ())
        real = None if self._real is None else getattr(self._real, name)
        if method.awaited:
            return lambda *arguments, **named: turn.tape.ask(turn, method, real, arguments, named)
        return lambda *arguments: turn.tape.look(turn, method, real, arguments)


def record_port(real: T, protocol: object) -> T:
    """A port whose calls are recorded where somebody does so; a port is never wrapped twice."""
    return real if isinstance(real, RecordedPort) else cast("T", RecordedPort(real, protocol))


FAMILY_PORTS: dict[str, object] = {"search": Search, "fetch": Fetch, "reading": Reading}
"""Those that a family makes for each run, by the names of their fields."""


def record_ports(ports: T) -> T:
    """The ports of a family for one run, each of which is recorded."""
    if not isinstance(ports, tuple) or not hasattr(ports, "_replace"):
        return ports
    known = {
        name: record_port(getattr(ports, name), FAMILY_PORTS[name]) for name in FAMILY_PORTS if hasattr(ports, name)
    }
    return cast("T", ports._replace(**known))


SHARED_PORTS: dict[str, object] = {
    "knowledge": Knowledge, "memory": Memory, "tickets": Tickets, "statutes": Statutes, "cases": Cases,
}  # fmt: skip


class RecordedWorld:
    """`runtime.families.family.SharedPorts` over those of a process, each of which is recorded."""

    def __init__(self, shared: Any) -> None:
        self._shared = shared

    def __getattr__(self, name: str) -> Any:
        real = getattr(self._shared, name)
        return record_port(real, SHARED_PORTS[name]) if name in SHARED_PORTS else real


class RecordedActor(Actor[Any]):
    """An actor as it is; what it asks is known for its."""

    __slots__ = ("_actor", "_turn")

    def __init__(self, actor: Actor[Any], turn: Turn) -> None:
        self._actor = actor
        self._turn = turn

    def receive(self, message: Any, ctx: Context) -> Any:
        TURN.set(self._turn)  # a task that begins with this keeps it
        return self._actor.receive(message, ctx)


class RecordedCast(Mapping[str, Callable[[], Actor[Any]]]):
    """Who plays which role in a run, each of them known by name to a tape."""

    __slots__ = ("_cast", "_run", "_tape")

    def __init__(self, cast: Cast, tape: Tape, run: str) -> None:
        self._cast = cast
        self._tape = tape
        self._run = run

    def __getitem__(self, role: str) -> Callable[[], Actor[Any]]:
        make = self._cast[role]

        def seat() -> Actor[Any]:
            TURN.set(turn := Turn(self._tape, self._run, role))  # what an actor asks while it is made is its own, too
            return self._tape.seat(turn, make())

        return seat

    def __contains__(self, role: object) -> bool:
        return role in self._cast

    def __iter__(self) -> Iterator[str]:
        return iter(self._cast)

    def __len__(self) -> int:
        return len(self._cast)
