"""What the interface does with a node, whatever the protocol: takes tickets in once, waits for ends, shows progress."""

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from typing import Any, TypeVar

import msgspec
import structlog

from actors.documents.template import Document
from actors.reporting.report import Report
from actors.workflow.outcome import Outcome
from actors.workflow.progress import HEARTBEAT_SECONDS
from runtime.durable_submit import (
    BUSY_SECONDS,
    Submitted,
    describe_new,
    log_accepted,
    submit_durably,
    write_failure,
)
from runtime.event_feed import EventFeed
from runtime.families import writes_report
from runtime.knowledge.knowledge_index import find_source_files
from runtime.memory.ticket_memory import NotRemembered
from runtime.node import Busy, Node, NoReport
from runtime.program import command
from runtime.run_handle import Handle
from runtime.run_record import Ended, Record, make_record
from runtime.service_error import ServiceError
from runtime.settings import Settings
from runtime.storage.condition import Looks
from runtime.storage.damage import REMEDY
from runtime.storage.errors import StorageError, UnknownRun
from runtime.storage.journal import JournalDamaged, StoredRun
from runtime.storage.near_ids import nearest_ids
from runtime.storage.private import CHOOSE_ANOTHER, DATABASE
from runtime.storage.records import Action, Asked
from runtime.tickets import Ticket, make_id_of_key
from runtime.tracing.trace_id import make_trace_id
from runtime.user_text import display, safe

log = structlog.get_logger()

T = TypeVar("T")
Check = Callable[[StoredRun], Awaitable[None]]
LookAgain = Callable[[], Awaitable[None]]

TRIES = 3
"""How often a ticket is begun that others begin at the same time with other words."""


@contextlib.asynccontextmanager
async def open_service(settings: Settings, *, ready: bool = True) -> AsyncIterator["TicketService"]:
    """
    The service on the configured storage folder.

    :param ready: it takes tickets from the beginning.
    :raises ServiceError: also later, for whatever goes wrong with the storage.
    """
    place = f"{settings.storage.folder}/{DATABASE}"
    try:
        async with Node.open(settings) as node:
            service = TicketService(node)
            service.ready = ready
            yield service
    except UnknownRun as error:
        raise ServiceError(str(error), "not_found") from None
    except Busy as error:
        raise ServiceError(str(error), "busy") from None
    except JournalDamaged as error:
        raise ServiceError(f"{place}: {safe(str(error))}. {REMEDY}.", "failed") from error
    except StorageError as error:
        if not os.access(settings.storage.folder, os.W_OK):  # nor may root where the disk is read-only
            why = f"Nothing can be written below {settings.storage.folder}, which can only be read."
            raise ServiceError(f"{why} {CHOOSE_ANOTHER}", "failed") from error
        remedy = f"Check the disk; {command('doctor')} says more"
        raise ServiceError(f"The database {place} cannot be used: {error}. {remedy}.", "failed") from error


