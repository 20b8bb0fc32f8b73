"""Tickets, runs, events and records in SQLite."""

import json
import sqlite3
import uuid
from collections.abc import Sequence
from typing import Any

import msgspec

from runtime.storage.background import Then
from runtime.storage.damage import check_complete
from runtime.storage.errors import StorageClosed
from runtime.storage.packing import MOST_PLAIN, pack
from runtime.storage.records import (
    FEED_END,
    RUN_PREFIX,
    Asked,
    FeedPlace,
    Listed,
    NewRun,
    Pulse,
    Record,
    RecordKey,
    RunEnding,
    StoredEvent,
    StoredRun,
    Wanted,
)
from runtime.storage.sqlite import listing
from runtime.storage.sqlite.database import Database, Statement
from runtime.storage.sqlite.statements import (
    CLOSE_TICKET,
    END_RUN,
    FEED_END_OF_OPEN,
    FEED_EVENT,
    FEED_START,
    INSERT_EVENT,
    INSERT_RUN,
    INSERT_TICKET,
    NEW_TICKET,
    OUTERMOST,
    RUN_COLUMNS,
    SET_INTENT,
    end_ticket,
    read_run,
)
from runtime.tickets import Ticket

AFTER_SPANS = b"\xff" * 9
"""Behind a trace's id, it comes after all ids of spans."""
KEPT_PLACES = 100_000
"""Of the feed: of some ten thousand tickets. Finding a place among them takes milliseconds."""
MOST_EVENTS = 2**31
"""More than any run has."""
_EVENTS = "SELECT n, at, sender, number, event FROM event WHERE run = ? AND n <= ? ORDER BY n"
_RELEASE = "UPDATE run SET owner = '' WHERE owner = ? AND ended IS NULL AND id NOT IN (SELECT value FROM json_each(?))"
_CLAIM = "UPDATE run SET owner = ? WHERE id = ? AND owner = ? AND ended IS NULL"
_CANCEL_REQUESTS = "SELECT id, cancel FROM run WHERE owner = ? AND ended IS NULL AND cancel > 0"
_OPEN = f"SELECT owner, count(*) FROM run WHERE ended IS NULL AND {OUTERMOST} GROUP BY owner"
_FEED = (
    "SELECT feed.seq, run.id, feed.n FROM feed JOIN run ON run.seq = feed.run WHERE feed.seq > ? "
    "ORDER BY feed.seq LIMIT ?"
)
_FEED_PLACE = "SELECT max(feed.seq) FROM feed WHERE run = (SELECT seq FROM run WHERE id = ?) AND n = ?"
_TRIM_FEED = f"DELETE FROM feed WHERE seq <= (SELECT max(seq) FROM feed) - {KEPT_PLACES}"
_RECORDS = "SELECT kind, id, body, run FROM record WHERE kind = ? AND id > ? ORDER BY id LIMIT ?"
_RECORDS_OF_RUN = _RECORDS.replace("WHERE", "WHERE run = ? AND run != '' AND")
_RECORDS_OF_RUNS = """
SELECT kind, id, body, run FROM record
WHERE run IN (SELECT value FROM json_each(?)) AND run != '' AND kind IN (SELECT value FROM json_each(?))
"""
"""The index of runs has no empty ones, and serves only what says so."""


