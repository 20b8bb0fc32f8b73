"""Who may ask a web server now: so many requests at once, of them so many of one host, and some time apart."""

import asyncio
import contextlib
from collections.abc import AsyncIterator


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
