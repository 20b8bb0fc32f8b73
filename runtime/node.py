"""One process of Terminus: the only place where ports, casts and storage are wired together."""

import contextlib
import functools
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Self

import structlog

import runtime.logs  # first: it keeps structlog from loading rich
from actors.helpdesk.workflow import HELPDESK, TicketCase
from actors.ports import Knowledge, PortFailed, Tickets
from actors.reporting.report import Report
from actors.research.workflow import RESEARCH, ResearchCase
from actors.workflow.outcome import Outcome
from actors.workflow.tables import Case, Workflow
from bus import ActorFactories
from runtime.child_workflow import Children
from runtime.families.helpdesk import RunDependencies, configure, helpdesk_roles
from runtime.knowledge.knowledge_index import KnowledgeIndex
from runtime.llm.models import Models
from runtime.memory.ticket_memory import TicketMemory
from runtime.messages import safe
from runtime.processes.pool import Workers
from runtime.program import command
from runtime.prompts import load
from runtime.run import LiveRun, ResumeState
from runtime.run_handle import Handle, RunHandle
from runtime.runs import Busy, Runs
from runtime.settings import Settings, check
from runtime.storage.database import Database
from runtime.storage.effects import Effects, ModelAccount, sweep
from runtime.storage.integrity import check as check_integrity
from runtime.storage.journal import SqliteJournal, StoredRun, Ticket
from runtime.storage.owner import ProcessLock
from runtime.storage.private import DATABASE, OWNERS, make_storage
from runtime.storage.schema import migrate

if TYPE_CHECKING:
    from runtime.families.research_runs import Research
    from runtime.knowledge.index.indexing import IndexProgress, IndexReport

__all__ = ["Busy", "Handle", "NoReport", "Node", "RunHandle", "Ticket"]

log = structlog.get_logger()

RESEARCH_WORK = ("runtime.knowledge.query.search", "runtime.crawl.own_document")
"""Modules that every worker process needs for a research."""


class NoReport(PortFailed):
    """There is no report of this id. The text says why."""