class SqliteRuns:
    """The port `RunStore`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def accept(
        self, run: NewRun, ticket: Ticket | None = None, *, seen: int | None = None, new: bool = False,
        besides: Sequence[Record] = (),
    ) -> None:  # fmt: skip
        written: list[Statement] = []
        if ticket is not None:
            row = (ticket.id, ticket.subject, ticket.text, ticket.requester, run.started)
            written.append((NEW_TICKET if new else INSERT_TICKET, row))
        begun = (
            run.id, run.ticket, run.workflow, run.initial, run.started, run.boot, run.uptime, run.owner, run.version,
            bytes.fromhex(run.trace), seen,
        )  # fmt: skip
        fed: tuple[Statement, ...] = () if ticket is None else ((FEED_START, ()),)
        await self._database.run(*written, (INSERT_RUN, begun), *fed, *map(_put, besides))

    def record(
        self, run: str, event: StoredEvent, then: Then, besides: Sequence[Record] = (), intent: str = ""
    ) -> None:
        found = ((SET_INTENT, (intent, run)),) if intent else ()
        self._database.write((*_insert(run, event), *found, *map(_replace, besides)), then)

    def finish(self, event: StoredEvent, ending: RunEnding, then: Then, besides: Sequence[Record] = ()) -> None:
        last = _insert(ending.run, event)
        self._database.write(
            (*last, *_feed_end(ending), _end(ending, " AND ended IS NULL"), *end_ticket(ending),
             *map(_replace, besides)), then,
        )  # fmt: skip

    def overrule(self, ending: RunEnding, events: int, then: Then, besides: Sequence[Record] = ()) -> None:
        later = ("DELETE FROM event WHERE run = ? AND n > ?", (ending.run, events))
        ended = (*_feed_end(ending), _end(ending), *end_ticket(ending))
        self._database.write((later, *ended, *map(_replace, besides)), then)

    def close_ticket(self, run: str, key: str, ticket: str, status: str, note: str) -> None:
        """The writer logs nothing here: an error of the same disk reaches the run with its next event."""
        closed = (CLOSE_TICKET, (status, note, key, ticket, key, run))
        self._database.write((closed,), lambda _: None, lazily=True)

    async def find(self, some_id: str) -> StoredRun | None:
        if some_id.startswith(RUN_PREFIX):
            return await self.run(some_id.removeprefix(RUN_PREFIX))
        return await self._database.read(lambda db: _latest_of(db, some_id) or _run(db, some_id))

    async def find_trace(self, trace: str) -> StoredRun | None:
        first = bytes.fromhex(trace)
        return next(
            iter(await self._runs("trace >= ? AND trace < ? ORDER BY seq DESC", first, first + AFTER_SPANS)), None
        )

    async def run(self, run_id: str) -> StoredRun | None:
        return await self._database.read(lambda db: _run(db, run_id))

    async def latest_of(self, ticket: str) -> StoredRun | None:
        return await self._database.read(lambda db: _latest_of(db, ticket))

    async def latest(self, count: int) -> list[StoredRun]:
        return await self._runs(f"{OUTERMOST} ORDER BY seq DESC LIMIT ?", count)

    async def list_open(self, ticket: str = "") -> list[StoredRun]:
        of = f"ended IS NULL AND {OUTERMOST}"
        if ticket:
            return await self._runs(f"ticket = ? AND {of}", ticket)
        return await self._runs(f"{of} ORDER BY seq")

    async def within(self, run: str) -> list[StoredRun]:
        # "/" follows "." in every table of characters, so that only ids which begin with the run's are looked at
        return await self._runs("id > ? AND id < ?", f"{run}.", f"{run}/")

    async def events(self, run: str, most: int | None = None) -> list[StoredEvent]:
        rows = await self._database.read(
            lambda db: db.execute(_EVENTS, (run, MOST_EVENTS if most is None else most)).fetchall()
        )
        check_complete([row[0] for row in rows], run)
        return [StoredEvent(*row) for row in rows]

    async def feed(self, after: int, most: int) -> list[FeedPlace]:
        rows = await self._database.read(lambda db: db.execute(_FEED, (after, most)).fetchall())
        return [FeedPlace(*row) for row in rows]

    async def feed_end(self) -> int:
        return await self._database.read(lambda db: int(db.execute("SELECT max(seq) FROM feed").fetchone()[0] or 0))

    async def feed_place(self, run: str, n: int) -> int | None:
        found = await self._database.read(lambda db: db.execute(_FEED_PLACE, (run, n)).fetchone()[0])
        return None if found is None else int(found)

    async def trim_feed(self) -> None:
        await self._database.run((_TRIM_FEED, ()))

    async def claim(self, run: StoredRun, owner: str) -> bool:
        await self._database.run((_CLAIM, (owner, run.id, run.owner)))
        claimed = await self.run(run.id)
        return claimed is not None and claimed.owner == owner

    async def release(self, owner: str, but: Sequence[str] = ()) -> None:
        await self._database.run((_RELEASE, (owner, msgspec.json.encode(but).decode())))

    async def ask_to_cancel(self, run: str) -> None:
        await self._database.run(("UPDATE run SET cancel = cancel + 1 WHERE id = ? AND ended IS NULL", (run,)))

    async def cancel_requests(self, owner: str) -> dict[str, int]:
        return await self._database.read(lambda db: dict(db.execute(_CANCEL_REQUESTS, (owner,)).fetchall()))

    async def open_runs(self) -> dict[str, int]:
        return await self._database.read(lambda db: {str(who): int(n) for who, n in db.execute(_OPEN)})

    async def read_question(self, run: StoredRun) -> Asked:
        return await self._database.read(lambda db: listing.read_question(db, run))

    async def read_both(self, run_id: str) -> tuple[StoredRun, Asked] | None:
        def look(db: sqlite3.Connection) -> tuple[StoredRun, Asked] | None:
            return (run, listing.read_question(db, run)) if (run := _run(db, run_id)) else None

        return await self._database.read(look)

    async def search(self, wanted: Wanted) -> Listed:
        return await self._database.read(lambda db: listing.list_runs(db, wanted))

    async def list_intents(self) -> list[str]:
        return await self._database.read(listing.list_intents)

    async def latest_ids(self, most: int) -> list[str]:
        return await self._database.read(lambda db: listing.latest_ids(db, most))

    async def put(self, *records: Record, remove: Sequence[RecordKey] = ()) -> None:
        removed = (("DELETE FROM record WHERE kind = ? AND id = ?", key) for key in remove)
        await self._database.run(*removed, *map(_put, records))

    async def records(self, kind: str, *, run: str = "", after: str = "", most: int = 100) -> list[Record]:
        wanted = (_RECORDS_OF_RUN, (run, kind, after, most)) if run else (_RECORDS, (kind, after, most))
        rows = await self._database.read(lambda db: db.execute(*wanted).fetchall())
        return [Record(kind=kind, id=id_, body=body, run=of) for kind, id_, body, of in rows]

    async def records_of(self, runs: Sequence[str], *kinds: str) -> list[Record]:
        wanted = json.dumps(runs), json.dumps(kinds)
        rows = await self._database.read(lambda db: db.execute(_RECORDS_OF_RUNS, wanted).fetchall())
        return [Record(kind=kind, id=id_, body=body, run=of) for kind, id_, body, of in rows]

    def pulse(self) -> Pulse:
        return self._database.pulse()

    def try_to_write(self) -> None:
        probe = ("", "probe", uuid.uuid4().hex, b"\0")
        put, gone = "INSERT INTO effect VALUES (?, ?, ?, ?)", "DELETE FROM effect WHERE run = ''"
        try:
            self._database.write(((put, probe), (gone, ())), lambda _: None)
        except StorageClosed:
            return

    async def _runs(self, where: str, *parameters: object) -> list[StoredRun]:
        return await self._database.read(lambda db: _select(db, where, *parameters))


def _select(db: sqlite3.Connection, where: str, *parameters: object) -> list[StoredRun]:
    return [read_run(row) for row in db.execute(f"SELECT {RUN_COLUMNS} FROM run WHERE {where}", parameters)]


def _run(db: sqlite3.Connection, run_id: str) -> StoredRun | None:
    return next(iter(_select(db, "id = ?", run_id)), None)


def _latest_of(db: sqlite3.Connection, ticket: str) -> StoredRun | None:
    return next(iter(_select(db, f"ticket = ? AND {OUTERMOST} ORDER BY seq DESC LIMIT 1", ticket)), None)


class _Packed:
    """
    A body that is packed when SQLite asks for its value: by the thread that writes.

    On the loop a ticket of `bench.durable` took a quarter more CPU with 64 at once: zlib lets other threads in.
    """

    __slots__ = ("_body",)

    def __init__(self, body: bytes) -> None:
        self._body = body

    def __conform__(self, _: object) -> bytes:
        return pack(self._body)


def pack_later(body: bytes) -> bytes | _Packed:
    return body if len(body) <= MOST_PLAIN else _Packed(body)


def _insert(run: str, event: StoredEvent) -> tuple[Statement, ...]:
    row = INSERT_EVENT, (run, event.n, event.at, event.sender, event.number, pack_later(event.body))
    return (row,) if "." in run else (row, (FEED_EVENT, (run, event.n)))


def _feed_end(ending: RunEnding) -> tuple[Statement, ...]:
    return () if "." in ending.run else ((FEED_END_OF_OPEN, (ending.run, FEED_END)),)


def _end(ending: RunEnding, where: str = "") -> Statement:
    return END_RUN + where, (ending.at, ending.status, pack_later(ending.outcome), ending.seconds, ending.run)


def _put(record: Record) -> Statement:
    return _replace(record) if record.replaces else _write("INSERT", record)


def _replace(record: Record) -> Statement:
    return _write("INSERT OR REPLACE", record)


def _write(verb: str, record: Record) -> tuple[str, tuple[Any, ...]]:
    body = pack_later(record.body) if record.packed else record.body
    return f"{verb} INTO record VALUES (?, ?, ?, ?)", (record.kind, record.id, record.run, body)
