"""The file of decided cases (SQLite, FTS5). Derived: reading the JSON Lines again makes it anew."""

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from actors.ports import PortFailed
from actors.text.unicode_forms import fold_forms
from runtime.program import command
from runtime.storage.private import make_database, make_storage

FILE = "cases.db"
VERSION = 1
BUSY_SECONDS = 5.0
SCHEMA = (
    "CREATE TABLE files (id INTEGER PRIMARY KEY, path TEXT UNIQUE NOT NULL, digest BLOB NOT NULL)",
    """
    CREATE TABLE cases (
      id INTEGER PRIMARY KEY, file INTEGER NOT NULL, key TEXT UNIQUE NOT NULL, content BLOB NOT NULL)
    """,
    "CREATE INDEX cases_of_file ON cases (file)",
    "CREATE VIRTUAL TABLE terms USING fts5 (heading, body, tokenize = 'ascii')",
    "CREATE VIRTUAL TABLE vocabulary USING fts5vocab (terms, row)",
    f"PRAGMA user_version = {VERSION}",
)


class CaseStoreFailed(PortFailed):
    """The cases could not be read or written."""


def make_key(number: str) -> str:
    """A court's number as it is compared: whatever the width of its brackets and digits, and without spaces."""
    return "".join(make_key_words(number))


def make_key_words(text: str) -> list[str]:
    """The same of any text, parted where there are spaces."""
    return fold_forms(text).casefold().split()


@contextlib.contextmanager
def open_for_writing(storage: Path) -> Iterator[sqlite3.Connection]:
    """
    The file in a transaction that holds wholly or not at all; it is made where there is none.

    :raises CaseStoreFailed: it cannot be used, or another process is writing.
    """
    make_storage(storage)
    path = storage / FILE
    with _explain(path), contextlib.closing(_connect(str(make_database(path)))) as db:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("BEGIN IMMEDIATE")
        if not _check_version(db, path):
            for statement in SCHEMA:
                db.execute(statement)
        yield db
        db.execute("COMMIT")


@contextlib.contextmanager
def open_for_reading(storage: Path) -> Iterator[sqlite3.Connection | None]:
    """
    The file as it is at this moment; None where no case was read yet.

    :raises CaseStoreFailed: it cannot be used.
    """
    path = storage.absolute() / FILE
    if not path.exists():
        yield None
        return
    with _explain(path), contextlib.closing(_connect(f"{path.as_uri()}?mode=ro", uri=True)) as db:
        db.execute("BEGIN")
        yield db if _check_version(db, path) else None


def _connect(name: str, *, uri: bool = False) -> sqlite3.Connection:
    return sqlite3.connect(name, uri=uri, isolation_level=None, timeout=BUSY_SECONDS)


def _check_version(db: sqlite3.Connection, path: Path) -> bool:
    """Whether the tables are there, as this version makes them."""
    found = db.execute("PRAGMA user_version").fetchone()[0]
    if found not in (0, VERSION):
        raise CaseStoreFailed(f"The cases were indexed by another version of Terminus. {_remedy(path)}")
    return bool(found)


@contextlib.contextmanager
def _explain(path: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.OperationalError as error:
        if "locked" in str(error):
            raise CaseStoreFailed("Another process is reading cases in. Try again when it has ended.") from error
        raise CaseStoreFailed(f"The cases could not be used: {error}.") from error
    except sqlite3.DatabaseError as error:
        raise CaseStoreFailed(f"The cases could not be used: {error}. {_remedy(path)}") from error


def _remedy(path: Path) -> str:
    return f"Delete {path} and run {command('index --cases')} again: nothing else is kept in it."
