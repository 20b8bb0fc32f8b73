"""
Records what a run gets from outside: into the database with its end, in the same transaction.

A port is wrapped once, and whoever records hears what goes out and what comes back; passages that
many answers have are kept once. A run that another process goes on with has no recording.
"""

import asyncio
import collections.abc
import dataclasses
import functools
import inspect
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from hashlib import blake2b
from types import FunctionType
from typing import Any, NamedTuple, Protocol, TypeVar, cast

import msgspec
import structlog

from actors.documents.template import Document
from actors.evidence.passages import TICKET_SOURCE, Passage, SearchHits
from actors.ports import (
    BudgetSpent,
    Cases,
    Completion,
    Documents,
    Knowledge,
    Memory,
    ModelFailed,
    ModelRequest,
    PortFailed,
    Statutes,
    Tickets,
)
from actors.workflow.outcome import Outcome
from bus import Actor, Cast, Clock, Context
from runtime.observe.run_trace import find_outermost
from runtime.storage.port import RecordingStore
from runtime.tools.tool import InvalidArguments, Tool, ToolContext, ToolResult

DIGEST_BYTES = 12
ABOUT_CHARACTERS = 120
TIMELESS = frozenset({"within"})
"""Arguments that say how long there is, which no two runs agree on."""
FAILURES = {each.__name__: each for each in (PortFailed, ModelFailed, BudgetSpent, InvalidArguments)}
FILL = "Model.fill"
"""What a model calls while it thinks is recorded, too: another model may call the same."""


