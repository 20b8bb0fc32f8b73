"""The knowledge as agents ask it: a thin client, so that what a search needs is loaded in worker processes only."""

import asyncio
import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar, cast

import msgspec
import structlog

from actors.evidence.passages import NamedDocument, SearchHits
from actors.ports import PortFailed
from runtime.embeddings.embedder import Embedder, EmbeddingFailed, understands
from runtime.knowledge import NO_INDEX, QuestionVector, no_index_message
from runtime.knowledge.index.index_version import LAPSED
from runtime.processes.pool import WorkError, Workers, WorkTimedOut
from runtime.program import command
from runtime.settings import KnowledgeSettings

R = TypeVar("R")

FILE = "knowledge.db"
DAMAGED = ("not a database", "malformed")
"""How SQLite and the index itself say that a file cannot be used."""
FIND = "runtime.knowledge.index_search:find"
FIND_NAMED = "runtime.knowledge.index_search:find_named"
DIGEST_SECTIONS = "runtime.knowledge.index_search:digest_sections"
SHARE = 0.4
"""Of a search's time that the vector of its question may take."""

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
        loop = asyncio.get_running_loop()
        until, most = loop.time() + within, min(within, self._settings.search_seconds)
        vector = await embed_question(self._embedder, question, most) if self._embedder else None
        arguments = (self._database, question, limit or self._settings.passages, sources, vector, linked)
        try:
            found = await self._ask(FIND, *arguments, until=until, most=most, returns=SearchHits)
        except WorkTimedOut as error:
            raise KnowledgeFailed(f"The search took longer than {_brief(most)} s.") from error
        except WorkError as error:
            raise KnowledgeFailed(f"The documents could not be searched: {explain(error, self._database)}") from error
        if found.abstain == NO_INDEX:
            return msgspec.structs.replace(found, abstain=no_index_message())
        return found

    async def find_named(self, text: str, *, within: float) -> NamedDocument | None:
        """As `actors.ports.Documents`."""
        until, returns = asyncio.get_running_loop().time() + within, cast("type[NamedDocument]", NamedDocument | None)
        try:
            return await self._ask(FIND_NAMED, self._database, text, until=until, most=within, returns=returns)
        except WorkError as error:
            raise KnowledgeFailed(f"The documents could not be read: {explain(error, self._database)}") from error

    async def digest_sections(self, quotes: Sequence[tuple[str, str]], *, within: float) -> list[str]:
        """
        For each quote a digest of the section that it stands in now; empty where the documents do not say it any more.

        :param quotes: each a document's source and words of it.
        :raises KnowledgeFailed: the time was up, or there is no index that can be read.
        """
        until = asyncio.get_running_loop().time() + within
        arguments = (self._database, quotes)
        try:
            return await self._ask(DIGEST_SECTIONS, *arguments, until=until, most=within, returns=list[str])
        except WorkTimedOut as error:
            raise KnowledgeFailed(f"That took longer than {_brief(within)} s") from error
        except WorkError as error:
            raise KnowledgeFailed(error.detail) from error

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
        from runtime.knowledge.index.indexing import IndexFailed, index  # hardly anybody ever needs it

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
        """
        loop = asyncio.get_running_loop()

        async def call() -> R:
            bound = min(until, loop.time() + most)
            left, waiting = max(bound - loop.time(), 0.0), max(until - bound, 0.0)
            # Where many search at once, who has time waits for its turn rather than doing without.
            return await self._workers.call(function, *arguments, within=left, returns=returns, waiting=waiting)

        try:
            return await call()
        except WorkError as error:
            if LAPSED not in str(error):
                raise
        try:
            async with asyncio.timeout_at(until):
                await self.renew()
        except TimeoutError:
            raise KnowledgeFailed(f"{LAPSED}, though that is under way. Ask again in a while.") from None
        return await call()


async def ask_worker(workers: Workers, function: str, *arguments: Any, within: float, returns: type[R]) -> R:
    """
    What a function in a worker process says of an index beside that of the documents.

    :raises KnowledgeFailed: the time was up, or the index cannot be used.
    """
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
