"""What memory keeps of solved tickets, in SQLite: rows with their digests, and what people said of them."""

import sqlite3
from collections.abc import Sequence
from pathlib import Path

from runtime.storage.records import Remembered, Served
from runtime.storage.sqlite.database import Database, Statement

SCHEMA = """
CREATE TABLE IF NOT EXISTS remembered (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    ticket_id TEXT NOT NULL,
    text TEXT NOT NULL,
    same BLOB NOT NULL,        -- digest of the ticket's folded text
    resolution BLOB NOT NULL,  -- msgpack of runtime.memory.staleness.KeptAnswer
    answer BLOB NOT NULL,      -- digest of the resolution's folded text
    state TEXT NOT NULL CHECK (state IN ('unconfirmed', 'confirmed', 'rejected')),
    origin TEXT NOT NULL DEFAULT '',  -- who made the answer: 'rules', 'model', 'person' or 'places'; '': not known
    person TEXT NOT NULL DEFAULT '',  -- who gave the answer, where that is known
    created REAL NOT NULL DEFAULT 0   -- when the answer was made, in seconds since 1970; 0: not known
);
CREATE INDEX IF NOT EXISTS remembered_same ON remembered (same);
CREATE INDEX IF NOT EXISTS remembered_ticket ON remembered (ticket_id);
CREATE INDEX IF NOT EXISTS remembered_state ON remembered (state, answer);
CREATE TABLE IF NOT EXISTS remembered_vector (  -- what a text means, by its digest
    same BLOB PRIMARY KEY,
    embedder TEXT NOT NULL,    -- what made it
    vector BLOB NOT NULL       -- as runtime.embeddings.embedder.Embedder makes them
) WITHOUT ROWID;
CREATE TRIGGER IF NOT EXISTS remembered_forgotten AFTER DELETE ON remembered BEGIN
    DELETE FROM remembered_vector
    WHERE same = old.same AND NOT EXISTS (SELECT 1 FROM remembered WHERE same = old.same);
END;
CREATE TABLE IF NOT EXISTS memory_learnt (  -- what the model file knows: one row
    only INTEGER PRIMARY KEY CHECK (only = 1),
    tickets INTEGER NOT NULL,
    judged INTEGER NOT NULL
);
"""
_INSERT = (
    "INSERT OR IGNORE INTO remembered (ticket_id, text, same, resolution, answer, state, key, origin, person, created) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_SERVED = (
    "SELECT ticket_id, resolution, state, origin, person, created, text FROM remembered "
    "WHERE {} AND state != 'rejected' AND (origin = 'person' OR NOT EXISTS "
    "(SELECT 1 FROM remembered AS said WHERE said.state = 'rejected' AND said.answer = remembered.answer)) "
    "ORDER BY state = 'confirmed' DESC, id DESC LIMIT ?"
)
_SAME = _SERVED.format("same = ?")
_ROW = _SERVED.format("id = ? AND answer = ?")
_REPLACEABLE = "SELECT max(id) FROM remembered WHERE ticket_id = ? AND same = ? AND (state != 'rejected' OR answer = ?)"
_REPLACE = (
    "UPDATE remembered SET resolution = ?, answer = ?, state = ?, origin = ?, person = ?, created = ? WHERE id = ?"
)
_FROM_PERSON_ON = (
    "ticket_id = ? AND id >= (SELECT coalesce(max(id), 0) FROM remembered WHERE ticket_id = ? AND origin = 'person')"
)
_JUDGE = f"UPDATE remembered SET state = ? WHERE {_FROM_PERSON_ON}"
_UNJUDGED = "FROM remembered WHERE ticket_id = ? AND state = 'unconfirmed'"
_REJECTED = "SELECT resolution FROM remembered WHERE same = ? AND state = 'rejected' ORDER BY id DESC LIMIT ?"
_COUNTS = "SELECT (SELECT count(*) FROM remembered), (SELECT count(*) FROM remembered WHERE state != 'unconfirmed')"
_LEARNT = "SELECT tickets, judged FROM memory_learnt"
_LACKING = (
    "SELECT same, max(text) FROM remembered WHERE same > ? AND NOT EXISTS (SELECT 1 FROM remembered_vector AS known "
    "WHERE known.same = remembered.same AND known.embedder = ?) GROUP BY same ORDER BY same LIMIT ?"
)
_KEEP = (  # of a text that was purged meanwhile nothing is kept
    "INSERT OR REPLACE INTO remembered_vector SELECT ?1, ?2, ?3 WHERE EXISTS (SELECT 1 FROM remembered WHERE same = ?1)"
)
_OF_TICKET = f"SELECT count(*) FROM remembered WHERE {_FROM_PERSON_ON}"
_JUDGED = (
    "SELECT state, iif(origin IN ('person', 'places'), answer, x''), origin FROM remembered "
    "WHERE ticket_id = ? AND state != 'unconfirmed' ORDER BY id DESC LIMIT 1"
)

