"""All configured sources behind one port, with limits that hold for all runs of a process."""

import asyncio
from functools import cached_property
from typing import TYPE_CHECKING

from actors.evidence.sources import FailedSource, SearchResult
from actors.ports import Knowledge, PortFailed
from runtime.search import own_documents
from runtime.search.duckduckgo import DuckDuckGo
from runtime.search.feeds import Feeds, RunFeeds
from runtime.search.tavily import Tavily

if TYPE_CHECKING:
    from runtime.crawl.http_client import Client
    from runtime.families.budget import ResearchBudget
    from runtime.processes.pool import Workers
    from runtime.settings import Settings
    from runtime.storage.effects import Effects

Found = tuple[SearchResult | FailedSource, ...]


class Sources:
    """The sources of a process. Nothing of one is made or imported before it is first asked."""

    def __init__(self, settings: "Settings", own: Knowledge, workers: "Workers", client: "Client") -> None:
        self.settings = settings
        self.own = own
        self.workers = workers
        self.client = client

    @cached_property
    def names(self) -> tuple[str, ...]:
        """What is configured, the best first."""
        settings = self.settings
        configured = {
            "knowledge": True,
            "tavily": bool(settings.tavily.api_key or settings.tavily.keyless),
            "web": settings.duckduckgo.enabled,
            "rss": bool(settings.feeds.urls),
        }
        return tuple(name for name, there in configured.items() if there)

    @cached_property
    def tavily(self) -> Tavily | None:
        """Never made without being configured: its SDK would send queries without a key, and say nothing."""
        return Tavily(self.settings.tavily, asyncio.get_running_loop()) if "tavily" in self.names else None

    @cached_property
    def web(self) -> DuckDuckGo:
        return DuckDuckGo(self.settings.duckduckgo, asyncio.get_running_loop())

    @cached_property
    def feeds(self) -> Feeds:
        return Feeds(self.settings.feeds, self.client, self.workers, asyncio.get_running_loop())

    def for_run(self, effects: "Effects", purse: "ResearchBudget") -> "RunSources":
        return RunSources(self, effects, purse)

    async def close(self) -> None:
        """Close the connections of the sources, and end their processes."""
        made = self.__dict__
        if made.get("tavily") is not None:
            await made["tavily"].close()
        if "web" in made:
            self.web.close()
        if "feeds" in made:
            self.feeds.close()


class RunSources:
    """`actors.ports.Search` for one research: what was answered before a crash is not asked again."""

    def __init__(self, shared: Sources, effects: "Effects", purse: "ResearchBudget") -> None:
        self._shared = shared
        self._effects = effects
        self._purse = purse

    @property
    def names(self) -> tuple[str, ...]:
        return self._shared.names

    @cached_property
    def _feeds(self) -> RunFeeds:
        return RunFeeds(self._shared.feeds, self._effects)

    async def search(self, source: str, query: str, *, limit: int, within: float) -> Found:
        """As `Search.search`."""
        if source not in self.names:
            raise PortFailed(f"There is no source {source!r} here: configured are {', '.join(self.names)}.")
        if source == "rss":  # feeds are kept whole, so that no query fetches them again
            return await self._feeds.search(query, limit=limit, within=within)
        key = f"{source}\n{limit}\n{query}"
        known: Found | None = self._effects.get("search", key, tuple[SearchResult, ...])
        if known is not None:
            return known
        found = await self._asked(source, query, limit, within)
        await self._effects.put("search", key, found)
        return found

    async def _asked(self, source: str, query: str, limit: int, within: float) -> tuple[SearchResult, ...]:
        shared = self._shared
        if source == "tavily" and shared.tavily is not None:
            return await shared.tavily.search(query, limit=limit, within=within, purse=self._purse)
        if source == "web":
            return await shared.web.search(query, limit=limit, within=within)
        return await own_documents.search(shared.own, query, limit=limit, within=within)
