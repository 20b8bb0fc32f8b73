"""
Tickets, runs, events and records in SQLite; and tickets as people look for them: by what they ask,
by the text in them.
"""

import contextlib
import json
import sqlite3
import time
import uuid
from collections.abc import Sequence
from typing import Any

import msgspec

from runtime.memory.ticket_text import fold
from runtime.storage.background import Then
from runtime.storage.damage import check_complete, seconds, text
from runtime.storage.errors import StorageClosed
from runtime.storage.packing import MOST_PLAIN, pack
from runtime.storage.records import (
    ACTION,
    FEED_END,
    RUN_PREFIX,
    SUBMITTER,
    Action,
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
    list_agents,
)
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
    with_those_within,
)
from runtime.tickets import Ticket, whole

BATCH = 200
"""Rows that are read at once: a ticket may have megabytes."""
MOST_LOOKED_THROUGH = 100_000
"""So many of the latest runs are searched for a text."""
MOST_DECODED = 10_000
"""So many of those that fit otherwise are looked at for an agent."""

_COLUMNS = ", ".join(f"run.{name}" for name in RUN_COLUMNS.strip().split(", "))
_OUTERMOST = OUTERMOST.replace("(id", "(run.id")
_ASKED = "coalesce(t.text, ''), coalesce(t.subject, ''), coalesce(t.requester, ''), t.created, coalesce(t.note, '')"
_FITTING = f"SELECT run.seq FROM run WHERE {_OUTERMOST} AND run.seq < ? {{}} ORDER BY run.seq DESC"
"""Asked once and read as far as needed: with a `LIMIT` for each batch, each would work the filters out again."""
_LISTED = f"""
SELECT {_COLUMNS}, {_ASKED} FROM run LEFT JOIN ticket AS t ON t.id = run.ticket
WHERE run.seq IN ({{}}) ORDER BY run.seq DESC
"""
_OF_STATUS = "AND run.status = ?"
_LATEST = f"""
AND NOT EXISTS (SELECT 1 FROM run AS later WHERE later.ticket = run.ticket AND later.seq > run.seq
AND {OUTERMOST.replace("(id", "(later.id")})
"""
_FAILED = "AND run.seq IN (SELECT seq FROM run WHERE status IN ('error', 'cancelled'))"
_OF_WORKFLOW = "AND run.workflow = ?"
_OF_SUBMITTER = f"""
AND run.seq IN (
    SELECT mine.seq FROM record AS whose JOIN run AS mine ON mine.id = whose.run
    WHERE whose.kind = '{SUBMITTER}' AND whose.id > ? || char(10) AND whose.id < ? || char(11)
)
"""
"""By their ids, which begin with who it was and a line end, that stands in nobody's name."""
_OF_INTENT = "AND run.intent != '' AND run.intent = ?"
_SINCE = "AND run.seq >= (SELECT coalesce(min(+seq), 9e18) FROM run WHERE started >= ?) AND run.started >= ?"
_SLOW = """
AND run.seq IN (
    SELECT seq FROM run WHERE seconds >= ? UNION ALL SELECT seq FROM run WHERE ended IS NULL AND +started <= ?
)
"""
"""
Each is answered by an index of its own: the inequality of an intent says that the partial one will do, and a `+` keeps
one from being used that would look through most of the table.
"""
_SENDERS = f"SELECT 1 FROM event WHERE {with_those_within('run', ':run')} AND sender = :agent LIMIT 1"
_OF_TICKET = f"SELECT {_ASKED} FROM ticket AS t WHERE id = ?"
_LATEST_OF_TICKET = f"SELECT max(seq) FROM run WHERE ticket = ? AND {OUTERMOST}"
_ACTIONS = "SELECT body FROM record WHERE kind = ? AND id > ? || '/' AND id < ? || '0' LIMIT ?"
"""By their ids, which begin with the run's and a slash: "0" follows it in every table of characters."""
MOST_ACTIONS = 1000
_INTENTS = """
WITH RECURSIVE found (intent) AS (
    SELECT min(intent) FROM run WHERE intent != ''
    UNION ALL SELECT (SELECT min(intent) FROM run WHERE intent != '' AND intent > found.intent) FROM found
    WHERE found.intent IS NOT NULL
)
SELECT intent FROM found WHERE intent IS NOT NULL
"""
"""From one to the next by their index: `DISTINCT` would look at each run, and a page asks for this."""
_IDS = f"SELECT ticket, id FROM run WHERE {OUTERMOST} ORDER BY seq DESC LIMIT ?"


class _Case(msgspec.Struct):
    """What is read of a run's beginning: also of one that this version cannot go on with."""

    text: str = ""


_NOBODY = ("", "", "", None, "")


def read_question(db: sqlite3.Connection, run: StoredRun) -> Asked:
    found = _question_of(run, db.execute(_OF_TICKET, (run.ticket,)).fetchone() or _NOBODY)
    latest = db.execute(_LATEST_OF_TICKET, (run.ticket,)).fetchone()[0]
    note = found.note if latest == run.seq else ""
    return msgspec.structs.replace(found, note=note, actions=_read_actions(db, run.id))


