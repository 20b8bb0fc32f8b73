"""Reads what was found: own documents from the index, web pages through an extracting service or our own crawler."""

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from actors.evidence.sources import FailedSource, Page, SearchResult
from actors.text.urls import key_of
from runtime.crawl.address_policy import is_public
from runtime.crawl.batch import Batch
from runtime.crawl.batch_reader import BatchReader
from runtime.crawl.candidate_queue import SPARES
from runtime.crawl.crawler import Crawler, is_web
from runtime.crawl.duplicates import Fetched, ReadPages
from runtime.search.source_registry import Sources

if TYPE_CHECKING:
    from runtime.resilience.budget import ResearchBudget
    from runtime.storage.effects import Effects


class Pages:
    """Reading of a process; its limits hold for all runs together."""

    def __init__(self, sources: Sources, now: Callable[[], float] = time.time) -> None:
        """
        :param sources: they read what is no page of the web, and one may get texts of pages before our own crawler.
        :param now: seconds since 1970, for the time of reading.
        """
        self.settings = sources.ports.settings
        self.crawler = Crawler(sources, now)
        extractor = sources.extractor()
        self.extracts = extractor[0] if extractor else ""
        """The source that gets texts of pages: it knows the addresses that it found itself."""
        self.extractor = extractor[1] if extractor else None

    def for_run(self, effects: "Effects", budget: "ResearchBudget", project: str = "") -> "RunPages":
        """:param project: the research for which what servers send is kept; none: it is not."""
        return RunPages(self, effects, budget, project)


class RunPages:
    """`actors.ports.Fetch` for one research, its deeper rounds included."""

    def __init__(self, shared: Pages, effects: "Effects", budget: "ResearchBudget", project: str = "") -> None:
        self._shared = shared
        self._project = project
        self._effects = effects
        self._budget = budget
        self._seen: ReadPages | None = None

    async def read(
        self, results: Sequence[SearchResult], *, wanted: int, query: str, within: float,
        done: Callable[[Page | FailedSource], None], arrived: Callable[[Page | FailedSource], None],
    ) -> None:  # fmt: skip
        """
        As `Fetch.read`, two more than are wanted at once; `done` is called in the order of the ranks.

        What is taken depends on what the pages hold, not on which was faster, as long as all answer in half of the
        time. What came of a candidate is stored twice: as "fetched" when it is there, as "page" when it is judged.
        """
        settings = self._shared.settings
        within = max(0.0, min(within, settings.research.round_seconds))
        end = asyncio.get_running_loop().time() + within
        first: dict[str, SearchResult] = {}
        for each in results:
            first.setdefault(key_of(each.url), each)
        candidates = tuple(first.values())
        batch = Batch(self._shared.extractor, self._new(candidates[: wanted + SPARES]), within, self._budget)

        def begin(result: SearchResult) -> asyncio.Task[Fetched]:
            return asyncio.create_task(self._fetch(result, query, end, batch))

        round_ = BatchReader(candidates, wanted, self._effects, self._budget, self._seen_before(), begin, done, arrived)
        try:
            await round_.run(within)
        except asyncio.CancelledError:
            self._seen = None  # it was told more than was judged for good
            raise
        finally:
            await batch.close()

    async def _fetch(self, result: SearchResult, query: str, end: float, batch: Batch) -> Fetched:
        crawler, loop = self._shared.crawler, asyncio.get_running_loop()
        most = self._shared.settings.fetch.page_seconds
        given = await batch.text(result.url) if is_web(result) else None
        fetched = await crawler.read(result, query, min(most, end - loop.time()), given, self._project)
        if given is not None and isinstance(fetched.read, FailedSource):
            fetched = await crawler.read(result, query, min(most, end - loop.time()), None, self._project)
        await self._effects.put("fetched", key_of(result.url), fetched)
        return fetched

    def _new(self, candidates: Sequence[SearchResult]) -> list[str]:
        """URLs of the web of which nothing is known yet; those of the own network stay unheard of outside."""
        if self._shared.extractor is None:
            return []
        return [
            each.url
            for each in candidates
            if is_web(each)
            and (each.source == self._shared.extracts or is_public(each.url))
            and self._effects.get("fetched", key_of(each.url), Fetched) is None
        ]

    def _seen_before(self) -> ReadPages:
        """The pages that this research has read, also before a crash."""
        if self._seen is None:
            self._seen = ReadPages()
            taken = {each.key for each in self._effects.all("page", Page | FailedSource) if isinstance(each, Page)}
            for fetched in self._effects.all("fetched", Fetched) if taken else ():
                if isinstance(fetched.read, Page) and fetched.read.key in taken:
                    self._seen.add(fetched)
        return self._seen
