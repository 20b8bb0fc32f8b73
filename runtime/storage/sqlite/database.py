"""
The one SQLite file: a thread that commits together whatever waits, and threads that read.

Survives power loss (WAL with `synchronous=FULL`): what `run` returned from, or `then(None)` was called for, is on disk.
"""

import asyncio
import queue
import sqlite3
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import structlog

from runtime.storage.background import Background, Then, wait_until
from runtime.storage.errors import StorageClosed
from runtime.storage.records import Pulse
from runtime.storage.sqlite.connection import connect, translate, translating

log = structlog.get_logger()

Statement = tuple[str, Sequence[Any]]
"""SQL and its parameters."""
T = TypeVar("T")

CLOSING_SECONDS = 5.0
"""How long closing waits for the last commit before it leaves the thread behind."""
READERS = 2
"""One goes on with short look-ups while the other is at a long list."""
SWITCH_SECONDS = 0.0002
"""
How long a busy loop may keep the interpreter from the writer, which needs it anew for each row. With Python's 5 ms, the
ends of 2,000 tickets that came at one moment took longer than a run waits for its end to be recorded.
"""
LAZY_SECONDS = 0.05
"""How long something that nobody waits for may wait for a commit that it can join."""


class Database:
    """One writer thread with group commit, and readers beside it that keep the loop free."""

    def __init__(
        self, path: str | Path, *schemas: str, migrate: Callable[[sqlite3.Connection], None] | None = None
    ) -> None:
        """
        Open or make the file.

        :param schemas: scripts of `CREATE ... IF NOT EXISTS`, one a store.
        :param migrate: brings what is there to the tables that this version knows.
        """
        self._loop = asyncio.get_running_loop()
        sys.setswitchinterval(min(sys.getswitchinterval(), SWITCH_SECONDS))
        with translating():
            self._writing = connect(path)
            try:
                if migrate is not None:
                    migrate(self._writing)
                for schema in schemas:
                    self._writing.executescript(schema)
                self._readers = [_reader(path) for _ in range(READERS)]
            except BaseException:
                self._writing.close()
                raise
        self._idle: queue.SimpleQueue[sqlite3.Connection] = queue.SimpleQueue()
        for reader in self._readers:
            self._idle.put(reader)
        self._reading = Background("database reads", READERS)
        self._waiting: list[tuple[Sequence[Statement], Then]] = []
        self._arrived = threading.Condition()
        self._closing = False
        self._reminded = False
        self.commits = 0
        self._committed: float | None = None
        self._failure = ""
        self._oldest: float | None = None
        """Since when something has waited; nothing when nothing does."""
        self._oldest_in_work: float | None = None
        self._writer = threading.Thread(target=self._write, name="database", daemon=True)
        self._writer.start()

    def write(self, statements: Sequence[Statement], then: Then, *, lazily: bool = False) -> None:
        """
        Make statements durable, all or none, in the order of the calls; then say on the loop how it went.

        :param lazily: nobody waits for it: it takes part in the next commit, or has its own in a moment
        """
        with self._arrived:
            if self._closing:
                raise StorageClosed("the database is closed")
            self._oldest = self._oldest or time.monotonic()
            self._waiting.append((statements, then))
            if not lazily:
                self._arrived.notify()
        if lazily and not self._reminded:
            self._reminded = True
            self._loop.call_later(LAZY_SECONDS, self._remind)

    async def run(self, *statements: Statement) -> None:
        """Return when the statements are durable, all or none; raise what the writer said otherwise."""
        await wait_until(lambda then: self.write(statements, then))

    async def read(self, look: Callable[[sqlite3.Connection], T]) -> T:
        """
        What a function reads, which is called in another thread: the loop never waits for the disk.

        :raises StorageError: it cannot be read.
        """
        if self._closing:
            raise StorageClosed("the database is closed")
        return await self._reading.run(lambda: self.read_now(look))

    def read_now(self, look: Callable[[sqlite3.Connection], T]) -> T:
        """The same, blocking: while a process starts."""
        with translating():
            connection = self._idle.get()
            try:
                return look(connection)
            finally:
                self._idle.put(connection)

    def rows(self, sql: str, parameters: Sequence[Any] = ()) -> list[Any]:
        """All rows of a query, blocking: for tests and measuring."""
        return self.read_now(lambda db: db.execute(sql, parameters).fetchall())

    @property
    def waiting(self) -> int:
        """Writes that wait for the next commit."""
        return len(self._waiting)

    def pulse(self) -> Pulse:
        """How writing goes at the moment."""
        now, since = time.monotonic(), self._oldest_in_work or self._oldest
        committed = None if self._committed is None else now - self._committed
        return Pulse(self._writer.is_alive(), committed, self._failure, 0.0 if since is None else now - since)

    def close(self) -> None:
        """Commit what waits and end the thread, within a bound."""
        with self._arrived:
            self._closing = True
            self._arrived.notify()
        self._writer.join(CLOSING_SECONDS)
        if self._reading.close(CLOSING_SECONDS):
            for reader in self._readers:
                reader.close()
        if not self._writer.is_alive():
            self._writing.close()

    def _remind(self) -> None:
        self._reminded = False
        with self._arrived:
            self._arrived.notify()

    def _write(self) -> None:
        while batch := self._next():
            try:
                outcomes = self._commit(batch)
            except Exception as error:  # a thread that died silently would hang every run
                outcomes = [(then, translate(error)) for _, then in batch]
            self._oldest_in_work = None
            try:
                self._loop.call_soon_threadsafe(_tell, outcomes)
            except RuntimeError:
                return  # the loop is closed, nobody listens any more

    def _commit(self, batch: list[tuple[Sequence[Statement], Then]]) -> list[tuple[Then, Exception | None]]:
        """Commit a batch; when it fails as a whole, each alone, so that one bad statement harms only its own."""
        try:
            self._together([statement for statements, _ in batch for statement in statements])
        except Exception as error:  # not only SQLite's: a text may not be encodable, a number too large
            if len(batch) == 1:
                if isinstance(error, sqlite3.OperationalError):  # the disk's fault, not the statement's
                    self._failure = str(error)
                return [(batch[0][1], translate(error))]
            return [outcome for item in batch for outcome in self._commit([item])]
        return [(then, None) for _, then in batch]

    def _together(self, statements: Sequence[Statement]) -> None:
        execute = self._writing.execute
        try:
            execute("BEGIN IMMEDIATE")
            for sql, parameters in statements:
                execute(sql, parameters)
            execute("COMMIT")
        except Exception:
            if self._writing.in_transaction:  # a full disk has rolled back already
                execute("ROLLBACK")
            raise
        self.commits += 1
        self._committed, self._failure = time.monotonic(), ""

    def _next(self) -> list[tuple[Sequence[Statement], Then]]:
        """All that waits; empty only when the database closes."""
        with self._arrived:
            self._arrived.wait_for(lambda: self._waiting or self._closing)
            batch, self._waiting = self._waiting, []
            self._oldest_in_work, self._oldest = self._oldest, None
        return batch


def _reader(path: str | Path) -> sqlite3.Connection:
    reader = connect(path)
    reader.text_factory = _text
    return reader


def _text(stored: bytes) -> str:
    """A text that is none any more hides no others: without this, one such row makes a whole query fail."""
    return stored.decode("utf-8", "replace")


def _tell(outcomes: list[tuple[Then, Exception | None]]) -> None:
    for then, error in outcomes:
        try:
            then(error)
        except Exception as failure:  # the others wait for their answers
            log.warning("database.unheard", error=repr(failure))
