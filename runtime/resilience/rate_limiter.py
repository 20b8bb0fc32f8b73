"""What keeps a service from being asked too much: so many calls at once, so many a minute, and pauses it asks for."""

import asyncio
import math
from collections import deque
from typing import Any

from actors.ports import PortFailed
from bus import Clock, Timer

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
