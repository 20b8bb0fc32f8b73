"""Fair turns: what the buses of one event loop may do before the loop looks after its timers and sockets again."""

import asyncio
import weakref
from collections import deque
from typing import Protocol

BURST = 256
"""Turns that are taken on one event loop before it may do something else."""
SHARE = 64
"""Turns that one bus takes before another has some."""


class Drainable(Protocol):
    """A bus that has mail."""

    def drain(self, most: int) -> int:
        """Serve up to a fixed number of letters, and queue again if more are left; returns how many were served."""


class Dispatcher:
    """Gives the buses of one event loop their turns."""

    __slots__ = ("_beginning", "_scheduled", "_waiting", "left")

    def __init__(self) -> None:
        self.left = BURST
        """Turns that may still be taken at once; after that a bus queues."""
        self._waiting: deque[Drainable] = deque()
        self._beginning: deque[Drainable] = deque()
        """Those that have had no turn yet: one begins at a time, behind all others."""
        self._scheduled = False

    def queue(self, bus: Drainable, *, begins: bool = False) -> None:
        """
        Have a bus drained when it is its turn.

        :param begins: for the first time. Of a crowd that comes at once only one begins before the loop looks after its
            sockets again: what is under way ends soon, and who waits outside is heard.
        """
        (self._beginning if begins else self._waiting).append(bus)
        if not self._scheduled:
            self._schedule()

    def _schedule(self) -> None:
        # The loop is not kept: it is the key under which this is kept, and would live for ever.
        asyncio.get_running_loop().call_soon(self._go_on)
        self._scheduled = True

    def _go_on(self) -> None:
        waiting, left = self._waiting, BURST
        self._scheduled = False
        self.left = 0  # what comes meanwhile queues behind those that wait
        try:
            while waiting and left > 0:
                left -= waiting.popleft().drain(min(left, SHARE))
            if self._beginning:
                self._beginning.popleft().drain(SHARE)
        finally:
            if not waiting:
                self.left = BURST
            if (waiting or self._beginning) and not self._scheduled:
                self._schedule()


_dispatchers: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, Dispatcher] = weakref.WeakKeyDictionary()


def dispatcher_of(loop: asyncio.AbstractEventLoop) -> Dispatcher:
    dispatcher = _dispatchers.get(loop)
    if dispatcher is None:
        dispatcher = _dispatchers[loop] = Dispatcher()
    return dispatcher
