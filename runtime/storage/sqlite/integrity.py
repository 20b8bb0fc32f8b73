"""
Whether a database file is one, is whole and is sound; and that room of deleted rows goes back to
the disk with nothing left in it.
"""

import contextlib
import os
import sqlite3
import time
from pathlib import Path
from typing import Any

import msgspec
import structlog

from actors.ports import PortFailed
from runtime.program import command
from runtime.storage.private import DATABASE, make_file
from runtime.storage.sqlite.connection import UNREADABLE, connect, translate, translating
from runtime.storage.sqlite.process_lock import anybody

log = structlog.get_logger()

MAGIC = b"SQLite format 3\x00"
HEADER_BYTES = 100
STEPS = 20_000
"""Of SQLite's machine between two looks at the clock: some milliseconds."""
SNAPSHOT_SECONDS = 30.0
"""How long a backup waits for somebody who writes."""
LOG_HEADER, FRAME_HEADER = 32, 24
"""Bytes, as SQLite's file format has them."""
MOST_FRAMES = 1 << 20
FINDINGS = 3
"""So many are told."""
REMEDY = (
    f"Restore it with {command('restore BACKUP')}, or move it away to begin anew: researches that were not over "
    "go on from their state files."
)
LOG_REMEDY = (
    "Look at the disk: what was written last is gone, and those tickets begin again when they are submitted again."
)


class DatabaseUnusable(PortFailed):
    """The file is no database, not whole, or damaged. The text says which, and what to do."""


def check(file: Path, owners: Path, seconds: float) -> None:
    """
    Look at a database before it is opened: its header each time, all of it when the last process was killed.

    An orderly end leaves no write-ahead log; with one, and nobody living who writes it, the whole file is examined, for
    so many seconds at most, so that the start of a large one is not held up. What is not finished then is only logged;
    so are commits of the log that cannot be read back, for all before them is sound.

    :raises DatabaseUnusable: nothing may be written to it.
    """
    if wrong := _wrong_header(file):
        raise DatabaseUnusable(f"The database {file} cannot be used: it {wrong}. {REMEDY}")
    if not seconds or not _has_log(file) or anybody(owners):
        return
    began = time.monotonic()
    written = _list_commits(file)
    try:
        if lost := _count_lost(file, written):
            log.error("storage.log_damaged", file=str(file), commits=len(written), lost=lost, remedy=LOG_REMEDY)
        findings = examine(file, "quick_check", seconds)
    except TimeoutError:
        log.warning("storage.check_unfinished", file=str(file), seconds=seconds)
        return
    if findings:
        raise DatabaseUnusable(f"The database {file} cannot be used: it is damaged ({findings}). {REMEDY}")
    log.info("storage.checked", file=str(file), seconds=round(time.monotonic() - began, 3))


def _list_commits(file: Path) -> list[int]:
    """The numbers of the frames in a write-ahead log that end a transaction; of an earlier round of the log, none."""
    commits: list[int] = []
    with contextlib.suppress(OSError), file.with_name(f"{file.name}-wal").open("rb") as stream:
        page = int.from_bytes(stream.read(LOG_HEADER)[8:12], "big")
        first = b""
        for number in range(1, MOST_FRAMES):
            head = stream.read(FRAME_HEADER)
            first = first or head[8:16]
            if len(head) < FRAME_HEADER or head[8:16] != first or not page:
                break
            if head[4:8] != bytes(4):  # the size of the database after this frame, which only a last one says
                commits.append(number)
            stream.seek(page, os.SEEK_CUR)
    return commits


def _count_lost(file: Path, commits: list[int]) -> int:
    """
    How many transactions of a log cannot be read back; SQLite goes on without them and says nothing.

    One at the very end may never have been told to anybody: the power failed while it was written.
    """
    with contextlib.suppress(*UNREADABLE), _opening(file, 1.0, "rw") as db:
        _, readable, _ = db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        lost = sum(number > readable for number in commits)
        return lost if lost > 1 else 0
    return 0


