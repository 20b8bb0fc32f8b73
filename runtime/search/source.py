"""A source of searches: the record that a file in `sources/` has, and what it is once it is opened."""

import importlib.util
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, TypeVar

import structlog

from actors.evidence.sources import FailedSource, Reason, SearchResult
from actors.ports import Knowledge, PortFailed
from bus import Clock
from runtime.crawl.extract.extracted import Extracted
from runtime.resilience.limiters import CircuitBreaker, Deadline, Paused, RateLimiter, wait

if TYPE_CHECKING:
    from runtime.crawl.http_client import Client
    from runtime.processes.pool import Workers
    from runtime.resilience.limiters import ResearchBudget
    from runtime.settings import Settings
    from runtime.storage.effects import Effects


Found = tuple[SearchResult | FailedSource, ...]


class SourcePorts(NamedTuple):
    """What a source may use of the process that it is opened in."""

    settings: "Settings"
    knowledge: Knowledge
    workers: "Workers"
    client: "Client"
    """Fetches addresses that strangers name."""


class Search(Protocol):
    """A source as one research asks it."""

    def __call__(self, query: str, *, limit: int, within: float) -> Awaitable[Found]:
        """:raises PortFailed: with a sentence for the user."""
        ...


class OpenSource(Protocol):
    """A source of one process, with limits that hold for all its runs."""

    def for_run(self, effects: "Effects", budget: "ResearchBudget") -> Search: ...

    async def close(self) -> None: ...


class Reader(Protocol):
    """An open source that reads what it found itself, because it is no page of the web."""

    async def read(self, url: str, question: str, *, within: float) -> Extracted:
        """:raises SourceFailed: with a sentence for the user."""
        ...


class Source(NamedTuple):
    """All that the product knows of a source: help, refusals, `doctor`, trust and reading follow from it."""

    title: str
    """As users know it."""
    prior: float
    """How far it is trusted to bring what was asked for, 0 to 1; the most trusted is asked first."""
    open: Callable[[SourcePorts], OpenSource]
    configured: Callable[["Settings"], bool] = lambda _: True
    remedy: str = ""
    """What configures it, such as "set TAVILY_API_KEY"."""
    module: str = ""
    """What must be installed besides."""
    install: str = ""
    """The command that installs it."""
    scheme: str = ""
    """Of addresses that it reads itself (it is a `Reader`); without one its results are pages of the web."""
    extracts: bool = False
    """It takes texts out of pages of the web, too (it is an `Extractor`)."""
    answers_kept: bool = True
    """The answer to each query is kept for a run that is resumed; without, it keeps itself what it needs."""
    found: Callable[["Settings"], str] | None = None
    """What `doctor` says of it once it is configured; its title without."""
    fault: Callable[["Settings"], tuple[str, str] | None] = lambda _: None
    """What is wrong with its settings, and the remedy."""

    @property
    def is_installed(self) -> bool:
        return not self.module or importlib.util.find_spec(self.module) is not None


T = TypeVar("T")

log = structlog.get_logger()

Kind = Literal["refused", "rejected", "rate_limited", "timed_out", "unreachable", "broken"]
"""
Why a source failed.

refused: it does not let us ask at all; rejected: it does not want this very question; broken: it answers nonsense.
"""

FAILURES = 3
REST_SECONDS = 60.0
"""For which a source is left alone that failed so often in a row, always for the same reason."""
AGAIN = frozenset({"rate_limited", "unreachable", "broken"})
AGAIN_SECONDS = 0.5
LIMITED_SECONDS = 2.0
"""How long a source that limits us is left alone when it does not say."""
MOST_REST_SECONDS = 600.0


class SourceFailed(PortFailed):
    """A source did not answer a query. The text is one sentence for the user."""

    def __init__(
        self, kind: Kind, sentence: str, *, retry_after: float | None = None, reason: Reason = "source_failed"
    ) -> None:
        super().__init__(sentence)
        self.kind: Kind = kind
        self.reason: Reason = reason
        """As a report gives it."""
        self.retry_after = retry_after
        """Seconds that it asked us to wait."""

    @property
    def delay(self) -> float:
        """Seconds after which it makes sense to ask again."""
        usual = LIMITED_SECONDS if self.kind == "rate_limited" else AGAIN_SECONDS
        return usual if self.retry_after is None else self.retry_after


class SourceClient:
    """One for each source and process."""

    def __init__(
        self, name: str, clock: Clock, *, seconds: float, concurrency: int, requests_per_minute: int = 0, tries: int = 2
    ) -> None:
        """
        :param name: as users know the source, such as "Tavily".
        :param seconds: the longest that one question may take, with its second try.
        """
        self.name = name
        self._clock = clock
        self._seconds = seconds
        self._tries = tries
        self._limiter = RateLimiter(clock, concurrency=concurrency, requests_per_minute=requests_per_minute)
        self._breaker = CircuitBreaker(clock, failures=FAILURES, seconds=REST_SECONDS)

    async def ask(self, call: Callable[[float], Awaitable[T]], *, within: float) -> T:
        """
        Make a call as soon as the source's limits allow, and once more if that can help and fits the time.

        :param call: gets the seconds that it may take.
        :raises PortFailed: with one sentence; also at once, when the source failed again and again.
        """
        seconds = min(within, self._seconds)
        until = self._clock.time() + seconds
        asked = 0
        try:
            async with Deadline(self._clock, seconds) as deadline:
                while True:
                    self._breaker.check()  # do not even wait for a place where asking is of no use
                    permit = await self._limiter.acquire(until=until)
                    asked += 1
                    try:
                        self._breaker.enter()
                        answer = await call(max(0.0, until - self._clock.time()))
                    except SourceFailed as error:
                        failure = error
                        self._heed(failure)  # before the next that waits gets this one's place
                    else:
                        self._breaker.record_success()
                        return answer
                    finally:
                        self._limiter.release(permit)
                    await self._next(failure, until, again=asked < self._tries)
        except Paused as paused:
            raise SourceFailed(paused.reason.kind, str(paused.reason)) from None
        except TimeoutError:
            if not deadline.has_expired:
                raise
        raise self._given_up(seconds, asked=asked > 0)

    def _heed(self, failure: SourceFailed) -> None:
        """Ask nothing for as long as the source wants to be left alone."""
        if failure.kind == "rate_limited" or failure.delay >= self._seconds:
            self._limiter.pause(min(failure.delay, MOST_REST_SECONDS), failure)

    async def _next(self, failure: SourceFailed, until: float, *, again: bool) -> None:
        """Wait for the second try; raise when there is none."""
        fits = self._clock.time() + failure.delay < until
        if not again or not fits or failure.kind not in AGAIN:
            if failure.kind != "rejected":
                self._breaker.record_failure(failure.kind, str(failure))
            raise failure
        log.info("search.tried_again", source=self.name, reason=failure.kind, seconds=round(failure.delay, 2))
        await wait(self._clock, failure.delay)

    def _given_up(self, seconds: float, *, asked: bool) -> SourceFailed:
        if not asked:
            return SourceFailed("timed_out", f"{self.name} was busy with other queries for {seconds:.3g} s.")
        failure = SourceFailed("timed_out", f"{self.name} did not answer within {seconds:.3g} s.", reason="timed_out")
        if seconds >= self._seconds:  # less was the caller's haste, not the source's fault
            self._breaker.record_failure(failure.kind, str(failure))
        return failure

    def close(self) -> None:
        self._limiter.close()
