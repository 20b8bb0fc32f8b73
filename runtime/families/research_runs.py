"""What the runs of the research family need: who plays which role, and the ports to search and to read pages."""

from typing import NamedTuple

from actors.ports import Fetch, Reading, Search, Tickets
from actors.research.analyzer import Analyzer
from actors.research.extractor import Extractor
from actors.research.planner import Planner
from actors.research.reporter import Reporter
from actors.research.searcher import Searcher
from actors.roster import Roster
from runtime.crawl.pages import Pages
from runtime.engine.run import LiveRun
from runtime.families.family import FamilyRuns, Roles, SharedPorts
from runtime.families.research_state.autosave import Autosave
from runtime.knowledge.page_reader import Reader
from runtime.observe.run_trace import TracedReading
from runtime.resilience.limiters import ResearchBudget
from runtime.storage.effects import Effects

WORK = ("runtime.knowledge.query.search", "runtime.crawl.own_document")
"""Modules that every worker process needs for a research."""


class ResearchPorts(NamedTuple):
    """Those of one research, with its rounds."""

    search: Search
    fetch: Fetch
    reading: Reading


def research_roles(tickets: Tickets, roster: Roster, *, second_reading: bool = True) -> Roles:
    """Who plays which role; nobody exists before they are asked."""
    return {
        "planner": lambda own: Planner(own.model, own.ports.search.names, roster["planner"].instructions),
        "searcher": lambda own: Searcher(own.ports.search),
        "extractor": lambda own: Extractor(own.ports.fetch),
        "analyzer": lambda own: Analyzer(
            own.model,
            TracedReading(own.ports.reading, own.trace, "analyzer"),
            roster["analyzer"].instructions,
            own.trace,
            second_reading=second_reading,
        ),
        "reporter": lambda own: Reporter(
            own.model, tickets, roster["reporter"].instructions, own.run, own.trace, second_reading=second_reading
        ),
    }


class ResearchRuns(FamilyRuns):
    """What all researches of a process share."""

    def __init__(self, shared: SharedPorts) -> None:
        settings = shared.settings
        super().__init__(research_roles(shared.tickets, shared.roster, second_reading=settings.model.second_reading))
        self.money, self.held_back = settings.research.money, settings.research.report_share
        self._limits = settings.research
        self._workers = shared.workers
        self.sources = shared.sources
        self.pages = Pages(self.sources)
        self.reader = Reader(shared.knowledge, shared.workers, shared.embedder)
        self.keeper = Autosave(shared.folder, shared.workers, settings.research.backup_seconds)

    def make_ports(self, run: str, ticket: str, effects: Effects) -> ResearchPorts:
        self._workers.warm(*WORK)  # they load theirs while this process loads what is its own
        budget = ResearchBudget({"pages": self._limits.pages, "credits": self._limits.credits}, effects)
        project = ticket if is_outermost(run) else ""  # with one, pages are kept as they were sent
        search, fetch = self.sources.for_run(effects, budget), self.pages.for_run(effects, budget, project)
        return ResearchPorts(search, fetch, self.reader)

    def follow(self, live: LiveRun) -> None:
        """Keep the state file of a research; the research that a ticket asks for has none."""
        if is_outermost(live.id):
            live.remember()
            self.keeper.follow(live)
        else:
            self.keeper.deeper(live)

    async def close(self) -> None:
        await self.keeper.close()


def is_outermost(run_id: str) -> bool:
    return "." not in run_id
