"""Reads what was found: own documents from the index, web pages through an extracting service or our own crawler."""

import asyncio
import time
from collections.abc import Callable, Sequence

import structlog

from actors.evidence.sources import FailedSource, Page, SearchResult
from actors.text.urls import key_of
from runtime.crawl.batch import Batch
from runtime.crawl.crawler import Crawler, is_web
from runtime.crawl.duplicates import Fetched, ReadPages
from runtime.crawl.http_client import is_public
from runtime.resilience.limiters import BudgetExceeded, ResearchBudget
from runtime.search.source_registry import Sources
from runtime.storage.effects import Effects

SPARES = 2
"""Candidates that are read beside those that are wanted, for those that fail (RE-10)."""

Settled = Fetched | Page | FailedSource
"""What came of a candidate; one that was judged in an earlier try is no longer a `Fetched`."""


class CandidateQueue:
    """The candidates of one reading, known by their rank."""

    def __init__(self, candidates: int, wanted: int) -> None:
        self.candidates = candidates
        self.wanted = wanted
        self.started = 0
        self.judged = 0
        self.good = 0
        self.settled: dict[int, Settled] = {}

    @property
    def complete(self) -> bool:
        """Enough are good, or nobody is left."""
        return self.good >= self.wanted or self.judged == self.candidates

    @property
    def may_start(self) -> bool:
        """Whether one more is needed, so that enough are good even when some of those under way fail."""
        failed = sum(not _is_good(each) for each in self.settled.values())
        hopeful = self.good + self.started - self.judged - failed
        return not self.complete and self.started < self.candidates and hopeful < self.wanted + SPARES

    @property
    def enough(self) -> bool:
        """Whether so many have arrived that the slower ones before them are not needed."""
        return self.good + sum(_is_good(each) for each in self.settled.values()) >= self.wanted

    def late(self) -> list[int]:
        """Those under way that stand before one that is needed and there; all of them if there are not enough."""
        needed, under_way = self.wanted - self.good, []
        for rank in range(self.judged, self.started):
            if needed == 0:
                break
            if rank in self.settled:
                needed -= _is_good(self.settled[rank])
            else:
                under_way.append(rank)
        return under_way

    def next(self) -> Settled | None:
        """What can be judged now: the settled candidate with no other before it."""
        return None if self.complete else self.settled.get(self.judged)

    def judge(self, *, good: bool) -> None:
        """Say how the next one was judged."""
        self.settled.pop(self.judged, None)
        self.judged += 1
        self.good += good


def _is_good(settled: Settled) -> bool:
    return isinstance(settled.read if isinstance(settled, Fetched) else settled, Page)


PATIENCE = 0.5
"""Share of the time after which a page under way is not waited for any more, if enough others are there."""
ENDING_SECONDS = 1.0
"""What reading that was called off may take to end."""

CANCELLED = "It had not arrived when the research was cancelled."

log = structlog.get_logger()


