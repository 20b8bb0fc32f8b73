"""The index file (SQLite, FTS5): folders, documents as they were read, passages, and a full-text table of terms."""

import contextlib
import functools
import re
import sqlite3
import zlib
from collections.abc import Iterator
from pathlib import Path

from actors.evidence.passages import BELOW
from actors.text.tokenizer import tokens
from runtime.knowledge.index import vector_store
from runtime.knowledge.index.index_version import AWAITED, VERSION, await_folders, is_current, lapsed_folders
from runtime.knowledge.readers.parsed_document import Document, Piece, pieces
from runtime.storage.private import make_database, make_storage

SCHEMA = f"""
PRAGMA user_version = {VERSION};
CREATE TABLE IF NOT EXISTS folders (id INTEGER PRIMARY KEY, name TEXT UNIQUE NOT NULL, path TEXT UNIQUE NOT NULL);
CREATE TABLE IF NOT EXISTS documents (
  id INTEGER PRIMARY KEY, folder INTEGER NOT NULL, path TEXT NOT NULL, key TEXT NOT NULL, title TEXT NOT NULL,
  reason TEXT NOT NULL, text BLOB NOT NULL, about BLOB NOT NULL, UNIQUE (folder, path));
CREATE TABLE IF NOT EXISTS passages (
  id INTEGER PRIMARY KEY, document INTEGER NOT NULL, ordinal INTEGER NOT NULL, heading TEXT NOT NULL,
  anchor TEXT NOT NULL, start INTEGER NOT NULL, "end" INTEGER NOT NULL, text TEXT NOT NULL, digest BLOB NOT NULL);
CREATE INDEX IF NOT EXISTS passages_of_document ON passages (document, ordinal);
CREATE INDEX IF NOT EXISTS passages_of_digest ON passages (digest, document);
CREATE VIRTUAL TABLE IF NOT EXISTS terms USING fts5 (heading, body, tokenize = 'ascii');
{AWAITED};
{vector_store.SCHEMA}"""
_DROP = "".join(
    f"DROP TABLE IF EXISTS {table};"
    for table in ("vocabulary", "terms", "passages", "documents", "folders", "files", "cases")
)

_UNTELLING = re.compile(
    r"html?|text|txt|pages|help|public|site|www|(?:en|de|fr|es|pt|nl|ru|zh|ja|ko)(?:[-_][a-z]{2})?", re.IGNORECASE
)
"""Names that a manual's folder shares with those of other manuals."""

BUSY_SECONDS = 5.0


def connect(path: Path) -> sqlite3.Connection:
    """Open the index for writing; make it if there is none, or one of another version."""
    make_storage(path.parent)
    db = sqlite3.connect(make_database(path), isolation_level=None, timeout=BUSY_SECONDS)
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = NORMAL")  # a power cut may cost the last files, which are then read again
    db.execute("PRAGMA cache_size = -16000")
    if not is_current(db):
        db.execute("BEGIN IMMEDIATE")  # two processes may come here at once
        if not is_current(db):
            awaited = lapsed_folders(db)
            for statement in (_DROP + SCHEMA).split(";"):
                db.execute(statement)
            await_folders(db, awaited)
        db.execute("COMMIT")
    return db


def create(db: sqlite3.Connection) -> None:
    """Make the tables in an empty database."""
    db.executescript(SCHEMA)


def add_folder(db: sqlite3.Connection, name: str) -> int:
    """A folder by a name of its own, for documents that stand in no folder of the disk."""
    return int(db.execute("INSERT INTO folders (name, path) VALUES (?, ?)", (name, name)).lastrowid or 0)


