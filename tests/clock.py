"""A clock that tests move by hand, so that ten minutes pass in milliseconds."""

import asyncio
import contextlib
import functools
import math
from collections.abc import Callable, Iterator
from typing import Any


class Reminder:
    def __init__(self, at: float, call: Callable[[], object]) -> None:
        self.at, self.call, self.cancelled = at, call, False

    def cancel(self) -> None:
        self.cancelled = True


class Jumping:
    """Stands still until a test jumps."""

    def __init__(self) -> None:
        self.now = 0.0
        self._due: list[Reminder] = []

    def time(self) -> float:
        return self.now

    def call_later(self, delay: float, callback: Callable[..., object], *args: Any) -> Reminder:
        reminder = Reminder(self.now + delay, functools.partial(callback, *args))
        self._due.append(reminder)
        return reminder

    @property
    def waiting(self) -> int:
        """Reminders that are still to come."""
        self._due = [each for each in self._due if not each.cancelled]
        return len(self._due)

    @property
    def next(self) -> float:
        """When the next reminder is due; infinite when nobody waits for time."""
        return min((each.at for each in self._due if not each.cancelled), default=math.inf)

    async def jump(self, seconds: float) -> None:
        """Move on, call what is due on the way, and let the loop work off what follows."""
        until = self.now + seconds
        while due := [each for each in self._due if each.at <= until and not each.cancelled]:
            first = min(due, key=lambda each: each.at)
            self._due.remove(first)
            self.now = max(self.now, first.at)
            first.call()
            await settle()
        self.now = until


async def settle() -> None:
    """Let the loop work off all that can go on without time."""
    for _ in range(60):
        await asyncio.sleep(0)


GRACE_SECONDS = 0.005
"""What may be on its way between two sockets of this process arrives within it."""


@contextlib.contextmanager
def hurried() -> Iterator[None]:
    """
    Let this loop's time jump to the next timer whenever nothing can be read or written.

    So half a minute of a real server and a real client passes in milliseconds, and how fast this machine is decides
    nothing: what is said of seconds is exact. Worker processes and threads must not be waited for meanwhile.
    """
    loop: Any = asyncio.get_running_loop()
    selector, real_time, real_select, skipped = loop._selector, loop.time, loop._selector.select, 0.0

    def select(timeout: float | None = None) -> Any:
        nonlocal skipped
        ready = real_select(GRACE_SECONDS if timeout is None else min(timeout, GRACE_SECONDS))
        if not ready and timeout is not None and timeout > GRACE_SECONDS:
            skipped += timeout - GRACE_SECONDS
        return ready

    selector.select, loop.time = select, lambda: real_time() + skipped
    try:
        yield
    finally:
        del selector.select, loop.time
