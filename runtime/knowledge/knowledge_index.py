"""
Documents, statutes and decided cases as agents ask them: thin clients, so that what a search needs is loaded in worker
processes only, which can be ended.
"""

import asyncio
import contextlib
import datetime
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar, cast

import msgspec
import structlog

from actors.evidence.claims import Resolution
from actors.evidence.court_cases import FoundCases
from actors.evidence.passages import NamedDocument, SearchHits
from actors.ports import PortFailed
from actors.statutes.articles import FoundArticles
from runtime.embeddings.embedder import Embedder, EmbeddingFailed, understands
from runtime.knowledge import FILE, NO_INDEX, QuestionVector, no_index_message
from runtime.knowledge.index import LAPSED
from runtime.processes.pool import WorkError, Workers, WorkTimedOut
from runtime.program import command
from runtime.settings import KnowledgeSettings
from runtime.storage.errors import StorageError
from runtime.storage.sqlite.integrity import read_rows

R = TypeVar("R")

DAMAGED = ("not a database", "malformed")
"""How SQLite and the index itself say that a file cannot be used."""
FIND = "runtime.knowledge.index_search:find"
FIND_NAMED = "runtime.knowledge.index_search:find_named"
DIGEST_SECTIONS = "runtime.knowledge.index_search:digest_sections"
SEARCH_STATUTES = "runtime.knowledge.statute_search:search"
FIND_MISCITED = "runtime.knowledge.statute_search:find_miscited"
SEARCH_CASES = "runtime.knowledge.decided_cases:search_cases"
SHARE = 0.4
"""Of a search's time that the vector of its question may take."""
FOLDERS = "SELECT name, path FROM folders ORDER BY length(name) DESC"
FOLDERS_SECONDS = 1.0

log = structlog.get_logger(__name__)


class KnowledgeFailed(PortFailed):
    """The knowledge search did not come to an end."""


class KnowledgeIndex:
    """`actors.ports.Knowledge` over the index in a storage folder."""

    def __init__(
        self,
        storage: str | Path,
        workers: Workers,
        settings: KnowledgeSettings | None = None,
        embedder: Embedder | None = None,
    ) -> None:
        """:param embedder: makes the vectors of questions; it is the one that made those of the index, or of no use."""
        self._database = str(Path(storage).absolute() / FILE)
        self._workers = workers
        self._settings = settings or KnowledgeSettings()
        self._embedder = embedder
        self._renewal: asyncio.Task[PortFailed | None] | None = None

    async def search(
        self, question: str, *, within: float, limit: int | None = None, sources: Sequence[str] | None = None,
        linked: bool = False,
    ) -> SearchHits:  # fmt: skip
        """
        Find the passages that come closest to a question: by words and, where it can be, by meaning.

        :param sources: look only into these documents; None: into all.
        :param linked: a passage of each document, and of those that the question or the best of them name.
        :raises KnowledgeFailed: the time was up, or the index is damaged.
        """
        until = asyncio.get_running_loop().time() + within
        most = min(within, self._settings.search_seconds)
        vector = await embed_question(self._embedder, question, most) if self._embedder else None
        arguments = (self._database, question, limit or self._settings.passages, sources, vector, linked)
        found = await self._ask(FIND, *arguments, until=until, most=most, returns=SearchHits)
        if found.abstain == NO_INDEX:
            return msgspec.structs.replace(found, abstain=no_index_message())
        return found

    async def find_named(self, text: str, *, within: float) -> NamedDocument | None:
        """As `actors.ports.Documents`."""
        until, returns = asyncio.get_running_loop().time() + within, cast("type[NamedDocument]", NamedDocument | None)
        return await self._ask(FIND_NAMED, self._database, text, until=until, most=within, returns=returns)

    async def digest_sections(self, quotes: Sequence[tuple[str, str]], *, within: float) -> list[str]:
        """
        For each quote a digest of the section that it stands in now; empty where the documents do not say it any more.

        :param quotes: each a document's source and words of it.
        :raises KnowledgeFailed: the time was up, or there is no index that can be read.
        """
        until = asyncio.get_running_loop().time() + within
        asked = (self._database, quotes)
        return await self._ask(DIGEST_SECTIONS, *asked, until=until, most=within, returns=list[str])

    async def renew(self) -> None:
        """
        Have an index of another version made anew, once for all who need it, until all that its folders hold can be
        found by its words. It goes on when nobody waits any more.

        :raises PortFailed: it cannot be made. Who asks again has it tried again.
        """
        if self._renewal is None or self._renewal.done():
            self._renewal = asyncio.create_task(self._make_anew(), name="index renewal")
        if (failure := await asyncio.shield(self._renewal)) is not None:
            raise failure

    async def _make_anew(self) -> PortFailed | None:
        from runtime.knowledge.indexing import IndexFailed, index  # hardly anybody ever needs it

        log.info("knowledge.renewal_began")
        try:
            report = await index([], Path(self._database).parent, self._workers, self._settings)
        except IndexFailed as error:
            log.warning("knowledge.renewal_failed", error=str(error))
            return error
        seconds = round(report.seconds, 1)
        log.info("knowledge.renewed", files=report.files, skipped=len(report.skipped), seconds=seconds)
        return None

    async def close(self) -> None:
        """Stop making an index anew; the next process goes on with it."""
        if self._renewal is not None:
            self._renewal.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._renewal

    async def _ask(self, function: str, *arguments: Any, until: float, most: float, returns: type[R]) -> R:
        """
        What a function in a worker process says of the index as this version makes it, however old the file is.

        :param until: by the loop's clock: so long an index is waited for that is made anew.
        :param most: seconds that the function itself may take.
        :raises KnowledgeFailed: the time was up, or the index is damaged.
        """
        loop, renewed = asyncio.get_running_loop(), False
        while True:
            bound = min(until, loop.time() + most)
            left, waiting = max(bound - loop.time(), 0.0), max(until - bound, 0.0)
            try:
                # Where many search at once, who has time waits for its turn rather than doing without.
                return await self._workers.call(function, *arguments, within=left, returns=returns, waiting=waiting)
            except WorkTimedOut as error:
                raise KnowledgeFailed(f"The search took longer than {_brief(most)} s.") from error
            except WorkError as error:
                if renewed or LAPSED not in str(error):
                    said = explain(error, self._database)
                    if NO_INDEX in said:
                        raise KnowledgeFailed(said) from error
                    raise KnowledgeFailed(f"The documents could not be searched: {said}") from error
            try:
                async with asyncio.timeout_at(until):
                    await self.renew()
            except TimeoutError:
                raise KnowledgeFailed(f"{LAPSED}, though that is under way. Ask again in a while.") from None
            renewed = True


