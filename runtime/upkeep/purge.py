"""
Tickets that go with all that belongs to them. Blocking: for commands and worker processes.

With a ticket go its runs and the runs within them, their events and effects, the ticket itself, its state file, backups
and pages, its lines in the log, and what memory learnt from it. By age, what a person has judged stays in memory: a
confirmed answer is what the helpdesk knows, a rejected one must not come back. A ticket that is named, or whose
requester is, goes from memory altogether. The model of memory, which knows words of texts, is made again without it.
"""

import contextlib
import sqlite3
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from runtime.settings import DAY
from runtime.storage.damage import text
from runtime.storage.private import DATABASE
from runtime.storage.records import RUN_PREFIX
from runtime.storage.sqlite.connection import connect
from runtime.storage.sqlite.schema import migrate
from runtime.storage.sqlite.tables import OUTERMOST, with_those_within
from runtime.upkeep.belongings import forget_files, forget_lines, model_files

PAUSE_SHARE = 1.0
"""Between two transactions, of the time that the last one took: a daemon's own commits come in between."""
LEAST_PAUSE_SECONDS = 0.002

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


class Purged(msgspec.Struct):
    """What went."""

    tickets: list[str] = msgspec.field(default_factory=list)
    running: list[str] = msgspec.field(default_factory=list)
    """Left, because they are being worked on."""
    runs: int = 0
    remembered: int = 0
    files: int = 0
    lines: int = 0
    """Of the log."""
    longest_seconds: float = 0.0
    """Of one transaction, in which nobody else could write."""
    more: bool = False
    """The time was up before all had gone."""


@contextlib.contextmanager
def opened(folder: Path) -> Iterator[sqlite3.Connection]:
    """
    The database of a storage folder.

    :raises runtime.storage.sqlite.schema.DatabaseTooNew: a newer version wrote it.
    """
    with contextlib.closing(connect(folder / DATABASE)) as db:
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


def purge(folder: Path, tickets: Iterable[str], *, judged: bool, seconds: float = float("inf")) -> Purged:
    """
    Let tickets go, one transaction each. Stopped at any moment, the rest goes when it is asked for again.

    :param judged: also answers of theirs that a person confirmed or rejected.
    :param seconds: after so many, the rest is left.
    :raises sqlite3.Error: the database could not be written.
    :raises OSError: a file could not be removed.
    """
    until = time.monotonic() + seconds
    purged, names = Purged(), set[str]()
    with opened(folder) as db:
        for ticket in tickets:
            if time.monotonic() > until:
                purged.more = True
                break
            names |= _let_go(db, folder, ticket, purged, judged=judged)
    purged.files += forget_files(folder, names)  # what was written in the moments after the end
    if purged.remembered:
        for path in model_files(folder / DATABASE):
            path.unlink(missing_ok=True)
    purged.lines = forget_lines(folder, names)
    return purged


def retain(folder: str, keep_days: float, seconds: float) -> Purged:
    """Let go of what ended longer ago than that, for so many seconds; for a worker process."""
    place = Path(folder)
    with opened(place) as db:
        tickets = older_than(db, time.time() - keep_days * DAY)
    return purge(place, tickets, judged=False, seconds=seconds)


def _let_go(db: sqlite3.Connection, folder: Path, ticket: str, purged: Purged, *, judged: bool) -> set[str]:
    """Let one ticket go; returns the ids under which others may still speak of it."""
    names = _names(db, ticket)
    if not describe(db, ticket, judged=judged).running:
        purged.files += forget_files(folder, names)  # first: a row that is left says that there is more to do
        began = time.monotonic()
        if (done := _delete(db, ticket, judged=judged)) is not None:
            took = time.monotonic() - began
            purged.tickets.append(ticket)
            purged.runs, purged.remembered = purged.runs + done[0], purged.remembered + done[1]
            purged.longest_seconds = max(purged.longest_seconds, took)
            time.sleep(max(LEAST_PAUSE_SECONDS, took * PAUSE_SHARE))
            return names
    purged.running.append(ticket)
    return set()


def _names(db: sqlite3.Connection, ticket: str) -> set[str]:
    """Under which ids files and lines of the log speak of a ticket."""
    found = {ticket}
    for run, _ in db.execute(_RUNS, (ticket,)).fetchall():
        rows = db.execute(f"SELECT id, ticket FROM run WHERE {_RUN}", {"run": run})
        found.update(name for row in rows for name in row)
    return found


def _delete(db: sqlite3.Connection, ticket: str, *, judged: bool) -> tuple[int, int] | None:
    """Runs and remembered answers that went; nothing when somebody has begun to work on it."""
    db.execute("BEGIN IMMEDIATE")
    try:
        runs = db.execute(_RUNS, (ticket,)).fetchall()
        if any(ended is None for _, ended in runs):
            db.execute("ROLLBACK")
            return None
        for run, _ in runs:
            for table in ("event", "effect", "record"):
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
