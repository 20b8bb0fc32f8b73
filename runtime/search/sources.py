"""All configured sources behind one port."""

from typing import TYPE_CHECKING

from actors.ports import Knowledge
from actors.research.ports import SearchResult
from runtime.search import knowledge

if TYPE_CHECKING:
    from runtime.fetch.client import Client
    from runtime.research.purse import Purse
    from runtime.settings import Settings
    from runtime.storage.effects import Effects
    from runtime.workers import Workers


class Sources:
    """The sources of a process; their limits hold for all runs together."""

    def __init__(self, settings: "Settings", own: Knowledge, workers: "Workers", client: "Client") -> None:
        self.settings = settings
        self.own = own
        self.workers = workers
        self.client = client

    def for_run(self, effects: "Effects", purse: "Purse") -> "RunSources":
        return RunSources(self, effects, purse)

    async def close(self) -> None:
        """Close the connections of the sources."""


class RunSources:
    """`actors.research.ports.Search` for one research: what was asked before a crash is not asked again."""

    def __init__(self, shared: Sources, effects: "Effects", purse: "Purse") -> None:
        self._shared = shared
        self._effects = effects
        self._purse = purse

    @property
    def names(self) -> tuple[str, ...]:
        return ("knowledge",)

    async def search(self, source: str, query: str, *, limit: int, within: float) -> tuple[SearchResult, ...]:
        key = f"{source}\n{limit}\n{query}"
        if (known := self._effects.get("search", key, tuple[SearchResult, ...])) is not None:
            return known
        found = await knowledge.search(self._shared.own, query, limit=limit, within=within)
        await self._effects.put("search", key, found)
        return found