class PortCall(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A call, from the question to the answer. Times are seconds since the outermost run began."""

    run: str
    agent: str
    """Who asked; empty: nobody in particular, such as for the names of the sources."""
    order: int
    """The how-manieth call of the outermost run and all within it."""
    name: str
    """Of the port and its method, such as `Knowledge.search`."""
    digest: bytes
    """Of what was asked."""
    about: str
    """The beginning of that, for people."""
    begin: float
    end: float | None
    """None: there was no answer when the run ended."""
    answer: bytes = b""
    failure: tuple[str, str] | None = None
    """What was raised: the name of its class, and what it said."""
    heard: tuple[tuple[float, str, bytes], ...] = ()
    """What came before the answer: when, to which argument it was told, and what."""
    digests: tuple[bytes, ...] = ()
    """Of the passages that stand in the answer: see `shared_parts`."""
    omitted: bool = False
    """There was no room for the answer."""


class PortMethod(NamedTuple):
    """A method of a port, by its protocol."""

    name: str
    awaited: bool
    called: bool
    """False: a property."""
    result: Any
    listeners: Mapping[str, Any]
    """Arguments that are told what comes before the answer, with the type of that."""

    def bind(self, arguments: Sequence[Any], named: Mapping[str, Any]) -> "Question":
        """What is asked with these arguments."""
        known = (each for each in arguments if not callable(each) or isinstance(each, type))
        more = {key: named[key] for key in sorted(named) if key not in TIMELESS and key not in self.listeners}
        asked = [each.__name__ if isinstance(each, type) else each for each in known]
        try:
            return Question(digest(self.name, asked, more), clean(describe(asked)))
        except Exception:  # whatever cannot be written, such as half of a character: it is asked all the same
            return Question(b"", "")

    def encode(self, value: Any) -> bytes:
        """An answer, to be recorded."""
        return _encode([(type(each).__name__, each) for each in value] if _is_mixed(self.result) else value)

    def decode(self, body: bytes, arguments: Sequence[Any]) -> Any:
        """An answer as it was; of a model in the shape that these arguments ask for."""
        if self.result is Completion:
            completion = msgspec.msgpack.decode(body, type=Completion)
            return msgspec.structs.replace(
                completion,
                value=msgspec.convert(completion.value, arguments[0]),
                document=msgspec.msgpack.decode(body, type=_Made).document,
            )
        return decode(body, self.result)


class _Made(msgspec.Struct, frozen=True, gc=False):
    """Of a `Completion` what its port knows no type of."""

    document: Document | None = None


class Question(NamedTuple):
    """What was asked of a port."""

    digest: bytes
    about: str


def _encode_foreign(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    return None if callable(value) else repr(value)


_encode = msgspec.msgpack.Encoder(enc_hook=_encode_foreign).encode
_encode_in_order = msgspec.msgpack.Encoder(enc_hook=_encode_foreign, order="deterministic").encode
encode = _encode


def digest(*asked: Any) -> bytes:
    """Equal for equal questions, in every process."""
    return blake2b(_encode_in_order(asked), digest_size=DIGEST_BYTES).digest()


def describe(asked: Sequence[Any]) -> str:
    """The beginning of a question, for people."""
    said = next((each for each in asked if isinstance(each, ModelRequest)), None)
    words = [f"{said.agent}: {asked[0]}"] if said else [_say(each) for each in asked]
    return " ".join(" ".join(words).split())[:ABOUT_CHARACTERS]


def clean(text: str) -> str:
    """A text that can be written: halves of characters are question marks."""
    return text.encode("utf-8", "replace").decode()


def _say(value: Any) -> str:
    if isinstance(value, str):
        return value
    return msgspec.json.encode(value).decode() if isinstance(value, msgspec.Struct) else ""


def _is_mixed(hint: Any) -> bool:
    """Whether these are several things of types that their fields do not tell apart."""
    arguments = typing.get_args(hint)
    return typing.get_origin(hint) is tuple and len(arguments) == 2 and isinstance(arguments[0], types.UnionType)


def decode(body: bytes, hint: Any) -> Any:
    """What `PortMethod.encode` made of a value of this type."""
    if not _is_mixed(hint):
        return msgspec.msgpack.decode(body, type=hint)
    known = {each.__name__: each for each in typing.get_args(typing.get_args(hint)[0])}
    parts = msgspec.msgpack.decode(body, type=list[tuple[str, msgspec.Raw]])
    return tuple(msgspec.msgpack.decode(part, type=known[name]) for name, part in parts)


@functools.cache
def find_method(protocol: Any, name: str) -> PortMethod:
    """
    A method or property of a port.

    :raises AttributeError: the protocol has none of this name.
    """
    found = inspect.getattr_static(protocol, name)
    function = found.fget if isinstance(found, property) else found
    hints = typing.get_type_hints(function)
    listeners = {
        key: typing.get_args(hint)[0][0]
        for key, hint in hints.items()
        if typing.get_origin(hint) is collections.abc.Callable
    }
    return PortMethod(
        f"{protocol.__name__}.{name}", inspect.iscoroutinefunction(function), not isinstance(found, property),
        hints.get("return", Any), listeners,
    )  # fmt: skip


def note_failure(error: Exception) -> tuple[str, str]:
    """What was raised, as it is recorded: agents know no other classes than those of the ports."""
    known = next((each.__name__ for each in type(error).__mro__ if each.__name__ in FAILURES), "")
    return known or type(error).__name__, clean(str(error))


def make_failure(noted: tuple[str, str]) -> Exception:
    """The same once more."""
    name, said = noted
    return FAILURES.get(name, RuntimeError)(said)


T = TypeVar("T")
STANDS_FOR = "\0part"
"""The source of a passage that only stands for another one, which has its id for a digest."""
HOLDERS: Mapping[type, tuple[str, ...]] = {
    SearchHits: ("passages",), Completion: ("passages",), ToolResult: ("passages",),
}  # fmt: skip
"""In which fields of an answer passages stand."""

_encode_part = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Passage).decode


def take_out(answer: T, parts: dict[bytes, bytes]) -> T:
    """
    An answer with what stands for its passages; they are added to `parts`, encoded, by their digests.

    A passage of the ticket itself is left where it is: a part outlives the ticket.
    """

    def take(passage: Passage) -> Passage:
        if passage.source == TICKET_SOURCE:
            return passage
        body = _encode_part(msgspec.structs.replace(passage, score=0.0))
        digest = blake2b(body, digest_size=DIGEST_BYTES).digest()
        parts[digest] = body
        return Passage(digest.hex(), STANDS_FOR, "", "", "", 0, 0, score=passage.score)

    hollow: T = _walk(answer, take)
    return hollow


def put_in(answer: T, parts: Mapping[bytes, bytes]) -> T:
    """
    The answer as it was.

    :raises KeyError: a part of it is not there any more.
    """

    def put(passage: Passage) -> Passage:
        if passage.source != STANDS_FOR:
            return passage
        found = _decode(parts[bytes.fromhex(passage.id)])
        return msgspec.structs.replace(found, score=passage.score)

    whole: T = _walk(answer, put)
    return whole


def _walk(value: Any, change: Callable[[Passage], Passage]) -> Any:
    kind = type(value)
    if kind is Passage:
        return change(value)
    if kind is tuple:
        return tuple([_walk(each, change) for each in value])
    fields = HOLDERS.get(kind, ())
    changed = {name: _walk(held, change) for name in fields if (held := getattr(value, name))}
    return msgspec.structs.replace(value, **changed) if changed else value


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


def record_tool(tool: Tool) -> Tool:
    """The same tool; what is asked of it are its arguments, and neither whose call it is nor how long it may take."""
    method = PortMethod(f"Tool.{tool.name}", awaited=True, called=True, result=ToolResult, listeners={})

    async def call(given: Any, own: ToolContext, within: float) -> ToolResult:
        if (caller := CALLER.get()) is None:
            return await tool.call(given, own, within)
        result: ToolResult = await caller.interceptor.ask(
            caller, method, lambda it: tool.call(it, own, within), (given,), {}
        )
        return result

    return tool._replace(call=call)


MEGABYTES = 4
"""What is kept of the answers to one run, those within it included."""
MEGABYTES_TOGETHER = 256
"""What is kept in memory of the answers to all runs that go on in a process."""
CALL_BYTES = 200
"""What a call takes without what was answered."""
SPARE_BYTES = 1 << 20
"""For calls whose answers found no room; of more than that nothing is noted."""
BEGAN = "run.begin"
"""Not a call: when a run within a run began."""

Heard = tuple[float, str, bytes]
"""Of what came before an answer: when, to which argument it was told, and what."""

log = structlog.get_logger()


class Room:
    """What the recordings of several runs may still take together, in bytes."""

    __slots__ = ("left",)

    def __init__(self, size: int) -> None:
        self.left = size


class Recorder:
    """`recorded_port.Interceptor` of an outermost run that goes on."""

    __slots__ = ("_asked", "_done", "_left", "_loop", "_open", "_room", "_started", "parts")

    def __init__(self, room: Room | None = None) -> None:
        """:param room: shared with other runs."""
        self._loop = asyncio.get_running_loop()
        self._started = self._loop.time()
        self._asked = 0
        self._left = MEGABYTES << 20
        self._room = room or Room(self._left)
        self._done: list[PortCall] = []
        self._open: dict[int, PortCall] = {}
        """Calls that were not answered yet."""
        self.parts: dict[bytes, bytes] = {}
        """Passages of the answers, by their digests."""

    def now(self) -> float:
        """Seconds since the outermost run began."""
        return round(self._loop.time() - self._started, 6)

    async def start(self, run: str) -> None:
        """As `Interceptor.start`."""
        if run == find_outermost(run):
            self._started = self._loop.time()
        else:
            self._begin(run, "", BEGAN, b"", "")

    def wrap_actor(self, caller: Caller, actor: Actor[Any]) -> Actor[Any]:
        """As `Interceptor.wrap_actor`."""
        return RecordedActor(actor, caller)

    def make_clock(self, run: str) -> Clock | None:  # noqa: ARG002 - a run that is recorded goes by the loop's
        """As `Interceptor.make_clock`."""
        return None

    def _begin(self, run: str, agent: str, name: str, digest: bytes, about: str) -> PortCall:
        self._asked += 1
        call = self._open[self._asked] = PortCall(run, agent, self._asked, name, digest, about, self.now(), None)
        return call

    def _end(
        self, call: PortCall, heard: Sequence[Heard | None] = (), *, answer: bytes | None = b"",
        parts: Mapping[bytes, bytes] | None = None, failure: tuple[str, str] | None = None,
    ) -> None:  # fmt: skip
        """:param answer: None, as in `heard`: it could not be recorded."""
        self._open.pop(call.order, None)
        whole, parts = tuple(each for each in heard if each is not None), parts or {}
        size = CALL_BYTES + len(answer or b"") + sum(len(name) + len(said) for _, name, said in whole)
        size += sum(map(len, parts.values()))
        ended = msgspec.structs.replace(call, end=self.now(), failure=failure)
        if answer is None or len(whole) < len(heard) or size > self._find_room():
            size, ended = CALL_BYTES, msgspec.structs.replace(ended, omitted=True)
        else:
            self.parts |= parts
            ended = msgspec.structs.replace(ended, answer=answer, heard=whole, digests=tuple(parts))
        if self._find_room() > -SPARE_BYTES:
            self._left -= size
            self._room.left -= size
            self._done.append(ended)

    def _find_room(self) -> int:
        """Bytes that are left; less than 0 where calls whose answers found no room take some that are spare."""
        return min(self._left, self._room.left)

    def _write(self, encode: Callable[[Any], bytes], value: Any) -> bytes | None:
        """None: no room is left, or it cannot be written; that a run is recorded must never end it."""
        if self._find_room() <= 0:
            return None
        try:
            return encode(value)
        except Exception as error:  # whatever an answer holds, such as half of a character
            log.warning("recording.not_encoded", error=type(error).__name__)  # its words may be the answer's
            return None

    async def ask(self, caller: Caller, method: PortMethod, real: Any, arguments: tuple[Any, ...], named: Any) -> Any:
        """As `Interceptor.ask`."""
        call = self._begin(caller.run, caller.agent, method.name, *method.bind(arguments, named))
        heard: list[Heard | None] = []
        for name in method.listeners.keys() & named.keys():
            named = {**named, name: self._listen(name, named[name], heard)}
        own = CALLER.set(caller if method.name == FILL else None)
        try:
            value = await real(*arguments, **named)
        except Exception as error:
            self._end(call, heard, failure=note_failure(error))
            raise
        finally:
            CALLER.reset(own)
        parts: dict[bytes, bytes] = {}
        answer = self._write(lambda whole: method.encode(take_out(whole, parts)), value)
        self._end(call, heard, answer=answer, parts=parts)
        return value

    def _listen(self, name: str, tell: Callable[[Any], None], heard: list[Heard | None]) -> Callable[[Any], None]:
        def hear(said: Any) -> None:
            body = self._write(encode, said)
            heard.append(None if body is None else (self.now(), name, body))
            tell(said)

        return hear

    def look(self, caller: Caller, method: PortMethod, real: Any, arguments: tuple[Any, ...]) -> Any:
        """As `Interceptor.look`."""
        value = real(*arguments)
        call = self._begin(caller.run, caller.agent, method.name, *method.bind(arguments, {}))
        self._end(call, answer=self._write(method.encode, value))
        return value

    def close(self) -> None:
        """It is over: nothing is recorded any more, and other runs have its room."""
        self._room.left += (MEGABYTES << 20) - self._left
        self._left, self._room = MEGABYTES << 20, Room(-SPARE_BYTES)
        self._done, self._open, self.parts = [], {}, {}

    def take(self) -> bytes:
        """All that was recorded, when the run has ended: what is not answered by now never will be."""
        calls = [*self._done, *self._open.values()]
        self._done, self._open = [], {}
        return encode(calls)


class Recorders:
    """Those of the runs that go on in this process, by the id of the outermost run."""

    def __init__(self, store: RecordingStore | None) -> None:
        """:param store: None: nothing is to be recorded."""
        self._store = store
        self._open: dict[str, Recorder] = {}
        self._room = Room(MEGABYTES_TOGETHER << 20)

    def begin(self, run: str) -> Recorder | None:
        """That of a run which begins; None: nothing is to be recorded."""
        if self._store is None:
            return None
        recorder = self._open[run] = Recorder(self._room)
        return recorder

    def end(self, run: str) -> None:
        """The run is over."""
        if (recorder := self._open.pop(run, None)) is not None:
            recorder.close()

    def finish(self, outcome: Outcome) -> tuple[()]:
        """A run is about to end: what was recorded goes with the same commit, and nothing else does."""
        recorder = self._open.get(outcome.run)
        if recorder is not None and self._store is not None:
            self._store.keep(outcome.run, recorder.take(), recorder.parts)
        self.end(outcome.run)
        return ()
