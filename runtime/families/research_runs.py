"""Runs of the research workflow: their ports, and the rounds below them."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from actors.ports import Model
from actors.research.models import ResearchOptions
from actors.research.workflow import ResearchCase
from actors.workflow.outcome import Outcome
from actors.workflow.tables import Run, Workflow
from bus import ActorFactories, Cast, Request
from runtime.child_workflow import Children, ChildRun
from runtime.crawl.http_client import Client
from runtime.crawl.pages import Pages
from runtime.families.budget import ResearchBudget
from runtime.families.helpdesk import RunDependencies as HelpdeskOwn
from runtime.families.research import ResearchDependencies, make_answer, make_case, research_roles
from runtime.knowledge.page_reader import Reader
from runtime.run import LiveRun
from runtime.search.sources import Sources
from runtime.state_files.autosave import Autosave
from runtime.storage.effects import Effects
from runtime.storage.journal import UnknownRun

if TYPE_CHECKING:
    from runtime.node import Node


class Research:
    """What all research runs of a process share."""

    def __init__(self, node: "Node", told: Mapping[str, str]) -> None:
        settings = node.settings
        self._node = node
        self._roles = research_roles(node.flows["research"], node.tickets, told, settings.research.report_seconds)
        self.client = Client(settings.fetch)
        self.sources = Sources(settings, node.knowledge, node.workers, self.client)
        self.pages = Pages(settings, node.workers, self.client)
        self.pages.extractor = self.sources.tavily
        self.reader = Reader(node.knowledge, node.workers)
        self.keeper = Autosave(node.folder, node.workers, settings.research.backup_seconds)

    def cast(
        self, run_id: str, model: Model, effects: Effects, children: Children, ticket: str, *, project: str = ""
    ) -> Cast:
        """
        The cast of a research's outermost run, with ports of its own.

        :param ticket: as logs name it.
        :param project: the id of its state file, if it has one: then the pages that it read are kept as they were sent.
        """
        limits = self._node.settings.research
        purse = ResearchBudget({"pages": limits.pages, "credits": limits.credits}, effects)
        search, fetch = self.sources.for_run(effects, purse), self.pages.for_run(effects, purse, project)
        own = ResearchDependencies(run_id, ticket, children, model, search, fetch, self.reader, self._deepen)
        return ActorFactories(self._roles, own)

    async def close(self) -> None:
        await self.keeper.close()
        await self.sources.close()
        await self.pages.close()
        await self.client.close()

    def researcher(self, ticket: HelpdeskOwn) -> ChildRun:
        """A worker of the helpdesk who answers a ticket with a research, on the ticket's account."""
        settings, database = self._node.settings.research, self._node.database

        async def begin(run_id: str, flow: Workflow, request: Request[Any]) -> LiveRun | tuple[Run, Outcome]:
            brief = ResearchOptions(settings.breadth, settings.depth, sources=settings.sources)
            case = make_case(request, run_id, brief)
            effects, children = Effects(database, run_id), Children(self._node.journal.children(run_id))
            cast = self.cast(run_id, ticket.model, effects, children, ticket.ticket)
            child = await self._child(run_id, flow, case, cast, ticket.ticket, children)
            if isinstance(child, LiveRun):
                child.on_end(lambda _: effects.forget())
            return child

        flow = self._node.flows["research"]
        return ChildRun(
            ticket.run, flow, begin, make_answer, children=ticket.children, hold_back=settings.report_seconds
        )

    async def _deepen(
        self, own: ResearchDependencies, run_id: str, flow: Workflow, case: ResearchCase
    ) -> LiveRun | tuple[Run, Outcome]:
        """Begin a round below another."""
        children = Children(self._node.journal.children(run_id))
        cast = ActorFactories(self._roles, own._replace(run=run_id, children=children))
        live = await self._child(run_id, flow, case, cast, own.ticket, children)
        if isinstance(live, LiveRun):
            self.keeper.deeper(live)
        return live

    async def _child(
        self, run_id: str, flow: Workflow, case: ResearchCase, cast: Cast, within: str, children: Children
    ) -> LiveRun | tuple[Run, Outcome]:
        """Begin a run within a run, or go on with the one that the journal knows."""
        journal, owner = self._node.journal, self._node.owner.token
        try:
            stored = journal.run(run_id)
        except UnknownRun:
            case = msgspec.structs.replace(case, max_seconds=flow.max_seconds)
            await journal.accept_child(run_id, flow, case, owner)
            return LiveRun(run_id, flow, case, cast, journal=journal, children=children, within=within)
        if (outcome := journal.outcome(stored)) is not None:
            return journal.fold(stored), outcome
        await journal.take_over(stored, owner)
        return LiveRun(
            run_id, journal.flow(stored), journal.case(stored), cast, journal=journal,
            replayed=journal.replayed(stored), children=children, within=within,
        )  # fmt: skip
