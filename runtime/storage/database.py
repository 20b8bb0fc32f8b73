"""
The one SQLite file: a writer thread that commits together whatever waits, and reads for everybody.

Survives power loss (WAL with `synchronous=FULL`): what `run` returned from, or `then(None)` was called for, is on disk.
"""

import asyncio
import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import structlog

from runtime.storage.private import make_database

log = structlog.get_logger()

Statement = tuple[str, Sequence[Any]]
"""SQL and its parameters."""
Then = Callable[[Exception | None], None]

CLOSING_SECONDS = 5.0
"""How long closing waits for the last commit before it leaves the thread behind."""
BUSY_SECONDS = 5.0
"""How long another process is waited for."""
BUSY_PAUSE_SECONDS = 0.01
LAZY_SECONDS = 0.05
"""How long something that nobody waits for may wait for a commit that it can join."""


class DatabaseClosed(Exception):
    """Something was written after the database was closed."""


class Pulse(NamedTuple):
    """How writing goes."""

    alive: bool
    """The thread that writes is there."""
    commit_seconds: float | None
    """Seconds since the last commit."""
    failure: str
    """What SQLite said when the last write failed; empty when it did not."""
    waited: float
    """Seconds that the oldest write which is not finished has waited."""


class Database:
    """One writer thread with group commit; one connection for reading, on the loop, for small look-ups."""

    def __init__(
        self, path: str | Path, *schemas: str, migrate: Callable[[sqlite3.Connection], None] | None = None
    ) -> None:
        """
        Open or make the file.

        :param schemas: scripts of `CREATE ... IF NOT EXISTS`, one a store.
        :param migrate: brings what is there to the tables that this version knows.
        """
        self._loop = asyncio.get_running_loop()
        self._writing = connect(path)
        try:
            if migrate is not None:
                migrate(self._writing)
            for schema in schemas:
                self._writing.executescript(schema)
            self._reading = connect(path)
            self._reading.text_factory = _text
        except BaseException:
            self._writing.close()
            raise
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
                raise DatabaseClosed("the database is closed")
            self._oldest = self._oldest or time.monotonic()
            self._waiting.append((statements, then))
            if not lazily:
                self._arrived.notify()
        if lazily and not self._reminded:
            self._reminded = True
            self._loop.call_later(LAZY_SECONDS, self._remind)

    async def run(self, *statements: Statement) -> None:
        """Return when the statements are durable, all or none; raise what SQLite raised otherwise."""
        done: asyncio.Future[None] = self._loop.create_future()

        def settle(error: Exception | None) -> None:
            if done.done():
                return
            if error is None:
                done.set_result(None)
            else:
                done.set_exception(error)

        self.write(statements, settle)
        await done

    def read(self, sql: str, parameters: Sequence[Any] = ()) -> list[Any]:
        """All rows of a small query. It runs on the loop: for look-ups by key, not for scans."""
        return self._reading.execute(sql, parameters).fetchall()

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
        self._reading.close()
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
                outcomes = [(then, error) for _, then in batch]
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
                return [(batch[0][1], error)]
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


def connect(path: str | Path) -> sqlite3.Connection:
    """A connection as every process has them: durable, private, and with nothing left of what is deleted."""
    connection = sqlite3.connect(
        make_database(Path(path)), isolation_level=None, check_same_thread=False, timeout=BUSY_SECONDS
    )
    try:
        connection.execute("PRAGMA auto_vacuum=INCREMENTAL")  # of a new file; an older one gets it with its next VACUUM
        connection.execute("PRAGMA secure_delete=ON")  # what was deleted is not to be found in the file
        _use_wal(connection)
        connection.execute("PRAGMA synchronous=FULL")
    except BaseException:
        connection.close()
        raise
    return connection


def _use_wal(connection: sqlite3.Connection) -> None:
    """SQLite waits for nobody while it changes this mode, which two processes may do at once to a new file."""
    until = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
            time.sleep(BUSY_PAUSE_SECONDS)
        else:
            return


def _text(stored: bytes) -> str:
    """A text that is none any more hides no others: without this, one such row makes a whole query fail."""
    return stored.decode("utf-8", "replace")


def _tell(outcomes: list[tuple[Then, Exception | None]]) -> None:
    for then, error in outcomes:
        try:
            then(error)
        except Exception as failure:  # the others wait for their answers
            log.warning("database.unheard", error=repr(failure))
