"""
Which process runs what: runs are begun once, gone on with by whoever asks for them, and let go of
in order.

A run at whose work a process died is tried alone, after all others, so that what kills once kills
few. Who is in question is a matter of the journal: such a run has had no answer since.
"""

import asyncio
import contextlib
import itertools
import secrets
import time
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple, TypeVar

import msgspec
import structlog

from actors.ports import PortFailed
from actors.workflow.broadcast import list_past
from actors.workflow.outcome import AnswerReady, Outcome, RunEnded
from actors.workflow.progress import AnswerText, DraftChecked, ProgressEvent
from actors.workflow.run_end import log_end
from actors.workflow.tables import Case, Workflow
from bus.dispatcher import dispatcher_of
from bus.turns import Stepwise
from runtime.engine.actions import find_owners, make_ownership, make_records, note, who_acts
from runtime.engine.run import LiveRun, ResumeState
from runtime.observe.meters import meters
from runtime.observe.trace_id import make_trace_id
from runtime.storage.background import Background
from runtime.storage.damage import JournalDamaged
from runtime.storage.errors import Conflict, StorageError
from runtime.storage.journal import RunJournal
from runtime.storage.records import ORIGIN, NewRun, Record, StoredRun
from runtime.storage.sqlite.process_lock import ProcessLock
from runtime.storage.work_mark import WorkMark
from runtime.tickets import Ticket

log = structlog.get_logger()

WATCH_LIMIT = 1_000
"""News that may wait for a slow watcher; older is dropped then."""
LOOK_SECONDS = 0.5
"""How often a run that another process works on is looked at."""


class WatcherTooSlow(Exception):
    """More waits for a watcher than is kept for one, and it wanted all or nothing."""


class _ToldDrafts:
    """
    The drafts that one watcher was told of: each of them is concluded at the latest when the answer or the end is told.

    Who is interrupted while its model writes cannot do so itself.
    """

    __slots__ = ("_open", "_unverified")

    def __init__(self) -> None:
        self._open: dict[str, str] = {}
        """By agent what nobody has checked yet."""
        self._unverified: dict[str, tuple[str, ...]] = {}
        """Of the last draft of each agent."""

    def hear(self, event: Any) -> Iterator[ProgressEvent]:
        """What is to be told in the place of an event."""
        match event:
            case AnswerText(agent=agent, start=start, text=text):
                self._open[agent] = self._open.get(agent, "")[:start] + text
            case DraftChecked(agent=agent, unverified=unverified):
                self._open.pop(agent, None)
                self._unverified[agent] = unverified
            case AnswerReady():
                yield from self.conclude()
                event = msgspec.structs.replace(event, unverified=tuple(itertools.chain(*self._unverified.values())))
        yield event

    def conclude(self) -> Iterator[DraftChecked]:
        """That nothing stays of what is open."""
        for agent in [agent for agent, text in self._open.items() if text]:
            self._unverified[agent] = tuple(dict.fromkeys(self._open.pop(agent).splitlines()))
            yield DraftChecked(agent, self._unverified[agent])