Counts = tuple[int, int]
"""Tickets that are remembered, and those that people have judged."""


class SqliteMemory:
    """The port `MemoryStore`."""

    def __init__(self, database: Database) -> None:
        """Blocks: it is opened with the process."""
        self._database = database
        self.path = Path(database.rows("PRAGMA database_list")[0][2])
        self.counts_at_start: Counts = database.read_now(_count)
        self.learnt: Counts | None = next(iter(database.rows(_LEARNT)), None)

    async def counts(self) -> Counts:
        return await self._database.read(_count)

    async def same(self, digest: bytes, most: int) -> list[Served]:
        return await self._serve(_SAME, (digest, most))

    async def row(self, number: int, answer: bytes) -> Served | None:
        return next(iter(await self._serve(_ROW, (number, answer, 1))), None)

    async def wrong_answers(self, digest: bytes, most: int) -> list[bytes]:
        rows = await self._database.read(lambda db: db.execute(_REJECTED, (digest, most)).fetchall())
        return [row[0] for row in rows]

    async def remember(self, *tickets: Remembered) -> None:
        await self._database.run(*map(_insert, tickets))

    async def teach(self, ticket: Remembered) -> None:
        place = (ticket.ticket, ticket.same, ticket.answer)
        (row,) = await self._database.read(lambda db: db.execute(_REPLACEABLE, place).fetchone())
        if row is None:
            await self._database.run(_insert(ticket))
            return
        values = (ticket.resolution, ticket.answer, ticket.state, ticket.origin, ticket.person, ticket.created, row)
        await self._database.run((_REPLACE, values))

    async def judge(self, ticket: str, state: str) -> int:
        (count,) = await self._database.read(lambda db: db.execute(_OF_TICKET, (ticket, ticket)).fetchone())
        if count:
            await self._database.run((_JUDGE, (state, ticket, ticket)))
        return int(count)

    async def forget_unjudged(self, ticket: str) -> int:
        counted, deleted = f"SELECT count(*) {_UNJUDGED}", f"DELETE {_UNJUDGED}"
        (count,) = await self._database.read(lambda db: db.execute(counted, (ticket,)).fetchone())
        if count:
            await self._database.run((deleted, (ticket,)))
        return int(count)

    async def judgement(self, ticket: str) -> tuple[str, bytes, str] | None:
        row = await self._database.read(lambda db: db.execute(_JUDGED, (ticket,)).fetchone())
        return (row[0], row[1], row[2]) if row else None

    async def lacking_vectors(self, embedder: str, after: bytes, most: int) -> list[tuple[bytes, str]]:
        return await self._database.read(lambda db: db.execute(_LACKING, (after, embedder, most)).fetchall())

    async def keep_vectors(self, embedder: str, vectors: Sequence[tuple[bytes, bytes]]) -> None:
        await self._database.run(*((_KEEP, (same, embedder, vector)) for same, vector in vectors))

    async def note_learnt(self, counts: Counts) -> None:
        await self._database.run(("INSERT OR REPLACE INTO memory_learnt VALUES (1, ?, ?)", counts))

    async def _serve(self, sql: str, parameters: Sequence[object]) -> list[Served]:
        rows = await self._database.read(lambda db: db.execute(sql, parameters).fetchall())
        return [Served(*row) for row in rows]


def _count(db: sqlite3.Connection) -> Counts:
    tickets, judged = db.execute(_COUNTS).fetchone()
    return int(tickets), int(judged)


def _insert(ticket: Remembered) -> Statement:
    return _INSERT, (*ticket,)