def _read_actions(db: sqlite3.Connection, run: str) -> tuple[Action, ...]:
    """Who did what to a run, the first first; what cannot be read hides no others."""
    actions = []
    for (body,) in db.execute(_ACTIONS, (ACTION, run, run, MOST_ACTIONS)):
        with contextlib.suppress(msgspec.MsgspecError, TypeError):
            actions.append(msgspec.msgpack.decode(body, type=Action))
    return tuple(sorted(actions, key=lambda each: each.at))


def list_runs(db: sqlite3.Connection, wanted: Wanted) -> Listed:
    where, values = _make_conditions(wanted)
    before = wanted.before or 2**63 - 1
    with contextlib.closing(db.execute(_FITTING.format(where), (before, *values))) as fitting:
        return _look_through(db, fitting, wanted, before)


def _look_through(db: sqlite3.Connection, fitting: sqlite3.Cursor, wanted: Wanted, before: int) -> Listed:
    needle, runs, looked = fold(wanted.search), list[tuple[StoredRun, Asked]](), 0
    while looked < (wanted.looks or (MOST_DECODED if wanted.agent else MOST_LOOKED_THROUGH)):
        most = BATCH if needle or wanted.agent else min(BATCH, wanted.count - len(runs))
        numbers = [number for (number,) in fitting.fetchmany(most)]
        for row in db.execute(_LISTED.format(",".join("?" * len(numbers))), numbers).fetchall():
            run = read_run(row[: -len(_NOBODY)])
            looked, before = looked + 1, run.seq
            found = _question_of(run, row[-len(_NOBODY) :])
            if _holds(run, found, needle) and (not wanted.agent or _asked_agent(db, run, wanted.agent)):
                runs.append((run, found))
                if len(runs) == wanted.count:
                    return Listed(runs, stopped=False, last=before)
        if len(numbers) < most:
            return Listed(runs, stopped=False, last=before)
    return Listed(runs, stopped=True, last=before)


def _make_conditions(wanted: Wanted) -> tuple[str, list[object]]:
    """SQL of the filters that are there, and its values."""
    given: tuple[tuple[object, str, tuple[object, ...]], ...] = (
        (wanted.status, _OF_STATUS, (wanted.status,)),
        (wanted.failed, _FAILED, ()),
        (wanted.latest, _LATEST, ()),
        (wanted.by, _OF_SUBMITTER, (wanted.by, wanted.by)),
        (wanted.workflow, _OF_WORKFLOW, (wanted.workflow,)),
        (wanted.intent, _OF_INTENT, (wanted.intent,)),
        (wanted.since, _SINCE, (wanted.since, wanted.since)),
        (wanted.slow, _SLOW, (wanted.slow, time.time() - wanted.slow)),
    )
    there = [each for each in given if each[0]]
    return " ".join(sql for _, sql, _ in there), [value for _, _, values in there for value in values]


def _asked_agent(db: sqlite3.Connection, run: StoredRun, agent: str) -> bool:
    """Whether an agent was asked in a run or within it; of one that goes on, whether it has answered."""
    try:
        if run.ending is not None:
            return agent in list_agents(run.ending)
    except msgspec.MsgspecError:
        pass  # its events tell more
    return db.execute(_SENDERS, {"run": run.id, "agent": agent}).fetchone() is not None


def latest_ids(db: sqlite3.Connection, most: int) -> list[str]:
    return [text(each) for row in db.execute(_IDS, (most,)) for each in row]


def list_intents(db: sqlite3.Connection) -> list[str]:
    return [text(each) for row in db.execute(_INTENTS) for each in row]


def _question_of(run: StoredRun, row: tuple[Any, ...]) -> Asked:
    said, about, requester, came, note = row
    question, subject = text(said), text(about)
    try:
        was = msgspec.msgpack.decode(run.initial, type=_Case).text
    except msgspec.MsgspecError:
        was = ""
    if was and was not in {question, whole(subject, question)}:
        question, subject = was, ""
    created = run.started if came is None else seconds(came)
    return Asked(question, subject, text(requester), created, text(note))


def _holds(run: StoredRun, found: Asked, needle: str) -> bool:
    if not needle:
        return True
    texts = (run.ticket, run.id, found.subject, found.requester, found.question)
    return any(needle in fold(text) for text in texts)


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
        return await self._database.read(lambda db: read_question(db, run))

    async def read_both(self, run_id: str) -> tuple[StoredRun, Asked] | None:
        def look(db: sqlite3.Connection) -> tuple[StoredRun, Asked] | None:
            return (run, read_question(db, run)) if (run := _run(db, run_id)) else None

        return await self._database.read(look)

    async def search(self, wanted: Wanted) -> Listed:
        return await self._database.read(lambda db: list_runs(db, wanted))

    async def list_intents(self) -> list[str]:
        return await self._database.read(list_intents)

    async def latest_ids(self, most: int) -> list[str]:
        return await self._database.read(lambda db: latest_ids(db, most))

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
