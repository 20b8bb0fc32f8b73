"""Runs of the research workflow: their ports, and the rounds below them."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import msgspec

from actors.outcome import Outcome
from actors.ports import Model
from actors.research.workflow import ResearchCase
from actors.workflow import Run, Workflow
from bus import Cast, SharedCast
from runtime.fetch.client import Client
from runtime.fetch.port import Pages
from runtime.projects.keeper import Keeper
from runtime.reading.port import Reader
from runtime.research.cast import Own, research_roles
from runtime.research.purse import Purse
from runtime.run import LiveRun
from runtime.search.sources import Sources
from runtime.storage.effects import Effects
from runtime.storage.journal import UnknownRun

if TYPE_CHECKING:
    from runtime.node import Node


class Research:
    """What all research runs of a process share."""

    def __init__(self, node: "Node", told: Mapping[str, str]) -> None:
        settings = node.settings
        self._node = node
        self._roles = research_roles(node.flows["research"], node.tickets, told)
        self.client = Client(settings.fetch)
        self.sources = Sources(settings, node.knowledge, node.workers, self.client)
        self.pages = Pages(settings, node.workers, self.client)
        self.reader = Reader(node.knowledge, node.workers)
        self.keeper = Keeper(node.folder, node.workers, settings.research.backup_seconds)

    def cast(self, run_id: str, model: Model) -> Cast:
        """The cast of an outermost run, with ports of its own."""
        effects, limits = Effects(self._node.database, run_id), self._node.settings.research
        purse = Purse({"pages": limits.pages, "credits": limits.credits, "money": limits.money})
        search, fetch = self.sources.for_run(effects, purse), self.pages.for_run(effects, purse)
        return SharedCast(self._roles, Own(run_id, model, search, fetch, self.reader, self._deepen))

    async def close(self) -> None:
        await self.keeper.close()
        await self.sources.close()
        await self.pages.close()
        await self.client.close()

    async def _deepen(self, own: Own, run_id: str, flow: Workflow, case: ResearchCase) -> LiveRun | tuple[Run, Outcome]:
        """Begin a round below another, or go on with the one that the journal knows."""
        journal, owner = self._node.journal, self._node.owner.token
        cast = SharedCast(self._roles, own._replace(run=run_id))
        try:
            stored = journal.find(run_id)
        except UnknownRun:
            case = msgspec.structs.replace(case, max_seconds=flow.max_seconds)
            await journal.accept_child(run_id, flow, case, owner)
            live = LiveRun(run_id, flow, case, cast, journal=journal)
        else:
            if (outcome := journal.outcome(stored)) is not None:
                return journal.fold(stored), outcome
            await journal.take_over(stored, owner)
            live = LiveRun(
                run_id, journal.flow(stored), journal.case(stored), cast, journal=journal,
                replayed=journal.replayed(stored),
            )  # fmt: skip
        self.keeper.deeper(live)
        return live
