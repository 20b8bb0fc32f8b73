"""Remembered tickets in the database, and what is said about them: the truth that every look-up is checked against."""

from collections.abc import Iterable
from typing import Any

import msgspec

from actors.evidence import Resolution
from actors.ports import PortFailed, Recall
from runtime.memory.text import Digest, digest, fold
from runtime.settings import MemorySettings
from runtime.storage.database import Database, Statement
from runtime.workers import Workers

SCHEMA = """
CREATE TABLE IF NOT EXISTS remembered (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    ticket_id TEXT NOT NULL,
    text TEXT NOT NULL,
    same BLOB NOT NULL,        -- digest of the ticket's folded text
    resolution BLOB NOT NULL,  -- msgpack of actors.evidence.Resolution
    answer BLOB NOT NULL,      -- digest of the resolution's folded text
    state TEXT NOT NULL CHECK (state IN ('unconfirmed', 'confirmed', 'rejected'))
);
CREATE INDEX IF NOT EXISTS remembered_same ON remembered (same);
CREATE INDEX IF NOT EXISTS remembered_ticket ON remembered (ticket_id);
CREATE INDEX IF NOT EXISTS remembered_state ON remembered (state, answer);
"""

_INSERT = (
    "INSERT OR IGNORE INTO remembered (key, ticket_id, text, same, resolution, answer, state) "
    "VALUES (?, ?, ?, ?, ?, ?, ?)"
)
_NOT_REJECTED = (
    "state != 'rejected' AND NOT EXISTS "
    "(SELECT 1 FROM remembered AS said WHERE said.state = 'rejected' AND said.answer = remembered.answer)"
)
_SAME = (
    f"SELECT ticket_id, resolution, state FROM remembered WHERE same = ? AND {_NOT_REJECTED} "  # noqa: S608 - constants
    "ORDER BY state = 'confirmed' DESC, id DESC LIMIT 1"
)

IMPORT_ROWS = 500
"""Rows a transaction of an import, so that tickets are not kept waiting for the disk."""


class NotRemembered(PortFailed):
    """Feedback came for a ticket of which memory holds no answer."""


class Ticket(msgspec.Struct, frozen=True, gc=False):
    """A solved ticket that comes from elsewhere."""

    ticket_id: str
    text: str
    resolution: Resolution
    confirmed: bool = True
    key: str = ""
    """The same key again changes nothing; empty: made from the ticket's id."""


class TicketMemory:
    """The port `Memory`: what solved earlier tickets."""

    def __init__(self, database: Database, workers: Workers, settings: MemorySettings) -> None:
        """`database` was opened with SCHEMA."""
        self._database = database
        self._workers = workers
        self._settings = settings

    async def recall(self, text: str, *, within: float) -> Recall:  # noqa: ARG002 - the port's
        """Decide whether an earlier resolution answers this ticket."""
        return self._same(text) or Recall(verdict="miss", why="No earlier ticket has the same text.")

    async def store(self, key: str, ticket_id: str, text: str, resolution: Resolution) -> None:
        """Remember what solved a ticket, unconfirmed, durably."""
        await self._database.run(_insert(Ticket(ticket_id, text, resolution, confirmed=False, key=key)))

    async def feedback(self, ticket_id: str, right: bool) -> int:
        """
        Note what a person says of the answer to a ticket; the last word counts.

        :returns: how many remembered answers it touched.
        :raises NotRemembered: memory holds no answer for this ticket.
        """
        rows = self._database.read("SELECT count(*) FROM remembered WHERE ticket_id = ?", (ticket_id,))
        if not rows[0][0]:
            raise NotRemembered(
                f"Memory holds no answer for the ticket {ticket_id!r}: "
                "give the id of the ticket that the answer came from."
            )
        state = "confirmed" if right else "rejected"
        await self._database.run(("UPDATE remembered SET state = ? WHERE ticket_id = ?", (state, ticket_id)))
        return int(rows[0][0])

    async def import_tickets(self, tickets: Iterable[Ticket]) -> int:
        """Remember solved tickets from elsewhere; returns how many were new."""
        before = self._count()
        batch: list[Statement] = []
        for ticket in tickets:
            batch.append(_insert(ticket))
            if len(batch) >= IMPORT_ROWS:
                await self._database.run(*batch)
                batch.clear()
        if batch:
            await self._database.run(*batch)
        return self._count() - before

    def _same(self, text: str) -> Recall | None:
        """An answer to the very same text: no model is needed for it."""
        if not fold(text):
            return Recall(verdict="miss", why="The ticket has no text.")
        rows = self._database.read(_SAME, (digest(text),))
        if not rows:
            return None
        ticket_id, resolution, state = rows[0]
        if state != "confirmed" and self._settings.unconfirmed == "never":
            return Recall(
                "suggestion", _resolution(resolution, state), ticket_id, _said(ticket_id, "the same text", state)
            )
        return Recall("hit", _resolution(resolution, state), ticket_id, _said(ticket_id, "the same text", state))

    def _count(self) -> int:
        return int(self._database.read("SELECT count(*) FROM remembered")[0][0])


def _insert(ticket: Ticket) -> Statement:
    answer: Digest = digest(ticket.resolution.text)
    return _INSERT, (
        ticket.key or f"import:{ticket.ticket_id}",
        ticket.ticket_id,
        ticket.text,
        digest(ticket.text),
        msgspec.msgpack.encode(ticket.resolution),
        answer,
        "confirmed" if ticket.confirmed else "unconfirmed",
    )


def _resolution(packed: bytes, state: Any) -> Resolution:
    """What was remembered; a person's confirmation makes of a suggested answer a resolved one, nothing else does."""
    resolution = msgspec.msgpack.decode(packed, type=Resolution)
    return msgspec.structs.replace(resolution, grade="resolved") if state == "confirmed" else resolution


def _said(ticket_id: str, how: str, state: Any) -> str:
    return f"Ticket {ticket_id} has {how}; its answer is {state}."
