"""Puts the cases of a file into the store: wholly or not at all, and an unchanged file not again."""

import hashlib
import sqlite3
from collections.abc import Callable
from pathlib import Path

import msgspec

from actors.evidence.court_cases import CourtCase
from actors.text.tokenizer import tokens
from runtime.cases.case_file import make_key, open_for_reading, open_for_writing
from runtime.cases.case_reader import InvalidCase, read_cases

SKIPPED = 20
"""So many lines that hold no case are named."""
ANNOUNCED = 200
"""Lines between two words of progress."""


class CaseReport(msgspec.Struct, frozen=True):
    """What became of a file of cases."""

    cases: int
    """That the store now holds of it."""
    unchanged: bool = False
    """It is as it was, and was not read again."""
    removed: int = 0
    """Cases that the file does not hold any more."""
    skipped: tuple[tuple[int, str], ...] = ()
    """Lines that hold no case, by number from 1, with why; the first of them."""
    more_skipped: int = 0


class CaseSource(msgspec.Struct, frozen=True):
    """A file of which the store holds cases."""

    path: str
    cases: int


def index_cases(storage: Path, file: Path, show: Callable[[int, int, int], None] = lambda *_: None) -> CaseReport:
    """
    Put the cases of a file into the store; what it held of the file before and the file no longer has goes.

    A case that several files hold, or one file twice, is as it was read last.

    :param show: is told how many bytes of how many are read, and how many cases that were.
    :raises OSError: the file cannot be read.
    :raises CaseStoreFailed: the store cannot be written.
    """
    path = str(file.resolve())
    with file.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").digest()
    with open_for_writing(storage) as db:
        known = db.execute("SELECT id, digest FROM files WHERE path = ?", (path,)).fetchone()
        if known is not None and known[1] == digest:
            return CaseReport(_count(db, known[0]), unchanged=True)
        before = _forget(db, path)
        number = db.execute("INSERT INTO files (path, digest) VALUES (?, ?)", (path, digest)).lastrowid or 0
        skipped = _read_in(db, file, number, show)
        left = before - {key for (key,) in db.execute("SELECT key FROM cases WHERE file = ?", (number,))}
        more = max(0, len(skipped) - SKIPPED)
        return CaseReport(
            _count(db, number),
            removed=len(left),
            skipped=tuple((each.line, each.reason) for each in skipped[:SKIPPED]),
            more_skipped=more,
        )


def remove_cases(storage: Path, path: str) -> int | None:
    """
    Take a file out of the store, whether or not it is still there.

    :returns: how many cases went; None: the store holds no such file.
    """
    with open_for_writing(storage) as db:
        if db.execute("SELECT 1 FROM files WHERE path = ?", (path,)).fetchone() is None:
            return None
        return len(_forget(db, path))


def list_sources(storage: Path) -> list[CaseSource]:
    """The files of the store, by their paths."""
    with open_for_reading(storage) as db:
        if db is None:
            return []
        rows = db.execute(
            "SELECT path, count(cases.id) FROM files LEFT JOIN cases ON file = files.id GROUP BY files.id ORDER BY path"
        )
        return [CaseSource(*row) for row in rows]


def _read_in(
    db: sqlite3.Connection, file: Path, number: int, show: Callable[[int, int, int], None]
) -> list[InvalidCase]:
    size, read = file.stat().st_size, 0
    skipped: list[InvalidCase] = []
    for place, (each, end) in enumerate(read_cases(file)):
        if isinstance(each, InvalidCase):
            skipped.append(each)
        else:
            _put(db, number, each)
            read += 1
        if place % ANNOUNCED == 0:
            show(end, size, read)
    show(size, size, read)
    return skipped


def _put(db: sqlite3.Connection, file: int, case: CourtCase) -> None:
    key = make_key(case.id)
    for (known,) in db.execute("SELECT id FROM cases WHERE key = ?", (key,)).fetchall():
        _delete(db, known)
    content = msgspec.msgpack.encode(case)
    row = db.execute("INSERT INTO cases (file, key, content) VALUES (?, ?, ?)", (file, key, content)).lastrowid
    heading = f"{case.id}\n{case.title}\n{case.cause}\n{case.court}"
    body = "\n".join((case.summary, *case.key_points, *case.cited_articles))
    terms = (" ".join(tokens(heading)), " ".join(tokens(body)))
    db.execute("INSERT INTO terms (rowid, heading, body) VALUES (?, ?, ?)", (row, *terms))


def _forget(db: sqlite3.Connection, path: str) -> set[str]:
    """The keys of the cases that went with a file."""
    rows = db.execute(
        "SELECT cases.id, key FROM cases JOIN files ON file = files.id WHERE path = ?", (path,)
    ).fetchall()
    for number, _ in rows:
        _delete(db, number)
    db.execute("DELETE FROM files WHERE path = ?", (path,))
    return {key for _, key in rows}


def _delete(db: sqlite3.Connection, number: int) -> None:
    db.execute("DELETE FROM terms WHERE rowid = ?", (number,))
    db.execute("DELETE FROM cases WHERE id = ?", (number,))


def _count(db: sqlite3.Connection, file: int) -> int:
    return int(db.execute("SELECT count(*) FROM cases WHERE file = ?", (file,)).fetchone()[0])
