"""One file, one writer: durable in the order of the calls, all or none, and nobody's fault is another's."""

import asyncio
import sqlite3
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from runtime.storage.errors import Conflict, StorageClosed
from runtime.storage.sqlite import database as module
from runtime.storage.sqlite.database import Database
from runtime.storage.sqlite.process_lock import ProcessLock
from tests.patience import HANGS_SECONDS

SCHEMA = "CREATE TABLE IF NOT EXISTS word (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE)"
INSERT = "INSERT INTO word (text) VALUES (?)"


@pytest.fixture
async def database(tmp_path: Path) -> Any:
    opened = Database(tmp_path / "some.db", SCHEMA)
    yield opened
    opened.close()


def words(database: Database) -> list[str]:
    return [text for (text,) in database.rows("SELECT text FROM word ORDER BY id")]


async def test_what_returned_is_durable_for_any_other_reader(database: Database, tmp_path: Path) -> None:
    await database.run((INSERT, ("one",)))

    other = sqlite3.connect(tmp_path / "some.db")
    assert other.execute("SELECT text FROM word").fetchall() == [("one",)]
    assert other.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    other.close()
    assert database._writing.execute("PRAGMA synchronous").fetchone() == (2,), "FULL"


async def test_a_busy_loop_does_not_keep_many_rows_from_being_committed(database: Database) -> None:
    slow = "INSERT INTO word (text) VALUES (hex(randomblob(10000)))"
    database.write([(slow, ())] * 400, lambda _: None)
    begin, commits = time.monotonic(), database.commits

    while database.commits == commits and time.monotonic() - begin < HANGS_SECONDS:
        sum(range(100))

    assert time.monotonic() - begin < 2.5, "with 5 ms a row it takes 5 s and more"


async def test_statements_of_one_call_are_all_or_none(database: Database) -> None:
    with pytest.raises(Conflict):
        await database.run((INSERT, ("one",)), (INSERT, ("two",)), (INSERT, ("one",)))

    assert words(database) == []


async def test_waiting_calls_are_committed_together_in_their_order(database: Database) -> None:
    loop, told = asyncio.get_running_loop(), []
    done = loop.create_future()
    gate = threading.Event()
    database.write((("SELECT 1", ()),), lambda _: None)
    commit = database._commit

    def waits(batch: Any) -> Any:
        gate.wait(10)
        return commit(batch)

    database._commit = waits  # type: ignore[method-assign]
    before = database.commits
    for n in range(50):
        database.write(((INSERT, (f"word {n}",)),), lambda error, n=n: told.append((n, error)))  # type: ignore[misc]
    database.write((), done.set_result)
    gate.set()
    await done

    assert told == [(n, None) for n in range(50)]
    assert words(database) == [f"word {n}" for n in range(50)]
    assert database.commits - before <= 3


BAD: dict[str, Any] = {
    "a duplicate": "taken", "no text": None, "a lone surrogate": "\ud800", "a number too large": 2**70,
    "what no database knows": object(),
}  # fmt: skip


@pytest.mark.parametrize("fault", BAD)
async def test_a_bad_statement_harms_only_its_own_call(database: Database, fault: str) -> None:
    await database.run((INSERT, ("taken",)))
    calls = [database.run((INSERT, (text,))) for text in ("a", BAD[fault], "b")]

    first, bad, second = await asyncio.gather(*calls, return_exceptions=True)
    await database.run((INSERT, ("c",)))

    assert (first, second) == (None, None)
    assert isinstance(bad, Exception)
    assert words(database) == ["taken", "a", "b", "c"]


async def test_who_fails_at_hearing_of_it_keeps_it_from_nobody(database: Database) -> None:
    def fails(error: Exception | None) -> None:
        raise LookupError

    database.write(((INSERT, ("one",)),), fails)
    await database.run((INSERT, ("two",)))

    assert words(database) == ["one", "two"]


async def test_who_gives_up_waiting_harms_nobody(database: Database) -> None:
    waiting = asyncio.ensure_future(database.run((INSERT, ("one",))))
    await asyncio.sleep(0)
    waiting.cancel()

    await database.run((INSERT, ("two",)))

    assert words(database) == ["one", "two"]


async def test_closing_commits_what_waits(tmp_path: Path) -> None:
    database = Database(tmp_path / "some.db", SCHEMA)
    for n in range(20):
        database.write(((INSERT, (str(n),)),), lambda _: None)
    database.close()

    with pytest.raises(StorageClosed):
        database.write((), lambda _: None)
    again = Database(tmp_path / "some.db", SCHEMA)
    assert len(words(again)) == 20
    again.close()


async def test_closing_is_bounded_when_the_disk_hangs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CLOSING_SECONDS", 0.01)
    database, gate = Database(tmp_path / "some.db", SCHEMA), threading.Event()
    database._commit = lambda _: gate.wait(10) and []  # type: ignore[method-assign,assignment,return-value]
    database.write((), lambda _: None)

    database.close()

    assert database._writer.is_alive()
    gate.set()
    database._writer.join(HANGS_SECONDS)
    database._writing.close()


@pytest.fixture
def owners(tmp_path: Path) -> Iterator[tuple[ProcessLock, ProcessLock]]:
    first, second = ProcessLock(tmp_path), ProcessLock(tmp_path)
    yield first, second
    first.close()
    second.close()


def test_owners_see_who_lives(owners: tuple[ProcessLock, ProcessLock], tmp_path: Path) -> None:
    first, second = owners

    assert first.token != second.token
    assert first.is_alive(first.token)
    assert first.is_alive(second.token)
    assert not first.is_alive("nobody")
    third = ProcessLock(tmp_path)
    third.close()
    assert not first.is_alive(third.token)