class RunHandle:
    """A run of this process."""

    __slots__ = ("_live", "new", "run", "ticket")

    def __init__(self, live: LiveRun, new: NewRun | None = None) -> None:
        """:param new: what was stored of it, where it has begun just now."""
        self._live = live
        self.new = new
        self.run = live.id
        self.ticket = live.ticket

    def watch(self, *, drafts: bool = False, whole: bool = False) -> AsyncGenerator[ProgressEvent, None]:
        """
        All news from the beginning, then as they happen, `RunEnded` last. A slow watcher loses the oldest.

        It ends without `RunEnded` when this process stops before the run has ended.

        :param drafts: tell the answers' texts, too, while models write them: `AnswerText`, `DraftChecked`.
        :param whole: a slow watcher loses nothing, but gets `WatcherTooSlow` in the place of what it would lose.
        """
        waiting: asyncio.Queue[ProgressEvent | WatcherTooSlow | None] = asyncio.Queue()
        told = _ToldDrafts()

        def hear(event: Any) -> None:
            if isinstance(event, RunEnded):
                return  # told below, to those too who come after it
            if isinstance(event, AnswerText | DraftChecked) and not drafts:
                return
            for each in told.hear(event):
                put(each)

        def put(event: ProgressEvent) -> None:
            if waiting.qsize() < WATCH_LIMIT:
                waiting.put_nowait(event)
            elif not whole:
                waiting.get_nowait()
                waiting.put_nowait(event)
            elif waiting.qsize() == WATCH_LIMIT:
                waiting.put_nowait(WatcherTooSlow())

        for event in self._live.so_far():
            hear(event)
        stops = (self._live.watch(hear, live=drafts), self._live.when_over(lambda: waiting.put_nowait(None)))
        return self._until_over(waiting, told, stops)

    async def _until_over(
        self, waiting: "asyncio.Queue[ProgressEvent | WatcherTooSlow | None]", told: _ToldDrafts,
        stops: tuple[Callable[[], object], ...],
    ) -> AsyncGenerator[ProgressEvent, None]:  # fmt: skip
        try:
            while (event := await waiting.get()) is not None:
                if isinstance(event, WatcherTooSlow):
                    raise event
                yield event
            if (outcome := self._live.outcome_so_far()) is not None:
                for each in told.conclude():
                    yield each
                yield RunEnded(outcome=outcome)
        finally:
            for stop in stops:
                stop()

    async def outcome(self) -> Outcome:
        """Wait for the end. Cancelling the wait leaves the run as it is."""
        return await self._live.outcome()

    def cancel(self) -> None:
        """Gently; a second time, at once."""
        self._live.cancel()


class FollowedRun:
    """A run that another process works on, or has ended. It goes on here when that process dies with it."""

    def __init__(
        self, run: str, ticket: str, look: Callable[[], Awaitable[Outcome | RunHandle | None]],
        ask_to_cancel: Callable[[], Awaitable[object]],
    ) -> None:  # fmt: skip
        """:param look: how it has ended, or where it goes on if that is here by now."""
        self.run = run
        self.ticket = ticket
        self._look = look
        self._ask_to_cancel = ask_to_cancel
        self._asking: set[asyncio.Future[object]] = set()

    async def watch(self, *, drafts: bool = False) -> AsyncGenerator[ProgressEvent, None]:
        """What happened, once it has ended: only the process that works on it knows sooner."""
        while not isinstance(found := await self._look(), Outcome):
            if isinstance(found, RunHandle):
                async for event in found.watch(drafts=drafts):
                    yield event
                return
            await asyncio.sleep(LOOK_SECONDS)
        for event in list_past(found):
            yield event
        yield RunEnded(outcome=found)

    async def outcome(self) -> Outcome:
        while not isinstance(found := await self._look(), Outcome):
            if isinstance(found, RunHandle):
                return await found.outcome()
            await asyncio.sleep(LOOK_SECONDS)
        return found

    def cancel(self) -> None:
        """Leave word for the process that works on it; a second time, it is not gentle."""
        asking: asyncio.Future[object] = asyncio.ensure_future(self._ask_to_cancel())
        self._asking.add(asking)
        asking.add_done_callback(self._log_failure)

    def _log_failure(self, asking: "asyncio.Future[object]") -> None:
        self._asking.discard(asking)
        if not asking.cancelled() and (error := asking.exception()) is not None:
            log.error("run.not_cancelled", run=self.run, error=repr(error))


Handle = RunHandle | FollowedRun
"""A run, wherever it goes on."""


CANCEL_POLL_SECONDS = 0.5
"""How soon a run hears that another process asked to cancel it."""