def examine(file: Path, how: str, seconds: float, *, read_only: bool = False) -> str:
    """
    What SQLite finds wrong in a file; nothing when it is sound.

    :param how: `quick_check`, or `integrity_check`, which compares the indexes, too.
    :raises TimeoutError: it was not through in that time, and had found nothing.
    """
    until = time.monotonic() + seconds
    try:
        with _opening(file, min(seconds, 5.0), "ro" if read_only else "rw") as db:
            db.set_progress_handler(lambda: time.monotonic() > until, STEPS)
            rows = db.execute(f"PRAGMA {how}({FINDINGS})").fetchall()
    except UNREADABLE as error:
        if getattr(error, "sqlite_errorcode", 0) in {sqlite3.SQLITE_INTERRUPT, sqlite3.SQLITE_BUSY}:
            raise TimeoutError from None
        return str(translate(error))
    found = [" ".join(str(row[0]).split()) for row in rows]
    return "" if found == ["ok"] else "; ".join(found)


def version(file: Path) -> int:
    """The version of its tables that a database names."""
    with translating(), _opening(file, 1.0) as db:
        return int(db.execute("PRAGMA user_version").fetchone()[0])


def snapshot(database: Path, to: Path) -> int:
    """
    Copy a database as it is at this moment, durably; returns the version that it names.

    :raises StorageError: it could not be read.
    """
    with translating(), _opening(database, SNAPSHOT_SECONDS) as db:
        db.execute("VACUUM INTO ?", (str(make_file(to)),))
        copied = int(db.execute("PRAGMA user_version").fetchone()[0])
    with to.open("rb") as stream:
        os.fsync(stream.fileno())
    return copied


def read_rows(file: Path, sql: str, seconds: float) -> list[Any]:
    """
    Rows of a file that nobody may have made yet; none when there is no file or table.

    :raises StorageError: it cannot be read.
    """
    if not file.exists():
        return []
    with translating(), _opening(file, seconds) as db:
        try:
            return db.execute(sql).fetchall()
        except sqlite3.OperationalError as error:
            if "no such table" in str(error):
                return []
            raise


def describe_sqlite() -> tuple[str, bool]:
    """The version of SQLite, and whether it can search texts."""
    with contextlib.closing(sqlite3.connect(":memory:")) as db:
        try:
            db.execute("CREATE VIRTUAL TABLE t USING fts5 (x)")
        except sqlite3.OperationalError:
            return sqlite3.sqlite_version, False
    return sqlite3.sqlite_version, True


def _opening(file: Path, wait_seconds: float, mode: str = "ro") -> "contextlib.closing[sqlite3.Connection]":
    """A file that is there, and stays as it is where nobody writes to it."""
    uri = f"{file.absolute().as_uri()}?mode={mode}"
    return contextlib.closing(sqlite3.connect(uri, uri=True, isolation_level=None, timeout=wait_seconds))


def _wrong_header(file: Path) -> str:
    """What is wrong with the beginning and the length of a file, or nothing."""
    try:
        with file.open("rb") as stream:
            header = stream.read(HEADER_BYTES)
        size = file.stat().st_size
    except FileNotFoundError:
        return ""
    if not header:  # about to become one, unless it was one
        return "is empty, though there is a log of what was written to it" if _has_log(file) else ""
    if not header.startswith(MAGIC):
        return "is not a database"
    page = int.from_bytes(header[16:18], "big")
    pages, stated, valid = (int.from_bytes(header[at : at + 4], "big") for at in (28, 24, 92))
    whole = (65_536 if page == 1 else page) * pages
    if size < HEADER_BYTES or (stated == valid and size < whole and not _has_log(file)):
        return f"is cut off: it has {size:,} of {whole:,} bytes"
    return ""


def _has_log(file: Path) -> bool:
    try:
        return file.with_name(f"{file.name}-wal").stat().st_size > 0
    except FileNotFoundError:
        return False


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
