"""Whether a process can keep its word: that what it accepts is written down, and that what is open is worked on."""

import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import structlog

from runtime.program import command
from runtime.storage.errors import StorageError
from runtime.storage.records import Pulse

if TYPE_CHECKING:
    from runtime.engine.node import Node

log = structlog.get_logger()

STUCK_SECONDS = 10.0
"""A write that waits longer than this will hardly be written at all."""
KEPT_SECONDS = 1.0
"""How long what was seen is told again: whoever asks a hundred times a second costs no more."""


class Condition(NamedTuple):
    """What was seen."""

    why: str
    """One sentence: why nothing should be sent here; empty when all is well."""
    unattended: int | None
    """Runs without an end that nobody works on; nothing where the database cannot be read."""
    commit_seconds: float | None
    """Seconds since the last commit; nothing before the first."""
    write_failed: bool
    """The last write came to nothing."""
    free_megabytes: int | None


class Looks:
    """One a process, on its node, made while the database file is the one that was opened."""

    def __init__(self, node: "Node", file: Path, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._node, self._file, self._clock = node, file, clock
        self._identity = identity(file)
        self._seen: tuple[float, Condition] | None = None

    async def now(self) -> Condition:
        """How it stands, as seen a second ago at most."""
        if self._seen is None or self._clock() - self._seen[0] >= KEPT_SECONDS:
            before = self._seen[1].why if self._seen else ""
            self._seen = self._clock(), await self._look()
            if self._seen[1].why != before:
                log.warning("condition.changed", why=self._seen[1].why or "all is well again")
        return self._seen[1]

    async def _look(self) -> Condition:
        store = self._node.journal.store
        pulse, free = store.pulse(), free_megabytes(self._file.parent)
        if pulse.failure and not pulse.waited:
            store.try_to_write()  # where nobody sends anything any more, nobody else finds out
        unattended = await self._count_unattended()
        why = self._why(pulse, free, readable=unattended is not None)  # as it was before that try
        return Condition(why, unattended, pulse.commit_seconds, bool(pulse.failure), free)

    def loses(self) -> str:
        """Why what is written now is nowhere after a restart; empty when it is kept."""
        there = identity(self._file)
        if there is None:
            return "The database file is gone: stop the server, restore the file, and start it again."
        if there != self._identity:
            return "The database file is another one than was opened: start the server again."
        return ""

    def _why(self, pulse: Pulse, free: int | None, *, readable: bool) -> str:
        floor = self._node.settings.server.free_megabytes
        if why := self.loses():
            return why
        if not pulse.alive:
            return "Nothing is written to the database any more: start the server again; its log says more."
        if pulse.waited > STUCK_SECONDS:
            return f"A write to the database has waited for {pulse.waited:.0f} s: look at the disk."
        if pulse.failure:
            return f"The last write to the database failed ({pulse.failure}): look at the disk."
        if not readable:
            return f"The database cannot be read: look at the disk; {command('doctor')} says more."
        if free is not None and free < floor:
            return f"The disk has {free} MB left, under the {floor} of [server] free_megabytes: make room."
        return ""

    async def _count_unattended(self) -> int | None:
        node = self._node
        try:
            runs = await node.journal.store.open_runs()
            gone = sum(count for owner, count in runs.items() if not node.owner.is_alive(owner))
        except (StorageError, OSError, ValueError) as error:
            log.warning("condition.unread", error=repr(error))
            return None
        return gone + max(0, runs.get(node.owner.token, 0) - node.live)


def identity(file: Path) -> tuple[int, int] | None:
    """Which file stands there, whatever its name; nothing when there is none."""
    try:
        about = file.stat()
    except OSError:
        return None
    return about.st_dev, about.st_ino


def free_megabytes(folder: Path) -> int | None:
    """What the disk of a folder can take; nothing when it does not say."""
    try:
        return shutil.disk_usage(folder).free // 1_000_000
    except OSError:
        return None