class RunRegistry:
    """A run is in here from its beginning until its end is recorded."""

    def __init__(self, journal: RunJournal, owner: str) -> None:
        """:param owner: the token under which the journal knows this process."""
        self._journal = journal
        self._owner = owner
        self._runs: dict[str, LiveRun] = {}
        self._run_of: dict[str, str] = {}
        """Ticket to run."""
        self._unrecorded: set[str] = set()
        """Runs that have ended, and whose end is not recorded yet."""
        self._cancelled: dict[str, int] = {}
        self._poll: asyncio.Task[None] | None = None
        journal.pending.when_recorded = self._on_recorded

    def __len__(self) -> int:
        return len(self._runs)

    def __contains__(self, run_id: str) -> bool:
        return run_id in self._runs

    @property
    def count_open(self) -> int:
        return len(self._runs) - len(self._unrecorded)

    def count_states(self) -> Counter[tuple[str, ...]]:
        """How many runs go on, by workflow and state."""
        going = (live for live in self._runs.values() if live.id not in self._unrecorded)
        return Counter((live.workflow, live.state) for live in going)

    def run(self, run_id: str) -> LiveRun | None:
        return self._runs.get(run_id)

    def of_ticket(self, ticket_id: str) -> LiveRun | None:
        return self._runs.get(self._run_of.get(ticket_id, ""))

    def add(self, live: LiveRun) -> None:
        self._runs[live.id] = live
        self._run_of[live.ticket] = live.id
        live.on_end(self._on_end)
        if self._poll is None or self._poll.done():
            self._poll = asyncio.get_running_loop().create_task(self._listen(), name="cancel requests")

    def abandon(self) -> None:
        """Stop all at once, without an end."""
        if self._poll is not None:
            self._poll.cancel()
        for live in list(self._runs.values()):
            live.abandon()
        self._runs.clear()
        self._unrecorded.clear()

    def _on_end(self, outcome: Outcome) -> None:
        if outcome.run not in self._runs:
            return
        meters.count_end(outcome)
        if outcome.run in self._journal.pending:
            self._unrecorded.add(outcome.run)
        else:
            self._forget(self._runs[outcome.run])

    def _on_recorded(self, run_id: str) -> None:
        if run_id in self._unrecorded:
            self._unrecorded.discard(run_id)
            self._forget(self._runs[run_id])

    def _forget(self, live: LiveRun) -> None:
        self._runs.pop(live.id, None)
        self._cancelled.pop(live.id, None)
        if self._run_of.get(live.ticket) == live.id:
            del self._run_of[live.ticket]

    async def _listen(self) -> None:
        """Hear what other processes ask of the runs of this one."""
        while self._runs:
            try:
                requests = await self._journal.store.cancel_requests(self._owner)
            except StorageError as error:  # the runs go on; whoever asks is heard when it can be read again
                log.warning("journal.failed", error=repr(error))
                requests = {}
            for run_id, times in requests.items():
                if (live := self._runs.get(run_id)) and times > self._cancelled.get(run_id, 0):
                    self._cancelled[run_id] = times
                    live.cancel()
            await asyncio.sleep(CANCEL_POLL_SECONDS)


OTHERS_SECONDS = 5.0
"""How long they wait at most for the runs that were taken up with them, so that those get on in any case."""
ALONE_SECONDS = 30.0
"""How long the next one waits at most for one to have an answer: what waits for so long does not kill by its work."""
SUSPECT_LOOK_SECONDS = 0.05
CLOSE_SECONDS = 1.0


class Suspect(NamedTuple):
    """A run that waits to be tried."""

    stored: StoredRun
    state: ResumeState

    @property
    def deaths(self) -> int:
        return self.state.run.resumed


def next_suspect(waiting: Iterable[Suspect]) -> Suspect:
    """The one that is tried first: of whom least is known against, then the oldest."""
    return min(waiting, key=lambda each: (each.deaths, each.stored.seq))


