"""The knowledge as agents ask it: a thin client, so that what a search needs is loaded in worker processes only."""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from actors.evidence.passages import SearchHits
from actors.ports import PortFailed
from runtime.knowledge import NO_INDEX, no_index_message
from runtime.processes.pool import WorkError, Workers, WorkTimedOut
from runtime.program import command
from runtime.settings import KnowledgeSettings

FILE = "knowledge.db"
DAMAGED = ("not a database", "malformed")
"""How SQLite and the index itself say that a file cannot be used."""
FIND = "runtime.knowledge.query.search:find"
FIND_MISSING = "runtime.knowledge.query.search:find_missing"


class KnowledgeFailed(PortFailed):
    """The knowledge search did not come to an end."""


class KnowledgeIndex:
    """`actors.ports.Knowledge` over the index in a storage folder."""

    def __init__(self, storage: str | Path, workers: Workers, settings: KnowledgeSettings | None = None) -> None:
        self._database = str(Path(storage).absolute() / FILE)
        self._workers = workers
        self._settings = settings or KnowledgeSettings()

    async def search(
        self, question: str, *, within: float, limit: int | None = None, sources: Sequence[str] | None = None,
        hops: bool = False,
    ) -> SearchHits:  # fmt: skip
        """
        Find the passages that bear on a question, the best page's first.

        :param sources: look only into these documents; None: into all.
        :param hops: find also the documents that are named in the question and in what is found for it.
        :raises KnowledgeFailed: the time was up, or the index is damaged.
        """
        within = min(within, self._settings.search_seconds)
        arguments = (self._database, question, limit or self._settings.passages, sources, hops)
        try:
            found = await self._workers.call(FIND, *arguments, within=within, returns=SearchHits)
        except WorkTimedOut as error:
            raise KnowledgeFailed(f"The search took longer than {_brief(within)} s.") from error
        except WorkError as error:
            raise KnowledgeFailed(f"The documents could not be searched: {explain(error, self._database)}") from error
        return msgspec.structs.replace(found, abstain=no_index_message()) if found.abstain == NO_INDEX else found

    async def find_missing(self, quotes: Sequence[tuple[str, str]], *, within: float) -> list[int]:
        """
        Which of some quotes, by number from 0, the documents do not say any more.

        :param quotes: each a document's source and words of it.
        :raises KnowledgeFailed: the time was up, or there is no index that can be read.
        """
        try:
            return await self._workers.call(FIND_MISSING, self._database, quotes, within=within, returns=list[int])
        except WorkTimedOut as error:
            raise KnowledgeFailed(f"That took longer than {_brief(within)} s") from error
        except WorkError as error:
            raise KnowledgeFailed(detail(error)) from error


def detail(error: WorkError) -> str:
    """What a function in a worker process said, without the type of its exception."""
    head, colon, rest = str(error).partition(": ")
    return rest if colon and head.isidentifier() else str(error)


def explain(error: WorkError, database: str) -> str:
    """What a function in a worker process said, and what helps."""
    said = detail(error)
    if "full" in said:
        return f"{said}. Make room on the disk."
    if any(sign in said for sign in DAMAGED):
        return f"{said}. Delete {database} and run {command('index')} again: nothing else is kept in it."
    return f"{said}."


def _brief(seconds: float) -> str:
    return f"{seconds:.1f}" if seconds >= 0.1 else f"{seconds:.1g}"
