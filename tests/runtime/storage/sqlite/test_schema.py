"""Versions of the database: what an earlier one wrote can be read, whoever opens it first and however many at once."""

import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest

from actors.helpdesk.workflow import HELPDESK, TicketCase
from actors.workflow.outcome import EndReason
from actors.workflow.tables import TimeUp
from runtime.engine.actions import find_owners
from runtime.processes.pool import ROOT
from runtime.storage.errors import Conflict, StorageError
from runtime.storage.journal import RunJournal
from runtime.storage.records import Action, Wanted
from runtime.storage.sqlite.database import Database
from runtime.storage.sqlite.memory_store import SqliteMemory
from runtime.storage.sqlite.run_store import SqliteRuns
from runtime.storage.sqlite.schema import MIGRATIONS, NEWEST, DatabaseTooNew, migrate
from runtime.times import iso
from tests.runtime.storage.kit import database_of, open_journal

VERSION_1 = """
CREATE TABLE IF NOT EXISTS ticket (
    id TEXT PRIMARY KEY, subject TEXT NOT NULL, text TEXT NOT NULL, requester TEXT NOT NULL,
    status TEXT NOT NULL, note TEXT NOT NULL DEFAULT '', closed_by TEXT NOT NULL DEFAULT '', created REAL NOT NULL
);
CREATE TABLE IF NOT EXISTS run (
    id TEXT PRIMARY KEY, ticket TEXT NOT NULL, workflow TEXT NOT NULL, initial BLOB NOT NULL, started REAL NOT NULL,
    owner TEXT NOT NULL, cancel INTEGER NOT NULL DEFAULT 0, ended REAL, status TEXT NOT NULL DEFAULT 'running',
    ending BLOB
);
CREATE INDEX IF NOT EXISTS run_of_ticket ON run (ticket, started);
CREATE INDEX IF NOT EXISTS run_open ON run (owner) WHERE ended IS NULL;
CREATE TABLE IF NOT EXISTS event (
    run TEXT NOT NULL, n INTEGER NOT NULL, at REAL NOT NULL, sender TEXT NOT NULL, number INTEGER NOT NULL,
    event BLOB NOT NULL, PRIMARY KEY (run, n)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS remembered (
    id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, ticket_id TEXT NOT NULL, text TEXT NOT NULL, same BLOB NOT NULL,
    resolution BLOB NOT NULL, answer BLOB NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('unconfirmed', 'confirmed', 'rejected'))
);
CREATE TABLE IF NOT EXISTS effect (
    run TEXT NOT NULL, kind TEXT NOT NULL, key TEXT NOT NULL, value BLOB NOT NULL, PRIMARY KEY (run, kind, key)
) WITHOUT ROWID;
"""
"""As version 1 made it; it is never changed."""
ENDED = msgspec.msgpack.encode({"why": "timed_out", "by": "", "seconds": 600.5, "refused": 2})
RUNS = [
    ("R-1", "T-1", 100.0, 700.0, "error", ENDED),
    ("R-2", "T-2", 200.0, None, "running", None),
    ("R-2.5", "R-2.5", 210.0, None, "running", None),
    ("R-3", "T-1", 300.0, None, "running", None),
    ("R-4", "T-2", 400.0, None, "running", None),
    ("R-5", "T-2", 500.0, None, "running", None),
]
"""id, ticket, started, ended, status, ending. T-2 was begun three times, as two processes at once could."""