class Node:
    """Everything a process needs to run tickets. Open it with `async with Node.open(settings) as node`."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.folder = make_storage(Path(settings.storage.folder))
        self.flows = {flow.name: configure(flow, settings) for flow in (HELPDESK, RESEARCH)}
        check_integrity(self.folder / DATABASE, self.folder / OWNERS, settings.storage.check_seconds)
        self.database = Database(self.folder / DATABASE, migrate=migrate)
        sweep(self.database)
        self.owner = ProcessLock(self.folder / OWNERS)
        self.journal = SqliteJournal(self.database, self.flows, self.owner.slots)
        self.workers = Workers(settings.workers.processes)
        self.tickets: Tickets = self.journal
        self.knowledge: Knowledge = KnowledgeIndex(self.folder, self.workers, settings.knowledge)
        self.memory = TicketMemory(self.database, self.workers, settings.memory)
        self.models = Models(settings.model, self.knowledge)
        told = {name: declared.instructions for name, declared in load().items()}
        self._told = told
        self._roles = helpdesk_roles(self, told, lambda own: self.research.researcher(own))
        self._log = structlog.get_logger().bind()
        self.runs = Runs(self.journal, self.owner, self.flows, self._begin, settings.server.max_runs)

    @classmethod
    @contextlib.asynccontextmanager
    async def open(cls, settings: Settings) -> AsyncIterator[Self]:
        """
        Open what the settings say. Runs that have not ended when this closes stay in the journal, for `resume`.

        :raises ConfigError: a setting is out of its bounds.
        :raises PortFailed: the storage folder cannot be used.
        """
        check(settings)
        runtime.logs.to_logging(settings)
        try:
            node = cls(settings)
        except OSError as error:
            what = f"The storage folder {safe(settings.storage.folder)} cannot be used: {error.strerror}"
            raise PortFailed(f"{what}. Mend it, or set [storage] folder to another.") from error
        try:
            await node.runs.settle_dead()
            yield node
        finally:
            await node.close()

    async def close(self) -> None:
        """Stop at once what still runs, without an end."""
        await self.runs.close()
        if "research" in self.__dict__:
            await self.research.close()
        await self.models.close()
        await self.memory.close()
        self.workers.close()
        self.database.close()
        self.journal.pending.close()
        self.owner.close(leaves=len(self.journal.pending) > 0)

    @functools.cached_property
    def research(self) -> "Research":
        """What researches need; most tickets are none, and do without loading it."""
        from runtime.families.research_runs import Research

        return Research(self, self._told)

    @property
    def live(self) -> int:
        """Runs in progress in this process."""
        return self.runs.live.count_open

    async def submit(self, ticket: Ticket, *, seen: int | None = None) -> Handle:
        """
        Return once the ticket is durable and its run has begun. A ticket whose run is going on is not run twice.

        :param seen: the latest run of the ticket that the caller knows of, by `seq`: a later one is the answer, too.
        :raises Busy: too many runs are going on.
        """
        return await self.runs.submit(ticket, seen)

    async def resume(self) -> list[RunHandle]:
        """Go on with every run whose process is gone."""
        return await self.runs.resume()

    async def restore(self, case: ResearchCase, run_id: str) -> RunHandle | None:
        """Begin a run with what a state file knew of it; nothing when another process has done so."""
        return await self.runs.restore(case, run_id)

    def handle(self, some_id: str) -> RunHandle | None:
        """A run in progress in this process, by its ticket's id or its own."""
        return self.runs.handle(some_id)

    async def attend(self, stored: StoredRun) -> Handle:
        """A run, wherever it goes on. One that nobody runs goes on here."""
        return await self.runs.attend(stored)

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
            raise NoReport(f"{some_id} is a ticket of the helpdesk; {command(f'status {some_id}')} shows it.")
        if case.report is None:
            why = "has not ended yet" if stored.ended is None else "ended before there was anything to report"
            raise NoReport(f"The research {some_id} {why}; {command(f'status {some_id}')} shows where it stands.")
        return case.report

    async def cancel(self, some_id: str) -> bool:
        """Cancel a run, wherever it goes on; false when it has ended already."""
        return await self.runs.cancel(some_id)

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

    async def index(
        self, folders: Sequence[str], progress: "Callable[[IndexProgress], None]" = lambda _: None
    ) -> "IndexReport":
        """
        Read folders of documents into the knowledge base.

        :raises PortFailed: a folder cannot be read, or the index cannot be written.
        """
        from runtime.knowledge.index.indexing import index  # the readers: a ticket needs none

        return await index(folders, self.folder, self.workers, self.settings.knowledge, progress)

    def _begin(self, run_id: str, flow: Workflow, case: Case, replayed: ResumeState | None) -> LiveRun:
        effects, limits = Effects(self.database, run_id), self.settings.research
        children = Children(self.journal.children(run_id) if replayed else ())
        if isinstance(case, ResearchCase):
            model, spent = self.models.for_run(
                run_id, ModelAccount(effects), money=limits.money, held_back=limits.report_share
            )
            self.workers.warm(*RESEARCH_WORK)  # they load theirs while this process loads what is its own
            cast = self.research.cast(run_id, model, effects, children, case.ticket_id, project=case.ticket_id)
        else:
            model, spent = self.models.for_run(run_id, ModelAccount(effects))
            cast = ActorFactories(self._roles, RunDependencies(run_id, case.ticket_id, model, children))
        live = LiveRun(
            run_id, flow, case, cast, journal=self.journal, spent=spent, replayed=replayed, children=children,
            log=self._log,
        )  # fmt: skip
        if isinstance(case, ResearchCase):
            live.remember()
            self.research.keeper.follow(live)
        live.on_end(lambda _: effects.forget())
        return live
