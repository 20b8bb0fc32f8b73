"""One process of Terminus: the only place where ports, casts and storage are wired together."""

import asyncio
import contextlib
import functools
import secrets
import sqlite3
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Self

import msgspec
import structlog

import runtime.logs  # noqa: F401 - first: it keeps structlog from loading rich
from actors.conclusion import Ending, conclude
from actors.helpdesk.workflow import HELPDESK, TicketCase
from actors.outcome import Outcome, Why
from actors.ports import Knowledge, PortFailed, Tickets
from actors.research.records import Report
from actors.research.workflow import RESEARCH, ResearchCase
from actors.workflow import Case, Run, Workflow
from bus import SharedCast
from runtime.cast import Own, configured, helpdesk_roles
from runtime.handle import RunHandle
from runtime.knowledge.port import KnowledgeIndex
from runtime.memory.store import TicketMemory
from runtime.models import Models
from runtime.prompts import load
from runtime.registry import LiveRuns
from runtime.run import LiveRun, Replayed
from runtime.settings import Settings
from runtime.storage.database import Database
from runtime.storage.effects import Effects, ModelAccount
from runtime.storage.journal import JournalDamaged, SqliteJournal, StoredRun, Ticket
from runtime.storage.owner import Owner
from runtime.storage.schema import migrate
from runtime.wording import safe
from runtime.workers import Workers

if TYPE_CHECKING:
    from runtime.knowledge.indexing import IndexProgress, IndexReport
    from runtime.research.desk import Research

__all__ = ["Busy", "NoReport", "Node", "RunHandle", "Ticket"]

log = structlog.get_logger()

DATABASE = "terminus.db"
RESEARCH_WORK = ("runtime.knowledge.search", "runtime.fetch.document")
"""Modules that every worker process needs for a research."""


class Busy(PortFailed):
    """As many runs as are allowed are going on. The text says what to do."""


class NoReport(PortFailed):
    """There is no report of this id. The text says why."""


