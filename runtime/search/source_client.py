"""A client for one source: how many calls at once, its rate, its deadline, and a rest when it keeps failing."""

from collections.abc import Awaitable, Callable
from typing import Literal, TypeVar

import structlog

from actors.evidence.sources import Reason
from actors.ports import PortFailed
from bus import Clock
from runtime.resilience.circuit_breaker import CircuitBreaker
from runtime.resilience.deadline import Deadline, wait
from runtime.resilience.rate_limiter import Paused, RateLimiter

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