class Suspects:
    """Those of one process."""

    def __init__(
        self, mark: WorkMark, begin: Callable[[Suspect], Awaitable[LiveRun]], is_resuming: Callable[[], bool]
    ) -> None:
        """
        :param begin: puts a run to work.
        :param is_resuming: whether other runs are being taken up at this moment.
        """
        self._mark = mark
        self._begin = begin
        self._is_resuming = is_resuming
        self._waiting: dict[str, Suspect] = {}
        self._others: set[LiveRun] = set()
        self._trying: asyncio.Task[None] | None = None
        self._disk = Background("work mark")

    def __contains__(self, run_id: str) -> bool:
        return run_id in self._waiting

    def add(self, suspect: Suspect) -> None:
        """Have a run tried when it is its turn."""
        self._waiting[suspect.stored.id] = suspect
        log.warning("run.suspected", run=suspect.stored.id, ticket=suspect.stored.ticket, deaths=suspect.deaths)
        if self._trying is None or self._trying.done():
            self._trying = asyncio.get_running_loop().create_task(self._try_all(), name="suspects")

    def wait_for(self, other: LiveRun) -> None:
        """A run that goes on as well, and before them."""
        self._others.add(other)
        other.when_over(partial(self._others.discard, other))

    async def close(self) -> None:
        if self._trying is not None:
            self._trying.cancel()
            await asyncio.wait([self._trying])
        self._waiting.clear()
        self._disk.close(CLOSE_SECONDS)

    async def _try_all(self) -> None:
        await self._until(lambda: not self._others and not self._is_resuming(), OTHERS_SECONDS)
        while self._waiting:
            suspect = next_suspect(self._waiting.values())
            await self._note(suspect.stored.id)
            try:
                live = await self._begin(suspect)
            except Exception:  # the others have their turn all the same
                log.exception("run.not_resumed", run=suspect.stored.id)
            else:
                await self._until(partial(_is_cleared, live), ALONE_SECONDS)
            finally:
                self._waiting.pop(suspect.stored.id, None)
            await self._note("")

    async def _until(self, is_so: Callable[[], bool], seconds: float) -> None:
        until = time.monotonic() + seconds
        while not is_so() and time.monotonic() < until:  # noqa: ASYNC110 - runs do not tell what they lived through
            await asyncio.sleep(SUSPECT_LOOK_SECONDS)

    async def _note(self, run: str) -> None:
        try:
            await self._disk.run(partial(self._mark.set_alone, run))
        except OSError as error:  # only the death of the whole machine is not known for its then
            log.warning("run.not_marked", run=run, error=repr(error))


def _is_cleared(live: LiveRun) -> bool:
    """Whether the process has lived through a turn of it."""
    return live.is_over or not live.where.resumed


T = TypeVar("T")
Begin = Callable[[str, Workflow, Case, ResumeState | None, str], Awaitable[LiveRun]]

TRIES = 3
"""For an id that was made up and is taken. With so many bits, one is enough."""
ORPHAN_SECONDS = 5.0
"""How soon a run whose process died goes on in another one that takes tickets: one look costs a query of an index."""
RELEASE_SECONDS = 2.0
"""How long this process waits for the disk when it ends."""


class Busy(PortFailed):
    """As many runs as are allowed are going on. The text says what to do."""


def make_id(letter: str) -> str:
    """An id that nobody has: 64 bits."""
    return f"{letter}-{secrets.token_hex(8)}"


def _add_trace(ticket: Ticket) -> Ticket:
    return ticket if ticket.trace else msgspec.structs.replace(ticket, trace=make_trace_id())


