"""Reads what was found: own documents from the index, web pages through Tavily or the crawler."""

import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from actors.research.identity import hash_of, key_of
from actors.research.ports import PAGE_CHARACTERS, Missed, Page, SearchResult
from runtime.knowledge.port import FILE
from runtime.workers import WorkError, Workers

if TYPE_CHECKING:
    from runtime.fetch.client import Client
    from runtime.research.purse import Purse
    from runtime.settings import Settings
    from runtime.storage.effects import Effects

READ = "runtime.knowledge.search:read"


class Pages:
    """Reading of a process; its limits hold for all runs together."""

    def __init__(
        self, settings: "Settings", workers: Workers, client: "Client", now: Callable[[], float] = time.time
    ) -> None:
        """:param now: seconds since 1970, for the time of reading."""
        self.settings = settings
        self.workers = workers
        self.client = client
        self.now = now
        self.database = str(Path(settings.storage.folder).absolute() / FILE)

    def for_run(self, effects: "Effects", purse: "Purse") -> "RunPages":
        return RunPages(self, effects, purse)

    async def close(self) -> None:
        """Close what was opened for reading."""


class RunPages:
    """`actors.research.ports.Fetch` for one research."""

    def __init__(self, shared: Pages, effects: "Effects", purse: "Purse") -> None:
        self._shared = shared
        self._effects = effects
        self._purse = purse

    async def read(
        self, results: Sequence[SearchResult], *, wanted: int, query: str, within: float,
        done: Callable[[Page | Missed], None],
    ) -> None:  # fmt: skip
        good = 0
        for result in results:
            if good == wanted:
                return
            read = await self._one(result, within)
            good += isinstance(read, Page)
            done(read)

    async def _one(self, result: SearchResult, within: float) -> Page | Missed:
        key, shared = key_of(result.url), self._shared
        if (known := self._effects.get("page", key, Page | Missed)) is not None:
            return known
        try:
            text = await shared.workers.call(READ, shared.database, key, within=within, returns=str)
        except WorkError:
            return Missed(result.url, "unreachable", "The document could not be read.")
        read_at = datetime.fromtimestamp(shared.now(), UTC).isoformat(timespec="seconds")
        page = Page(
            key, result.url, result.title, result.source, text[:PAGE_CHARACTERS], len(text), hash_of(text), read_at,
            quality=result.quality,
        )  # fmt: skip
        await self._effects.put("page", key, page)
        return page
