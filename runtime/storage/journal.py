"""Tickets and runs in the database: what was accepted, every event that moved a run, and how it ended."""

import time
from collections.abc import Callable, Mapping, Sequence

import msgspec

from actors.ports import Entry, PortFailed
from actors.workflow.advance import replay
from actors.workflow.codec import decoder
from actors.workflow.outcome import Child, EndReason, Outcome
from actors.workflow.run_end import RunEnd, conclude
from actors.workflow.tables import Case, Run, Workflow
from runtime.processes.boot_clock import since_boot
from runtime.program import command
from runtime.run import ResumeState
from runtime.storage.damage import JournalDamaged, complete, reading
from runtime.storage.database import Database, Statement, Then
from runtime.storage.ends import PendingEnd, PendingEnds, Slots
from runtime.storage.packing import pack, unpack
from runtime.storage.rows import (
    CLOSE_TICKET,
    END_RUN,
    END_TICKET,
    INSERT_RUN,
    INSERT_TICKET,
    NEW_TICKET,
    OUTERMOST,
    RUN_COLUMNS,
    RUN_PREFIX,
    SCHEMA,
    StoredRun,
)
from runtime.tickets import Ticket

__all__ = [
    "OUTERMOST", "RUN_COLUMNS", "SCHEMA", "JournalDamaged", "SqliteJournal", "StoredRun", "Ticket", "UnknownRun",
]  # fmt: skip


MOST_EVENTS = 2**31
"""More than any run has."""


class UnknownRun(PortFailed):
    """No run or ticket of this id is in the database."""


