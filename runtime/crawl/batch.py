"""An outside service that takes texts out of pages, many at once, before our own crawler is sent."""

import asyncio
from collections.abc import Sequence
from typing import Protocol

import structlog

from actors.ports import PortFailed
from runtime.resilience.limiters import ResearchBudget

MOST_URLS = 20
"""What such services take in one call."""
SHARE = 0.5
"""Of the time for reading; the rest is for our own crawler, where the service got nothing."""
ENDING_SECONDS = 1.0

log = structlog.get_logger()


class Extractor(Protocol):
    async def extract(self, urls: Sequence[str], *, within: float, budget: ResearchBudget) -> dict[str, str]:
        """
        Get the texts of pages, as Markdown or plain text, by URL. What could not be got is left out.

        :raises PortFailed: with a sentence for the user.
        """
        ...


class Batch:
    """One call for the likeliest candidates, made when the first of them is read."""

    def __init__(self, extractor: Extractor | None, urls: Sequence[str], within: float, budget: ResearchBudget) -> None:
        self._extractor = extractor
        self._urls = tuple(urls[:MOST_URLS]) if extractor is not None else ()
        self._within = within * SHARE
        self._budget = budget
        self._call: asyncio.Task[dict[str, str]] | None = None

    async def text(self, url: str) -> str | None:
        """What the service got for a URL."""
        if url not in self._urls:
            return None
        self._call = self._call or asyncio.create_task(self._extract())
        await asyncio.wait([self._call])  # others wait for it too, so who is cancelled must not take it along
        return self._call.result().get(url)

    async def close(self) -> None:
        if self._call is not None:
            self._call.cancel()
            await asyncio.wait([self._call], timeout=ENDING_SECONDS)

    async def _extract(self) -> dict[str, str]:
        assert self._extractor is not None  # noqa: S101 - without one there are no URLs
        try:
            async with asyncio.timeout(self._within):
                return await self._extractor.extract(self._urls, within=self._within, budget=self._budget)
        except (PortFailed, TimeoutError) as error:
            log.warning("extraction.failed", why=str(error) or "it took too long", pages=len(self._urls))
        except Exception:  # our own crawler reads them all the same
            log.exception("extraction.failed", pages=len(self._urls))
        return {}
