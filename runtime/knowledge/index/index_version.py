"""Of which version an index is, and which folders are still to be read again. Light: no reader is loaded."""

import contextlib
import sqlite3
from pathlib import Path

VERSION = 11
"""Of the schema and of the readers: an index of another version is made anew, from the folders that it names."""
LAPSED = "The index was made by another version of Terminus and is not made anew yet"
"""What a worker process says. Who asks it has the index made anew, or waits for whoever does."""
AWAITED = "CREATE TABLE IF NOT EXISTS awaited (path TEXT PRIMARY KEY)"
"""The folders of an index of another version, until each is read again."""


def is_current(db: sqlite3.Connection) -> bool:
    """Whether an open index is of this version."""
    return bool(db.execute("PRAGMA user_version").fetchone()[0] == VERSION)


def find_lapsed(file: Path) -> list[str]:
    """The folders that are to be read again before an index says what they hold; none where there is no index."""
    if not file.exists():
        return []
    with contextlib.closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True, timeout=5.0)) as db:
        return lapsed_folders(db)


def lapsed_folders(db: sqlite3.Connection) -> list[str]:
    """The same of an open index."""
    found: set[str] = set()
    try:
        tables = ("awaited",) if is_current(db) else ("awaited", "folders", "files")  # files: of cases, before 11
    except sqlite3.DatabaseError:
        return []  # it is none: who opens it next says so
    for table in tables:
        with contextlib.suppress(sqlite3.DatabaseError):  # not every version has every table
            found.update(path for (path,) in db.execute(f"SELECT path FROM {table}"))
    return sorted(found)


def await_folders(db: sqlite3.Connection, folders: list[str]) -> None:
    """Note which folders are to be read again."""
    db.execute(AWAITED)
    db.executemany("INSERT OR IGNORE INTO awaited VALUES (?)", [(path,) for path in folders])


def settle_folder(db: sqlite3.Connection, path: str) -> None:
    """A folder was read again, or is gone: nobody waits for it any more."""
    db.execute("DELETE FROM awaited WHERE path = ?", (path,))
