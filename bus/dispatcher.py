"""Fair turns: what the buses of one event loop may do before the loop looks after its timers and sockets again."""

import asyncio
import contextlib
import weakref
from collections import deque
from collections.abc import Iterator
from typing import Protocol

BURST = 256
"""Turns that are taken on one event loop before it may do something else."""
SHARE = 64
"""Turns that one bus takes before another has some."""
BEGIN_SECONDS = 0.002
"""How long first turns may take together before the loop looks after its sockets again; at least one is taken."""
DEFERRED_SECONDS = 1.0
"""How long a first turn is put off at most."""


class Drainable(Protocol):
    """A bus that has mail."""

    def drain(self, most: int) -> int:
        """Serve up to a fixed number of letters, and queue again if more are left; returns how many were served."""


class Dispatcher:
    """Gives the buses of one event loop their turns."""

    __slots__ = ("_beginning", "_deferring", "_scheduled", "_timer", "_waiting", "left")

    def __init__(self) -> None:
        self.left = BURST
        """Turns that may still be taken at once; after that a bus queues."""
        self._waiting: deque[Drainable] = deque()
        self._beginning: deque[tuple[Drainable, float]] = deque()
        """Those that have had no turn yet, and until when that may be put off: they begin behind others."""
        self._deferring = 0
        """How many have first turns put off."""
        self._timer: asyncio.TimerHandle | None = None
        """When the oldest is put off no longer."""
        self._scheduled = False

    @contextlib.contextmanager
    def defer_beginnings(self) -> Iterator[None]:
        """While this lasts, buses have their first turns only after `DEFERRED_SECONDS`: something else is urgent."""
        self._deferring += 1
        try:
            yield
        finally:
            self._deferring -= 1
            if self._may_begin() and not self._scheduled:
                self._schedule()

    def queue(self, bus: Drainable, *, begins: bool = False) -> None:
        """
        Have a bus drained when it is its turn.

        :param begins: for the first time. Of a crowd that comes at once only a few begin before the loop looks after
            its sockets again: what is under way ends soon, and who waits outside is heard.
        """
        if begins:
            self._beginning.append((bus, asyncio.get_running_loop().time() + DEFERRED_SECONDS))
        else:
            self._waiting.append(bus)
        if not self._scheduled:
            self._schedule()

    def _may_begin(self) -> bool:
        if not self._beginning or not self._deferring:
            return bool(self._beginning)
        return asyncio.get_running_loop().time() >= self._beginning[0][1]

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
            left, clock = max(1, left), asyncio.get_running_loop().time
            until = clock() + BEGIN_SECONDS
            while left > 0 and self._may_begin():
                left -= self._beginning.popleft()[0].drain(min(left, SHARE))
                if clock() >= until:
                    break
        finally:
            if not waiting:
                self.left = BURST
            if not self._scheduled:
                if waiting or self._may_begin():
                    self._schedule()
                elif self._beginning and self._timer is None:
                    self._timer = asyncio.get_running_loop().call_at(self._beginning[0][1], self._wake)

    def _wake(self) -> None:
        self._timer = None
        if not self._scheduled:
            self._schedule()


_dispatchers: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, Dispatcher] = weakref.WeakKeyDictionary()


def dispatcher_of(loop: asyncio.AbstractEventLoop) -> Dispatcher:
    dispatcher = _dispatchers.get(loop)
    if dispatcher is None:
        dispatcher = _dispatchers[loop] = Dispatcher()
    return dispatcher
