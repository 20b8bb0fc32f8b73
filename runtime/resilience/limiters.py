"""
What bounds calls of others' services: deadlines, rates, pauses that they ask for, what one research
may spend, circuit breakers.

All of it goes by a clock that can be given: the loop's own in a running process, a jumping one in
tests.
"""

import asyncio
import contextlib
import math
import re
import time
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from types import TracebackType
from typing import Any, Literal, Protocol, Self

from actors.ports import PortFailed
from bus import Clock, Timer


class Deadline:
    """`asyncio.timeout` on a given clock: when the seconds are over, what runs inside is cancelled."""

    __slots__ = ("_clock", "_scope", "_seconds", "_timer")

    def __init__(self, clock: Clock, seconds: float) -> None:
        self._clock = clock
        self._seconds = seconds
        self._scope = asyncio.timeout(None)
        self._timer: Timer | None = None

    @property
    def has_expired(self) -> bool:
        return self._scope.expired()

    async def __aenter__(self) -> Self:
        await self._scope.__aenter__()
        self._timer = self._clock.call_later(max(0.0, self._seconds), self._scope.reschedule, 0.0)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._timer is not None:
            self._timer.cancel()
        await self._scope.__aexit__(kind, error, trace)


async def wait(clock: Clock, seconds: float) -> None:
    """Let some seconds pass."""
    over = asyncio.Event()
    timer = clock.call_later(seconds, over.set)
    try:
        await over.wait()
    finally:
        timer.cancel()


MOST_SECONDS = 31_536_000.0
"""A year; who asks for more is understood to ask for this."""
_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)?(?:[eE]\+?[0-9]{1,4})?")
_UNITS = {"retry-after-ms": 0.001, "retry-after": 1.0}
"""In seconds; the finer one is believed first."""


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """
    Seconds that a server asks to be left alone, 0 to MOST_SECONDS; None when it says nothing that can be understood.

    :param headers: of an answer; they must find names in any case.
    :param now: seconds since 1970, for dates.
    """
    for name, unit in _UNITS.items():
        text = (headers.get(name) or "").strip()
        seconds = float(text) * unit if _NUMBER.fullmatch(text) else _until(text, now)
        if seconds is not None:
            return min(seconds, MOST_SECONDS)
    return None


def _until(text: str, now: float) -> float | None:
    """Seconds until an HTTP date; none when it is over, or when it is no date."""
    try:
        date = parsedate_to_datetime(text)
        date = date if date.tzinfo is not None else date.replace(tzinfo=UTC)
        return max(0.0, (date - datetime.fromtimestamp(now, UTC)).total_seconds())
    except (ValueError, TypeError, OverflowError):
        return None


Thing = Literal["pages", "credits"]


class BudgetExceeded(PortFailed):
    """A budget of the research is used up; the report is written from what there is."""


class BudgetStore(Protocol):
    """Where what is spent stands, so that a research which is resumed does not begin anew."""

    def spent(self, thing: str) -> float: ...

    def spend(self, thing: str, amount: float) -> None: ...


class ResearchBudget:
    """One a research, shared by its rounds. 0: no limit."""

    __slots__ = ("_book", "_limits", "_spent")

    def __init__(self, limits: Mapping[Thing, float], book: BudgetStore | None = None) -> None:
        self._limits = limits
        self._book = book
        self._spent = {thing: book.spent(thing) if book is not None else 0.0 for thing in limits}

    def reserve(self, thing: Thing, amount: float = 1) -> None:
        """
        Put something aside before it is used.

        :raises BudgetExceeded: there is not that much left.
        """
        limit = self._limits[thing]
        if limit and self._spent[thing] + amount > limit:
            raise BudgetExceeded(
                f"The budget of {limit:g} {thing} for one research is used up: raise [research] {thing}."
            )
        self._add(thing, amount)

    def give_back(self, thing: Thing, amount: float = 1) -> None:
        """What was reserved was not needed."""
        self._add(thing, -min(amount, self._spent[thing]))

    def spent(self, thing: Thing) -> float:
        return self._spent[thing]

    def _add(self, thing: Thing, amount: float) -> None:
        self._spent[thing] += amount
        if self._book is not None:
            self._book.spend(thing, amount)


class CircuitOpen(PortFailed):
    """The last calls all failed in the same way; this one was not even tried."""


