"""
The vectors of passages, beside the index in its file.

They are kept by what they were made of, not by passage: a text that is read again, or stands in another version of the
index, has its vector already.
"""

import hashlib
import sqlite3
from collections.abc import Sequence
from typing import NamedTuple

SCHEMA = """
CREATE TABLE IF NOT EXISTS vectors (digest BLOB PRIMARY KEY, vector BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS vector_model (name TEXT NOT NULL);
"""
CHARACTERS = 1000
"""Of a passage: with its headings 128 tokens, all that is looked at (more were measured to find no better)."""
_DIGEST_BYTES = 16


class Unseen(NamedTuple):
    """A text that has no vector yet."""

    digest: bytes
    text: str


def embedded_text(heading: str, text: str) -> str:
    """What the vector of a passage is made of."""
    return f"{heading}\n{text[:CHARACTERS]}"


def digest(heading: str, text: str) -> bytes:
    """Under which a passage's vector is kept."""
    return hashlib.blake2b(embedded_text(heading, text).encode(), digest_size=_DIGEST_BYTES).digest()


def begin(db: sqlite3.Connection, model: str) -> bool:
    """Forget the vectors of any other model; true if there were any."""
    known = model_name(db)
    if known == model:
        return False
    db.execute("BEGIN IMMEDIATE")
    with db:
        db.execute("DELETE FROM vectors")
        db.execute("DELETE FROM vector_model")
        db.execute("INSERT INTO vector_model VALUES (?)", (model,))
    return bool(known)


def model_name(db: sqlite3.Connection) -> str:
    """Of the model that made the vectors; empty: there are none."""
    row = db.execute("SELECT name FROM vector_model").fetchone()
    return str(row[0]) if row else ""


def count(db: sqlite3.Connection) -> tuple[int, int]:
    """How many texts there are, and how many of them have a vector."""
    sql = """SELECT count(DISTINCT digest), count(DISTINCT digest) FILTER (WHERE digest IN (SELECT digest FROM vectors))
    FROM passages"""
    texts, ready = db.execute(sql).fetchone()
    return texts, ready


def find_missing(db: sqlite3.Connection, after: bytes, most: int) -> list[Unseen]:
    """Some texts that have no vector in order of their digests, those after one."""
    rows = db.execute(
        """SELECT digest, heading, text FROM passages WHERE digest > ? AND digest NOT IN (SELECT digest FROM vectors)
        GROUP BY digest ORDER BY digest LIMIT ?""",
        (after, most),
    )
    return [Unseen(digest, embedded_text(heading, text)) for digest, heading, text in rows]


def keep(db: sqlite3.Connection, model: str, vectors: Sequence[tuple[bytes, bytes]]) -> bool:
    """Store the vectors of some texts, as (digest, vector), at once; false: those of another model are kept now."""
    db.execute("BEGIN IMMEDIATE")
    with db:
        ours = model_name(db) == model
        if ours:
            db.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", vectors)
    return ours


def forget_unused(db: sqlite3.Connection) -> None:
    """Let go of the vectors of texts that no passage has any more."""
    db.execute("DELETE FROM vectors WHERE digest NOT IN (SELECT digest FROM passages)")