class SqliteJournal:
    """Implements `actors.ports.Journal`; finds and replays what it holds."""

    def __init__(self, database: Database, flows: Mapping[str, Workflow], slots: Slots | None = None) -> None:
        """:param slots: where this process notes what it could not record."""
        self._database = database
        self._flows = flows
        self._encode = msgspec.msgpack.Encoder().encode
        self.pending = PendingEnds(database, slots)

    async def accept_child(self, run_id: str, flow: Workflow, case: Case, owner: str) -> None:
        """Return when a run within a run is durable."""
        await self._database.run(self._begun(run_id, flow, case, owner, time.time()))

    def _begun(
        self, run_id: str, flow: Workflow, case: Case, owner: str, now: float, seen: int | None = None
    ) -> Statement:
        return INSERT_RUN, (run_id, case.ticket_id, flow.name, self._encode(case), now, *since_boot(), owner, seen)

    async def accept(
        self, ticket: Ticket, run_id: str, flow: Workflow, case: Case, owner: str, *, seen: int | None = None,
        new: bool = False,
    ) -> None:  # fmt: skip
        """
        Return when ticket and run are durable: only then may anybody be told that they were accepted.

        :param seen: the latest run of the ticket that the caller knows of, by `seq`; None: whatever there is.
        :param new: the ticket's id was made up, and must be nobody's.
        :raises sqlite3.IntegrityError: it has an open run, or a later one than was seen; or the id is taken.
        """
        now = time.time()
        said = (ticket.id, ticket.subject, ticket.text, ticket.requester, now)
        begun = self._begun(run_id, flow, case, owner, now, seen)
        await self._database.run((NEW_TICKET if new else INSERT_TICKET, said), begun)

    def record(self, entry: Entry, then: Then) -> None:
        self._database.write((self._insert(entry),), then)

    def finish(self, entry: Entry, outcome: Outcome, then: Then) -> None:
        ending = self._encode(_ending(outcome))
        end = (f"{END_RUN} AND ended IS NULL", (time.time(), outcome.status, ending, outcome.run))
        self._database.write((self._insert(entry), end, *_on_ticket(outcome)), then)

    def keep(self, outcome: Outcome, events: int, then: Callable[[], None]) -> None:
        told = PendingEnd(outcome.run, events, time.time(), _ending(outcome))
        self.pending.keep(told, outcome, self._ended_by(told, outcome), then)

    async def record_pending(self, told: PendingEnd) -> None:
        """Record an end that another process told before it died; that of a run that is gone is no matter."""
        try:
            run = self.run(told.run)
        except UnknownRun:
            return
        try:
            outcome = conclude(run.id, self.flow(run), self.fold(run, told.events), told.ending)
        except JournalDamaged:
            outcome = self._unread(run, told.ending)
        await self._database.run(*self._ended_by(told, outcome))

    def give_up(self, run: StoredRun) -> Outcome:
        """End a run that cannot be read any more. Its events stay, for a version that can."""
        outcome = self._unread(run, RunEnd(EndReason.ORCHESTRATOR_FAILED, "", 0.0))
        self.keep(outcome, MOST_EVENTS, lambda: None)
        return outcome

    def _unread(self, run: StoredRun, ending: RunEnd) -> Outcome:
        flow = self._flows.get(run.workflow) or next(iter(self._flows.values()))
        return conclude(run.id, flow, Run("", Case(ticket_id=run.ticket)), ending)

    def _ended_by(self, told: PendingEnd, outcome: Outcome) -> list[Statement]:
        """What was told is the end, also of a run whose last events or other end came late."""
        return [
            ("DELETE FROM event WHERE run = ? AND n > ?", (told.run, told.events)),
            (END_RUN, (told.at, outcome.status, self._encode(told.ending), told.run)),
            *_on_ticket(outcome),
        ]

    async def close(self, key: str, ticket_id: str, status: str, note: str) -> None:
        """
        Mark a ticket; the port `Tickets` of an installation without a helpdesk. A key begins with the run's id.

        Not waited for: the event that reports it is written after it, by the same writer, and is waited for.
        """
        closed = (CLOSE_TICKET, (status, note, key, ticket_id, key, key.partition(":")[0]))
        self._database.write((closed,), _nothing, lazily=True)

    def find(self, some_id: str) -> StoredRun:
        """The latest run of the ticket of this id, or else the run of this id; `run:ID` is a run in any case."""
        if some_id.startswith(RUN_PREFIX):
            return self.run(some_id.removeprefix(RUN_PREFIX))
        return self.latest_of(some_id) or self.run(some_id)

    def run(self, run_id: str) -> StoredRun:
        found = self._runs("id = ?", run_id)
        if not found:
            raise UnknownRun(f"There is no ticket or run {run_id!r}; {command('status')} lists the latest.")
        return found[0]

    def latest_of(self, ticket_id: str) -> StoredRun | None:
        """The latest run of a ticket; nothing when there is no such ticket."""
        found = self._runs(f"ticket = ? AND {OUTERMOST} ORDER BY seq DESC LIMIT 1", ticket_id)
        return found[0] if found else None

    def latest(self, count: int) -> list[StoredRun]:
        return self._runs(f"{OUTERMOST} ORDER BY seq DESC LIMIT ?", count)

    def _runs(self, where: str, *parameters: object) -> list[StoredRun]:
        rows = self._database.read(f"SELECT {RUN_COLUMNS} FROM run WHERE {where}", parameters)
        return [self._as_told(StoredRun.of(row)) for row in rows]

    def _as_told(self, run: StoredRun) -> StoredRun:
        """A run whose end was told has ended, whatever the disk says so far."""
        pending = self.pending.find(run.id)
        if pending is None:
            return run
        told, outcome = pending
        ending = self._encode(told.ending)
        return msgspec.structs.replace(run, ended=told.at, status=outcome.status, ending=ending)

    def unfinished(self, ticket: str = "") -> list[StoredRun]:
        """Runs without an end, of one ticket or of all, the oldest first, whoever owns them."""
        of = f"ended IS NULL AND {OUTERMOST}"
        found = self._runs(f"ticket = ? AND {of}", ticket) if ticket else self._runs(f"{of} ORDER BY seq")
        return [run for run in found if run.ended is None]

    async def release(self, owner: str) -> None:
        """Let go of all that this process has not ended: whoever takes it over need not take it for a crash."""
        pending = msgspec.json.encode(list(self.pending)).decode()
        sql = (
            "UPDATE run SET owner = '' WHERE owner = ? AND ended IS NULL AND id NOT IN (SELECT value FROM json_each(?))"
        )
        await self._database.run((sql, (owner, pending)))

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

    def entries(self, run: StoredRun, events: int | None = None) -> list[Entry]:
        """:param events: no more than so many."""
        if pending := self.pending.find(run.id):
            events = pending[0].events
        decode = decoder(self._flow(run)).decode
        sql = "SELECT run, n, at, sender, number, event FROM event WHERE run = ? AND (? IS NULL OR n <= ?) ORDER BY n"
        rows = self._database.read(sql, (run.id, events, events))
        complete([row[1] for row in rows], run.id)
        with reading(f"the journal of {run.id}"):
            return [
                Entry(id_, n, float(at), sender, int(number), decode(unpack(body)))
                for id_, n, at, sender, number, body in rows
            ]

    def case(self, run: StoredRun) -> Case:
        flow = self._flow(run)
        with reading(f"the beginning of {run.id}"):
            return msgspec.msgpack.decode(run.initial, type=flow.case)

    def fold(self, run: StoredRun, events: int | None = None) -> Run:
        """Where a run stands, rebuilt from its events with all its limits."""
        return self._folded(run, self.entries(run, events))

    def _folded(self, run: StoredRun, entries: Sequence[Entry]) -> Run:
        known = ((each.event, each.sender, each.number, each.at) for each in entries)
        flow, case = self.flow(run), self.case(run)
        with reading(f"the course of {run.id}"):
            return replay(flow, case, known)[0]

    def replayed(self, run: StoredRun) -> ResumeState:
        """For going on. The time in which nobody ran it counts; a clock that was set back does not give time."""
        entries = self.entries(run)
        last = entries[-1].at if entries else 0.0
        boot, uptime = since_boot()
        gone = uptime - run.uptime if boot and boot == run.boot else time.time() - run.started
        where = self._folded(run, entries)
        if where.state == self._flow(run).final:  # nothing would move it any more: it would be open for ever
            raise JournalDamaged(f"the journal of {run.id} holds an end that the run does not have")
        return ResumeState(where, max(gone, last), len(entries), orderly=not run.owner)

    def outcome(self, run: StoredRun) -> Outcome | None:
        """How a run ended, or nothing when it has not."""
        if pending := self.pending.find(run.id):
            return pending[1]
        if run.ending is None:
            if run.ended is not None:
                raise JournalDamaged(f"the end of {run.id} is missing")
            return None
        with reading(f"the end of {run.id}"):
            ending = msgspec.msgpack.decode(run.ending, type=RunEnd)
        entries = self.entries(run)
        if ending.by and (not entries or entries[-1].sender != ending.by):
            raise JournalDamaged(f"the last event of {run.id} is missing")
        where = self._folded(run, entries)
        with reading(f"the end of {run.id}"):
            return conclude(run.id, self.flow(run), where, ending, self.children(run.id))

    def children(self, run_id: str) -> tuple[Child, ...]:
        """The runs within a run, each with those within it."""
        # "/" follows "." in every table of characters, so that only ids which begin with the run's are looked at
        within = "id > ? AND id < ? AND instr(substr(id, ?), '.') = 0"
        rows = self._runs(within, f"{run_id}.", f"{run_id}/", len(run_id) + 2)
        found = [each for each in rows if each.id.rpartition(".")[2].isdigit()]
        return tuple(sorted(map(self._child, found), key=lambda child: child.handoff))

    def _child(self, run: StoredRun) -> Child:
        try:
            made = self.fold(run).handoffs
        except JournalDamaged:  # the run above it can be read all the same
            made = ()
        return Child(run.id, run.workflow, int(run.id.rpartition(".")[2]), made, self.children(run.id))

    def flow(self, run: StoredRun) -> Workflow:
        """The workflow that a run goes by, with the time that it has."""
        flow, most = self._flow(run), self.case(run).max_seconds
        return msgspec.structs.replace(flow, max_seconds=most) if most else flow

    def _flow(self, run: StoredRun) -> Workflow:
        if run.workflow not in self._flows:
            raise JournalDamaged(f"{run.id} is of the workflow {run.workflow!r}, which this version does not know")
        return self._flows[run.workflow]

    def _insert(self, entry: Entry) -> Statement:
        body = pack(self._encode(entry.event))
        return (
            "INSERT INTO event VALUES (?, ?, ?, ?, ?, ?)",
            (entry.run, entry.n, entry.at, entry.sender, entry.number, body),
        )


def _ending(outcome: Outcome) -> RunEnd:
    return RunEnd(outcome.why, outcome.by, outcome.seconds, outcome.spent, outcome.refused)


def _on_ticket(outcome: Outcome) -> list[Statement]:
    """How a ticket stands by the end of a run; a run within a run says nothing on it."""
    if "." in outcome.run:
        return []
    note = "" if outcome.by else outcome.detail
    return [(END_TICKET, (outcome.status, note, outcome.ticket, outcome.run))]


def _nothing(error: Exception | None) -> None:
    """The writer logs nothing here: an error of the same disk reaches the run with its next event."""
