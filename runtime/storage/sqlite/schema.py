"""The tables of terminus.db by version: a database is brought to the newest one when it is opened."""

import contextlib
import sqlite3
import time
from collections.abc import Callable, Iterator

import msgspec

from actors.ports import PortFailed
from runtime.storage.records import ACTION, SUBMITTER, Action
from runtime.storage.sqlite.effect_store import SCHEMA as EFFECTS
from runtime.storage.sqlite.memory_store import SCHEMA as MEMORY
from runtime.storage.sqlite.recording_store import SCHEMA as RECORDINGS
from runtime.storage.sqlite.statements import SCHEMA as RUNS

TABLES = (RUNS, MEMORY, EFFECTS, RECORDINGS)
"""Of the newest version. Each store keeps the text of its own."""
MIGRATION_SECONDS = 60.0
"""How long a process waits while another one migrates."""


class DatabaseTooNew(PortFailed):
    """A newer version of this program wrote the database. The text says what to do."""


def migrate(db: sqlite3.Connection) -> None:
    """
    Bring a database to the newest version, all in one transaction; an empty one gets it at once.

    :raises DatabaseTooNew: it is of a version that this program does not know.
    """
    if _version(db) == NEWEST:
        return
    before = db.execute("PRAGMA busy_timeout").fetchone()[0]
    db.execute(f"PRAGMA busy_timeout = {int(MIGRATION_SECONDS * 1000)}")
    try:
        db.execute("BEGIN IMMEDIATE")
        _bring_up(db)
        db.execute("COMMIT")
    finally:
        if db.in_transaction:
            db.execute("ROLLBACK")
        db.execute(f"PRAGMA busy_timeout = {before}")


def _bring_up(db: sqlite3.Connection) -> None:
    version = _version(db)  # another process may have been faster
    if version > NEWEST:
        raise DatabaseTooNew(
            f"The database is of version {version}, and this program knows no newer one than {NEWEST}: "
            "use the version of Terminus that wrote it, or set [storage] folder to another."
        )
    if not version and not db.execute("SELECT 1 FROM sqlite_schema WHERE name = 'run'").fetchone():
        version = NEWEST
    for migration in MIGRATIONS[max(version, 1) - 1 :]:
        migration(db)
    for script in TABLES:
        run_script(db, script)
    db.execute(f"PRAGMA user_version = {NEWEST}")


def run_script(db: sqlite3.Connection, script: str) -> None:
    """Execute each statement of a script. `executescript` would commit the transaction first."""
    for statement in _statements(script):
        db.execute(statement)


def _statements(script: str) -> Iterator[str]:
    statement = ""
    for part in script.split(";"):
        statement += f"{part};"
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


def _version(db: sqlite3.Connection) -> int:
    return int(db.execute("PRAGMA user_version").fetchone()[0])


_ORDERED_RUNS = """
ALTER TABLE run RENAME TO run_1;
DROP INDEX IF EXISTS run_of_ticket;
DROP INDEX IF EXISTS run_open;
CREATE TABLE run (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE, ticket TEXT NOT NULL, workflow TEXT NOT NULL, initial BLOB NOT NULL, started REAL NOT NULL,
    boot TEXT NOT NULL DEFAULT '', uptime REAL NOT NULL DEFAULT 0,
    owner TEXT NOT NULL, cancel INTEGER NOT NULL DEFAULT 0, ended REAL, status TEXT NOT NULL DEFAULT 'running',
    ending BLOB
);
INSERT INTO run (id, ticket, workflow, initial, started, owner, cancel, ended, status, ending)
SELECT id, ticket, workflow, initial, started, owner, cancel, ended, status, ending FROM run_1 ORDER BY rowid;
DROP TABLE run_1;
"""
_TWICE_OPEN = """
SELECT id, (SELECT coalesce(max(at), 0) FROM event WHERE event.run = run.id) FROM run
WHERE ended IS NULL AND instr(id, '.') = 0 AND seq < (
    SELECT max(seq) FROM run AS other
    WHERE other.ticket = run.ticket AND other.ended IS NULL AND instr(other.id, '.') = 0
)
"""


