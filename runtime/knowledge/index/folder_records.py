"""
What is known of an index and its folders: how a folder was when it was read, what it ignored and skipped; what workers
answer about them. Blocking.
"""

import datetime
import sqlite3
from pathlib import Path
from typing import Literal

import msgspec

from runtime.knowledge.index import index_writer

SKIPPED_KEPT = 500
"""So many skipped files of a folder are kept by name."""

_TABLE = "CREATE TABLE IF NOT EXISTS folder_records (path TEXT PRIMARY KEY, record BLOB NOT NULL)"


class Ignored(msgspec.Struct, frozen=True):
    """Files of one kind that are none of ours."""

    kind: str
    """A suffix such as `.png`, or what else they have in common."""
    count: int
    examples: tuple[str, ...]
    """The first few, by path."""


class FolderRecord(msgspec.Struct, frozen=True):
    """How a folder was when it was last read."""

    indexed: str = ""
    """When, in UTC (ISO 8601)."""
    ignored: tuple[Ignored, ...] = ()
    skipped: tuple[tuple[str, str], ...] = ()
    """(path below the folder, reason); of many the first."""


class IndexedFolder(msgspec.Struct, frozen=True):
    """A folder of the index."""

    name: str
    """What stands before the paths of its documents."""
    path: str
    documents: int
    passages: int
    is_there: bool
    record: FolderRecord


class IndexedDocument(msgspec.Struct, frozen=True, omit_defaults=True):
    """A document of the index."""

    name: str
    """Its path below its folder, with the folder's name in front: what citations call it."""
    title: str
    passages: int
    bytes: int | None = None
    """Of its file, if that is there."""
    modified: str = ""
    """When its file was written last, in UTC (ISO 8601)."""
    skipped: str = ""
    """Why it is not searched."""


class Listing(msgspec.Struct, frozen=True):
    """The files of a folder that can be read, in order of their paths."""

    folder: int
    name: str
    root: str
    files: list[str]
    skipped: list[tuple[str, str]]
    ignored: list[Ignored]
    unopened: list[str]
    """Folders below it whose files are not known."""


class Forgotten(msgspec.Struct, frozen=True):
    """What was in the index and is not in the folder any more."""

    paths: list[str]
    kept: int
    """Documents that stay although the folder is not there or shows none of them."""


class Taken(msgspec.Struct, frozen=True):
    """What became of one file."""

    status: Literal["read", "unchanged", "twin", "skipped"]
    reason: str = ""
    passages: int = 0


class Removed(msgspec.Struct, frozen=True):
    """What became of a folder that was to be taken out."""

    documents: int | None
    """How many it held; None: the index holds no such folder."""


class MeaningState(msgspec.Struct, frozen=True, omit_defaults=True):
    """How far an index can be searched by meaning."""

    texts: int
    ready: int
    """Those whose vectors are made, by the model that is set up."""
    why: str = ""
    """Why the others are not made now."""


def find_documents(db: sqlite3.Connection, after: str, most: int) -> list[IndexedDocument]:
    """Documents by their names, those after one."""
    rows = db.execute(
        """SELECT f.name || '/' || d.path AS name, d.title, f.path, d.path, d.reason,
        (SELECT count(*) FROM passages p WHERE p.document = d.id)
        FROM documents d JOIN folders f ON f.id = d.folder WHERE f.name || '/' || d.path > ? ORDER BY 1 LIMIT ?""",
        (after, most),
    ).fetchall()
    found = []
    for name, title, folder, path, reason, passages in rows:
        size, modified = _look_at(Path(folder) / path)
        found.append(IndexedDocument(name, title, passages, size, modified, reason))
    return found


def _look_at(file: Path) -> tuple[int | None, str]:
    try:
        its = file.lstat()
    except OSError:
        return None, ""
    at = datetime.datetime.fromtimestamp(int(its.st_mtime), datetime.UTC)
    return its.st_size, at.isoformat(timespec="seconds")


def save(db: sqlite3.Connection, path: str, record: FolderRecord) -> None:
    """Keep how a folder was."""
    db.execute(_TABLE)
    kept = msgspec.structs.replace(record, skipped=record.skipped[:SKIPPED_KEPT])
    db.execute("INSERT OR REPLACE INTO folder_records VALUES (?, ?)", (path, msgspec.msgpack.encode(kept)))


def find_all(db: sqlite3.Connection) -> list[IndexedFolder]:
    """The folders of an index, in order of their names."""
    db.execute(_TABLE)
    rows = db.execute(
        """SELECT f.name, f.path, (SELECT count(*) FROM documents WHERE folder = f.id AND reason = ''),
        (SELECT count(*) FROM passages p JOIN documents d ON d.id = p.document WHERE d.folder = f.id), r.record
        FROM folders f LEFT JOIN folder_records r ON r.path = f.path ORDER BY f.name"""
    )
    return [
        IndexedFolder(
            name, path, documents, passages, Path(path).is_dir(),
            msgspec.msgpack.decode(record, type=FolderRecord) if record else FolderRecord(),
        )
        for name, path, documents, passages, record in rows
    ]  # fmt: skip


def find(db: sqlite3.Connection, named: str) -> tuple[int, str] | None:
    """Number and path of a folder by its name in the index or by its path, which need not be there any more."""
    paths = (str(Path(named).expanduser().absolute()), str(Path(named).expanduser().resolve()), named.rstrip("/"))
    row = db.execute("SELECT id, path FROM folders WHERE path IN (?, ?, ?) OR name = ?", (*paths, named)).fetchone()
    return (int(row[0]), str(row[1])) if row else None


def remove(db: sqlite3.Connection, named: str) -> int | None:
    """Take a folder out with all that was read from it; how many documents these were, or None: it is not known."""
    db.execute(_TABLE)
    found = find(db, named)
    if found is None:
        return None
    number, path = found
    documents = db.execute("SELECT path, reason FROM documents WHERE folder = ?", (number,)).fetchall()
    for document, _ in documents:
        index_writer.remove(db, number, document)
    db.execute("DELETE FROM folders WHERE id = ?", (number,))
    db.execute("DELETE FROM folder_records WHERE path = ?", (path,))
    return sum(not reason for _, reason in documents)
