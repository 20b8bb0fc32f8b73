"""A clock that tests move by hand, so that ten minutes pass in milliseconds."""

import asyncio
import functools
import math
from collections.abc import Callable
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
