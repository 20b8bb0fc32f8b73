"""Reads one result: an own document from the index, a web page by our own crawler or with what an extractor got."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime

import msgspec
import structlog

from actors.evidence.dedup import sketch_of
from actors.evidence.result_scoring import reasons
from actors.evidence.sources import PAGE_CHARACTERS, FailedSource, Original, Page, Reason, SearchResult
from actors.text.urls import key_of
from runtime.crawl.duplicates import Fetched
from runtime.crawl.extract.extracted import Extracted
from runtime.crawl.http_client import FetchResult
from runtime.crawl.robots import Robots
from runtime.processes.pool import WorkError, WorkTimedOut
from runtime.search.source import SourceFailed
from runtime.search.source_registry import Sources

EXTRACT = "runtime.crawl.extract.page:extract"
EXTRACT_SECONDS = 10.0
KEEP = "runtime.crawl.originals:keep"
KEEP_SECONDS = 5.0
RAW_CHARACTERS = 2_000_000
"""Of an extractor's text that are looked at."""

log = structlog.get_logger()


def is_web(result: SearchResult) -> bool:
    return result.url.lower().startswith(("http://", "https://"))


class Crawler:
    """One a process."""

    def __init__(self, sources: Sources, now: Callable[[], float]) -> None:
        """
        :param sources: some of them read themselves what they found.
        :param now: seconds since 1970, for the time of reading.
        """
        settings, _, workers, client = sources.ports
        self._settings = settings
        self._sources = sources
        self._workers = workers
        self._client = client
        self._now = now
        self._robots = Robots(client, workers) if settings.fetch.robots else None
        # What waits here has not yet begun its time; what waits for a worker has.
        self._extracting = asyncio.Semaphore(settings.workers.processes)

    async def read(
        self, result: SearchResult, query: str, within: float, given: str | None = None, project: str = ""
    ) -> Fetched:
        """
        Read one result. Never raises for what a page, a document or a server does.

        :param within: seconds for all of it.
        :param given: the page's text, when an extractor has got it.
        :param project: the research for which what was sent is kept.
        """
        try:
            async with asyncio.timeout(within):
                if not is_web(result):
                    return await self._document(result, query, within)
                if given is None:
                    hop = self._robots.objection if self._robots is not None else None
                    sent = await self._client.get(result.url, within=within, hop=hop)
                else:  # as if the server had sent what an extractor got
                    body = given[:RAW_CHARACTERS].encode("utf-8", "replace")
                    sent = FetchResult(result.url, 200, "text/markdown", "utf-8", body)
                if sent.reason is not None:
                    return _fail(result, sent.reason, sent.detail)
                fetched = await self._text(result, sent, query)
        except TimeoutError:
            return _fail(result, "timed_out", f"It could not be read within {within:g} seconds.")
        return await self._with_original(fetched, sent, project)

    async def _document(self, result: SearchResult, query: str, within: float) -> Fetched:
        scheme = result.url.partition(":")[0]
        reader = self._sources.reader(scheme)
        if reader is None:
            return _fail(result, "refused", "No source that is configured reads addresses of this kind.")
        try:
            said = await reader.read(result.url, query, within=within)
        except SourceFailed as error:
            return _fail(result, error.reason, str(error))
        return self._make_page(result, result.url, said)

    async def _text(self, result: SearchResult, sent: FetchResult, query: str) -> Fetched:
        try:
            async with self._extracting:
                said = await self._workers.call(
                    EXTRACT, sent.body, sent.charset, sent.content_type, sent.url, query, within=EXTRACT_SECONDS,
                    returns=Extracted,
                )  # fmt: skip
        except WorkTimedOut:
            return _fail(result, "timed_out", f"Its text could not be found within {EXTRACT_SECONDS:g} seconds.")
        except WorkError:
            return _fail(result, "thin", "No text could be found in it.")
        return self._make_page(result, sent.url, said)

    async def _with_original(self, fetched: Fetched, sent: FetchResult, project: str) -> Fetched:
        """With what was sent kept beside the text; a disk that fails costs no page."""
        most = int(self._settings.fetch.original_megabytes * 1e6)
        page = fetched.read
        if not project or not most or not isinstance(page, Page):
            return fetched
        try:
            digest = await self._workers.call(
                KEEP, self._settings.storage.folder, project, sent.body, most, within=KEEP_SECONDS, returns=str
            )
        except WorkError as error:
            log.warning("original.not_kept", place=page.url, project=project, error=str(error))
            return fetched
        original = Original(digest, sent.content_type, sent.charset, len(sent.body)) if digest else None
        return msgspec.structs.replace(fetched, read=msgspec.structs.replace(page, original=original))

    def _make_page(self, result: SearchResult, url: str, said: Extracted) -> Fetched:
        if said.blocked:
            return _fail(result, "paywall" if said.paywall else "blocked", said.blocked)
        if said.thin or not said.text.strip():
            return _fail(result, "thin", said.thin or "There is no text in it.")
        page = Page(
            key=key_of(result.url), url=url, title=said.title or result.title, source=result.source,
            text=said.text[:PAGE_CHARACTERS], full_length=said.full_length, sha256=said.sha256,
            read_at=datetime.fromtimestamp(self._now(), UTC).isoformat(timespec="seconds"), quality=result.quality,
            why=reasons(result), summary=said.summary, key_points=said.key_points, entities=said.entities,
            published=said.published or result.published, language=said.language, compressed=said.compressed,
            file=said.file,
        )  # fmt: skip
        return Fetched(page, said.canonical, said.sketch or sketch_of(said.text))


def _fail(result: SearchResult, reason: Reason, detail: str) -> Fetched:
    return Fetched(FailedSource(result.url, reason, detail))
