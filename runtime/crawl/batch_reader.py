"""One call to read: several candidates at once, the first good ones by rank, each durable before it is told."""

import asyncio
from collections.abc import Callable, Sequence

import structlog

from actors.evidence.sources import FailedSource, Page, SearchResult
from actors.text.urls import key_of
from runtime.crawl.candidate_queue import CandidateQueue, Settled
from runtime.crawl.duplicates import Fetched, ReadPages
from runtime.resilience.budget import BudgetExceeded, ResearchBudget
from runtime.storage.effects import Effects

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
