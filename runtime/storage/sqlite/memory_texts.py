"""All texts that memory keeps, for the worker process that learns from them: it loads nothing of the loop."""

import contextlib
import sqlite3
from pathlib import Path
from typing import NamedTuple

WORKER_SECONDS = 10.0
"""How long a worker process waits for somebody who writes."""
_TEXTS = """
SELECT id, text, answer, state = 'confirmed' OR :similar AS sure, iif(:embedder = '', x'', vector), same FROM remembered
LEFT JOIN remembered_vector USING (same)
WHERE answer NOT IN (SELECT answer FROM remembered WHERE state = 'rejected')
AND (:embedder = '' OR embedder = :embedder)
ORDER BY id DESC LIMIT :most
"""

_CONFIRMED_AFTER = """
SELECT id, text, answer, 1, x'' FROM remembered WHERE id > ? AND state = 'confirmed'
AND answer NOT IN (SELECT answer FROM remembered WHERE state = 'rejected')
ORDER BY id DESC LIMIT ?
"""


class RememberedText(NamedTuple):
    """A text with its answer."""

    id: int
    text: str
    answer: bytes
    """Its digest."""
    sure: bool
    """The answer may be a hit for similar texts."""
    vector: bytes
    """Empty where none was asked for."""


def read_keys(database: str) -> set[tuple[int, bytes]]:
    """All texts that are remembered. A number alone may be given to another text later."""
    with _open(database) as db:
        return set(db.execute("SELECT id, same FROM remembered"))


def read_texts(database: str, most: int, *, similar: bool, embedder: str = "") -> list[RememberedText]:
    """
    The newest texts, each once for each answer that it had.

    :param embedder: only texts with a vector that this one made, and it; empty: all texts, and no vector.
    """
    with _open(database) as db:
        found: dict[tuple[bytes, bytes], RememberedText] = {}
        wanted = {"similar": similar, "embedder": embedder, "most": most}
        for *row, same in db.execute(_TEXTS, wanted):
            text = RememberedText(*row)
            known = found.setdefault((same, text.answer), text)
            if text.sure and not known.sure:
                found[same, text.answer] = text
        return list(found.values())


def read_confirmed_after(database: str, number: int, most: int) -> list[RememberedText]:
    """The newest texts above a number whose answers people confirmed; none while nobody can read them."""
    try:
        with _open(database) as db:
            return [RememberedText(*row) for row in db.execute(_CONFIRMED_AFTER, (number, most))]
    except sqlite3.Error:  # they count when they were learnt
        return []


def _open(database: str) -> "contextlib.closing[sqlite3.Connection]":
    return contextlib.closing(sqlite3.connect(f"{Path(database).as_uri()}?mode=ro", uri=True, timeout=WORKER_SECONDS))
