"""
All connected helpdesks of a daemon: what they send is taken in, each has a watcher, and what became
of tickets is counted.
"""

import asyncio
import contextlib
import datetime
import math
import time
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

import msgspec
import structlog

from actors.ports import PortFailed
from actors.text.stop_words import EVERYDAY
from actors.text.tokenizer import is_cjk, spellings
from actors.workflow.outcome import Outcome
from runtime.engine.actions import acting_as, who_acts
from runtime.engine.service import TicketService
from runtime.intake.adapter import Adapter, UnreadablePayload
from runtime.intake.adapter_file import AdapterError
from runtime.intake.connections import Connection, load_connections
from runtime.intake.events import read_due
from runtime.intake.helpdesk_watcher import HelpdeskWatcher
from runtime.intake.inbox import Inbox, InboxFull
from runtime.intake.loop_rules import judge_event
from runtime.intake.sender import Sender
from runtime.intake.writes import PREFIX, Decision, WriteBack, decide
from runtime.processes.file_lock import hold_lock
from runtime.service_error import ServiceError
from runtime.storage.damage import JournalDamaged
from runtime.storage.errors import StorageError, UnknownRun
from runtime.storage.port import RunStore
from runtime.storage.records import ACTION, Action, Asked, StoredRun, Wanted
from runtime.tickets import Ticket
from runtime.times import DAY

MOST_RUNS = 5_000
PAGE = 500
MOST_SHOWN = 20
TOPICS = 8
PUT_RIGHT = frozenset({"taught", "called wrong"})
UNKNOWN = "not_found"


class LackingTopic(msgspec.Struct, frozen=True):
    """A word that several questions have in common which no document answers."""

    word: str
    questions: int


class IntakeReport(msgspec.Struct, frozen=True, kw_only=True):
    """The runs of helpdesks' tickets since a moment, by what came of them: each counts in one of the first seven."""

    since: datetime.datetime
    answered: int = 0
    """The customer has an answer that nobody looked at before."""
    approved: int = 0
    """The customer has an answer that a person let through."""
    suggested: int = 0
    """People have a private note with a suggestion."""
    waiting: int = 0
    """The suggestion waits for a person's word."""
    not_sent: int = 0
    """A person refused the suggestion, or the ticket had moved on."""
    not_found: int = 0
    """The sources do not say it, as far as they were searched."""
    incomplete: int = 0
    """Of these: the search was not complete, so nobody knows whether they do."""
    others: int = 0
    """Still under way, failed, cancelled, or not written because the mode says so."""
    corrected: int = 0
    """Of all these: a person gave another answer, or called it wrong."""
    lacking: tuple[LackingTopic, ...] = ()
    unanswered: tuple[str, ...] = ()
    """Tickets of ours that nothing was found for, the newest first, twenty at most."""
    complete: bool = True
    """False: there were more runs, older ones, than are looked through."""


async def report_since(store: RunStore, inbox: Inbox, since: float) -> IntakeReport:
    """
    What became of tickets whose runs began since then.

    :param since: Unix seconds.
    """
    counts, terms, words, unanswered = Counter[str](), Counter[str](), dict[str, str](), list[str]()
    seen, before = 0, 0
    while seen < MOST_RUNS:
        found = await store.search(Wanted(search=PREFIX, since=since, before=before, count=PAGE))
        runs = [stored.id for stored, _ in found.runs if stored.ticket.startswith(PREFIX)]
        written, corrected = await inbox.find_write_backs(runs), await _find_corrected(store, runs)
        counts["corrected"] += len(corrected)
        for stored, asked in found.runs:
            if not stored.ticket.startswith(PREFIX):
                continue
            counts[classify(stored, written.get(stored.id))] += 1
            if stored.status == UNKNOWN and _was_incomplete(stored):
                counts["incomplete"] += 1
            elif stored.status == UNKNOWN:
                unanswered.append(stored.ticket)
                said = _read_words(asked)
                terms.update(said.keys())
                words = said | words
        seen += len(found.runs)
        before = found.last
        if not found.stopped and len(found.runs) < PAGE:
            break
    return IntakeReport(
        since=datetime.datetime.fromtimestamp(since, datetime.UTC), **counts,
        lacking=tuple(LackingTopic(words[term], n) for term, n in terms.most_common(TOPICS) if n > 1),
        unanswered=tuple(dict.fromkeys(unanswered))[:MOST_SHOWN], complete=seen < MOST_RUNS,
    )  # fmt: skip


class _Ending(msgspec.Struct):
    """Of an outcome only what is needed here."""

    incomplete: list[object] = []


def _was_incomplete(stored: StoredRun) -> bool:
    """Whether the search lacked something."""
    try:
        return bool(msgspec.msgpack.decode(stored.ending or b"", type=_Ending).incomplete)
    except msgspec.MsgspecError:  # of an earlier version
        return False


def classify(stored: StoredRun, written: WriteBack | None) -> str:
    """Which number of the report a run counts in."""
    if stored.status == UNKNOWN:
        return "not_found"
    for each in written.writes if written else ():
        if each.what == "reply" and each.state == "confirmed":
            return "approved" if each.by or each.tag else "answered"
        if each.what == "reply" and each.state in {"waiting", "planned", "sending"}:
            return "waiting"
        if each.what == "reply":
            return "not_sent"
    notes = [each for each in written.writes if each.what == "note"] if written else []
    suggested = stored.status in {"resolved", "suggested"} and any(each.state == "confirmed" for each in notes)
    return "suggested" if suggested else "others"


async def _find_corrected(store: RunStore, runs: Sequence[str]) -> set[str]:
    """Those of whose answers a person said that they were wrong, or gave another."""
    corrected = set()
    for each in await store.records_of(runs, ACTION):
        with contextlib.suppress(msgspec.MsgspecError):  # what cannot be read hides no others
            if msgspec.msgpack.decode(each.body, type=Action).what in PUT_RIGHT:
                corrected.add(each.run)
    return corrected


def _read_words(asked: Asked) -> dict[str, str]:
    """The terms of a question that tell what it is about, each as it may be shown."""
    found = spellings(f"{asked.subject}\n{asked.question}")
    return {
        term: term if is_cjk(word) else word
        for word, term in reversed(found)
        if word not in EVERYDAY and len(term) > 1 and not term.isdigit()
    }


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
