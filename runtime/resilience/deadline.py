"""Waiting by a clock that can be given: the loop's own in a running process, a jumping one in tests."""

import asyncio
from types import TracebackType
from typing import Self

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
