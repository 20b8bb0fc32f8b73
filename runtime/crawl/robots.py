"""
Keeps to robots.txt: read once an hour and site, within bounds, and its delay between two pages
respected.

One of half a megabyte would hold up the loop, so its rules are matched in a worker process.
"""

import asyncio
import functools
from collections import OrderedDict
from typing import Any
from urllib.parse import urlsplit

from runtime.crawl.http_client import Client
from runtime.processes.pool import WorkError, Workers
from runtime.resilience.limiters import Spacing

VERDICT = "runtime.crawl.robots:verdict"
VERDICT_SECONDS = 10.0
KEPT_SECONDS = 3600.0
FAULT_SECONDS = 60.0
"""How long a site that could not say its rules is not asked again."""
MOST_DELAY = 5.0
"""Seconds between two pages, whatever a site asks for; one page a day would be no reading."""
SITES = 200


class _Site:
    """The rules of one site."""

    __slots__ = ("body", "lock", "said", "spacing", "until")

    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.until = 0.0
        self.body = b""
        self.said = ""
        """Why nothing of this site may be read."""
        self.spacing = Spacing()


class Robots:
    """One a process. Times are the loop's."""

    def __init__(self, client: Client, workers: Workers) -> None:
        self._client = client
        self._workers = workers
        self._sites: OrderedDict[str, _Site] = OrderedDict()

    async def objection(self, url: str) -> str:
        """Why a URL must not be read, in a sentence, or empty; returns when it is its turn."""
        parts = urlsplit(url)
        origin = f"{parts.scheme}://{parts.netloc}".lower()
        site = self._site(origin)
        async with site.lock:  # of those who come at once, one asks; if it is cancelled, the next does
            if site.until <= asyncio.get_running_loop().time():
                await self._ask(origin, site)
        if site.said or not site.body:
            return site.said
        try:
            allowed, delay = await self._workers.call(
                VERDICT, site.body, self._client.settings.agent, url, within=VERDICT_SECONDS,
                returns=tuple[bool, float],
            )  # fmt: skip
        except WorkError:
            return "The site's robots.txt cannot be understood."
        if not allowed:
            return "The site's robots.txt forbids it."
        await site.spacing.wait(min(delay, MOST_DELAY))
        return ""

    def _site(self, origin: str) -> _Site:
        site = self._sites.pop(origin, None) or _Site()
        self._sites[origin] = site
        while len(self._sites) > SITES:
            self._sites.popitem(last=False)
        return site

    async def _ask(self, origin: str, site: _Site) -> None:
        within = self._client.settings.page_seconds
        got = await self._client.get(f"{origin}/robots.txt", within=within, types="robots")
        fault = got.status >= 500 or got.reason == "timed_out"
        # Without a robots.txt all may be read; a site that cannot be reached says so itself when its page is asked for.
        site.said = "The site's robots.txt could not be fetched, so nothing of the site is read." if fault else ""
        site.body = b"" if got.reason else got.body
        site.until = asyncio.get_running_loop().time() + (FAULT_SECONDS if got.reason else KEPT_SECONDS)


@functools.lru_cache(maxsize=16)
def _parse(body: bytes) -> Any:
    from protego import Protego

    return Protego.parse(body.decode("utf-8-sig", "replace"))


def verdict(body: bytes, agent: str, url: str) -> tuple[bool, float]:
    """Whether this agent may read a URL, and the seconds that it should leave between two pages."""
    rules = _parse(body)
    return bool(rules.can_fetch(url, agent)), float(rules.crawl_delay(agent) or 0.0)