class CircuitBreaker:
    """
    After some equal fatal failures in a row, calls are refused for some seconds.

    Then one call is let through to look; the others are refused until it has come back well.
    """

    def __init__(self, clock: Clock, *, failures: int = 3, seconds: float = 15.0) -> None:
        self._clock = clock
        self._failures = failures
        self._seconds = seconds
        self._kind = ""
        self._count = 0
        self._sentence = ""
        self._until = 0.0

    def check(self) -> None:
        """:raises CircuitOpen: what the last calls failed with, without asking again."""
        if self._count >= self._failures and self._clock.time() < self._until:
            raise CircuitOpen(f"{self._sentence} (It failed {self._count} times; not asked again for a few seconds.)")

    def enter(self) -> None:
        """As `check`, for a call that begins: when the time is over, the first one looks, and the others wait."""
        self.check()
        if self._count >= self._failures:
            self._until = self._clock.time() + self._seconds

    def record_success(self) -> None:
        """The service answered, whatever it said."""
        self._count = 0
        self._kind = ""

    def record_failure(self, kind: str, sentence: str) -> None:
        """A call failed in a way that the next one will fail in too."""
        self._count = self._count + 1 if kind == self._kind else 1
        self._kind, self._sentence = kind, sentence
        self._until = self._clock.time() + self._seconds


class HostLimiter:
    """Of one client."""

    __slots__ = ("_all", "_hosts", "_per_host")

    def __init__(self, at_once: int, per_host: int) -> None:
        self._all = asyncio.Semaphore(at_once)
        self._per_host = per_host
        self._hosts: dict[str, tuple[asyncio.Semaphore, int]] = {}

    @contextlib.asynccontextmanager
    async def of(self, host: str) -> AsyncIterator[None]:
        """Wait for a turn; who waits for a busy host takes no place from others."""
        gate, users = self._hosts.get(host) or (asyncio.Semaphore(self._per_host), 0)
        self._hosts[host] = gate, users + 1
        try:
            async with gate, self._all:
                yield
        finally:
            gate, users = self._hosts.pop(host)
            if users > 1:
                self._hosts[host] = gate, users - 1


class Spacing:
    """Turns at one site that are some time apart."""

    __slots__ = ("_next",)

    def __init__(self) -> None:
        self._next = 0.0

    async def wait(self, seconds: float) -> None:
        """Wait for a turn; the next one is so many seconds later."""
        now = asyncio.get_running_loop().time()
        turn = max(now, self._next)
        self._next = turn + seconds
        await asyncio.sleep(turn - now)


WINDOW_SECONDS = 60.0
PATIENCE_SECONDS = 60.0
"""The longest pause that anybody waits for, whatever time there is."""
MAX_WAITING = 100_000
"""Calls that may wait for a place; each also has a deadline of its own."""


class Paused(Exception):
    """Nothing begins for so long that it is of no use to wait."""

    def __init__(self, seconds: float, reason: Any) -> None:
        super().__init__(f"paused for {seconds:g} s")
        self.seconds = seconds
        self.reason = reason
        """Whatever was said when the pause began."""


class TooManyWaiting(PortFailed):
    """The queue for a service is full."""


class Permit:
    """Permission for one request, and the tokens that it is counted with."""

    __slots__ = ("at", "tokens")

    def __init__(self, at: float, tokens: int) -> None:
        self.at = at
        self.tokens = tokens