class Runs:
    """The runs of one process, and through them those of all that share its database."""

    def __init__(
        self, journal: RunJournal, owner: ProcessLock, flows: Mapping[str, Workflow], begin: Begin, most: int,
        make_case: Callable[[Ticket], Case],
    ) -> None:  # fmt: skip
        """
        :param begin: puts a run to work, whose trace it is told.
        :param most: so many go on at once.
        :param make_case: what a ticket's run begins with.
        """
        self._journal = journal
        self._owner = owner
        self._flows = flows
        self._begin = begin
        self._most = most
        self._make_case = make_case
        self._accepting: dict[str, asyncio.Task[RunHandle | StoredRun]] = {}
        """By ticket: those that are being made durable."""
        self._resuming: set[str] = set()
        self.live = RunRegistry(journal, owner.token)
        self._suspects = Suspects(owner.mark, self._try_alone, lambda: bool(self._resuming))

    @property
    def count_accepting(self) -> int:
        """Tickets that are being made durable."""
        return len(self._accepting)

    def here(self, run_id: str) -> RunHandle | None:
        """A run in progress in this process, by its own id."""
        live = self.live.run(run_id)
        return RunHandle(live) if live else None

    async def submit(self, ticket: Ticket, seen: int | None) -> Handle:
        """`Node.submit`. Without `seen` the caller did not look."""
        if live := self.live.of_ticket(ticket.id):
            return RunHandle(live)
        name = ticket.id or make_id("T")
        accepting = self._accepting.get(name)
        if accepting is None:
            full = len(self.live) + len(self._accepting) >= self._most
            accepting = self._accepting[name] = asyncio.create_task(self._accept(ticket, name, seen, full=full))
            accepting.add_done_callback(lambda _: self._accepting.pop(name, None))
        try:
            # Who waits for a receipt goes before the runs of those who have theirs.
            with dispatcher_of(asyncio.get_running_loop()).defer_beginnings():
                # Shielded: who submits may go away, but what is durable must not be left without a run.
                begun = await asyncio.shield(accepting)
        except Conflict:
            winner = await self._journal.latest_of(name)
            if winner is None or winner.seq <= (seen or 0):
                raise
            return await self.attend(winner)  # another process was faster
        return begun if isinstance(begun, RunHandle) else await self.attend(begun)

    async def _accept(self, ticket: Ticket, name: str, seen: int | None, *, full: bool) -> RunHandle | StoredRun:
        """Begin the run of a ticket; of one that has a run which goes on, or is later than was seen, that run."""
        latest = await self._journal.latest_of(name) if ticket.id else None
        if latest is not None and (latest.ended is None or (seen is not None and latest.seq > seen)):
            return latest
        if full:
            raise Busy(f"{len(self.live)} tickets are being worked on; try again when one has ended.")
        await self._reserve()
        ticket = _add_trace(ticket)
        for left in reversed(range(TRIES)):
            named, run_id = msgspec.structs.replace(ticket, id=name), make_id("R")
            case = self._make_case(named)
            flow = self._flows[ticket.workflow]
            try:
                new = await self._journal.accept(
                    named, run_id, flow, case, self._owner.token, seen=latest.seq if latest else 0,
                    new=not ticket.id, besides=await self._make_records(named, run_id, latest),
                )  # fmt: skip
            except Conflict:
                if ticket.id or not left:
                    raise
                name = make_id("T")
            else:
                break
        return RunHandle(await self._work(run_id, flow, case, None, ticket.trace), new)

    async def _make_records(self, ticket: Ticket, run_id: str, before: StoredRun | None) -> tuple[Record, ...]:
        """What is kept in one transaction with a ticket: who sent it, whose it is, and where it came from."""
        by = make_records("answered" if ticket.answers else "submitted", run_id)
        owners = {who_acts()} - {""}
        if ticket.answers and before is not None:  # whoever answers, it stays its owner's
            owners = (await find_owners(self._journal.store, before.id))[before.id]
        whose = tuple(make_ownership(each, run_id) for each in sorted(owners))
        if not ticket.origin:
            return (*by, *whose)
        return (*by, *whose, Record(kind=ORIGIN, id=f"{ticket.id}/{run_id}", body=ticket.origin, run=run_id))

    async def _work(self, run_id: str, flow: Workflow, case: Case, replayed: ResumeState | None, trace: str) -> LiveRun:
        """Put a run to work that is durable; what cannot be put to work ends, for somebody waits for it."""
        try:
            live = await self._begin(run_id, flow, case, replayed, trace)
        except Exception:
            self._give_up(await self._journal.run(run_id))
            raise
        self.live.add(live)
        return live

    async def _reserve(self) -> None:
        await self._journal.pending.reserve(len(self.live) + len(self._accepting) + 1)

    async def restore(self, ticket: Ticket, case: Case, run_id: str) -> RunHandle | None:
        """Begin a run with what its family kept of it; nothing when another process has done so."""
        flow, ticket = self._flows[ticket.workflow], _add_trace(ticket)
        await self._reserve()
        try:
            await self._journal.accept(ticket, run_id, flow, case, self._owner.token, seen=0)
        except Conflict:
            return None
        return RunHandle(await self._work(run_id, flow, case, None, ticket.trace))

    async def watch_orphans(self) -> None:
        """Go on with runs whose process died, for as long as this process takes tickets; all look after each other."""
        while True:
            await asyncio.sleep(ORPHAN_SECONDS)
            try:
                owners = await self._journal.store.open_runs()
                if any(not self._owner.is_alive(owner) for owner in owners):
                    await self.resume()
            except (StorageError, OSError) as error:  # the next look may find it well again
                log.warning("orphans.not_resumed", error=repr(error))

    async def resume(self) -> list[Handle]:
        """Go on with every run whose process is gone; with those at whose work one died when the others have."""
        await self.settle_dead()
        orphans = [stored for stored in await self._journal.list_open() if self._is_orphan(stored)]
        # All at once, so that one commit takes over many.
        handles = await asyncio.gather(*(self._go_on(stored) for stored in orphans))
        return [handle for handle in handles if handle is not None]

    async def attend(self, stored: StoredRun) -> Handle:
        """A run, wherever it goes on. One that nobody runs goes on here, so that nobody waits for it in vain."""
        handle: Handle | None = self.here(stored.id)
        if handle is None and self._is_orphan(stored):
            handle = await self._go_on(stored)
        return handle or self.follow(stored)

    def follow(self, stored: StoredRun) -> FollowedRun:
        """A run of another process, or one that is over."""
        look, ask = partial(self._look, stored.id), partial(self._journal.store.ask_to_cancel, stored.id)
        return FollowedRun(stored.id, stored.ticket, look, ask)

    async def _look(self, run_id: str) -> Outcome | RunHandle | None:
        stored = await self._journal.run(run_id)
        if stored.ended is not None:
            return await self._journal.outcome(stored)
        handle = await self.attend(stored)
        return handle if isinstance(handle, RunHandle) else None

    def _is_orphan(self, stored: StoredRun) -> bool:
        """It has not ended, and nobody runs it."""
        if stored.ended is not None or self._has(stored.id):
            return False
        return stored.owner == self._owner.token or not self._owner.is_alive(stored.owner)

    def is_own(self, stored: StoredRun) -> bool:
        """Whether a run is this process's: it works on it, is about to, or did when it ended."""
        return self._has(stored.id) or stored.owner == self._owner.token

    def _has(self, run_id: str) -> bool:
        """Whether this process works on a run, or is about to."""
        return run_id in self.live or run_id in self._resuming or run_id in self._suspects

    async def _go_on(self, stored: StoredRun) -> Handle | None:
        """Take over a run that nobody runs; nothing when somebody does, or when it cannot be read any more."""
        if stored.ticket in self._accepting or self._has(stored.id):
            return None
        self._resuming.add(stored.id)
        try:
            return await self._take_over(stored)
        finally:
            self._resuming.discard(stored.id)

    async def _take_over(self, stored: StoredRun) -> Handle | None:
        if stored.owner != self._owner.token and not await self._settle_one(stored.owner):
            return None
        if not await self._journal.store.claim(stored, self._owner.token):
            return None
        try:
            replayed = await self._replay(stored)
        except JournalDamaged as error:
            log.error("run.lost", run=stored.id, error=str(error))  # noqa: TRY400 - a sentence says it all
            self._give_up(stored)
            return None
        if replayed.run.resumed:
            self._suspects.add(Suspect(stored, replayed))
            return self.follow(stored)
        live = await self._resume_run(stored, replayed)
        self._suspects.wait_for(live)
        return RunHandle(live)

    async def _try_alone(self, suspect: Suspect) -> LiveRun:
        """Go on with a run that was kept waiting, which counts as its time."""
        return await self._resume_run(suspect.stored, await self._replay(suspect.stored))

    async def _replay(self, stored: StoredRun) -> ResumeState:
        """Where a run stands. A process that dies of its journal died of this run."""
        return await self._mark(stored.id, self._journal.resume_state(stored))

    def _mark(self, run_id: str, work: Coroutine[Any, Any, T]) -> Awaitable[T]:
        """Work for a run that is not on its bus, as turns of it."""
        return Stepwise(self._owner.mark.turns_of(run_id), work)

    async def _resume_run(self, stored: StoredRun, replayed: ResumeState) -> LiveRun:
        log.info("run.resumed", run=stored.id, ticket=stored.ticket, seconds=round(replayed.elapsed, 1))
        begun = self._work(stored.id, replayed.flow, replayed.run.case, replayed, stored.trace)
        return await self._mark(stored.id, begun)

    def _give_up(self, stored: StoredRun) -> None:
        outcome = self._journal.give_up(stored)
        log_end(log.bind(workflow=stored.workflow, run=stored.id, ticket=stored.ticket), outcome)

    async def settle_dead(self) -> None:
        """Record what dead processes left that they could not record; what fails is tried again later."""
        for token in self._owner.others():
            try:
                await self._settle_one(token)
            except (StorageError, OSError) as error:
                log.warning("end.not_recorded", owner=token, error=repr(error))

    async def _settle_one(self, token: str) -> bool:
        """Record what a process left when it died: ends that it told, what it worked on. False while it lives."""
        if not token:
            return True
        with self._owner.legacy(token) as left:
            if left is None:
                return False
            for each in left.told:
                log.info("end.recorded_late", run=each.run, owner=token)
                await self._journal.record_pending(each)
            if left.worked_on:
                await self._record_death(left.worked_on, token)
            self._owner.forget(token)
        return True

    async def _record_death(self, run_id: str, token: str) -> None:
        log.warning("process.died", at_work_on=run_id, owner=token)
        with contextlib.suppress(JournalDamaged):  # whoever takes it over gives it up
            await self._mark(run_id, self._journal.record_death(run_id))

    async def note(self, what: str, run: str) -> None:
        """Keep that whoever acts did this to a run."""
        await note(self._journal.store, what, run)

    async def cancel(self, some_id: str) -> bool:
        """Cancel a run, wherever it goes on; false when it has ended already."""
        stored = await self._journal.find(some_id)
        if stored.ended is not None:
            return False
        handle = await self.attend(stored)
        if isinstance(handle, RunHandle):
            handle.cancel()
        else:
            await self._journal.store.ask_to_cancel(stored.id)
        await self.note("cancelled", stored.id)
        return True

    async def close(self) -> None:
        """Stop at once what still runs, without an end, and let go of it."""
        await self._suspects.close()
        self.live.abandon()
        accepting = list(self._accepting.values())
        for task in accepting:
            task.cancel()
        if accepting:
            await asyncio.wait(accepting, timeout=1.0)
        await self._journal.pending.settle(RELEASE_SECONDS)
        try:
            await asyncio.wait_for(self._journal.release(self._owner.token), RELEASE_SECONDS)
        except (StorageError, TimeoutError) as error:
            log.warning("run.not_released", error=repr(error))