def folder_id(db: sqlite3.Connection, path: Path) -> tuple[int, str]:
    """
    The number and name of a folder, which tells what manual it is: `html` alone does not.

    A second folder of the same name gets its parent's name in front.
    """
    row = db.execute("SELECT id, name FROM folders WHERE path = ?", (str(path),)).fetchone()
    if row:
        return int(row[0]), str(row[1])
    parts = [part for part in path.parts if part != path.anchor] or ["root"]
    telling = 1
    while telling < len(parts) and _UNTELLING.fullmatch(parts[-telling]):
        telling += 1
    for depth in range(telling, len(parts) + 1):
        name = "/".join(parts[-depth:])
        cursor = db.execute("INSERT OR IGNORE INTO folders (name, path) VALUES (?, ?)", (name, str(path)))
        if cursor.rowcount:
            return int(cursor.lastrowid or 0), name
    return folder_id(db, path)  # another process was faster


def stored_key(db: sqlite3.Connection, folder: int, path: str) -> tuple[str, str] | None:
    """(key, reason) under which a file was read last."""
    row = db.execute("SELECT key, reason FROM documents WHERE folder = ? AND path = ?", (folder, path)).fetchone()
    return (str(row[0]), str(row[1])) if row else None


def list_paths(db: sqlite3.Connection, folder: int) -> set[str]:
    """Of the documents of a folder."""
    return {path for (path,) in db.execute("SELECT path FROM documents WHERE folder = ?", (folder,))}


def replace(
    db: sqlite3.Connection, folder: int, path: str, key: str, document: Document | None, reason: str = "",
    *, keep: bool = True,
) -> int:  # fmt: skip
    """
    Put what was read in the place of what was there, in one transaction. Returns the number of passages.

    :param keep: keep its whole text, too.
    """
    cut = pieces(document) if document else []
    rows = [_row(document, number, piece) for number, piece in enumerate(cut)] if document else []
    text = zlib.compress(document.text.encode("utf-8", "replace"), 1) if document and keep else b""
    title = document.title if document else ""
    with transaction(db):
        _remove(db, folder, path)
        number = db.execute(
            "INSERT INTO documents (folder, path, key, title, reason, text, about) VALUES (?, ?, ?, ?, ?, ?, ?)",
            (folder, path, key, title, reason, text, document.about if document else b""),
        ).lastrowid
        first = db.execute("SELECT coalesce(max(id), 0) + 1 FROM passages").fetchone()[0]
        ids = range(first, first + len(rows))
        db.executemany(
            "INSERT INTO passages VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            ((i, number, *passage) for i, (passage, _) in zip(ids, rows, strict=True)),
        )
        db.executemany(
            "INSERT INTO terms (rowid, heading, body) VALUES (?, ?, ?)",
            ((i, *terms) for i, (_, terms) in zip(ids, rows, strict=True)),
        )
    return len(rows)


def remove(db: sqlite3.Connection, folder: int, path: str) -> bool:
    """Take a document out, in one transaction; true if it was there."""
    with transaction(db):
        return _remove(db, folder, path)


@contextlib.contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[None]:
    """What is written within it holds wholly or not at all; within another one, with that."""
    outer = db.in_transaction
    if outer:
        yield
        return
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise


def _remove(db: sqlite3.Connection, folder: int, path: str) -> bool:
    row = db.execute("SELECT id FROM documents WHERE folder = ? AND path = ?", (folder, path)).fetchone()
    if row is None:
        return False
    db.execute("DELETE FROM terms WHERE rowid IN (SELECT id FROM passages WHERE document = ?)", row)
    db.execute("DELETE FROM passages WHERE document = ?", row)
    db.execute("DELETE FROM documents WHERE id = ?", row)
    return True


def _row(document: Document, number: int, piece: Piece) -> tuple[tuple[object, ...], tuple[str, str]]:
    head = [part for part in (document.above, document.title, *piece.path) if part]
    heading = BELOW.join(part for i, part in enumerate(head) if part not in head[:i])
    text = document.text[piece.start : piece.end].encode("utf-8", "replace").decode()
    passage = (number, heading, piece.anchor, piece.start, piece.end, text, vector_store.digest(heading, text))
    return passage, (_tokenize_heading(heading), " ".join(tokens(text)))


@functools.lru_cache(256)  # passages of one section follow each other
def _tokenize_heading(heading: str) -> str:
    """The terms of a heading, as the full-text table takes them."""
    return " ".join(tokens(heading))