class RateLimiter:
    """
    Places and rates, given in the order of asking. In no 60 s more requests or tokens begin than allowed.

    A limit of 0 is none. Tokens are counted as estimated before a call and corrected after it.
    """

    def __init__(
        self, clock: Clock, *, concurrency: int, requests_per_minute: int = 0, tokens_per_minute: int = 0
    ) -> None:
        self._clock = clock
        self._places = concurrency
        self._requests = requests_per_minute
        self._tokens = tokens_per_minute
        self._rated = bool(requests_per_minute or tokens_per_minute)
        self._running = 0
        self._begun: deque[Permit] = deque()
        self._counted = 0
        self._paused_until = 0.0
        self._pause_reason: Any = None
        self._waiting: deque[tuple[int, asyncio.Future[Permit], float]] = deque()
        self._timer: Timer | None = None

    @property
    def running(self) -> int:
        return self._running

    @property
    def waiting(self) -> int:
        return sum(not future.done() for _, future, _ in self._waiting)

    async def acquire(self, tokens: int = 0, *, until: float = math.inf) -> Permit:
        """
        Wait for permission. Cancelling gives back whatever was given.

        :param until: when by the clock it is of no use any more.
        :raises Paused: at once, when a pause lasts until then, or longer than anybody waits for one.
        """
        self._check(until)
        if not self._waiting and self._delay(tokens) == 0:
            return self._grant(tokens)
        if len(self._waiting) >= MAX_WAITING:
            raise TooManyWaiting(f"{MAX_WAITING} calls are waiting already: submit less at once.")
        future: asyncio.Future[Permit] = asyncio.get_running_loop().create_future()
        self._waiting.append((tokens, future, until))
        self._serve()
        try:
            return await future
        except asyncio.CancelledError:
            if not future.cancelled() and future.exception() is None:
                self.release(future.result(), 0)
            else:
                self._serve()  # it may have been what the others waited behind
            raise

    def release(self, grant: Permit, tokens: int | None = None) -> None:
        """Give the place back; `tokens` are what it really took, when that is known."""
        self._running -= 1
        if tokens is not None and grant.at >= 0:
            if self._rated:
                self._counted += tokens - grant.tokens
            grant.tokens = tokens
        if self._waiting:
            self._serve()

    def pause(self, seconds: float, reason: Any = None) -> None:
        """
        Begin nothing for some seconds, because the service asked for it. Who cannot wait so long hears it at once.

        :param reason: what `Paused` will give as its reason.
        """
        until = self._clock.time() + seconds
        if until > self._paused_until:
            self._paused_until, self._pause_reason = until, reason
        for _, future, until in self._waiting:
            try:
                self._check(until)
            except Paused as paused:
                if not future.done():
                    future.set_exception(paused)

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _check(self, until: float) -> None:
        left = self._paused_until - self._clock.time()
        if left > PATIENCE_SECONDS or (left > 0 and self._paused_until >= until):
            raise Paused(left, self._pause_reason)

    def _grant(self, tokens: int) -> Permit:
        grant = Permit(self._clock.time(), tokens)
        self._running += 1
        if self._rated:
            self._begun.append(grant)
            self._counted += tokens
        return grant

    def _serve(self) -> None:
        self.close()
        while self._waiting:
            tokens, future, _ = self._waiting[0]
            if not future.done():
                delay = self._delay(tokens)
                if delay is None:
                    return
                if delay > 0:
                    self._timer = self._clock.call_later(delay, self._serve)
                    return
                future.set_result(self._grant(tokens))
            self._waiting.popleft()

    def _delay(self, tokens: int) -> float | None:
        """Seconds until a call may begin; None when a place must become free first."""
        if self._running >= self._places:
            return None
        if not self._rated and not self._paused_until:
            return 0.0
        now = self._clock.time()
        delay = max(0.0, self._paused_until - now)
        if not delay:
            self._paused_until = 0.0
        return max(delay, self._rate_delay(tokens, now)) if self._rated else delay

    def _rate_delay(self, tokens: int, now: float) -> float:
        begun = self._begun
        while begun and begun[0].at + WINDOW_SECONDS <= now:
            old = begun.popleft()
            self._counted -= old.tokens
            old.at = -1.0  # it is counted no more, so it is not corrected either
        delay = 0.0
        if self._requests and len(begun) >= self._requests:
            delay = begun[len(begun) - self._requests].at + WINDOW_SECONDS - now
        if self._tokens:
            excess = self._counted + min(tokens, self._tokens) - self._tokens
            for grant in begun:
                if excess <= 0:
                    break
                excess -= grant.tokens
                delay = max(delay, grant.at + WINDOW_SECONDS - now)
        return delay


MOST_KEYS = 10_000
"""So many buckets are kept; the one that was used least lately goes first."""
MINUTE = 60.0


class TokenBuckets:
    """A bucket a key. A rate of 0 is no limit."""

    def __init__(self, per_minute: int, most: int, clock: Callable[[], float] = time.monotonic) -> None:
        """:param most: what a bucket holds, and so how much may come at once."""
        self._rate = per_minute / MINUTE
        self._most = float(max(1, most))
        self._clock = clock
        self._levels: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, key: str) -> float:
        """Take one out: 0.0, or the seconds until there is one, when there is none."""
        if not self._rate:
            return 0.0
        level, now = self._look(key)
        taken = level >= 1.0
        self._levels[key] = (level - 1.0 if taken else level, now)
        self._levels.move_to_end(key)
        if len(self._levels) > MOST_KEYS:
            self._levels.popitem(last=False)
        return 0.0 if taken else (1.0 - level) / self._rate

    def wait(self, key: str) -> float:
        """The seconds until there is one; nothing is taken out."""
        if not self._rate:
            return 0.0
        level, _ = self._look(key)
        return 0.0 if level >= 1.0 else (1.0 - level) / self._rate

    def _look(self, key: str) -> tuple[float, float]:
        now = self._clock()
        level, at = self._levels.get(key, (self._most, now))
        return min(self._most, level + (now - at) * self._rate), now