class Node:
    """Everything a process needs to run tickets. Open it with `async with Node.open(settings) as node`."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.folder = Path(settings.storage.folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.flows = {flow.name: configured(flow, settings) for flow in (HELPDESK, RESEARCH)}
        self.database = Database(self.folder / DATABASE, migrate=migrate)
        self.journal = SqliteJournal(self.database, self.flows)
        self.owner = Owner(self.folder / "owners")
        self.workers = Workers(settings.workers.processes)
        self.tickets: Tickets = self.journal
        self.knowledge: Knowledge = KnowledgeIndex(self.folder, self.workers, settings.knowledge)
        self.memory = TicketMemory(self.database, self.workers, settings.memory)
        self.models = Models(settings.model, self.knowledge)
        told = {name: declared.instructions for name, declared in load().items()}
        self._told = told
        self._roles = helpdesk_roles(self, told, lambda own: self.research.researcher(own))
        self._log = structlog.get_logger().bind()
        self._live = LiveRuns(self.journal, self.owner.token)
        self._accepting: dict[str, asyncio.Task[LiveRun]] = {}
        """By ticket: those that are being made durable."""

    @classmethod
    @contextlib.asynccontextmanager
    async def open(cls, settings: Settings) -> AsyncIterator[Self]:
        """Runs that have not ended when this closes stay in the journal, for `resume`."""
        try:
            node = cls(settings)
        except OSError as error:
            what = f"The storage folder {safe(settings.storage.folder)} cannot be used: {error.strerror}"
            raise PortFailed(f"{what}. Mend it, or set [storage] folder to another.") from error
        try:
            yield node
        finally:
            await node.close()

    async def close(self) -> None:
        """Stop at once what still runs, without an end."""
        self._live.abandon()
        accepting = list(self._accepting.values())
        for task in accepting:
            task.cancel()
        if accepting:
            await asyncio.wait(accepting, timeout=1.0)
        if "research" in self.__dict__:
            await self.research.close()
        await self.models.close()
        await self.memory.close()
        self.workers.close()
        self.database.close()
        self.owner.close()

    @functools.cached_property
    def research(self) -> "Research":
        """What researches need; most tickets are none, and do without loading it."""
        from runtime.research.desk import Research

        return Research(self, self._told)

    @property
    def live(self) -> int:
        """Runs in progress in this process."""
        return len(self._live)

    async def submit(self, ticket: Ticket) -> RunHandle:
        """
        Return once the ticket is durable and its run has begun. A ticket whose run is going on is not run twice.

        :raises Busy: too many runs are going on, or another process is at this very ticket.
        """
        if ticket.id and (handle := self.handle(ticket.id) or await self._interrupted(ticket.id)):
            return handle
        ticket = msgspec.structs.replace(ticket, id=ticket.id or f"T-{secrets.token_hex(4)}")
        accepting = self._accepting.get(ticket.id)
        if accepting is None:
            if len(self._live) + len(self._accepting) >= self.settings.server.max_runs:
                raise Busy(f"{len(self._live)} tickets are being worked on; try again when one has ended.")
            accepting = self._accepting[ticket.id] = asyncio.create_task(self._accept(ticket))
            accepting.add_done_callback(lambda _: self._accepting.pop(ticket.id, None))
        # Shielded: who submits may go away, but what is durable must not be left without a run.
        return RunHandle(await asyncio.shield(accepting))

    async def _interrupted(self, ticket_id: str) -> RunHandle | None:
        """The unfinished run of a ticket, gone on with; nothing when it has none."""
        for stored in self.journal.unfinished(ticket_id):
            if stored.owner != self.owner.token and self.owner.lives(stored.owner):
                raise Busy(f"Another process is working on {stored.ticket}; `python -m runtime status` shows it.")
            if handle := await self._go_on(stored):
                return handle
        return self.handle(ticket_id)

    async def _accept(self, ticket: Ticket) -> LiveRun:
        run_id = f"R-{secrets.token_hex(6)}"
        text = f"{ticket.subject}\n\n{ticket.text}".strip() if ticket.subject else ticket.text
        case: Case = TicketCase(ticket_id=ticket.id, text=text)
        if ticket.brief is not None:
            case = ResearchCase(ticket_id=ticket.id, text=text, brief=ticket.brief)
        flow = self.flows["helpdesk" if ticket.brief is None else "research"]
        await self.journal.accept(ticket, run_id, flow, case, self.owner.token)
        return self._begin(run_id, flow, case, None)

    async def resume(self) -> list[RunHandle]:
        """Go on with every run whose process is gone."""
        orphans = [
            stored
            for stored in self.journal.unfinished()
            if stored.owner == self.owner.token or not self.owner.lives(stored.owner)
        ]
        # All at once, so that one commit takes over many.
        handles = await asyncio.gather(*(self._go_on(stored) for stored in orphans))
        return [handle for handle in handles if handle is not None]

    async def restore(self, case: ResearchCase, run_id: str) -> RunHandle | None:
        """Begin a run with what a state file knew of it; nothing when another process has done so."""
        flow = self.flows["research"]
        ticket = Ticket(id=case.ticket_id, text=case.text, brief=case.brief)
        try:
            await self.journal.accept(ticket, run_id, flow, case, self.owner.token)
        except sqlite3.IntegrityError:
            return None
        return RunHandle(self._begin(run_id, flow, case, None))

    async def _go_on(self, stored: StoredRun) -> RunHandle | None:
        """Take over a run that nobody runs; nothing when somebody does, or when it cannot be read any more."""
        if stored.id in self._live or stored.ticket in self._accepting:
            return None
        if not await self.journal.take_over(stored, self.owner.token) or stored.id in self._live:
            return None
        try:
            case, replayed = self.journal.case(stored), self.journal.replayed(stored)
        except JournalDamaged as error:
            self._give_up(stored, error)
            return None
        log.info("run.resumed", run=stored.id, ticket=stored.ticket, seconds=round(replayed.elapsed, 1))
        return RunHandle(self._begin(stored.id, self.journal.flow(stored), case, replayed))

    def handle(self, some_id: str) -> RunHandle | None:
        """A run in progress in this process, by its id or its ticket's."""
        live = self._live.find(some_id)
        return RunHandle(live) if live else None

    def status(self, some_id: str) -> tuple[StoredRun, Outcome | None]:
        """A run, or the latest of a ticket, and how it ended if it has."""
        stored = self.journal.find(some_id)
        return stored, self.journal.outcome(stored)

    def report(self, some_id: str) -> Report:
        """
        The report of a research that has ended.

        :raises NoReport: it has none, or none yet.
        """
        stored = self.journal.find(some_id)
        case = self.journal.fold(stored).case
        if not isinstance(case, ResearchCase):
            raise NoReport(f"{some_id} is a ticket of the helpdesk; `python -m runtime status {some_id}` shows it.")
        if case.report is None:
            why = "has not ended yet" if stored.ended is None else "ended before there was anything to report"
            raise NoReport(f"The research {some_id} {why}; `python -m runtime status {some_id}` shows where it stands.")
        return case.report

    async def cancel(self, some_id: str) -> bool:
        """Cancel a run here, or leave word for the process that has it; false when it has ended already."""
        if handle := self.handle(some_id):
            handle.cancel()
            return True
        stored = self.journal.find(some_id)
        if stored.ended is not None:
            return False
        await self.journal.ask_to_cancel(stored)
        return True

    async def feedback(self, some_id: str, *, right: bool) -> tuple[str, int]:
        """
        Say whether a ticket's resolution was right.

        :returns: the ticket whose answer it was (one from memory only repeats another's), and how many it touched.
        """
        stored = self.journal.find(some_id)
        case = self.journal.fold(stored).case
        hit = isinstance(case, TicketCase) and case.recalled.verdict == "hit"
        ticket = case.recalled.ticket_id if hit else stored.ticket
        return ticket, await self.memory.feedback(ticket, right)

    async def index(self, folders: Sequence[str], progress: "Callable[[IndexProgress], None]") -> "IndexReport":
        """Read folders of documents into the knowledge base."""
        from runtime.knowledge.indexing import index  # the readers: a ticket needs none

        return await index(folders, self.folder, self.workers, self.settings.knowledge, progress)

    def _begin(self, run_id: str, flow: Workflow, case: Case, replayed: Replayed | None) -> LiveRun:
        effects, limits = Effects(self.database, run_id), self.settings.research
        if isinstance(case, ResearchCase):
            model, spent = self.models.for_run(
                run_id, ModelAccount(effects), money=limits.money, held_back=limits.report_share
            )
            self.workers.warm(*RESEARCH_WORK)  # they load theirs while this process loads what is its own
            cast = self.research.cast(run_id, model, effects)
        else:
            model, spent = self.models.for_run(run_id, ModelAccount(effects))
            cast = SharedCast(self._roles, Own(run_id, model))
        live = LiveRun(run_id, flow, case, cast, journal=self.journal, spent=spent, replayed=replayed, log=self._log)
        if isinstance(case, ResearchCase):
            live.remember()
            self.research.keeper.follow(live)
            live.when_ended(lambda _: effects.forget())
        self._live.add(live)
        return live

    def _give_up(self, stored: StoredRun, error: JournalDamaged) -> None:
        log.error("run.lost", run=stored.id, error=str(error))
        flow = self.flows.get(stored.workflow, HELPDESK)
        run = Run(next(iter(flow.steps)), Case(ticket_id=stored.ticket))
        ending = Ending(Why.ORCHESTRATOR_FAILED, "", 0.0)
        self.journal.finish(None, conclude(stored.id, flow, run, ending), _note)


def _note(error: Exception | None) -> None:
    if error is not None:
        log.error("journal.failed", error=repr(error))
