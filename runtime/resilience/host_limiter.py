"""Who may ask a web server now: so many requests at once, and of them so many of one host."""

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
