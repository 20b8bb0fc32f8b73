"""
Ends that were told before they could be recorded: the disk was full, or hung.

Each is the only end of its run from then on. It is tried until the database takes it, and meanwhile noted in the file
of its process, in room that was made before the run was accepted: so that whoever comes after a crash knows of it.
"""

import asyncio
import contextlib
import os
import struct
import zlib
from collections.abc import Callable, Iterator
from functools import partial

import msgspec
import structlog

from actors.workflow.outcome import Outcome
from actors.workflow.run_end import RunEnd
from runtime.storage.background import Background, Then, wait_until

log = structlog.get_logger()

FIRST_PAUSE_SECONDS = 0.1
LONGEST_PAUSE_SECONDS = 5.0
"""Between two tries to record; doubled from the first to the longest."""
SLOT_BYTES = 256
"""Of one end: within a page, so that it is written whole or not at all, even if the process is killed."""
CHUNK_SLOTS = 256
CLOSING_SECONDS = 1.0
"""How long a note that hangs is waited for when the process ends."""
_HEAD = struct.Struct(">HI")
"""Length and checksum of what follows."""


class PendingEnd(msgspec.Struct, frozen=True, array_like=True):
    """An end that was told, as it is noted: with the events that the database has, it is the whole outcome."""

    run: str
    events: int
    """On so many of them it rests."""
    at: float
    """Seconds since 1970."""
    ending: RunEnd


class Slots:
    """Fixed places in an open file. Their blocks are there before they are needed: a full disk keeps none from use."""

    def __init__(self, file: int) -> None:
        self._file = file
        self.count = 0

    def grow(self, count: int) -> None:
        """
        Have room for so many.

        :raises OSError: the disk is full.
        """
        while self.count < count:
            size, start = CHUNK_SLOTS * SLOT_BYTES, _place(self.count)
            done = 0
            while done < size:
                done += os.pwrite(self._file, bytes(size - done), start + done)
            self.count += CHUNK_SLOTS

    def put(self, slot: int, payload: bytes) -> None:
        if _HEAD.size + len(payload) > SLOT_BYTES:
            raise ValueError(f"{len(payload)} bytes are too many for a slot")
        os.pwrite(self._file, _HEAD.pack(len(payload), zlib.crc32(payload)) + payload, _place(slot))

    def clear(self, slot: int) -> None:
        os.pwrite(self._file, bytes(_HEAD.size), _place(slot))


def _place(slot: int) -> int:
    """Where a slot begins: behind the `WorkMark`, which earlier versions of this program did not write."""
    return (1 + slot) * SLOT_BYTES


def read_pending(file: int) -> Iterator[PendingEnd]:
    """What stands in the slots of an open file; one that is damaged is passed over."""
    at = 0  # where an earlier version had its first slot
    while slot := os.pread(file, SLOT_BYTES, at):
        at += SLOT_BYTES
        if len(slot) <= _HEAD.size:
            continue
        length, checksum = _HEAD.unpack_from(slot)
        payload = slot[_HEAD.size : _HEAD.size + length]
        if length and zlib.crc32(payload) == checksum:
            with contextlib.suppress(msgspec.MsgspecError):
                yield msgspec.msgpack.decode(payload, type=PendingEnd)


class _Pending(msgspec.Struct, eq=False):
    told: PendingEnd
    outcome: Outcome
    write: Callable[[Then], None]
    then: Callable[[], None]
    slot: int | None = None
    writing: bool = False


