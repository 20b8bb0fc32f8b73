"""The journal of runs: what was accepted, every event that moved a run, and how it ended, as values."""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import msgspec

from actors.ports import Entry
from actors.workflow.advance import advance, replay_each
from actors.workflow.codec import decoder, fingerprint
from actors.workflow.outcome import Child, EndReason, Handoff, Outcome
from actors.workflow.run_end import RunEnd, conclude
from actors.workflow.tables import Case, Run, RunResumed, Workflow
from actors.workflow.transitions import Terminate
from bus import Event
from runtime.engine.run import ResumeState
from runtime.observe.span import FoundIntent
from runtime.observe.trace_id import read_trace_id
from runtime.processes.boot_clock import since_boot
from runtime.storage.background import Then, wait_until
from runtime.storage.damage import JournalDamaged, reading
from runtime.storage.ends import PendingEnd, PendingEnds, Slots
from runtime.storage.errors import UnknownRun
from runtime.storage.packing import unpack
from runtime.storage.port import RunStore
from runtime.storage.records import NewRun, Record, RunEnding, StoredEvent, StoredRun
from runtime.tickets import Ticket

ReadIntent = Callable[[Event], FoundIntent | None]
MOST_EVENTS = 2**31
"""More than any run has."""


Pending = Mapping[str, tuple[PendingEnd, Outcome]]
"""Ends that were told and not recorded yet, by run."""


class Course(NamedTuple):
    """What happened to a run."""

    flow: Workflow
    """The table that it goes by."""
    entries: Sequence[Entry]
    stood: Sequence[Run]
    """Where it stood when it began, and after each entry."""


