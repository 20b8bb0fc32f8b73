"""A port through which whoever records hears what goes to the world and comes from it; one wrapper for all ports."""

import dataclasses
import inspect
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextvars import ContextVar
from types import FunctionType
from typing import Any, NamedTuple, Protocol, TypeVar, cast

import msgspec

from actors.ports import Cases, Documents, Knowledge, Memory, Statutes, Tickets
from bus import Actor, Cast, Clock, Context
from runtime.replay.port_call import PortMethod, find_method

T = TypeVar("T")


class Interceptor(Protocol):
    """What stands between a run and the world: it notes what is asked and answered, or answers by what was noted."""

    async def ask(self, caller: "Caller", method: PortMethod, real: Any, arguments: tuple[Any, ...], named: Any) -> Any:
        """The answer of a port."""

    def look(self, caller: "Caller", method: PortMethod, real: Any, arguments: tuple[Any, ...]) -> Any:
        """What a port says without being awaited, such as the names of the sources."""

    async def start(self, run: str) -> None:
        """A run begins now, or one within it."""

    def wrap_actor(self, caller: "Caller", actor: Actor[Any]) -> Actor[Any]:
        """Who plays a role, so that what it asks is known for its."""

    def make_clock(self, run: str) -> Clock | None:
        """By which a run goes; None: that of the loop."""


class Caller(NamedTuple):
    """Who asks, and who hears of it."""

    interceptor: Interceptor
    run: str
    agent: str
    number: int = 0
    """Of the handoff, where a replay needs it."""


CALLER: ContextVar[Caller | None] = ContextVar("caller", default=None)
"""Of the agent that is at work. Within a call of a port it is nobody's: what one asks of another is its own."""


class RecordedPort:
    """Any protocol of `actors.ports`, or of a family's own, over the real thing."""

    __slots__ = ("_protocol", "_real")

    def __init__(self, real: Any, protocol: Any) -> None:
        self._real = real
        self._protocol = protocol

    def __getattr__(self, name: str) -> Any:
        caller = CALLER.get()
        if caller is None:
            return getattr(self._real, name)
        if not _is_protocol(self._protocol) and not _is_method(self._protocol, name):
            return getattr(self._real, name)  # what a class of the family's own keeps for itself
        method = find_method(self._protocol, name)
        if not method.called:
            return caller.interceptor.look(caller, method, lambda: getattr(self._real, name), ())
        real = None if self._real is None else getattr(self._real, name)
        if method.awaited:
            return lambda *arguments, **named: caller.interceptor.ask(caller, method, real, arguments, named)
        return lambda *arguments: caller.interceptor.look(caller, method, real, arguments)


def record_port(real: T, protocol: object) -> T:
    """A port whose calls are recorded where somebody does so; a port is never wrapped twice."""
    return real if isinstance(real, RecordedPort) else cast("T", RecordedPort(real, protocol))


def record_ports(ports: T) -> T:
    """
    The ports of a family for one run, each of which is recorded: whatever of them has a method that is awaited.

    :param ports: a port, or several in a named tuple, a struct, a dataclass or a mapping. What a field is declared as
        is the protocol of its port; of one that is declared as nothing, its class.
    """
    kept: Any = ports
    if isinstance(ports, Mapping):
        kept = {name: _record_declared(each, None) for name, each in ports.items()}
    elif isinstance(ports, tuple) and hasattr(ports, "_replace"):
        kept = kept._replace(**_record_fields(ports, kept._fields))
    elif isinstance(ports, msgspec.Struct):
        kept = msgspec.structs.replace(ports, **_record_fields(ports, ports.__struct_fields__))
    elif dataclasses.is_dataclass(ports) and not isinstance(ports, type):
        made = [each.name for each in dataclasses.fields(ports) if each.init]
        kept = dataclasses.replace(ports, **_record_fields(ports, made))
    elif ports is not None:
        kept = _record_declared(ports, None)
    return cast("T", kept)


def _record_fields(ports: Any, names: Iterable[str]) -> dict[str, Any]:
    try:
        declared = typing.get_type_hints(type(ports))
    except Exception:  # a name that only a type checker knows: each port is then recorded by its own class
        declared = {}
    return {name: _record_declared(getattr(ports, name), declared.get(name)) for name in names}


def _record_declared(port: Any, declared: Any) -> Any:
    protocol: Any = next(filter(_is_protocol, (declared, *typing.get_args(declared))), type(port))
    public = (inspect.getattr_static(protocol, name) for name in dir(protocol) if not name.startswith("_"))
    return record_port(port, protocol) if any(map(inspect.iscoroutinefunction, public)) else port


def _is_protocol(declared: Any) -> bool:
    return bool(getattr(declared, "_is_protocol", False))


def _is_method(kind: Any, name: str) -> bool:
    return isinstance(inspect.getattr_static(kind, name, None), property | FunctionType)


SHARED_PORTS: dict[str, object] = {
    "knowledge": Knowledge, "documents": Documents, "memory": Memory, "tickets": Tickets, "statutes": Statutes,
    "cases": Cases,
}  # fmt: skip


class RecordedSharedPorts:
    """`runtime.families.family.SharedPorts` over those of a process, each of which is recorded."""

    def __init__(self, shared: Any) -> None:
        self._shared = shared

    def __getattr__(self, name: str) -> Any:
        real = getattr(self._shared, name)
        return record_port(real, SHARED_PORTS[name]) if name in SHARED_PORTS else real


class RecordedActor(Actor[Any]):
    """An actor as it is; what it asks is known for its."""

    __slots__ = ("_actor", "_caller")

    def __init__(self, actor: Actor[Any], caller: Caller) -> None:
        self._actor = actor
        self._caller = caller

    def receive(self, message: Any, ctx: Context) -> Any:
        CALLER.set(self._caller)  # a task that begins with this keeps it
        return self._actor.receive(message, ctx)


class RecordedActors(Mapping[str, Callable[[], Actor[Any]]]):
    """Who plays which role in a run, each of them known by name to an interceptor."""

    __slots__ = ("_cast", "_interceptor", "_run")

    def __init__(self, cast: Cast, interceptor: Interceptor, run: str) -> None:
        self._cast = cast
        self._interceptor = interceptor
        self._run = run

    def __getitem__(self, role: str) -> Callable[[], Actor[Any]]:
        make = self._cast[role]

        def make_actor() -> Actor[Any]:
            caller = Caller(self._interceptor, self._run, role)
            CALLER.set(caller)  # what an actor asks while it is made is its own, too
            return self._interceptor.wrap_actor(caller, make())

        return make_actor

    def __contains__(self, role: object) -> bool:
        return role in self._cast

    def __iter__(self) -> Iterator[str]:
        return iter(self._cast)

    def __len__(self) -> int:
        return len(self._cast)
