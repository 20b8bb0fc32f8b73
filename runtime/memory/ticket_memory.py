"""Remembered tickets in the database, and what people said of them: the truth that every look-up is checked against."""

import asyncio
import contextlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import structlog

from actors.evidence.claims import Resolution
from actors.ports import PortFailed, Recall
from runtime.memory.job_results import Candidate, Learnt, Looked
from runtime.memory.ticket_text import READ_CHARACTERS, digest, fold, whole
from runtime.processes.pool import WorkError, Workers
from runtime.settings import MemorySettings
from runtime.storage.sqlite.database import Database, Statement

log = structlog.get_logger()
S = TypeVar("S", bound=msgspec.Struct)

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
    "INSERT OR IGNORE INTO remembered (key, ticket_id, text, same, resolution, answer, state) "
    "VALUES (?, ?, ?, ?, ?, ?, ?)"
)
_SERVED = (
    "SELECT ticket_id, resolution, state FROM remembered WHERE {} AND state != 'rejected' AND NOT EXISTS "
    "(SELECT 1 FROM remembered AS said WHERE said.state = 'rejected' AND said.answer = remembered.answer) "
    "ORDER BY state = 'confirmed' DESC, id DESC LIMIT 1"
)
_SAME = _SERVED.format("same = ?")
_ROW = _SERVED.format("id = ? AND answer = ?")
_COUNTS = "SELECT (SELECT count(*) FROM remembered), (SELECT count(*) FROM remembered WHERE state != 'unconfirmed')"
_LEARNT = "INSERT OR REPLACE INTO memory_learnt VALUES (1, ?, ?)"

_REJECTED = "SELECT resolution FROM remembered WHERE same = ? AND state = 'rejected' ORDER BY id DESC LIMIT ?"
MOST_REJECTED = 20
"""So many wrong answers to one text are kept in mind."""
IMPORT_ROWS = 500
"""Rows a transaction of an import, so that tickets are not kept waiting for the disk."""


class NotRemembered(PortFailed):
    """Feedback came for a ticket of which memory holds no answer."""


class LearningFailed(PortFailed):
    """No new model was made; the older one stays."""


class Ticket(msgspec.Struct, frozen=True, gc=False):
    """A solved ticket that comes from elsewhere."""

    ticket_id: str
    text: str
    resolution: Resolution
    confirmed: bool = True
    key: str = ""
    """The same key again changes nothing; empty: made from the ticket's id."""