class RunJournal:
    """Implements `actors.ports.Journal` over what is stored; finds and replays it."""

    def __init__(
        self, runs: RunStore, flows: Mapping[str, Workflow], slots: Slots | None = None,
        ended: Callable[[Outcome], Sequence[Record]] = lambda _: (),
        besides: Callable[[Entry], Sequence[Record]] = lambda _: (), intent: ReadIntent = lambda _: None,
    ) -> None:  # fmt: skip
        """
        :param slots: where this process notes what it could not record.
        :param ended: what is kept in one transaction with a run's end, in place of what was; it must not fail.
        :param besides: the same with each event.
        :param intent: what a run asks for, where an event tells it.
        """
        self._intent = intent
        self.store = runs
        self._flows = flows
        self._ended = ended
        self._besides = besides
        self._encode = msgspec.msgpack.Encoder().encode
        self.pending = PendingEnds(slots)

    async def accept(
        self, ticket: Ticket, run_id: str, flow: Workflow, case: Case, owner: str, *, seen: int | None = None,
        new: bool = False, besides: Sequence[Record] = (),
    ) -> NewRun:  # fmt: skip
        """Return when ticket and run are durable, as `RunStore.accept`: only then may anybody be told of them."""
        run = self._new(run_id, flow, case, owner, ticket.trace)
        await self.store.accept(run, ticket, seen=seen, new=new, besides=besides)
        return run

    async def accept_child(self, run_id: str, flow: Workflow, case: Case, owner: str) -> None:
        """Return when a run within a run is durable."""
        await self.store.accept(self._new(run_id, flow, case, owner))

    def _new(self, run_id: str, flow: Workflow, case: Case, owner: str, trace: str = "") -> NewRun:
        boot, uptime = since_boot()
        return NewRun(
            id=run_id, ticket=case.ticket_id, workflow=flow.name, version=self._version(flow.name),
            initial=self._encode(case), started=time.time(), boot=boot, uptime=uptime, owner=owner, trace=trace,
        )  # fmt: skip

    def record(self, entry: Entry, then: Then) -> None:
        found = self._intent(entry.event)
        self.store.record(entry.run, self._event(entry), then, self._besides(entry), found.name if found else "")

    def finish(self, entry: Entry, outcome: Outcome, then: Then) -> None:
        besides = (*self._ended(outcome), *self._besides(entry))
        self.store.finish(self._event(entry), self._ending(outcome, time.time()), then, besides)

    def keep(self, outcome: Outcome, events: int, then: Callable[[], None]) -> None:
        end = RunEnd(outcome.why, outcome.by, outcome.seconds, outcome.spent, outcome.refused)
        noted = PendingEnd(outcome.run, events, time.time(), end)
        self.pending.keep(noted, outcome, self._overruling(noted, outcome), then)

    async def record_pending(self, noted: PendingEnd) -> None:
        """Record an end that another process told before it died; that of a run that is gone is no matter."""
        try:
            run = await self.run(noted.run)
        except UnknownRun:
            return
        try:
            outcome = conclude(run.id, self.flow(run), await self.fold(run, noted.events), noted.ending)
        except JournalDamaged:
            outcome = self._unread(run, noted.ending)
        await wait_until(self._overruling(noted, outcome))

    def give_up(self, run: StoredRun) -> Outcome:
        """End a run that cannot be read any more. Its events stay, for a version that can."""
        why = EndReason.ORCHESTRATOR_FAILED if self._is_current(run) else EndReason.WORKFLOW_CHANGED
        outcome = self._unread(run, RunEnd(why, "", 0.0))
        self.keep(outcome, MOST_EVENTS, lambda: None)
        return outcome

    def _unread(self, run: StoredRun, ending: RunEnd) -> Outcome:
        flow = self._flows.get(run.workflow) or next(iter(self._flows.values()))
        outcome = conclude(run.id, flow, Run("", Case(ticket_id=run.ticket)), ending)
        return msgspec.structs.replace(outcome, workflow=run.workflow)

    def _overruling(self, noted: PendingEnd, outcome: Outcome) -> Callable[[Then], None]:
        """What was told is the end, also of a run whose last events or other end came late."""
        ending, besides = self._ending(outcome, noted.at), self._ended(outcome)
        return lambda then: self.store.overrule(ending, noted.events, then, besides)

    def _ending(self, outcome: Outcome, now: float) -> RunEnding:
        return RunEnding(
            run=outcome.run, ticket=outcome.ticket, at=now, status=outcome.status,
            note="" if outcome.by else outcome.detail, outcome=self._encode(outcome),
            seconds=round(outcome.seconds, 3),
        )  # fmt: skip

    async def close(self, key: str, ticket_id: str, status: str, note: str) -> None:
        """
        Mark a ticket; the port `Tickets` of an installation without a helpdesk. A key begins with the run's id.

        Not waited for: the event that reports it is written after it, by the same writer, and is waited for.
        """
        self.store.close_ticket(key.partition(":")[0], key, ticket_id, status, note)

    async def find(self, some_id: str) -> StoredRun:
        """The latest run of the ticket of this id, or else the run or trace of it; `run:ID` is a run in any case."""
        pending = self.pending.by_run()
        found, trace = await self.store.find(some_id), read_trace_id(some_id)
        return self.require(some_id, pending, found or (await self.store.find_trace(trace) if trace else None))

    async def run(self, run_id: str) -> StoredRun:
        return self.require(run_id, self.pending.by_run(), await self.store.run(run_id))

    async def latest_of(self, ticket_id: str) -> StoredRun | None:
        """The latest run of a ticket; nothing when there is no such ticket."""
        pending = self.pending.by_run()
        found = await self.store.latest_of(ticket_id)
        return self._with_end(found, pending) if found else None

    async def latest(self, count: int) -> list[StoredRun]:
        pending = self.pending.by_run()
        return [self._with_end(run, pending) for run in await self.store.latest(count)]

    async def list_open(self, ticket: str = "") -> list[StoredRun]:
        """Runs without an end, of one ticket or of all, the oldest first, whoever owns them."""
        pending = self.pending.by_run()
        found = await self.store.list_open(ticket)
        return [run for run in found if run.id not in pending and run.id not in self.pending]

    def require(self, some_id: str, pending: Pending, run: StoredRun | None) -> StoredRun:
        """A run as it was found, with the end that was told; `pending` are those from before it was looked for."""
        if run is None:
            raise UnknownRun(some_id)
        return self._with_end(run, pending)

    def _with_end(self, run: StoredRun, pending: Pending) -> StoredRun:
        """A run whose end was told has ended, whatever the disk says so far."""
        found = pending.get(run.id) or self.pending.find(run.id)
        if found is None:
            return run
        noted, outcome = found
        return msgspec.structs.replace(run, ended=noted.at, status=outcome.status, ending=self._encode(outcome))

    async def release(self, owner: str) -> None:
        """Let go of all that this process has not ended: whoever takes it over need not take it for a crash."""
        await self.store.release(owner, list(self.pending))

    async def entries(self, run: StoredRun, events: int | None = None) -> list[Entry]:
        """:param events: no more than so many."""
        if pending := self.pending.find(run.id):
            events = pending[0].events
        rows = await self.store.events(run.id, events)
        decode = decoder(self._flow(run)).decode
        with reading(f"the journal of {run.id}"):
            return [
                Entry(run.id, n, float(at), who, int(number), decode(unpack(body))) for n, at, who, number, body in rows
            ]

    def case(self, run: StoredRun) -> Case:
        flow = self._flow(run)
        with reading(f"the beginning of {run.id}"):
            return msgspec.msgpack.decode(run.initial, type=flow.case)

    async def fold(self, run: StoredRun, events: int | None = None) -> Run:
        """Where a run stands, rebuilt from its events with all its limits."""
        return (await self.course(run, events)).stood[-1]

    async def course(self, run: StoredRun, events: int | None = None) -> Course:
        """All that moved a run, and how it stood after each."""
        return self._retrace(run, await self.entries(run, events))

    def _retrace(self, run: StoredRun, entries: Sequence[Entry]) -> Course:
        known = ((each.event, each.sender, each.number, each.at) for each in entries)
        case = self.case(run)
        flow = _with_time(self._flow(run), case)
        with reading(f"the course of {run.id}"):
            each = replay_each(flow, case, known, strict=not self._is_current(run))
            return Course(flow, entries, [where for where, _ in each])

    async def resume_state(self, run: StoredRun) -> ResumeState:
        """For going on. The time in which nobody ran it counts; a clock that was set back does not give time."""
        flow, entries, stood = await self.course(run)
        where, last = stood[-1], entries[-1].at if entries else 0.0
        boot, uptime = since_boot()
        gone = uptime - run.uptime if boot and boot == run.boot else time.time() - run.started
        if where.state == flow.final:  # nothing would move it any more: it would be open for ever
            raise JournalDamaged(f"the journal of {run.id} holds an end that the run does not have")
        children = await self.children(run.id)
        return ResumeState(flow, where, max(gone, last), len(entries), children=children)

    async def record_death(self, run_id: str) -> None:
        """
        Return when it is durable that a process died at the work of this run; of one that has ended it is no matter.

        :raises JournalDamaged: the run cannot be read any more.
        """
        try:
            run = await self.run(run_id)
        except UnknownRun:
            return
        if run.ended is not None:
            return
        found, event = await self.resume_state(run), RunResumed()
        elapsed = round(found.elapsed, 6)
        entry = Entry(run.id, found.inputs + 1, elapsed, "", 0, event)
        after, verdict = advance(found.flow, found.run, event, sender="", number=0, elapsed=elapsed)
        if isinstance(verdict, Terminate):  # it had been closing for that, and died again
            outcome = conclude(run.id, found.flow, after, RunEnd(verdict.why, verdict.by, elapsed), found.children)
            await wait_until(lambda then: self.finish(entry, outcome, then))
        else:
            await wait_until(lambda then: self.record(entry, then))

    async def outcome(self, run: StoredRun) -> Outcome | None:
        """How a run ended, or nothing when it has not."""
        if pending := self.pending.find(run.id):
            return pending[1]
        if run.ending is None:
            if run.ended is not None:
                raise JournalDamaged(f"the end of {run.id} is missing")
            return None
        try:
            return msgspec.msgpack.decode(run.ending, type=Outcome)
        except msgspec.MsgspecError:
            return await self._earlier_outcome(run, run.ending)

    async def _earlier_outcome(self, run: StoredRun, ending: bytes) -> Outcome:
        """How a run ended by an earlier version of this program, which stored only what the events do not tell."""
        with reading(f"the end of {run.id}"):
            end = msgspec.msgpack.decode(ending, type=RunEnd)
        entries = await self.entries(run)
        if end.by and (not entries or entries[-1].sender != end.by):
            raise JournalDamaged(f"the last event of {run.id} is missing")
        (flow, _, stood), children = self._retrace(run, entries), await self.children(run.id)
        with reading(f"the end of {run.id}"):
            return conclude(run.id, flow, stood[-1], end, children)

    async def children(self, run_id: str) -> tuple[Child, ...]:
        """The runs within a run, each with those within it."""
        found = {run.id: run for run in await self.store.within(run_id)}
        made = {run.id: await self._handoffs(run) for run in found.values()}

        def below(parent: str) -> tuple[Child, ...]:
            numbers = (run.rpartition(".") for run in found)
            own = sorted(int(number) for of, _, number in numbers if of == parent and number.isdigit())
            names = {number: f"{parent}.{number}" for number in own}
            return tuple(Child(run, found[run].workflow, n, made[run], below(run)) for n, run in names.items())

        return below(run_id)

    async def _handoffs(self, run: StoredRun) -> tuple[Handoff, ...]:
        try:
            return (await self.fold(run)).handoffs
        except JournalDamaged:  # the run above it can be read all the same
            return ()

    def flow(self, run: StoredRun) -> Workflow:
        """The workflow that a run goes by, with the time that it has."""
        return _with_time(self._flow(run), self.case(run))

    def _flow(self, run: StoredRun) -> Workflow:
        if run.workflow not in self._flows:
            raise JournalDamaged(f"{run.id} is of the workflow {run.workflow!r}, which this version does not know")
        return self._flows[run.workflow]

    def _version(self, workflow: str) -> str:
        return fingerprint(self._flows[workflow]) if workflow in self._flows else ""

    def _is_current(self, run: StoredRun) -> bool:
        """Whether its table is the one that it began by, as far as anybody knows."""
        return run.workflow in self._flows and run.version in {"", self._version(run.workflow)}

    def _event(self, entry: Entry) -> StoredEvent:
        return StoredEvent(entry.n, entry.at, entry.sender, entry.number, self._encode(entry.event))


def _with_time(flow: Workflow, case: Case) -> Workflow:
    return msgspec.structs.replace(flow, max_seconds=case.max_seconds) if case.max_seconds else flow
