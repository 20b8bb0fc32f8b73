"""A connection to the database file, and SQLite's errors as those of storage."""

import contextlib
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

from runtime.storage.errors import Conflict, StorageError
from runtime.storage.private import make_database

BUSY_SECONDS = 5.0
"""How long another process is waited for."""
BUSY_PAUSE_SECONDS = 0.01
UNREADABLE = (sqlite3.Error, UnicodeDecodeError)
"""What a damaged file leads to: SQLite quotes its schema in messages, which need not be text any more."""


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


def translate(error: Exception) -> Exception:
    """An error of SQLite as one of storage; any other as it is."""
    if not isinstance(error, UNREADABLE):
        return error
    what = "database disk image is malformed" if isinstance(error, UnicodeDecodeError) else str(error)
    said: StorageError = (Conflict if isinstance(error, sqlite3.IntegrityError) else StorageError)(what)
    said.__cause__ = error
    return said


@contextlib.contextmanager
def translating() -> Iterator[None]:
    """:raises StorageError: where SQLite raises an error of its own."""
    try:
        yield
    except UNREADABLE as error:
        raise translate(error) from error
