"""All connected helpdesks of a daemon: what they send is taken in, and each has a watcher that looks after it."""

import asyncio
import contextlib
import math
import time
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Literal

import structlog

from actors.ports import PortFailed
from actors.workflow.outcome import Outcome
from runtime.actions import acting_as, who_acts
from runtime.intake.adapter import Adapter
from runtime.intake.connections import Connection, load_connections
from runtime.intake.helpdesk_times import read_due
from runtime.intake.helpdesk_watcher import HelpdeskWatcher
from runtime.intake.inbox import Inbox, InboxFull
from runtime.intake.intake_report import IntakeReport, report_since
from runtime.intake.loop_rules import judge_event
from runtime.intake.payload_map import UnreadablePayload
from runtime.intake.queries import AdapterError
from runtime.intake.sender import Sender
from runtime.intake.write_back import PREFIX, Decision, WriteBack, decide
from runtime.processes.file_lock import hold_lock
from runtime.service import TicketService
from runtime.service_error import ServiceError
from runtime.storage.errors import StorageError, UnknownRun
from runtime.storage.journal import JournalDamaged, StoredRun
from runtime.tickets import Ticket
from runtime.times import DAY

log = structlog.get_logger()

LOCK = "helpdesks.lock"
KEEP_DAYS = 90
"""So long it is known which deliveries came; what comes again later is found answered by the ticket itself."""
TICK_SECONDS = 1.0
LOOK_AGAIN_SECONDS = 5.0
"""A ticket whose customer wrote while a run was on is looked at again then."""
NOT_REMEMBERED = (ServiceError, PortFailed, UnknownRun, JournalDamaged)
"""A person's answer that memory does not take holds up no writing."""
Taken = Literal["taken", "known", "ignored", "forged", "unreadable", "full", "unknown"]


