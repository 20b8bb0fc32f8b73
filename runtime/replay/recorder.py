"""
Records what a run gets from outside: into the database with its end, in the same transaction.

One row costs a third of what a row an event does. A run that another process goes on with has no recording.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
import structlog

from actors.workflow.outcome import Outcome
from bus import Actor, Clock
from runtime.replay.port_call import FILL, PortCall, PortMethod, encode, note_failure
from runtime.replay.recorded_port import CALLER, Caller, RecordedActor
from runtime.replay.shared_parts import take_out
from runtime.storage.port import RecordingStore
from runtime.tracing.run_trace import find_outermost

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
