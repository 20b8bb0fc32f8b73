"""A small web in memory, and a research over it with the real agents: for tests of the family as a whole."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, cast

import msgspec

from actors.drafting.drafts import SecondReading
from actors.evidence.dedup import hash_of
from actors.evidence.passages import Passage, SearchHits
from actors.evidence.sources import FailedSource, Page, SearchResult
from actors.ports import Completion, ModelRequest, PortFailed
from actors.research.models import ResearchOptions
from actors.research.workflow import RESEARCH, ResearchCase
from actors.text.urls import key_of
from actors.workflow.outcome import Outcome
from actors.workflow.tables import Run, Workflow
from bus import Actor, ActorFactories, Cast, Clock
from runtime.engine.run import Children, ChildRun, LiveRun
from runtime.families import extractive
from runtime.families.family import RunDependencies
from runtime.families.research import FAMILY
from runtime.families.research_runs import ResearchPorts, research_roles
from runtime.settings import Settings
from tests.clock import settle
from tests.fakes import ROSTER, Notebook, Stage, TicketTable, Trusts, approve

QUESTION = "How does the Halyard cache decide what to evict?"
WEB = {
    "https://one.example/eviction": "The Halyard cache evicts the entry that was used least recently. "
    "A pinned entry of the Halyard cache is never evicted.",
    "https://two.example/limits": "The Halyard cache holds 4096 entries unless its limit is raised. "
    "When the Halyard cache is full, each write evicts one entry.",
    "https://three.example/pins": "Pinned entries of the Halyard cache count towards its limit. "
    "The Halyard cache refuses a pin when half of its entries are pinned.",
    "https://four.example/metrics": "The Halyard cache reports each eviction as a counter named halyard_evictions.",
}
"""Invented: URL to text."""


class Finds(Trusts):
    """Every source knows every page whose text shares a longer word with the query, those with most first."""

    def __init__(self, web: Mapping[str, str] = WEB, names: tuple[str, ...] = ("web",)) -> None:
        self.web, self.names = web, names
        self.asked: list[tuple[str, str]] = []
        self.most = self._now = 0
        self.failing: set[str] = set()

    async def search(self, source: str, query: str, *, limit: int, within: float) -> tuple[SearchResult, ...]:
        self.asked.append((source, query))
        self._now += 1
        self.most = max(self.most, self._now)
        try:
            await asyncio.sleep(0)
        finally:
            self._now -= 1
        if source in self.failing:
            raise PortFailed(f"{source} does not answer; try again later.")
        words = {word.strip("?.,").lower() for word in query.split() if len(word) > 3}
        shared = {url: len(words & set(text.lower().replace(".", "").split())) for url, text in self.web.items()}
        hits = [(url, text) for url, text in self.web.items() if shared[url]]
        hits.sort(key=lambda hit: (-shared[hit[0]], hash_of(query + hit[0])))  # other pages for each query
        return tuple(
            SearchResult(source, url.rpartition("/")[2].title(), url, text[:150], query=query)
            for url, text in hits[:limit]
        )


class Reads:
    """Reads each page at once, and says so; some are not to be had."""

    def __init__(self, web: Mapping[str, str] = WEB, missing: Sequence[str] = ()) -> None:
        self.web, self.missing = web, set(missing)
        self.fetched: list[str] = []

    async def read(
        self, results: Sequence[SearchResult], *, wanted: int, query: str, within: float,
        done: Callable[[Page | FailedSource], None], **_: Any,
    ) -> None:  # fmt: skip
        good = 0
        for result in results:
            if good == wanted:
                return
            await asyncio.sleep(0)
            self.fetched.append(result.url)
            if result.url in self.missing:
                done(FailedSource(result.url, "dead", "The server answered 404."))
                continue
            text, good = self.web[result.url], good + 1
            digest = hash_of(text)
            done(
                Page(
                    key_of(result.url), result.url, result.title, result.source, text, len(text), digest,
                    "2026-01-02T03:04:05+00:00",
                )
            )  # fmt: skip


class Looks:
    """Every page that shares a longer word with a question bears on it, as a whole."""

    async def passages(
        self, questions: Sequence[str], pages: Sequence[Page], *, within: float
    ) -> tuple[SearchHits, ...]:
        await asyncio.sleep(0)
        return tuple(self._found(question, pages) for question in questions)

    def _found(self, question: str, pages: Sequence[Page]) -> SearchHits:
        words = {word.strip("?.,").lower() for word in question.split() if len(word) > 5}
        passages = []
        for page in pages:
            if not words & set(page.text.lower().replace(".", "").split()):
                continue
            place = (f"{page.key}#0", page.key, page.title, page.title, page.text, 0, len(page.text))
            passages.append(Passage(*place, "", 0.9))
        return SearchHits(tuple(passages), "" if passages else "Nothing that was read speaks of this.")


class Inquiry(Stage):
    """One research on a clock of its own, the rounds below it included."""

    def __init__(
        self,
        *,
        brief: ResearchOptions = ResearchOptions(),  # noqa: B008
        text: str = QUESTION,
        search: Any = None,
        fetch: Any = None,
        reading: Any = None,
        model: Any = None,
        flow: Workflow = RESEARCH,
        journal: Any = None,
        **roles: Callable[[], Actor[Any]],
    ) -> None:
        self.search, self.fetch = search or Finds(), fetch or Reads()
        self.model_: Any = model or extractive()
        self.tickets_ = TicketTable()
        self.rounds: list[LiveRun] = []
        self.notebooks: dict[str, Notebook] = {}
        self._roles = {**research_roles(self.tickets_, ROSTER), "round": self._round}
        self._flow, self._replaced = flow, roles
        children = Children()
        ports = ResearchPorts(self.search, self.fetch, reading or Looks())
        own = RunDependencies("R-1", "T-1", self.model_, children, cast("Any", None), ports)
        case = ResearchCase(ticket_id="T-1", text=text, brief=brief)
        super().__init__(
            flow=flow, case=case, tickets=self.tickets_, journal=journal, cast=self._cast(own), children=children
        )

    def _cast(self, own: RunDependencies) -> Cast:
        return {**ActorFactories(self._roles, own), **self._replaced}

    def _round(self, own: RunDependencies) -> ChildRun:
        answer = FAMILY.children["round"].make_answer
        return ChildRun(own.run, self._flow, partial(self._deepen, own), answer, children=own.children, hold_back=30.0)

    async def _deepen(self, own: RunDependencies, run_id: str, flow: Workflow, request: Any) -> LiveRun:
        case = FAMILY.children["round"].make_case(request, run_id, Settings())
        case = msgspec.structs.replace(case, max_seconds=flow.max_seconds)
        notebook = self.notebooks[run_id] = Notebook()
        clock: Clock = self.clock
        below = own._replace(run=run_id, children=Children())
        live = LiveRun(
            run_id, flow, case, self._cast(below), clock=clock, journal=notebook, children=below.children,
            within=own.ticket,
        )  # fmt: skip
        self.rounds.append(live)
        return live

    async def end(self) -> Outcome:
        """Let all rounds go as far as they can without time before the clock is moved."""
        for _ in range(SETTLES):
            await settle()
        return await super().end()

    @property
    def where(self) -> Run:
        return self.live.where

    @property
    def known(self) -> ResearchCase:
        """What the case holds now."""
        case = self.live.where.case
        assert isinstance(case, ResearchCase)
        return case


SETTLES = 40
AGENTS = ("planner", "analyzer", "reporter")


class Scripted:
    """A model whose answers a test writes, by their shape; what it does not say, the one without a network does."""

    def __init__(self, answers: Mapping[type[Any], Any]) -> None:
        self.answers, self.tasks = answers, list[ModelRequest]()
        self._lesser = extractive()

    async def fill(self, shape: type[Any], task: ModelRequest, *, within: float) -> Completion:
        self.tasks.append(task)
        await asyncio.sleep(0)
        said = self.answers.get(shape, approve if shape is SecondReading else None)
        if said is None:
            return await self._lesser.fill(shape, task, within=within)
        value = said(task) if callable(said) else said
        if isinstance(value, Exception):
            raise value
        return Completion(value, task.findings.passages if task.findings else (), judged=True)