class BatchReader:
    """Reads until enough are good or the time is up."""

    def __init__(
        self, results: Sequence[SearchResult], wanted: int, effects: Effects, budget: ResearchBudget, seen: ReadPages,
        begin: Callable[[SearchResult], asyncio.Task[Fetched]], done: Callable[[Page | FailedSource], None],
        arrived: Callable[[Page | FailedSource], None],
    ) -> None:  # fmt: skip
        """
        :param begin: begins to read one result; what that gets is durable when its task is done.
        :param done: is told of each that was judged.
        :param arrived: is told of each as soon as it is there; those before it may not be.
        """
        self._results = results
        self._effects = effects
        self._budget = budget
        self._seen = seen
        self._begin = begin
        self._done = done
        self._arrived = arrived
        self._order = CandidateQueue(len(results), wanted)
        self._tasks: dict[int, asyncio.Task[Fetched]] = {}
        self._late: list[asyncio.Task[Fetched]] = []

    async def run(self, within: float) -> None:
        """
        Cancelled, it still tells what had arrived, which is durable as "fetched".

        :param within: seconds; what is not there then has missed its time.
        """
        order, loop = self._order, asyncio.get_running_loop()
        patience, end = (loop.time() + within * share for share in (PATIENCE, 1.0))
        try:
            while True:
                self._collect()
                await self._judge()
                if order.complete:
                    return
                if loop.time() >= end:
                    self._give_up("It had not arrived when the time for reading was up.")
                    order.candidates = order.started
                elif order.enough and loop.time() >= patience:
                    self._give_up("It had not arrived when enough other pages had.")
                elif order.may_start:
                    self._start()
                else:
                    left = (patience if order.enough else end) - loop.time()
                    await asyncio.wait(self._tasks.values(), timeout=left, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            self._hand_in()
            raise
        finally:
            await self._call_off()

    def _start(self) -> None:
        """Begin with the next candidate, unless it is known what comes of it."""
        rank, order = self._order.started, self._order
        result = self._results[rank]
        order.started += 1
        known: Settled | None = self._effects.get("page", key_of(result.url), Page | FailedSource)
        known = known or self._effects.get("fetched", key_of(result.url), Fetched)
        if known is not None:
            self._settle(rank, known)
            return
        try:
            self._budget.reserve("pages")
        except BudgetExceeded as error:
            order.settled[rank] = Fetched(FailedSource(result.url, "budget", str(error)))
            order.candidates = order.started  # one such line in a report is enough
        else:
            self._tasks[rank] = self._begin(result)

    def _collect(self) -> None:
        for rank in [rank for rank, task in self._tasks.items() if task.done()]:
            task = self._tasks.pop(rank)
            if (error := task.exception()) is None:
                self._settle(rank, task.result())
                continue
            place = self._results[rank].url
            log.error("page.failed", place=place, exc_info=error)
            self._settle(rank, Fetched(FailedSource(place, "unreachable", "A fault in reading it; see the log.")))

    def _settle(self, rank: int, settled: Settled) -> None:
        self._order.settled[rank] = settled
        self._arrived(settled.read if isinstance(settled, Fetched) else settled)

    async def _judge(self) -> None:
        """Judge, store and tell all those that nobody stands before."""
        while (settled := self._order.next()) is not None:
            result = self._results[self._order.judged]
            read = self._verdict(settled, result)
            if isinstance(settled, Fetched):
                await self._effects.put("page", key_of(result.url), read)
            self._tell(settled, read)

    def _verdict(self, settled: Settled, result: SearchResult) -> Page | FailedSource:
        return self._seen.judge(settled, result.url) if isinstance(settled, Fetched) else settled

    def _tell(self, settled: Settled, read: Page | FailedSource) -> None:
        if isinstance(read, FailedSource):
            log.info("page.missed", place=read.place, reason=read.reason, detail=read.detail)
        elif isinstance(settled, Fetched):
            self._seen.add(settled)
        self._order.judge(good=isinstance(read, Page))
        self._done(read)

    def _hand_in(self) -> None:
        """Tell what is there and what is not, without any further wait."""
        self._collect()
        while self._order.judged < self._order.started and not self._order.complete:
            result = self._results[self._order.judged]
            settled = self._order.next() or Fetched(FailedSource(result.url, "cancelled", CANCELLED))
            self._tell(settled, self._verdict(settled, result))

    def _give_up(self, why: str) -> None:
        """Wait no more for those under way that others wait for."""
        for rank in self._order.late():
            self._late.append(self._tasks.pop(rank))
            self._late[-1].cancel()
            self._order.settled[rank] = Fetched(FailedSource(self._results[rank].url, "timed_out", why))

    async def _call_off(self) -> None:
        """End what is still under way: spares that nobody needs, or everything when the reader was cancelled."""
        for task in self._tasks.values():
            if task.cancel():
                self._budget.give_back("pages")
        if ending := [*self._tasks.values(), *self._late]:
            await asyncio.wait(ending, timeout=ENDING_SECONDS)


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