class TicketService:
    """One per process. It is `ready` once what was running has been resumed."""

    def __init__(self, node: Node) -> None:
        self.node = node
        self.looks = Looks(node, node.folder / DATABASE)
        self.ready = self.stopping = False
        self.streams = 0
        """Clients that listen."""
        self._waiting: set[asyncio.Future[Any]] = set()
        self.closed = False
        """It lets go of everybody who waits or watches."""
        self.feed = EventFeed(node.journal)

    def stop(self) -> None:
        """Take no more tickets; what runs goes on."""
        self.ready, self.stopping = False, True

    def close(self) -> None:
        """Let go of everybody who waits or watches."""
        self.ready = False
        self.closed = True
        for each in list(self._waiting):
            each.cancel()

    async def submit(
        self, ticket: Ticket, key: str = "", *, again: bool = False, check: Check | None = None
    ) -> Submitted:
        """
        Return once a ticket is durable; the same id or key again gives the same run.

        A key without an id becomes the ticket's id, so that what was accepted and under which key is one record.

        :param again: begin another run of a ticket whose run has ended.
        :param check: raises where whoever submits may not meet the run that has this id.
        """
        by_key = bool(key) and not ticket.id
        ticket = msgspec.structs.replace(
            ticket, id=make_id_of_key(key) if by_key else ticket.id, trace=ticket.trace or make_trace_id()
        )
        for _ in range(TRIES):
            latest = await self.node.journal.latest_of(ticket.id) if ticket.id else None
            if latest is not None and check is not None:
                await check(latest)
            over = latest is not None and latest.ended is not None
            if latest is not None and not (again and over) and self._answers(latest, ticket, by_key=by_key):
                return Submitted(await self._attend(latest))
            self.require_ready()
            seen = latest.seq if latest else 0
            handle = await submit_durably(self.node, ticket, seen)
            if (new := describe_new(handle, ticket)) is not None:
                return new
            # Another may have been faster, here or in another process, with the same id and other words.
            stored = await self.node.journal.run(handle.run)
            if check is not None:
                await check(stored)
            if self._answers(stored, ticket, by_key=by_key):
                log_accepted(stored)
                return Submitted(stored)
        raise write_failure()

    def require_ready(self) -> None:
        """:raises ServiceError: nothing can be taken in now, or it could not be written down."""
        stopping = "The server is stopping or not ready yet; send it again soon."
        if why := self.looks.loses() if self.ready else stopping:
            raise ServiceError(why, "unavailable", retry_seconds=BUSY_SECONDS)

    async def find(self, some_id: str) -> StoredRun:
        """
        A run, or the latest of a ticket.

        :raises ServiceError: there is none; it names the ids that may have been meant.
        """
        try:
            return await self.node.journal.find(some_id)
        except UnknownRun as error:
            near = await nearest_ids(self.node.journal.store, some_id)
            if not near:
                raise ServiceError(str(error), "not_found") from error
            meant = " or ".join(filter(None, (", ".join(near[:-1]), near[-1])))
            remedy = f"{command('status --search TEXT')} finds a ticket by its words"
            raise ServiceError(
                f"There is no ticket or run {display(some_id)}. Did you mean {meant}? {remedy}.", "not_found"
            ) from error

    async def describe(self, stored: StoredRun, asked: Asked | None = None) -> Record:
        """What is said of a run; one that nobody works on any more is interrupted."""
        gone = stored.ended is None and not self.node.owner.is_alive(stored.owner)
        return make_record(stored, asked or await self.read_question(stored), "interrupted" if gone else "")

    async def read_question(self, stored: StoredRun) -> Asked:
        """What a run was asked, and by whom."""
        return await self.node.journal.store.read_question(stored)

    async def read_both(self, run_id: str) -> tuple[StoredRun, Asked]:
        """A run and what it was asked, in one look: of thousands that wait for theirs each look counts."""
        journal, pending = self.node.journal, self.node.journal.pending.by_run()
        if (found := await journal.store.read_both(run_id)) is None:
            raise ServiceError(f"There is no run {run_id}.", "not_found")
        return journal.require(run_id, pending, found[0]), found[1]

    async def read_answer(self, stored: StoredRun) -> str:
        """What a run answered, if it did."""
        outcome = await self.node.journal.outcome(stored)
        return outcome.resolution.text if outcome and outcome.resolution else ""

    async def conclude(self, outcome: Outcome) -> Ended:
        """What came of a run that has ended."""
        stored, report = await self.node.journal.run(outcome.run), None
        if writes_report(outcome.workflow):
            with contextlib.suppress(NoReport, JournalDamaged):  # the outcome stands by itself
                report = await self.node.report(stored.ref)
        files = await find_source_files(self.node.folder, outcome.resolution)
        return Ended(outcome, await self.describe(stored), report, files=files)

    async def judgement(self, stored: StoredRun) -> str:
        """What a person said of the answer of a run: as `TicketMemory.judgement` names it; or nothing."""
        with contextlib.suppress(JournalDamaged):  # nobody can tell whose answer it was
            if not await self.node.is_remembered(stored):
                return ""
            ticket, case = await self.node.find_answered(stored)
            known = await self.node.memory.judgement(ticket, case.resolution.text if case.resolution else "")
            return known or _find_verdict((await self.read_question(stored)).actions)
        return ""

    async def report(self, some_id: str) -> Report | Document:
        """
        The report or the document of a run, or of the latest of a ticket.

        :raises ServiceError: there is no such run, or it has none.
        """
        stored = await self.find(some_id)
        try:
            return await self.node.document(stored) or await self.node.report(some_id)
        except NoReport as error:
            raise ServiceError(str(error), "not_found") from None

    async def feedback(
        self, stored: StoredRun, *, right: bool, places: Sequence[int] = (), for_all: bool = True
    ) -> tuple[StoredRun, str, int]:
        """
        Say whether an answer was right; `places`: the numbers of those places that were, of several that it shows.

        :param for_all: as `Node.feedback` has it.
        :returns: the run and the ticket whose answer it was (one from memory only repeats another's), and how many
            remembered answers it touched.
        :raises ServiceError: memory holds no answer of it, or it has to be said which place was right.
        """
        try:
            ticket, count = await self.node.feedback(stored.ref, right=right, places=places, for_all=for_all)
        except NotRemembered as error:
            raise ServiceError(str(error), "not_remembered") from None
        await self.node.runs.note("called right" if right else "called wrong", stored.id)
        if ticket != stored.ticket:
            with contextlib.suppress(UnknownRun):  # which may have come from elsewhere
                stored = await self.node.journal.find(ticket)
        return stored, ticket, count

    async def ticket(self, ticket_id: str) -> StoredRun:
        """The latest run of a ticket."""
        stored = await self.node.journal.latest_of(ticket_id)
        if stored is None:
            raise ServiceError(f"There is no ticket {ticket_id}.", "not_found")
        return await self._attend(stored)

    async def run(self, run_id: str) -> StoredRun:
        try:
            stored = await self.node.journal.run(run_id)
        except UnknownRun:
            raise ServiceError(f"There is no run {run_id}.", "not_found") from None
        return await self._attend(stored)

    async def _attend(self, stored: StoredRun) -> StoredRun:
        """A run as it is asked for: one that nobody runs goes on here, before anybody waits for it."""
        if stored.ended is None and self.ready:
            await self.node.runs.attend(stored)
        return stored

    async def outcome(self, run_id: str, seconds: float, look_again: LookAgain | None = None) -> Outcome | None:
        """
        How a run ended; nothing when it has not within some seconds, or this process ends before.

        :param look_again: asked at each heartbeat meanwhile; it raises where nobody may wait any longer.
        """
        waiting = self.wait_for((await self.handle(run_id)).outcome())
        until = asyncio.get_running_loop().time() + seconds
        try:
            while not waiting.done() and (left := until - asyncio.get_running_loop().time()) > 0:
                await asyncio.wait([waiting], timeout=min(left, HEARTBEAT_SECONDS))
                if look_again is not None and not waiting.done():
                    await look_again()
            return None if not waiting.done() or waiting.cancelled() else waiting.result()
        finally:
            waiting.cancel()

    @contextlib.contextmanager
    def listening(self) -> Iterator[None]:
        """Count a client that listens."""
        most = self.node.settings.server.max_streams
        if self.streams >= most:
            raise ServiceError(f"{most} clients listen already; try later.", "unavailable", retry_seconds=BUSY_SECONDS)
        self.streams += 1
        try:
            yield
        finally:
            self.streams -= 1

    async def handle(self, run_id: str) -> Handle:
        """A run, wherever it goes on."""
        return self.node.runs.here(run_id) or self.node.runs.follow(await self.node.journal.run(run_id))

    def wait_for(self, what: Awaitable[T]) -> "asyncio.Future[T]":
        """A wait that is cancelled when this process ends before."""
        waiting = asyncio.ensure_future(what)
        self._waiting.add(waiting)
        waiting.add_done_callback(self._waiting.discard)
        if self.closed:
            waiting.cancel()
        return waiting

    def _answers(self, stored: StoredRun, ticket: Ticket, *, by_key: bool) -> bool:
        """Whether this run is of this very ticket; one that has ended and is not gives way to another."""
        try:
            if self.node.is_same(stored, ticket):
                return True
        except JournalDamaged:
            if by_key:
                raise
            return False  # nobody can tell what it was: it begins anew
        if by_key:
            raise ServiceError(
                "This Idempotency-Key came with another ticket before. Use a new key for a new ticket.", "key_reused"
            )
        if stored.ended is None:
            raise ServiceError(
                f"Ticket {ticket.id} is being worked on with another text or order; wait for its end, or cancel it.",
                "conflict",
            )
        return False


def _find_verdict(actions: Sequence[Action]) -> str:
    """What was said last of a run, where memory does not know it: by somebody whose word is not for everybody."""
    verdicts = {"called right": "confirmed", "called wrong": "rejected"}
    return next((verdicts[each.what] for each in reversed(actions) if each.what in verdicts), "")
