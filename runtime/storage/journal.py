"""Tickets and runs in the database: what was accepted, every event that moved a run, and how it ended."""

import time
from collections.abc import Iterable, Mapping

import msgspec

from actors.advance import replay
from actors.conclusion import Ending, conclude
from actors.outcome import Outcome
from actors.ports import Entry, PortFailed
from actors.research.records import Brief
from actors.wire import decoder
from actors.workflow import Case, Run, Workflow
from runtime.run import Replayed
from runtime.storage.database import Database, Statement, Then

SCHEMA = """
CREATE TABLE IF NOT EXISTS ticket (
    id TEXT PRIMARY KEY, subject TEXT NOT NULL, text TEXT NOT NULL, requester TEXT NOT NULL,
    status TEXT NOT NULL, note TEXT NOT NULL DEFAULT '', closed_by TEXT NOT NULL DEFAULT '', created REAL NOT NULL
);
CREATE TABLE IF NOT EXISTS run (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE, ticket TEXT NOT NULL, workflow TEXT NOT NULL, initial BLOB NOT NULL, started REAL NOT NULL,
    boot TEXT NOT NULL DEFAULT '', uptime REAL NOT NULL DEFAULT 0,
    owner TEXT NOT NULL, cancel INTEGER NOT NULL DEFAULT 0, ended REAL, status TEXT NOT NULL DEFAULT 'running',
    ending BLOB
);
CREATE INDEX IF NOT EXISTS run_of_ticket ON run (ticket);
CREATE UNIQUE INDEX IF NOT EXISTS run_open_of_ticket ON run (ticket) WHERE ended IS NULL AND instr(id, '.') = 0;
CREATE INDEX IF NOT EXISTS run_open ON run (owner) WHERE ended IS NULL;
CREATE TABLE IF NOT EXISTS event (
    run TEXT NOT NULL, n INTEGER NOT NULL, at REAL NOT NULL, sender TEXT NOT NULL, number INTEGER NOT NULL,
    event BLOB NOT NULL, PRIMARY KEY (run, n)
) WITHOUT ROWID;
"""
"""
`seq` is the order of runs, which no clock tells. `boot` and `uptime` say when a run began by a clock that nobody sets.
`ending` holds what the events do not tell; everything else of an outcome is their fold.
"""

INSERT_TICKET = """
INSERT INTO ticket (id, subject, text, requester, status, created) VALUES (?, ?, ?, ?, 'open', ?)
ON CONFLICT (id) DO UPDATE
SET subject = excluded.subject, text = excluded.text, status = 'open', note = '', closed_by = ''
"""
CLOSE_TICKET = """
UPDATE ticket SET status = ?, note = ?, closed_by = ? WHERE id = ? AND closed_by != ?
AND NOT EXISTS (SELECT 1 FROM run WHERE id = ? AND ended IS NOT NULL)
"""
"""What comes from an agent whose run was ended without it changes nothing any more."""
TICKET_COLUMNS = "id, subject, text, requester, status, note, created"
RUN_COLUMNS = "id, ticket, workflow, initial, started, owner, cancel, ended, status, ending"
OUTERMOST = "instr(id, '.') = 0"
"""Runs within a run have their parent's id with a number; it is the parent that is shown, resumed and cancelled."""


class Ticket(msgspec.Struct, frozen=True, kw_only=True):
    """One unit of work as it came in."""

    text: str
    id: str = ""
    """Given by the helpdesk it comes from; made up when empty."""
    subject: str = ""
    requester: str = ""
    brief: Brief | None = None
    """Ordered as a research; without it, it is a ticket of the helpdesk."""


class StoredTicket(msgspec.Struct, frozen=True):
    """A row of `ticket`: as it came in last, and how it stands."""

    id: str
    subject: str
    text: str
    requester: str
    status: str
    """`open`, or how it ended."""
    note: str
    """What the agent that closed it wrote, or why it ended otherwise."""
    created: float
    """Seconds since 1970: when it came in for the first time."""


class StoredRun(msgspec.Struct, frozen=True):
    """A row of `run`."""

    id: str
    ticket: str
    workflow: str
    initial: bytes
    started: float
    """Seconds since 1970."""
    owner: str
    cancel: int
    ended: float | None
    status: str
    ending: bytes | None