def write_version_1(path: Path) -> None:
    """A database of version 1 with tickets, runs, events and effects."""
    db = sqlite3.connect(path)
    db.executescript(VERSION_1)
    for ticket in ("T-1", "T-2"):
        came_in = (ticket, "VPN", f"The text of {ticket}", "ann@example.org", 50.0)
        columns = "id, subject, text, requester, created, status"
        db.execute(f"INSERT INTO ticket ({columns}) VALUES (?, ?, ?, ?, ?, 'open')", came_in)
    for run, ticket, started, ended, status, ending in RUNS:
        case = msgspec.msgpack.encode(TicketCase(ticket_id=ticket, text=f"The text of {ticket}"))
        row = (run, ticket, "helpdesk", case, started, "somebody", ended, status, ending)
        columns = "id, ticket, workflow, initial, started, owner, ended, status, ending"
        db.execute(f"INSERT INTO run ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
        db.execute("INSERT INTO event VALUES (?, 1, 20.5, '', 0, ?)", (run, msgspec.msgpack.encode(TimeUp())))
    db.execute("INSERT INTO effect VALUES ('R-2', 'page', 'a', x'01')")
    db.commit()
    db.close()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    write_version_1(tmp_path / "terminus.db")
    return tmp_path / "terminus.db"


@pytest.fixture
async def journal(path: Path) -> AsyncIterator[RunJournal]:
    journal = open_journal(path, {HELPDESK.name: HELPDESK})
    yield journal
    database_of(journal).close()


async def test_a_database_of_version_1_is_readable_in_its_order(journal: RunJournal) -> None:
    assert [run.id for run in await journal.latest(10)] == ["R-5", "R-4", "R-3", "R-2", "R-1"]
    assert [run.id for run in await journal.list_open()] == ["R-3", "R-5"]
    ended = await journal.outcome(await journal.find("R-1"))
    assert ended is not None
    assert (ended.why, ended.seconds, ended.refused, ended.ticket) == (EndReason.TIMED_OUT, 600.5, 2, "T-1")
    assert [entry.event for entry in await journal.entries(await journal.find("R-3"))] == [TimeUp()]
    assert (await journal.find("R-3")).started == 300.0
    columns = database_of(journal).rows("SELECT subject, text, requester FROM ticket WHERE id = 'T-2'")
    assert columns == [("VPN", "The text of T-2", "ann@example.org")]
    assert database_of(journal).rows("SELECT * FROM effect") == [("R-2", "page", "a", b"\1")]


async def test_what_memory_held_before_it_knew_origins_is_dated_by_the_run_and_served(path: Path) -> None:
    db = sqlite3.connect(path)
    columns = "key, ticket_id, text, same, resolution, answer, state"
    for ticket in ("T-1", "T-9"):
        row = (f"k{ticket}", ticket, "VPN", ticket.encode(), b"\x90", b"a", "confirmed")
        db.execute(f"INSERT INTO remembered ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?)", row)
    db.commit()
    db.close()

    database = database_of(open_journal(path, {}))
    memory = SqliteMemory(database)
    served = [(await memory.same(ticket, 1))[0] for ticket in (b"T-1", b"T-9")]
    database.close()

    assert [(each.origin, each.person, each.created) for each in served] == [("", "", 700.0), ("", "", 0.0)]


async def test_of_several_open_runs_of_a_ticket_the_newest_goes_on(journal: RunJournal) -> None:
    assert (await journal.find("T-2")).id == "R-5"
    for twice in ("R-2", "R-4"):
        outcome = await journal.outcome(await journal.find(twice))
        assert outcome is not None
        assert (outcome.status, outcome.detail, outcome.seconds) == ("cancelled", "It was cancelled.", 20.5)
    assert (await journal.find("R-2.5")).ended is None, "a run within a run has its parent's end"


async def test_a_ticket_has_one_open_run(journal: RunJournal) -> None:
    insert = "INSERT INTO run (id, ticket, workflow, initial, started, owner) VALUES (?, 'T-1', '', '', 0, '')"
    with pytest.raises(Conflict, match="UNIQUE"):
        await database_of(journal).run((insert, ("R-9",)))
    await database_of(journal).run((insert, ("R-3.1",)))


async def test_an_empty_database_gets_the_newest_version_at_once(tmp_path: Path, path: Path) -> None:
    fresh, old = sqlite3.connect(tmp_path / "fresh.db"), sqlite3.connect(path)
    for db in (fresh, old):
        migrate(db)
        migrate(db)

    sql = "SELECT type, name, tbl_name FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%' ORDER BY name"
    assert fresh.execute(sql).fetchall() == old.execute(sql).fetchall()
    assert [db.execute("PRAGMA user_version").fetchone() for db in (fresh, old)] == [(NEWEST,)] * 2
    columns = [
        db.execute("SELECT name, type, dflt_value FROM pragma_table_info('run')").fetchall() for db in (fresh, old)
    ]
    assert columns[0] == columns[1]
    fresh.close()
    old.close()


async def test_a_database_of_a_newer_version_is_refused_and_left_alone(path: Path) -> None:
    db = sqlite3.connect(path)
    db.execute(f"PRAGMA user_version = {NEWEST + 1}")
    db.close()

    with pytest.raises(DatabaseTooNew, match=f"version {NEWEST + 1}.* use the version of Terminus that wrote it"):
        Database(path, migrate=migrate)

    db = sqlite3.connect(path)
    assert db.execute("SELECT count(*) FROM run WHERE ended IS NULL").fetchone() == (5,)
    db.close()


async def test_a_migration_that_fails_leaves_everything_as_it_was(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(db: sqlite3.Connection) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr("runtime.storage.sqlite.schema.MIGRATIONS", (*MIGRATIONS, fails))
    with pytest.raises(StorageError, match="full"):
        Database(path, migrate=migrate)
    monkeypatch.undo()

    db = sqlite3.connect(path)
    assert db.execute("PRAGMA user_version").fetchone() == (0,)
    assert db.execute("SELECT count(*) FROM run WHERE ended IS NULL").fetchone() == (5,)
    migrate(db)
    assert db.execute("SELECT count(*) FROM run WHERE ended IS NULL").fetchone() == (3,)
    db.close()


async def test_whose_a_run_is_is_known_of_what_version_8_wrote(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    db = sqlite3.connect(path)
    migrate(db)
    db.execute("DELETE FROM record")
    runs = {
        "R-1": ("T-1", "submitted", "token:ann"), "R-2": ("T-2", "submitted", "user:a/submitted/b"),
        "R-3": ("T-1", "answered", "token:desk"), "R-4": ("T-1", "submitted", "token:bob"),
        "R-5": ("T-3", "answered", "token:desk"), "R-6": ("T-2", "resumed", "token:desk"),
    }  # fmt: skip
    for run, (ticket, what, by) in runs.items():
        columns = "id, ticket, workflow, initial, started, owner, ended"
        db.execute(f"INSERT INTO run ({columns}) VALUES (?, ?, 'helpdesk', x'', 1, '', 2)", (run, ticket))
        body = msgspec.msgpack.encode(Action(what, by, iso(1.0)))
        db.execute("INSERT INTO record VALUES ('action', ?, ?, ?)", (f"{run}/{what}/{by}", run, body))
    db.execute("INSERT INTO record VALUES ('action', 'R-1/x', 'R-1', x'c1')")
    db.execute("PRAGMA user_version = 8")
    db.commit()
    db.close()

    database = Database(path, migrate=migrate)
    owners = await find_owners(SqliteRuns(database), *runs)
    listed = await SqliteRuns(database).search(Wanted(by="token:ann"))
    database.close()

    assert owners == {
        "R-1": {"token:ann"}, "R-2": {"user:a/submitted/b"}, "R-3": {"token:ann"}, "R-4": {"token:bob"}, "R-5": set(),
        "R-6": set(),
    }  # fmt: skip
    assert [run.id for run, _ in listed.runs] == ["R-3", "R-1"]


OPENS = """
import asyncio, sys
from runtime.storage.sqlite.database import Database
from runtime.storage.sqlite.schema import migrate
async def main():
    print("ready", flush=True)
    sys.stdin.readline()
    Database(sys.argv[1], migrate=migrate).close()
asyncio.run(main())
"""


@pytest.mark.parametrize("old", [True, False], ids=["version 1", "a new one"])
def test_processes_that_open_it_at_once_migrate_it_once(path: Path, *, old: bool) -> None:
    if not old:
        path.unlink()
    command = [sys.executable, "-c", OPENS, str(path)]  # this very program
    processes = [
        subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)  # noqa: S603
        for _ in range(4)
    ]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()

    for process in processes:
        process.communicate(timeout=60)
    assert [process.returncode for process in processes] == [0] * 4

    db = sqlite3.connect(path)
    assert db.execute("PRAGMA user_version").fetchone() == (NEWEST,)
    assert db.execute("SELECT count(*) FROM run").fetchone() == (len(RUNS) if old else 0,)
    db.close()