class TicketMemory:
    """
    The port `Memory`: what solved earlier tickets.

    The same text is found in the database; similar texts are judged in a worker process by what was learnt from the
    store, which a process of its own does in the background.
    """

    def __init__(self, database: Database, workers: Workers, settings: MemorySettings) -> None:
        """`database` was opened with SCHEMA; what is learnt is kept in a file beside it."""
        self._database = database
        self._workers = workers
        self._settings = settings
        self._path = Path(database.rows("PRAGMA database_list")[0][2])
        self.model = self._path.with_name(f"{self._path.name}.memory")
        self._learning: asyncio.Task[None] | None = None
        self._closed = False
        self._counts = self._count()
        rows = database.rows("SELECT tickets, judged FROM memory_learnt")
        self._learnt: tuple[int, int] = rows[0] if rows and self.model.exists() else (0, 0)
        self.learn_if_due()

    async def recall(self, text: str, *, within: float) -> Recall:
        """Decide whether an earlier resolution answers this ticket."""
        if not fold(text):
            return Recall(verdict="miss", why="The ticket has no text.")
        recalled = self._same(text) or await self._similar(text, min(within, self._settings.lookup_seconds))
        rows = self._database.rows(_REJECTED, (digest(text), MOST_REJECTED))
        rejected = tuple(msgspec.msgpack.decode(row[0], type=Resolution).text for row in rows)
        return msgspec.structs.replace(recalled, rejected=rejected) if rejected else recalled

    async def first(self, text: str, *, within: float) -> Resolution | None:
        """The resolution that ranks first among those of similar texts, whatever its score: to measure ranking by."""
        looked = await self._look_up(text, within)
        rows = self._database.rows(_ROW, looked.first) if looked.first is not None else []
        return msgspec.msgpack.decode(rows[0][1], type=Resolution) if rows else None

    async def store(self, key: str, ticket_id: str, text: str, resolution: Resolution) -> None:
        """Remember what solved a ticket, unconfirmed, durably."""
        await self._database.run(_insert(Ticket(ticket_id, text, resolution, confirmed=False, key=key)))
        self._add_counts(1, 0)

    async def feedback(self, ticket_id: str, right: bool) -> int:
        """
        Note what a person says of the answer to a ticket; the last word counts.

        :returns: how many remembered answers it touched.
        :raises NotRemembered: memory holds no answer for this ticket.
        """
        ticket_id = whole(ticket_id)
        rows = self._database.rows("SELECT count(*) FROM remembered WHERE ticket_id = ?", (ticket_id,))
        if not rows[0][0]:
            raise NotRemembered(
                f"Memory holds no answer for the ticket {ticket_id!r}: "
                "give the id of the ticket that the answer came from."
            )
        state = "confirmed" if right else "rejected"
        await self._database.run(("UPDATE remembered SET state = ? WHERE ticket_id = ?", (state, ticket_id)))
        self._add_counts(0, 1)
        return int(rows[0][0])

    async def judgement(self, ticket_id: str) -> str:
        """What a person said of the answer to a ticket: `confirmed` or `rejected`; empty: nothing, or there is none."""
        sql = "SELECT state FROM remembered WHERE ticket_id = ? AND state != 'unconfirmed' LIMIT 1"
        rows = self._database.rows(sql, (whole(ticket_id),))
        return str(rows[0][0]) if rows else ""

    async def import_tickets(self, tickets: Iterable[Ticket]) -> int:
        """Remember solved tickets from elsewhere; returns how many were new."""
        before, batch = self._count(), list[Statement]()
        for ticket in tickets:
            batch.append(_insert(ticket))
            if len(batch) >= IMPORT_ROWS:
                await self._database.run(*batch)
                batch.clear()
        if batch:
            await self._database.run(*batch)
        after = self._count()
        self._add_counts(after[0] - before[0], after[1] - before[1])
        return after[0] - before[0]

    async def learn(self) -> Learnt:
        """
        Learn from everything that is remembered, now.

        :raises LearningFailed: the older model stays.
        """
        counts = self._counts
        workers = Workers(size=1)  # of its own: look-ups never wait for it, and its memory goes with it
        similar, seconds = self._settings.unconfirmed == "similar", self._settings.learn_seconds
        arguments = (str(self._path), str(self.model), similar, self._settings.false_hits)
        try:
            learnt = await workers.call("runtime.memory.training:learn", *arguments, within=seconds, returns=Learnt)
        except WorkError as error:
            raise LearningFailed(
                f"Memory could not learn: {error}. Earlier answers to similar tickets stay."
            ) from error
        finally:
            workers.close()
        await self._database.run((_LEARNT, counts))
        self._learnt = counts
        return learnt

    def due(self) -> bool:
        """Enough is new that learning again is worth its while."""
        new = max(abs(now - then) for now, then in zip(self._counts, self._learnt, strict=True))
        return new >= max(self._settings.learn_after, self._learnt[0] // 10)

    def learn_if_due(self) -> None:
        """Learn in the background, once at a time."""
        running = self._learning is not None and not self._learning.done()
        if self.due() and not running and not self._closed:
            self._learning = asyncio.get_running_loop().create_task(self._learn_quietly(), name="memory learns")

    async def learnt(self) -> None:
        """Return when no learning is under way."""
        if self._learning is not None:
            await asyncio.wait([self._learning])

    def recount(self) -> None:
        """Rows were deleted by somebody else, and the model with them; with enough left, it is made again."""
        self._counts = self._count()
        if not self.model.exists():
            self._learnt = (0, 0)
        self.learn_if_due()

    async def close(self) -> None:
        """Stop learning, whatever it is at; before the database closes. A model that is not whole is never used."""
        self._closed = True
        if self._learning is not None:
            self._learning.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._learning

    async def _learn_quietly(self) -> None:
        counts = self._counts
        try:
            learnt = await self.learn()
        except LearningFailed as error:
            self._learnt = counts  # not again until as much is new
            log.warning("memory.learning_failed", error=str(error))
        else:
            log.info("memory.learnt", **msgspec.to_builtins(learnt))

    def _add_counts(self, tickets: int, judged: int) -> None:
        self._counts = (self._counts[0] + tickets, self._counts[1] + judged)
        self.learn_if_due()

    def _same(self, text: str) -> Recall | None:
        """An answer to the very same text: no model is needed for it."""
        rows = self._database.rows(_SAME, (digest(text),))
        return self._answer(rows[0], "hit", "has the same text", never="never") if rows else None

    async def _similar(self, text: str, within: float) -> Recall:
        try:
            looked = await self._look_up(text, within)
        except WorkError as error:
            return Recall(verdict="miss", why=f"Similar tickets could not be looked up: {error}.")
        if looked.problem and self._learnt != (0, 0):
            log.warning("memory.model_unusable", error=looked.problem)
            self._learnt = (0, 0)
            self.learn_if_due()
        found = (self._confirm(candidate) for candidate in looked.candidates)
        why = looked.problem or looked.why or "what is like it is not to be used"
        return next(filter(None, found), Recall(verdict="miss", why=f"No earlier ticket is alike: {why}."))

    async def _look_up(self, text: str, within: float) -> Looked:
        function, arguments = "runtime.memory.prediction:look_up", (str(self.model), whole(text[:READ_CHARACTERS]))
        return await self._workers.call(function, *arguments, within=within, returns=Looked)

    def _confirm(self, candidate: Candidate) -> Recall | None:
        """What was learnt is older than the truth: only what still stands is said."""
        rows = self._database.rows(_ROW, (candidate.row, candidate.answer))
        if not rows:
            return None
        return self._answer(rows[0], candidate.verdict, f"is alike ({candidate.why})", never="same_text")

    def _answer(self, row: tuple[str, bytes, str], verdict: Any, how: str, never: str) -> Recall:
        """`never`: with this setting, and with `never`, an unconfirmed answer is only suggested."""
        ticket_id, packed, state = row
        resolution = msgspec.msgpack.decode(packed, type=Resolution)
        if state == "confirmed":
            resolution = msgspec.structs.replace(resolution, grade="resolved")
        elif self._settings.unconfirmed in {never, "never"}:
            verdict = "suggestion"
        return Recall(verdict, resolution, ticket_id, f"Ticket {ticket_id} {how}; its answer is {state}.")

    def _count(self) -> tuple[int, int]:
        tickets, judged = self._database.rows(_COUNTS)[0]
        return int(tickets), int(judged)


def _insert(ticket: Ticket) -> Statement:
    return _INSERT, (
        whole(ticket.key or f"import:{ticket.ticket_id}"),
        whole(ticket.ticket_id),
        whole(ticket.text),
        digest(ticket.text),
        _pack(ticket.resolution),
        digest(ticket.resolution.text),
        "confirmed" if ticket.confirmed else "unconfirmed",
    )


def _pack(resolution: Resolution) -> bytes:
    try:
        return msgspec.msgpack.encode(resolution)
    except UnicodeEncodeError:
        citations = tuple(_mend(citation) for citation in resolution.citations)
        return msgspec.msgpack.encode(msgspec.structs.replace(_mend(resolution), citations=citations))


def _mend(struct: S) -> S:
    """With whole characters only."""
    texts = ((name, getattr(struct, name)) for name in struct.__struct_fields__)
    return msgspec.structs.replace(struct, **{name: whole(text) for name, text in texts if isinstance(text, str)})
