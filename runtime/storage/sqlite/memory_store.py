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
    resolution BLOB NOT NULL,  -- msgpack of actors.evidence.claims.Resolution
    answer BLOB NOT NULL,      -- digest of the resolution's folded text
    state TEXT NOT NULL CHECK (state IN ('unconfirmed', 'confirmed', 'rejected'))
);
CREATE INDEX IF NOT EXISTS remembered_same ON remembered (same);
CREATE INDEX IF NOT EXISTS remembered_ticket ON remembered (ticket_id);
CREATE INDEX IF NOT EXISTS remembered_state ON remembered (state, answer);
CREATE TABLE IF NOT EXISTS memory_learnt (  -- what the model file knows: one row
    only INTEGER PRIMARY KEY CHECK (only = 1),
    tickets INTEGER NOT NULL,
    judged INTEGER NOT NULL
);
"""
_INSERT = (
    "INSERT OR IGNORE INTO remembered (ticket_id, text, same, resolution, answer, state, key) "
    "VALUES (?, ?, ?, ?, ?, ?, ?)"
)
_SERVED = (
    "SELECT ticket_id, resolution, state FROM remembered WHERE {} AND state != 'rejected' AND NOT EXISTS "
    "(SELECT 1 FROM remembered AS said WHERE said.state = 'rejected' AND said.answer = remembered.answer) "
    "ORDER BY state = 'confirmed' DESC, id DESC LIMIT 1"
)
_SAME = _SERVED.format("same = ?")
_ROW = _SERVED.format("id = ? AND answer = ?")
_REJECTED = "SELECT resolution FROM remembered WHERE same = ? AND state = 'rejected' ORDER BY id DESC LIMIT ?"
_COUNTS = "SELECT (SELECT count(*) FROM remembered), (SELECT count(*) FROM remembered WHERE state != 'unconfirmed')"
_LEARNT = "SELECT tickets, judged FROM memory_learnt"
_OF_TICKET = "SELECT count(*) FROM remembered WHERE ticket_id = ?"
_JUDGED = "SELECT state FROM remembered WHERE ticket_id = ? AND state != 'unconfirmed' LIMIT 1"

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

    async def same(self, digest: bytes) -> Served | None:
        return await self._serve(_SAME, (digest,))

    async def row(self, number: int, answer: bytes) -> Served | None:
        return await self._serve(_ROW, (number, answer))

    async def wrong_answers(self, digest: bytes, most: int) -> list[bytes]:
        rows = await self._database.read(lambda db: db.execute(_REJECTED, (digest, most)).fetchall())
        return [row[0] for row in rows]

    async def remember(self, *tickets: Remembered) -> None:
        await self._database.run(*map(_insert, tickets))

    async def judge(self, ticket: str, state: str) -> int:
        (count,) = await self._database.read(lambda db: db.execute(_OF_TICKET, (ticket,)).fetchone())
        if count:
            await self._database.run(("UPDATE remembered SET state = ? WHERE ticket_id = ?", (state, ticket)))
        return int(count)

    async def judgement(self, ticket: str) -> str:
        row = await self._database.read(lambda db: db.execute(_JUDGED, (ticket,)).fetchone())
        return str(row[0]) if row else ""

    async def note_learnt(self, counts: Counts) -> None:
        await self._database.run(("INSERT OR REPLACE INTO memory_learnt VALUES (1, ?, ?)", counts))

    async def _serve(self, sql: str, parameters: Sequence[object]) -> Served | None:
        row = await self._database.read(lambda db: db.execute(sql, parameters).fetchone())
        return Served(*row) if row else None


def _count(db: sqlite3.Connection) -> Counts:
    tickets, judged = db.execute(_COUNTS).fetchone()
    return int(tickets), int(judged)


def _insert(ticket: Remembered) -> Statement:
    return _INSERT, (*ticket,)