class Intake:
    """What the front ends ask of the helpdesks."""

    def __init__(self, service: TicketService, connections: tuple[Connection, ...]) -> None:
        self._service = service
        self._node = service.node
        self.inbox = Inbox(self._node.journal.store)
        self.watchers = {each.name: self._make_watcher(each) for each in connections}

    def _make_watcher(self, connection: Connection) -> HelpdeskWatcher:
        adapter = connection.open(self._node.folder)
        sender = Sender(adapter, connection.settings, self.inbox, self)
        return HelpdeskWatcher(adapter, connection.settings, self.inbox, sender, self._submit)

    async def take(self, name: str, headers: Mapping[str, str], body: bytes) -> Taken:
        """What becomes of a delivery; when it is `taken`, it is durable."""
        watcher = self.watchers.get(name)
        if watcher is None or not takes_deliveries(watcher.adapter):
            return "unknown"
        if refusal := watcher.adapter.verify(headers, body, time.time()):
            watcher.health.refused += 1
            log.warning("delivery.refused", helpdesk=name, why=refusal)
            return "forged"
        try:
            event = watcher.adapter.read_delivery(headers, body)
        except UnreadablePayload as error:
            log.warning("delivery.unreadable", helpdesk=name, why=str(error))
            return "unreadable"
        watcher.health.delivered_at = time.time()
        if reason := judge_event(event, watcher.adapter.bot).reason:
            watcher.health.count(reason)
            return "ignored"
        try:
            is_new = await self.inbox.take(event, time.time())
        except InboxFull:
            return "full"
        watcher.ring()
        return "taken" if is_new else "known"

    def answer_challenge(self, name: str, given: str) -> str:
        """The answer to a helpdesk that asks whether we know its secret; empty: there is none."""
        watcher = self.watchers.get(name)
        return watcher.adapter.answer_challenge(given) if watcher is not None else ""

    async def _submit(self, ticket: Ticket) -> None:
        latest = await self._node.journal.latest_of(ticket.id)
        if latest is not None and latest.ended is None:
            raise ServiceError("A run is on.", "busy", retry_seconds=LOOK_AGAIN_SECONDS)
        await self._service.submit(ticket, again=True)

    async def outcome(self, run: str) -> Outcome | None:
        """How a run ended; None: it is gone."""
        try:
            return await self._node.journal.outcome(await self._node.journal.run(run))
        except UnknownRun:
            return None

    async def teach(self, some_id: str, answer: str, person: str, by: str, *, edits: bool = False) -> None:
        """A person's answer is remembered as theirs; where memory keeps no such answers, nothing is."""
        with acting_as(by), contextlib.suppress(*NOT_REMEMBERED):
            await self._node.teach(some_id, answer, person, edits=edits)

    async def confirm(self, run: str, by: str) -> None:
        """The whole answer of a run is remembered as right; where memory keeps no such answers, nothing is."""
        with acting_as(by), contextlib.suppress(*NOT_REMEMBERED):
            stored = await self._node.journal.run(run)
            shown = await self._node.find_places(stored)
            places = [each.number for each in shown] if len(shown) > 1 else []
            await self._service.feedback(stored, right=True, places=places)

    async def decide(self, stored: StoredRun, *, approved: bool, text: str = "") -> bool:
        """
        A person's word on the suggestion of a run; false: nothing of it waits for one.

        :param text: what the customer is told instead of what was suggested; empty: that.
        """
        source = stored.ticket.removeprefix(PREFIX).partition(".")[0] if stored.ticket.startswith(PREFIX) else ""
        if (watcher := self.watchers.get(source)) is None:
            return False
        decided = await self.inbox.decide(stored.id, Decision(approved, who_acts(), text))
        watcher.ring()
        return decided

    async def find_writings(self, stored: StoredRun) -> WriteBack | None:
        """What a run wrote to its helpdesk, or will; nothing waits any more where a person has given their word."""
        if not stored.ticket.startswith(PREFIX):
            return None
        found = await self.inbox.find_write_back(stored.id)
        decision = (await self.inbox.decisions()).get(stored.id) if found and found.waits else None
        return decide(found, decision) if found and decision else found

    async def list_unwritten(self) -> list[WriteBack]:
        """What is still to be written to helpdesks or waits for a person's word, what is due first before the rest."""
        decisions = await self.inbox.decisions()
        found = [each for name in self.watchers for each in await self.inbox.write_backs(name)]
        decided = [decide(each, decisions[run]) if run in decisions else each for run, each in found]
        return sorted(decided, key=lambda each: read_due(each.due))

    async def report(self, since: float) -> IntakeReport:
        """What became of helpdesks' tickets since then, Unix seconds."""
        return await report_since(self._node.journal.store, self.inbox, since)

    async def run(self, lock: Path) -> None:
        """Look after all helpdesks until this is cancelled; of several daemons on one folder, one does."""
        async with hold_lock(lock, within=math.inf, waits=lambda: log.info("helpdesks.elsewhere")):
            await self._load()
            async with asyncio.TaskGroup() as group:
                for name, watcher in self.watchers.items():
                    group.create_task(watcher.run(), name=f"helpdesk {name}")
                    group.create_task(watcher.listen(), name=f"helpdesk {name} listens")
                group.create_task(self._watch_ends(), name="helpdesk ends")
                group.create_task(self._forget_daily(), name="helpdesk deliveries")

    async def _load(self) -> None:
        """Know what an earlier process left, as soon as the storage can be read and written."""
        while True:
            try:
                return await self.inbox.load(self.watchers, time.time())
            except StorageError as error:
                log.warning("helpdesks.not_loaded", error=str(error))
                for watcher in self.watchers.values():
                    watcher.health.problem = "The storage cannot be read or written."
            await asyncio.sleep(LOOK_AGAIN_SECONDS)

    async def _watch_ends(self) -> None:
        """Ring all the time: a run may have ended, here or in another process."""
        while True:
            await asyncio.sleep(TICK_SECONDS)
            for watcher in self.watchers.values():
                watcher.ring()

    async def _forget_daily(self) -> None:
        while True:
            try:
                await self.inbox.forget_deliveries(time.time() - KEEP_DAYS * DAY)
                await self.inbox.forget_senders(time.time() - DAY)
            except Exception as error:  # tomorrow, then
                log.warning("helpdesks.deliveries_kept", error=repr(error))
            await asyncio.sleep(DAY)

    async def close(self) -> None:
        for watcher in self.watchers.values():
            await watcher.adapter.close()


def takes_deliveries(adapter: Adapter) -> bool:
    """Whether a helpdesk may send: one that signs needs a secret, or anybody could."""
    return adapter.file.signature.scheme != "none" and adapter.has_secret


@contextlib.asynccontextmanager
async def open_intake(service: TicketService) -> AsyncIterator[Intake]:
    """
    Look after the connected helpdesks for as long as this is open.

    :raises ServiceError: one of their files cannot be used.
    """
    try:
        connections = load_connections(Path(service.node.settings.helpdesks.folder))
    except AdapterError as error:
        raise ServiceError(str(error)) from None
    intake = Intake(service, connections)
    if not connections:
        yield intake
        return
    task = asyncio.create_task(intake.run(service.node.folder / LOCK), name="helpdesks")
    try:
        yield intake
    finally:
        task.cancel()
        await asyncio.wait([task])
        await intake.close()
