"""A run of this process, as who submitted it sees it."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from typing import Any

from actors.outcome import Outcome, RunEnded
from actors.progress import News
from runtime.run import LiveRun

WATCH_LIMIT = 1_000
"""News that may wait for a slow watcher; older is dropped then."""


class RunHandle:
    """A run of this process, for who submitted it."""

    __slots__ = ("_live", "run", "ticket")

    def __init__(self, live: LiveRun) -> None:
        self._live = live
        self.run = live.id
        self.ticket = live.ticket

    def watch(self) -> AsyncGenerator[News, None]:
        """
        All news from the beginning, then as they happen, `RunEnded` last. A slow watcher loses the oldest.

        It ends without `RunEnded` when this process stops before the run has ended.
        """
        waiting: asyncio.Queue[News | None] = asyncio.Queue()

        def hear(event: Any) -> None:
            if isinstance(event, RunEnded):
                return  # told below, to those too who come after it
            if waiting.qsize() >= WATCH_LIMIT:
                waiting.get_nowait()
            waiting.put_nowait(event)

        for event in self._live.so_far():
            hear(event)
        stops = (self._live.watch(hear), self._live.when_over(lambda: waiting.put_nowait(None)))
        return self._until_over(waiting, stops)

    async def _until_over(
        self, waiting: "asyncio.Queue[News | None]", stops: tuple[Callable[[], None], ...]
    ) -> AsyncGenerator[News, None]:
        try:
            while (event := await waiting.get()) is not None:
                yield event
            if (outcome := self._live.so_ended()) is not None:
                yield RunEnded(outcome=outcome)
        finally:
            for stop in stops:
                stop()

    async def outcome(self) -> Outcome:
        return await self._live.outcome()

    def cancel(self) -> None:
        """Gently; a second time, at once."""
        self._live.cancel()
