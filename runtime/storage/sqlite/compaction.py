"""Gives the room that deleted rows had back to the disk, and sees that nothing of them is left in the file."""

import contextlib
import sqlite3
import time
from pathlib import Path

import msgspec

from runtime.storage.private import DATABASE
from runtime.storage.sqlite.connection import connect, translating
from runtime.storage.sqlite.process_lock import anybody

PAGES = 200
"""That move in one transaction: some milliseconds."""
PAUSE_SECONDS = 0.005
SMALL_BYTES = 64_000_000
"""A database up to here is rewritten in about a second, which a daemon's commits can wait for."""


class Compacted(msgspec.Struct, frozen=True):
    """Sizes in bytes, with what was not written back before."""

    before: int
    after: int
    rewritten: bool
    """The whole file: then nothing of what was deleted is in it. Otherwise some may be, beside what is in use."""


def size(folder: Path) -> int:
    """Bytes of the database with its log."""
    return sum(path.stat().st_size for name in (DATABASE, f"{DATABASE}-wal") if (path := folder / name).exists())


def compact(folder: Path, owners: Path) -> Compacted:
    """
    Rewrite the database when nobody has it open, or it is small; else give back its free pages, piece by piece.

    :raises StorageError: it could not be written, or a process was writing all the time.
    """
    before = size(folder)
    with translating(), contextlib.closing(connect(folder / DATABASE)) as db:
        rewritten = before <= SMALL_BYTES or not anybody(owners)
        if rewritten:
            db.execute("VACUUM")
        else:
            give_back(folder)
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return Compacted(before, size(folder), rewritten)


def give_back(folder: str | Path, seconds: float = float("inf")) -> None:
    """Give free pages back to the disk, in transactions of some milliseconds; after so many seconds, leave the rest."""
    until = time.monotonic() + seconds
    with translating(), contextlib.closing(connect(Path(folder, DATABASE))) as db:
        if db.execute("PRAGMA auto_vacuum").fetchone()[0] != 2:
            return  # of an earlier version, until it is rewritten once: its free pages are used again
        while (free := _free(db)) and time.monotonic() < until:
            db.executescript(f"PRAGMA incremental_vacuum({PAGES})")  # `execute` would stop after one page
            time.sleep(PAUSE_SECONDS)
            if _free(db) >= free:
                break
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _free(db: sqlite3.Connection) -> int:
    return int(db.execute("PRAGMA freelist_count").fetchone()[0])
