"""Reads one result: an own document from the index, a web page by our own crawler or with what an extractor got."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime

from actors.research.identity import key_of, sketch_of
from actors.research.ports import PAGE_CHARACTERS, Missed, Page, Reason, SearchResult
from actors.research.rules.quality import reasons
from runtime.extract.wire import Extracted
from runtime.fetch.client import Client
from runtime.fetch.robots import Robots
from runtime.fetch.seen import Fetched
from runtime.settings import Settings
from runtime.workers import WorkError, Workers, WorkTimedOut

READ = "runtime.fetch.document:read"
EXTRACT = "runtime.extract.page:extract"
EXTRACT_SECONDS = 10.0
RAW_CHARACTERS = 2_000_000
"""Of an extractor's text that are looked at."""


def is_web(result: SearchResult) -> bool:
    return result.url.lower().startswith(("http://", "https://"))


class Crawler:
    """One a process."""

    def __init__(self, settings: Settings, database: str, workers: Workers, client: Client, now: Callable[[], float]):
        """
        :param database: the index of the own documents.
        :param now: seconds since 1970, for the time of reading.
        """
        self._settings = settings
        self._database = database
        self._workers = workers
        self._client = client
        self._now = now
        self._robots = Robots(client, workers) if settings.fetch.robots else None
        # What waits here has not yet begun its time; what waits for a worker has.
        self._extracting = asyncio.Semaphore(settings.workers.processes)

    async def read(self, result: SearchResult, query: str, within: float, given: str | None = None) -> Fetched:
        """
        Read one result. Never raises for what a page, a document or a server does.

        :param within: seconds for all of it.
        :param given: the page's text, when an extractor has got it.
        """
        try:
            async with asyncio.timeout(within):
                if given is not None:
                    body = given[:RAW_CHARACTERS].encode("utf-8", "replace")
                    return await self._text(result, result.url, body, "utf-8", "text/markdown", query)
                return await (
                    self._page(result, query, within) if is_web(result) else self._document(result, query, within)
                )
        except TimeoutError:
            return _missed(result, "timed_out", f"It could not be read within {within:g} seconds.")

    async def _document(self, result: SearchResult, query: str, within: float) -> Fetched:
        source = key_of(result.url)
        try:
            said = await self._workers.call(READ, self._database, source, query, within=within, returns=Extracted)
        except WorkTimedOut:
            return _missed(result, "timed_out", f"The document could not be read within {within:g} seconds.")
        except WorkError:
            return _missed(result, "unreachable", "The document could not be read: `index` may have to be run again.")
        return self._judged(result, result.url, said)

    async def _page(self, result: SearchResult, query: str, within: float) -> Fetched:
        hop = self._robots.objection if self._robots is not None else None
        got = await self._client.get(result.url, within=within, hop=hop)
        if got.reason is not None:
            return _missed(result, got.reason, got.detail)
        return await self._text(result, got.url, got.body, got.charset, got.content_type, query)

    async def _text(
        self, result: SearchResult, url: str, body: bytes, charset: str, content_type: str, query: str
    ) -> Fetched:
        try:
            async with self._extracting:
                said = await self._workers.call(
                    EXTRACT, body, charset, content_type, url, query, within=EXTRACT_SECONDS, returns=Extracted
                )
        except WorkTimedOut:
            return _missed(result, "timed_out", f"Its text could not be found within {EXTRACT_SECONDS:g} seconds.")
        except WorkError:
            return _missed(result, "thin", "No text could be found in it.")
        return self._judged(result, url, said)

    def _judged(self, result: SearchResult, url: str, said: Extracted) -> Fetched:
        if said.blocked:
            return _missed(result, "paywall" if said.paywall else "blocked", said.blocked)
        if said.thin or not said.text.strip():
            return _missed(result, "thin", said.thin or "There is no text in it.")
        page = Page(
            key=key_of(result.url), url=url, title=said.title or result.title, source=result.source,
            text=said.text[:PAGE_CHARACTERS], full_length=said.full_length, sha256=said.sha256,
            read_at=datetime.fromtimestamp(self._now(), UTC).isoformat(timespec="seconds"), quality=result.quality,
            why=reasons(result), summary=said.summary, key_points=said.key_points, entities=said.entities,
            published=said.published or result.published, language=said.language, compressed=said.compressed,
        )  # fmt: skip
        return Fetched(page, said.canonical, said.sketch or sketch_of(said.text))


def _missed(result: SearchResult, reason: Reason, detail: str) -> Fetched:
    return Fetched(Missed(result.url, reason, detail))