class UnknownRun(PortFailed):
    """No run or ticket of this id is in the database."""


class JournalDamaged(Exception):
    """A journalled event cannot be read by this version."""


class SqliteJournal:
    """Implements `actors.ports.Journal`; finds and replays what it holds."""

    def __init__(self, database: Database, flows: Mapping[str, Workflow]) -> None:
        self._database = database
        self._flows = flows
        self._encode = msgspec.msgpack.Encoder().encode

    async def accept_child(self, run_id: str, flow: Workflow, case: Case, owner: str) -> None:
        """Return when a run within a run is durable."""
        await self._database.run(self._begun(run_id, flow, case, owner, time.time()))

    def _begun(self, run_id: str, flow: Workflow, case: Case, owner: str, now: float) -> Statement:
        return (
            "INSERT INTO run (id, ticket, workflow, initial, started, owner) VALUES (?, ?, ?, ?, ?, ?)",
            (run_id, case.ticket_id, flow.name, self._encode(case), now, owner),
        )

    async def accept(self, ticket: Ticket, run_id: str, flow: Workflow, case: Case, owner: str) -> None:
        """Return when ticket and run are durable: only then may anybody be told that they were accepted."""
        now = time.time()
        text = (ticket.id, ticket.subject, ticket.text, ticket.requester, now)
        await self._database.run((INSERT_TICKET, text), self._begun(run_id, flow, case, owner, now))

    def record(self, entry: Entry, then: Then) -> None:
        self._database.write((self._insert(entry),), then)

    def finish(self, entry: Entry | None, outcome: Outcome, then: Then) -> None:
        ending = Ending(outcome.why, outcome.by, outcome.seconds, outcome.spent, outcome.refused)
        statements: list[Statement] = [self._insert(entry)] if entry is not None else []
        statements += [
            (
                "UPDATE run SET ended = ?, status = ?, ending = ? WHERE id = ? AND ended IS NULL",
                (time.time(), outcome.status, self._encode(ending), outcome.run),
            ),
            ("UPDATE ticket SET status = ? WHERE id = ?", (outcome.status, outcome.ticket)),
        ]
        if not outcome.by:
            statements.append(("UPDATE ticket SET note = ? WHERE id = ?", (outcome.detail, outcome.ticket)))
        self._database.write(statements, then)

    async def close(self, key: str, ticket_id: str, status: str, note: str) -> None:
        """
        Mark a ticket; the port `Tickets` of an installation without a helpdesk. A key begins with the run's id.

        Not waited for: the event that reports it is written after it, by the same writer, and is waited for.
        """
        self._database.write(
            (
                (
                    CLOSE_TICKET,
                    (status, note, key, ticket_id, key, key.partition(":")[0]),
                ),
            ),
            _nothing,
            lazily=True,
        )

    def find(self, some_id: str) -> StoredRun:
        """The run of this id, or the latest of the ticket of this id."""
        rows = self._database.read(f"SELECT {RUN_COLUMNS} FROM run WHERE id = ?", (some_id,)) or self._database.read(
            f"SELECT {RUN_COLUMNS} FROM run WHERE ticket = ? ORDER BY seq DESC LIMIT 1", (some_id,)
        )
        if not rows:
            raise UnknownRun(f"There is no ticket or run {some_id!r}; `python -m runtime status` lists the latest.")
        return StoredRun(*rows[0])

    def latest(self, count: int) -> list[StoredRun]:
        rows = self._database.read(
            f"SELECT {RUN_COLUMNS} FROM run WHERE {OUTERMOST} ORDER BY seq DESC LIMIT ?", (count,)
        )
        return [StoredRun(*row) for row in rows]

    def ticket(self, ticket_id: str) -> StoredTicket | None:
        """A ticket as it came in; nothing when it was deleted or never was one, as that of a run within a run."""
        rows = self._database.read(f"SELECT {TICKET_COLUMNS} FROM ticket WHERE id = ?", (ticket_id,))
        return StoredTicket(*rows[0]) if rows else None

    def tickets(self, runs: Iterable[StoredRun]) -> dict[str, StoredTicket]:
        """The tickets of these runs by id, with one query; those that were deleted are missing."""
        ids = msgspec.json.encode(sorted({run.ticket for run in runs})).decode()
        sql = f"SELECT {TICKET_COLUMNS} FROM ticket WHERE id IN (SELECT value FROM json_each(?))"
        return {row[0]: StoredTicket(*row) for row in self._database.read(sql, (ids,))}

    def unfinished(self, ticket: str = "") -> list[StoredRun]:
        """Runs without an end, of one ticket or of all, the oldest first, whoever owns them."""
        where = f"ended IS NULL AND {OUTERMOST} AND (? = '' OR ticket = ?)"
        sql = f"SELECT {RUN_COLUMNS} FROM run WHERE {where} ORDER BY seq"
        return [StoredRun(*row) for row in self._database.read(sql, (ticket, ticket))]

    async def take_over(self, run: StoredRun, owner: str) -> bool:
        """Become the owner of a run whose owner is dead; false when another process was faster."""
        await self._database.run(
            ("UPDATE run SET owner = ? WHERE id = ? AND owner = ? AND ended IS NULL", (owner, run.id, run.owner))
        )
        return bool(self._database.read("SELECT 1 FROM run WHERE id = ? AND owner = ?", (run.id, owner)))

    async def ask_to_cancel(self, run: StoredRun) -> None:
        """Leave word for the process that owns a run."""
        await self._database.run(("UPDATE run SET cancel = cancel + 1 WHERE id = ? AND ended IS NULL", (run.id,)))

    def to_cancel(self, owner: str) -> dict[str, int]:
        """Runs of this owner that somebody asked to cancel, and how often."""
        sql = "SELECT id, cancel FROM run WHERE owner = ? AND ended IS NULL AND cancel > 0"
        return dict(self._database.read(sql, (owner,)))

    def entries(self, run: StoredRun) -> list[Entry]:
        decode = decoder(self._flow(run)).decode
        sql = "SELECT run, n, at, sender, number, event FROM event WHERE run = ? ORDER BY n"
        try:
            rows = self._database.read(sql, (run.id,))
            return [Entry(id_, n, at, sender, number, decode(body)) for id_, n, at, sender, number, body in rows]
        except msgspec.MsgspecError as error:
            raise JournalDamaged(f"the journal of {run.id} cannot be read: {error}") from error

    def case(self, run: StoredRun) -> Case:
        try:
            return msgspec.msgpack.decode(run.initial, type=self._flow(run).case)
        except msgspec.MsgspecError as error:
            raise JournalDamaged(f"the beginning of {run.id} cannot be read: {error}") from error

    def fold(self, run: StoredRun) -> Run:
        """Where a run stands, rebuilt from its events with all its limits."""
        entries = ((each.event, each.sender, each.number, each.at) for each in self.entries(run))
        return replay(self.flow(run), self.case(run), entries)[0]

    def replayed(self, run: StoredRun) -> Replayed:
        """For going on. The time in which nobody ran it counts; a clock that was set back does not give time."""
        entries = self.entries(run)
        last = entries[-1].at if entries else 0.0
        return Replayed(self.fold(run), max(time.time() - run.started, last), len(entries))

    def outcome(self, run: StoredRun) -> Outcome | None:
        """How a run ended, or nothing when it has not."""
        if run.ending is None:
            return None
        ending = msgspec.msgpack.decode(run.ending, type=Ending)
        return conclude(run.id, self.flow(run), self.fold(run), ending)

    def flow(self, run: StoredRun) -> Workflow:
        """The workflow that a run goes by, with the time that it has."""
        flow, seconds = self._flow(run), self.case(run).max_seconds
        return msgspec.structs.replace(flow, max_seconds=seconds) if seconds else flow

    def _flow(self, run: StoredRun) -> Workflow:
        if run.workflow not in self._flows:
            raise JournalDamaged(f"{run.id} is of the workflow {run.workflow!r}, which this version does not know")
        return self._flows[run.workflow]

    def _insert(self, entry: Entry) -> Statement:
        body = self._encode(entry.event)
        return (
            "INSERT INTO event VALUES (?, ?, ?, ?, ?, ?)",
            (entry.run, entry.n, entry.at, entry.sender, entry.number, body),
        )


def _nothing(error: Exception | None) -> None:
    """The writer logs nothing here: an error of the same disk reaches the run with its next event."""
