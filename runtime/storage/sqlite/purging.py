"""Tickets with all their rows: which ones may go, and their end, a transaction each. Blocking."""

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import msgspec

from runtime.storage.damage import text
from runtime.storage.private import DATABASE
from runtime.storage.records import RUN_PREFIX
from runtime.storage.sqlite.connection import connect, translating
from runtime.storage.sqlite.recording_store import FORGET_PARTS
from runtime.storage.sqlite.schema import migrate
from runtime.storage.sqlite.statements import OUTERMOST, with_those_within

Connection = sqlite3.Connection

_OF_RUN, _RUN = with_those_within("run", ":run"), with_those_within("id", ":run")
_RUNS = f"SELECT id, ended FROM run WHERE ticket = ? AND {OUTERMOST}"
_OLDER = f"""
SELECT ticket, max(ended) FROM run WHERE {OUTERMOST}
GROUP BY ticket HAVING count(*) = count(ended) AND max(ended) < :before
UNION ALL
SELECT id, created FROM ticket WHERE created < :before AND NOT EXISTS (SELECT 1 FROM run WHERE run.ticket = ticket.id)
ORDER BY 2
"""
_JUDGED = "state != 'unconfirmed'"


class Found(msgspec.Struct, frozen=True):
    """A ticket that may go."""

    ticket: str
    runs: int
    running: bool
    remembered: int
    """Answers of it in memory that would go with it."""
    ended: float | None
    """Seconds since 1970, of its last run; nothing for one that only memory knows."""
    subject: str = ""
    question: str = ""
    """The text as it came in last, without the subject."""


@contextlib.contextmanager
def open_database(folder: Path) -> Iterator[sqlite3.Connection]:
    """
    The database of a storage folder.

    :raises runtime.storage.sqlite.schema.DatabaseTooNew: a newer version wrote it.
    """
    with translating(), contextlib.closing(connect(folder / DATABASE)) as db:
        migrate(db)
        yield db


def find(db: sqlite3.Connection, some_id: str) -> str:
    """The ticket of this id, or that of the run of this id (`run:ID`: only that); nothing when nobody knows it."""
    known = (
        "SELECT id FROM ticket WHERE id = :id UNION SELECT ticket FROM run WHERE ticket = :id "
        "UNION SELECT ticket_id FROM remembered WHERE ticket_id = :id"
    )
    of_run = f"SELECT ticket FROM run WHERE id = :id AND {OUTERMOST}"
    for sql in (of_run,) if some_id.startswith(RUN_PREFIX) else (known, of_run):
        if row := db.execute(sql, {"id": some_id.removeprefix(RUN_PREFIX)}).fetchone():
            return str(row[0])
    return ""


def of_requester(db: sqlite3.Connection, name: str) -> list[str]:
    """Tickets of one requester, however the name is capitalized."""
    wanted = name.strip().casefold()
    rows = db.execute("SELECT id, requester FROM ticket WHERE requester != '' ORDER BY created")
    return [str(ticket) for ticket, requester in rows if requester.strip().casefold() == wanted]


def older_than(db: sqlite3.Connection, before: float) -> list[str]:
    """Tickets all of whose runs ended before this moment, the oldest first."""
    return [str(row[0]) for row in db.execute(_OLDER, {"before": before})]


def describe(db: sqlite3.Connection, ticket: str, *, judged: bool) -> Found:
    """
    What would go with a ticket.

    :param judged: also answers that a person confirmed or rejected.
    """
    runs = db.execute(_RUNS, (ticket,)).fetchall()
    which = "" if judged else f" AND NOT {_JUDGED}"
    sql = f"SELECT count(*) FROM remembered WHERE ticket_id = ?{which}"
    remembered = db.execute(sql, (ticket,)).fetchone()[0]
    running = any(ended is None for _, ended in runs)
    ended_last = max((ended or 0.0 for _, ended in runs), default=None)
    asked = db.execute("SELECT subject, text FROM ticket WHERE id = ?", (ticket,)).fetchone() or ("", "")
    return Found(ticket, len(runs), running, remembered, ended_last, *map(text, asked))


def names_of(db: sqlite3.Connection, ticket: str) -> set[str]:
    """Under which ids files and lines of the log speak of a ticket."""
    found = {ticket}
    for run, _ in db.execute(_RUNS, (ticket,)).fetchall():
        rows = db.execute(f"SELECT id, ticket FROM run WHERE {_RUN}", {"run": run})
        found.update(name for row in rows for name in row)
    return found


def forget_parts(db: sqlite3.Connection) -> None:
    """Let go of what recordings referred to that are gone."""
    db.execute(FORGET_PARTS)


def delete(db: sqlite3.Connection, ticket: str, *, judged: bool) -> tuple[int, int] | None:
    """Runs and remembered answers that went; nothing when somebody has begun to work on it."""
    db.execute("BEGIN IMMEDIATE")
    try:
        runs = db.execute(_RUNS, (ticket,)).fetchall()
        if any(ended is None for _, ended in runs):
            db.execute("ROLLBACK")
            return None
        for run, _ in runs:
            for table in ("event", "effect", "record", "recording"):
                db.execute(f"DELETE FROM {table} WHERE {_OF_RUN}", {"run": run})
            db.execute(f"DELETE FROM run WHERE {_RUN}", {"run": run})
        which = "" if judged else f" AND NOT {_JUDGED}"
        remembered = db.execute(f"DELETE FROM remembered WHERE ticket_id = ?{which}", (ticket,)).rowcount
        if remembered:
            db.execute("DELETE FROM memory_learnt")  # the model knows words of it
        db.execute("DELETE FROM ticket WHERE id = ?", (ticket,))
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise
    return len(runs), remembered