class StatuteIndex:
    """`ports.Statutes`, over the index in a storage folder."""

    def __init__(self, storage: Path, workers: Workers, today: Callable[[], str] | None = None) -> None:
        """:param today: the day whose law holds, where no other is asked for; ISO 8601."""
        self._storage, self._workers = str(storage.absolute()), workers
        self._today = today or (lambda: datetime.datetime.now(datetime.UTC).date().isoformat())

    async def search(
        self, question: str, *, within: float, on: str = "", limit: int = 8, fields: Mapping[str, float] | None = None
    ) -> FoundArticles:
        """As `ports.Statutes`."""
        asked = (self._storage, question, on, self._today(), limit, dict(fields or {}))
        return await _ask_worker(self._workers, SEARCH_STATUTES, *asked, within=within, returns=FoundArticles)

    async def find_miscited(self, texts: Sequence[str], question: str, *, within: float) -> list[list[str]]:
        """As `ports.Statutes`."""
        asked = (self._storage, list(texts), question, self._today())
        return await _ask_worker(self._workers, FIND_MISCITED, *asked, within=within, returns=list[list[str]])


class CaseStore:
    """`ports.Cases`, over the index in a storage folder."""

    def __init__(self, storage: str | Path, workers: Workers) -> None:
        self._storage, self._workers = str(Path(storage).absolute()), workers

    async def search(self, question: str, *, limit: int, within: float) -> FoundCases:
        """As `ports.Cases`."""
        asked = (self._storage, question, limit)
        return await _ask_worker(self._workers, SEARCH_CASES, *asked, within=within, returns=FoundCases)


async def _ask_worker(workers: Workers, function: str, *arguments: Any, within: float, returns: type[R]) -> R:
    """:raises KnowledgeFailed: the time was up, or the index cannot be used."""
    try:
        return await workers.call(function, *arguments, within=within, returns=returns)
    except WorkTimedOut as error:
        raise KnowledgeFailed(f"The search took longer than {_brief(within)} s.") from error
    except WorkError as error:
        raise KnowledgeFailed(error.detail) from error


def explain(error: WorkError, database: str) -> str:
    """What a function in a worker process said, and what helps."""
    said = error.detail
    if "full" in said:
        return f"{said}. Make room on the disk."
    if any(sign in said for sign in DAMAGED):
        return f"{said}. Delete {database} and run {command('index')} again: nothing else is kept in it."
    return f"{said}."


def _brief(seconds: float) -> str:
    return f"{seconds:.1f}" if seconds >= 0.1 else f"{seconds:.1g}"


async def embed_question(embedder: Embedder, question: str, within: float) -> QuestionVector | None:
    """The vector of a question, or why there is none; None: the model does not know its language."""
    if not understands(embedder, question):
        return None
    try:
        (vector,) = await embedder.embed([question], kind="query", within=within * SHARE)
    except EmbeddingFailed as error:
        log.warning("knowledge.words_only", error=str(error))
        return QuestionVector(embedder.name, b"", str(error))
    return QuestionVector(embedder.name, vector, floor=embedder.floor, any_language=not embedder.languages)


async def find_source_files(storage: Path, answer: Resolution | None) -> dict[str, str]:
    """The path of each source of an answer that is a file on this disk now; none where the index cannot be read."""
    sources = {each.source for each in answer.citations} if answer else set[str]()
    try:
        return await asyncio.to_thread(_find_files, storage / FILE, sources) if sources else {}
    except StorageError:
        return {}  # the answer names its sources by itself


def _find_files(index: Path, sources: Collection[str]) -> dict[str, str]:
    """An index names its files below their folder, wherever that stands."""
    folders = read_rows(index, FOLDERS, FOLDERS_SECONDS)
    found: dict[str, str] = {}
    for source in sources:
        within = (each for each in folders if source.startswith(f"{each[0]}/"))
        paths = (Path(path) / source.removeprefix(f"{name}/") for name, path in within)
        if (file := next(paths, None)) is not None and file.is_file():
            found[source] = str(file)
    return found
