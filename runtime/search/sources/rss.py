"""RSS and Atom feeds as a source: each is read once in a research, then searched for every query."""

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from actors.evidence.result_scoring import match, weights
from actors.evidence.sources import FailedSource, SearchResult
from actors.ports import PortFailed
from actors.text.urls import web_address
from bus import Clock
from runtime.processes.pool import Workers, WorkFailed, WorkTimedOut
from runtime.resilience.limiters import ResearchBudget
from runtime.search.feed_parser import Entry
from runtime.search.results import quote_error, validate
from runtime.search.source import Kind, Search, Source, SourceClient, SourceFailed
from runtime.settings import FeedsSettings, Settings
from runtime.storage.effects import Effects
from runtime.user_text import pluralize, redact

if TYPE_CHECKING:
    from runtime.crawl.http_client import Client

NAME = "The feed"
READ = "runtime.search.feed_parser:read"
FEED_BYTES = 2_000_000
FEEDS = 50
"""More are not read in one research."""
AT_ONCE = 8
READ_SECONDS = 5.0
"""A feed of 2 MB takes a tenth of a second."""
LEAST_MATCH = 0.3
"""Of the question's words, by weight: entries that have less of them are on something else."""


NONE_READ = "None of the feeds could be read: look at the reasons, and at [feeds] urls."


class Feeds:
    """One a process: reads feeds for all researches, a few at once."""

    def __init__(self, settings: FeedsSettings, client: "Client", workers: Workers, clock: Clock) -> None:
        self.urls = tuple(dict.fromkeys(settings.urls))[:FEEDS]
        self.seconds = settings.seconds
        self._client = client
        self._workers = workers
        self._clients = {
            url: SourceClient(NAME, clock, seconds=settings.seconds, concurrency=2, tries=1) for url in self.urls
        }
        self._places = asyncio.Semaphore(AT_ONCE)

    def for_run(self, effects: Effects, budget: ResearchBudget) -> Search:  # noqa: ARG002 - it costs nothing
        return RunFeeds(self, effects).search

    async def read(self, url: str, *, within: float) -> tuple[Entry, ...]:
        """
        The entries of one feed.

        :raises PortFailed: with a sentence for the user.
        """
        return await self._clients[url].ask(lambda left: self._read(url, left), within=within)

    async def _read(self, url: str, within: float) -> tuple[Entry, ...]:
        if not web_address(url):
            raise SourceFailed("refused", f"{NAME} has no web address: correct [feeds] urls.", reason="refused")
        async with self._places:
            got = await self._client.get(url, within=within, types="feed")
        if got.reason is not None:
            kind: Kind = "timed_out" if got.reason == "timed_out" else "unreachable"
            sentence = got.detail or f"{NAME} cannot be read ({got.reason})."
            raise SourceFailed(kind, sentence, retry_after=got.retry_after or None, reason=got.reason)
        if got.truncated or len(got.body) > FEED_BYTES:
            raise SourceFailed("broken", f"{NAME} has more than {FEED_BYTES // 1_000_000} MB.", reason="too_large")
        try:
            return await self._workers.call(
                READ, got.body, got.charset, got.url, within=min(within, READ_SECONDS), returns=tuple[Entry, ...]
            )
        except WorkTimedOut:
            raise SourceFailed("broken", f"{NAME} takes too long to parse.") from None
        except WorkFailed as error:
            raise SourceFailed("broken", f"{NAME} cannot be parsed ({quote_error(str(error))}).") from error

    async def close(self) -> None:
        for each in self._clients.values():
            each.close()


class RunFeeds:
    """The feeds as one research sees them: each is fetched once, whatever it is asked, even after a crash."""

    def __init__(self, shared: Feeds, effects: Effects) -> None:
        self._shared = shared
        self._effects = effects
        self._known: dict[str, tuple[Entry, ...] | FailedSource] = {}
        self._reading = asyncio.Lock()

    async def search(self, query: str, *, limit: int, within: float) -> tuple[SearchResult | FailedSource, ...]:
        """The entries that have the query's words, best first, and the feeds that could not be read."""
        async with self._reading:
            within = min(within, self._shared.seconds)
            await asyncio.gather(*(self._ensure(url, within) for url in self._shared.urls))
        read = [self._known[url] for url in self._shared.urls]
        missed = [each for each in read if isinstance(each, FailedSource)]
        entries = [entry for each in read if not isinstance(each, FailedSource) for entry in each]
        if missed and len(missed) == len(read):
            missed.append(FailedSource("rss", "source_failed", NONE_READ))
        return (*best(entries, query, limit), *missed)

    async def _ensure(self, url: str, within: float) -> None:
        if url in self._known:
            return
        known = self._effects.get("feed", url, tuple[Entry, ...])
        if known is None:
            try:
                known = await self._shared.read(url, within=within)
            except PortFailed as error:
                reason = error.reason if isinstance(error, SourceFailed) else "source_failed"
                self._known[url] = FailedSource(redact(url), reason, str(error))
                return
            await self._effects.put("feed", url, known)
        self._known[url] = known


def best(entries: Sequence[Entry], query: str, limit: int) -> list[SearchResult]:
    """The entries that have the most of a query's words, each page once, those that came first before their equals."""
    wanted, pages = weights(query), {each.url: each for each in reversed(entries)}
    rated = [
        (match(wanted, each.title, each.text) + match(wanted, each.title), each)
        for each in entries
        if pages[each.url] is each
    ]
    good = sorted((pair for pair in rated if pair[0] >= LEAST_MATCH), key=lambda pair: -pair[0])
    results = (
        validate("rss", query, title=e.title, url=e.url, text=e.text, quality=rate / 2, published=e.published)
        for rate, e in good
    )
    return [each for each in results if each is not None][:limit]


def _find_fault(settings: Settings) -> tuple[str, str] | None:
    wrong = next((url for url in settings.feeds.urls if not web_address(url)), None)
    return None if wrong is None else (f"{redact(wrong)} is no web address", "Mend [feeds] urls.")


SOURCE = Source(
    "RSS", 0.7, lambda its: Feeds(its.settings.feeds, its.client, its.workers, asyncio.get_running_loop()),
    answers_kept=False, found=lambda settings: pluralize(len(settings.feeds.urls), "feed"), fault=_find_fault,
    configured=lambda settings: bool(settings.feeds.urls), remedy="name feeds in [feeds] urls",
    module="fastfeedparser", install="pip install -e '.[research]'",
)  # fmt: skip