class PendingEnds:
    """Those of this process."""

    def __init__(self, slots: Slots | None = None) -> None:
        """:param slots: without them, nobody hears of what is pending when this process dies."""
        self._slots = slots
        self._free: list[int] = []
        self._known = 0
        """Slots that are free or in use."""
        self._pending: dict[str, _Pending] = {}
        self._aside = Background("ends")
        self._retry: asyncio.TimerHandle | None = None
        self._pause = FIRST_PAUSE_SECONDS
        self._none = asyncio.Event()
        self._none.set()
        self.when_recorded: Callable[[str], None] = lambda _: None
        """Is told of a run whose end is in the database at last."""

    def __len__(self) -> int:
        return len(self._pending)

    def __contains__(self, run: str) -> bool:
        return run in self._pending

    def __iter__(self) -> Iterator[str]:
        return iter(self._pending)

    def by_run(self) -> dict[str, tuple[PendingEnd, Outcome]]:
        """As they are now; whoever reads runs looks before, for an end may be recorded while they are read."""
        return {run: (each.told, each.outcome) for run, each in self._pending.items()}

    def find(self, run: str) -> tuple[PendingEnd, Outcome] | None:
        pending = self._pending.get(run)
        return (pending.told, pending.outcome) if pending else None

    async def reserve(self, count: int) -> None:
        """
        Have room to note the ends of so many runs at once.

        :raises OSError: the disk is full: no run may be begun whose end might be lost.
        """
        slots = self._slots
        if slots is None or slots.count >= count:
            return

        def grow(then: Then) -> None:
            def take(error: Exception | None) -> None:  # whether anybody still waits for it or not
                if error is None:
                    self._free += range(self._known, slots.count)
                    self._known = slots.count
                then(error)

            self._aside.call(partial(slots.grow, count), take)

        await wait_until(grow)

    def keep(self, told: PendingEnd, outcome: Outcome, write: Callable[[Then], None], then: Callable[[], None]) -> None:
        """
        Try to record an end until it is; the first one of a run is the one that was told.

        :param write: tries it once.
        :param then: is called when it is recorded, or at least noted.
        """
        if told.run in self._pending:
            return
        pending = self._pending[told.run] = _Pending(told, outcome, write, then)
        self._none.clear()
        self._write(pending)
        self._note(pending)

    async def settle(self, within: float) -> bool:
        """Whether all are recorded, by now or within some seconds."""
        self._again()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._none.wait(), within)
        return not self._pending

    def close(self) -> None:
        if self._retry is not None:
            self._retry.cancel()
        self._aside.close(CLOSING_SECONDS)

    def _write(self, pending: _Pending) -> None:
        pending.writing = True
        try:
            pending.write(partial(self._take_result, pending))
        except Exception as error:
            self._take_result(pending, error)

    def _take_result(self, pending: _Pending, error: Exception | None) -> None:
        pending.writing = False
        run = pending.told.run
        if error is None:
            del self._pending[run]
            self._pause = FIRST_PAUSE_SECONDS
            self._forget(pending)
            if not self._pending:
                self._none.set()
            log.info("end.recorded_late", run=run)
            self.when_recorded(run)
            pending.then()
        elif self._retry is None:
            log.error("end.not_recorded", run=run, pending=len(self._pending), error=repr(error), again=self._pause)
            self._retry = asyncio.get_running_loop().call_later(self._pause, self._again)
            self._pause = min(2 * self._pause, LONGEST_PAUSE_SECONDS)

    def _again(self) -> None:
        if self._retry is not None:
            self._retry.cancel()
            self._retry = None
        for pending in list(self._pending.values()):
            if not pending.writing:
                self._write(pending)

    def _note(self, pending: _Pending) -> None:
        """Runs within a run need none: they end with it."""
        if self._slots is None or "." in pending.told.run or pending.told.run not in self._pending:
            return
        if not self._free:
            log.error("end.not_noted", run=pending.told.run, reason="there is no room for it")
            return
        slot = pending.slot = self._free.pop()

        def then(error: Exception | None) -> None:
            if error is None:
                pending.then()
            else:
                log.error("end.not_noted", run=pending.told.run, reason=repr(error))

        self._aside.call(partial(self._slots.put, slot, msgspec.msgpack.encode(pending.told)), then)

    def _forget(self, pending: _Pending) -> None:
        slot, slots = pending.slot, self._slots
        if slot is None or slots is None:
            return

        def then(error: Exception | None) -> None:
            if error is None:
                self._free.append(slot)

        self._aside.call(partial(slots.clear, slot), then)