def order_runs(db: sqlite3.Connection) -> None:
    """
    To version 2: runs have an order that no clock and no VACUUM changes, and a ticket has one open run at most.

    Of several open runs of a ticket the newest goes on; the others read as cancelled.
    """
    run_script(db, _ORDERED_RUNS)
    for run, seconds in db.execute(_TWICE_OPEN).fetchall():
        ending = msgspec.msgpack.encode({"why": "cancelled", "by": "", "seconds": seconds})
        db.execute(
            "UPDATE run SET ended = ?, status = 'cancelled', ending = ? WHERE id = ?", (time.time(), ending, run)
        )


def add_version(db: sqlite3.Connection) -> None:
    """To version 3: a run bears the version of its table. That of an earlier one is not known."""
    db.execute("ALTER TABLE run ADD COLUMN version TEXT NOT NULL DEFAULT ''")


def add_origin(db: sqlite3.Connection) -> None:
    """To version 4: memory knows who made an answer, and when. Of older answers the run of the ticket says when."""
    if not db.execute("SELECT 1 FROM sqlite_schema WHERE name = 'remembered'").fetchone():
        return
    for column in ("origin TEXT NOT NULL DEFAULT ''", "person TEXT NOT NULL DEFAULT ''"):
        db.execute(f"ALTER TABLE remembered ADD COLUMN {column}")
    db.execute("ALTER TABLE remembered ADD COLUMN created REAL NOT NULL DEFAULT 0")
    db.execute(
        "UPDATE remembered SET created = "
        "coalesce((SELECT max(coalesce(ended, started)) FROM run WHERE run.ticket = remembered.ticket_id), 0)"
    )


def add_trace(db: sqlite3.Connection) -> None:
    """To version 5: runs can be looked for by trace, intent and duration. What earlier ones asked for is not known."""
    for column in ("trace BLOB NOT NULL DEFAULT x''", "intent TEXT NOT NULL DEFAULT ''", "seconds REAL"):
        db.execute(f"ALTER TABLE run ADD COLUMN {column}")
    db.execute("UPDATE run SET seconds = max(0.0, ended - started) WHERE ended IS NOT NULL")


def add_recordings(_: sqlite3.Connection) -> None:
    """To version 6: what runs got from outside has tables of its own, which are made with all others."""


def index_statuses(db: sqlite3.Connection) -> None:
    """To version 7: runs are looked for by any status, not only by those of runs that failed."""
    db.execute("DROP INDEX IF EXISTS run_failed")


def add_feed(_: sqlite3.Connection) -> None:
    """To version 8: the order of events of all runs has a table of its own. It begins empty: nobody listened so far."""


def add_submitters(db: sqlite3.Connection) -> None:
    """To version 9: each run says whose it is; one that goes on with answers is whose the run before it was."""
    if not db.execute("SELECT 1 FROM sqlite_schema WHERE name = 'record'").fetchone():
        return
    did: dict[str, dict[str, str]] = {"submitted": {}, "answered": {}}
    for run, body in db.execute("SELECT run, body FROM record WHERE kind = ?", (ACTION,)):
        with contextlib.suppress(msgspec.MsgspecError, TypeError):
            action = msgspec.msgpack.decode(body, type=Action)
            did.get(action.what, {})[run] = action.by
    owners: dict[str, str] = {}
    found = []
    for run, ticket in db.execute("SELECT id, ticket FROM run WHERE instr(id, '.') = 0 ORDER BY seq"):
        if run not in did["answered"]:
            owners[ticket] = did["submitted"].get(run, "")
        if owners.get(ticket):
            found.append((SUBMITTER, f"{owners[ticket]}\n{run}", run))
    db.executemany("INSERT OR REPLACE INTO record (kind, id, run, body) VALUES (?, ?, ?, x'')", found)


def add_vectors(_: sqlite3.Connection) -> None:
    """To version 10: what remembered texts mean has a table of its own. It begins empty: learning fills it."""


MIGRATIONS: tuple[Callable[[sqlite3.Connection], None], ...] = (
    order_runs, add_version, add_origin, add_trace, add_recordings, index_statuses, add_feed, add_submitters,
    add_vectors,
)  # fmt: skip
"""In order: the first leads from version 1, which had no number, to version 2."""
NEWEST = 1 + len(MIGRATIONS)
