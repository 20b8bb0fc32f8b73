"""All texts that memory keeps, for the worker process that learns from them: it loads nothing of the loop."""

import contextlib
import sqlite3
from pathlib import Path

WORKER_SECONDS = 10.0
"""How long a worker process waits for somebody who writes."""
_TEXTS = """
SELECT id, text, answer, state = 'confirmed' OR :similar FROM remembered
WHERE answer NOT IN (SELECT answer FROM remembered WHERE state = 'rejected')
ORDER BY id DESC LIMIT :most
"""


def read_keys(database: str) -> set[tuple[int, bytes]]:
    """All texts that are remembered. A number alone may be given to another text later."""
    with _open(database) as db:
        return set(db.execute("SELECT id, same FROM remembered"))


def read_texts(database: str, most: int, *, similar: bool) -> list[tuple[int, str, bytes, bool]]:
    """The newest texts with their answers, and whether those may be hits for similar ones."""
    with _open(database) as db:
        return db.execute(_TEXTS, {"similar": similar, "most": most}).fetchall()


def _open(database: str) -> "contextlib.closing[sqlite3.Connection]":
    return contextlib.closing(sqlite3.connect(f"{Path(database).as_uri()}?mode=ro", uri=True, timeout=WORKER_SECONDS))
