"""Folders become an index: list, take in what is new, forget what vanished, all in worker processes."""

import asyncio
import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, TypeVar

import msgspec

from actors.ports import PortFailed
from runtime.embeddings.embedder import Embedder
from runtime.knowledge.index.folder_records import Ignored
from runtime.knowledge.index.index_results import Forgotten, Listing, Taken
from runtime.knowledge.index.vectors_job import VectorProgress, Vectors, make_vectors
from runtime.knowledge.knowledge_index import FILE, explain
from runtime.processes.file_lock import LockHeld, hold_lock
from runtime.processes.pool import WorkError, Workers, WorkFailed, WorkTimedOut
from runtime.settings import KnowledgeSettings
from runtime.storage.private import make_storage

_WORK = "runtime.knowledge.index.index_jobs"
LISTING_SECONDS = 120.0
FINISHING_SECONDS = 300.0
AT_ONCE = 2
LOCK = "knowledge.lock"

R = TypeVar("R")


class IndexFailed(PortFailed):
    """A folder could not be indexed at all. The text is one sentence for the user."""


class IndexProgress(msgspec.Struct, frozen=True):
    """How far indexing is: `done` of `total` files, and the one that was just finished; then, of passages' vectors."""

    done: int
    total: int
    current: str
    passages: int
    waiting: bool = False
    """Another indexing has to end first."""
    phase: Literal["reading", "meaning", "cases"] = "reading"
    """What is counted: files that are read, passages whose vectors are made, or bytes of a file of cases."""


WAITING = IndexProgress(0, 0, "waiting for another indexing", 0, waiting=True)


class IndexReport(msgspec.Struct, frozen=True):
    """What indexing did."""

    files: int
    """Documents that were found."""
    read: int
    """New or changed ones."""
    unchanged: int
    removed: int
    """Documents that are not in their folder any more, and so not in the index."""
    skipped: tuple[tuple[str, str], ...]
    """(source, reason) of each document that is not in the index."""
    ignored: int
    """Files of other kinds."""
    passages: int
    """New ones."""
    seconds: float
    megabytes: float
    """Size of the index file."""
    vectors: int = 0
    """New ones."""
    without_vectors: int = 0
    """Passages that are found by their words only, although something makes vectors here."""
    words_only: str = ""
    """Why, in a sentence."""
    gone: tuple[tuple[str, str], ...] = ()
    """(folder, reason) of each that another version had indexed and that cannot be read any more."""
    twins: int = 0
    """Texts whose words stand in the page of the same name."""
    forgotten: tuple[str, ...] = ()
    """The sources that were removed."""
    vanished: tuple[tuple[str, int], ...] = ()
    """(folder, documents) of folders that are not there or show no document: theirs stay in the index."""
    kinds: tuple[Ignored, ...] = ()
    """What was ignored, by kind, the most frequent first."""


async def index(
    folders: Sequence[str | Path],
    storage: str | Path,
    workers: Workers,
    settings: KnowledgeSettings,
    progress: Callable[[IndexProgress], None] = lambda _: None,
    embedder: Embedder | None = None,
) -> IndexReport:
    """
    Read folders of documents into the index in the storage folder.

    Unchanged files are not touched, vanished ones are removed; stopped at any moment, the index is whole. With an
    embedder, passages get vectors, too; if it fails, those that have none are found by their words. What an index of
    another version held is read again as well, whether it is named here or not.

    Another process that is at it is waited for, [knowledge] wait_seconds at most: SQLite's own waiting is no queue.

    :raises IndexFailed: when a folder cannot be listed or the index cannot be written.
    """
    job, most = _Job(Path(storage) / FILE, workers, settings, progress, embedder), settings.wait_seconds
    async with contextlib.AsyncExitStack() as stack:
        try:
            lock = hold_lock(make_storage(Path(storage)) / LOCK, within=most, waits=lambda: progress(WAITING))
            await stack.enter_async_context(lock)
        except LockHeld:
            raise IndexFailed(
                f"Another process has been indexing into {storage} for more than {most:g} s (knowledge.wait_seconds). "
                "Wait until it has ended, or end it, and index again."
            ) from None
        except OSError as error:
            raise IndexFailed(f"The index cannot be written: {error.strerror}, {storage}.") from error
        return await job.run([str(folder) for folder in folders])


class _Job:
    def __init__(
        self,
        database: Path,
        workers: Workers,
        settings: KnowledgeSettings,
        progress: Callable[[IndexProgress], None],
        embedder: Embedder | None,
    ) -> None:
        self._database = str(database.absolute())  # a worker process may stand elsewhere
        self._workers = workers
        self._settings = settings
        self._progress = progress
        self._embedder = embedder
        self._skipped: list[tuple[str, str]] = []
        self._gone: list[tuple[str, str]] = []
        self._forgotten: list[str] = []
        self._vanished: list[tuple[str, int]] = []
        self._counts = {"read": 0, "unchanged": 0, "twin": 0, "skipped": 0}
        self._done = self._total = self._passages = 0

    async def run(self, folders: list[str]) -> IndexReport:
        began = time.monotonic()
        lapsed: list[str] = await self._call("lapsed", within=FINISHING_SECONDS, returns=list[str])
        listings = [await self._list(folder) for folder in dict.fromkeys(folders)]
        listings += await self._list_lapsed(set(lapsed) - {each.root for each in listings})
        todo = iter([(each, path) for each in listings for path in each.files])
        self._total = sum(len(each.files) for each in listings)
        await asyncio.gather(*(self._work(todo) for _ in range(AT_ONCE)))
        for each in listings:
            await self._settle(each)
        settled = [*lapsed, *(each.root for each in listings)]
        await self._call("settle", settled, within=FINISHING_SECONDS, returns=int)
        vectors = await self._make_vectors()
        megabytes = await self._call("finish", within=FINISHING_SECONDS, returns=float)
        return IndexReport(
            files=self._total,
            read=self._counts["read"],
            unchanged=self._counts["unchanged"],
            removed=len(self._forgotten),
            skipped=tuple(sorted([*self._skipped, *self._gone])),
            ignored=sum(kind.count for each in listings for kind in each.ignored),
            passages=self._passages,
            seconds=time.monotonic() - began,
            megabytes=megabytes,
            vectors=vectors.made,
            without_vectors=vectors.missing,
            words_only=vectors.failure,
            gone=tuple(self._gone),
            twins=self._counts["twin"],
            forgotten=tuple(self._forgotten),
            vanished=tuple(self._vanished),
            kinds=tuple(sorted((kind for each in listings for kind in each.ignored), key=lambda kind: -kind.count)),
        )

    async def _list_lapsed(self, folders: set[str]) -> list[Listing]:
        """What another version had indexed is read again; of a folder that is gone, that is said."""
        found: list[Listing] = []
        for folder in sorted(folders):
            try:
                found.append(await self._list(folder))
            except IndexFailed as error:
                self._gone.append((folder, f"forgotten; another version had indexed it, but {error}"))
        return found

    async def _make_vectors(self) -> Vectors:
        def show(vectors: VectorProgress) -> None:
            label = f"the meaning of passages{', with another model' if vectors.anew else ''}"
            self._progress(IndexProgress(vectors.done, vectors.total, label, self._passages, phase="meaning"))

        if self._embedder is None:
            return Vectors()
        try:
            return await make_vectors(self._database, self._workers, self._embedder, show)
        except WorkError as error:
            raise IndexFailed(f"The index cannot be written: {explain(error, self._database)}") from error

    async def _settle(self, each: Listing) -> None:
        """Forget what vanished from a folder, and note how it was."""
        self._skipped += [(f"{each.name}/{path}", reason) for path, reason in each.skipped]
        gone = await self._call(
            "forget", each.folder, each.files, each.unopened, within=FINISHING_SECONDS, returns=Forgotten
        )
        self._forgotten += [f"{each.name}/{path}" for path in gone.paths]
        if gone.kept:
            self._vanished.append((each.root, gone.kept))
            return
        own = [(source, reason) for source, reason in self._skipped if source.startswith(f"{each.name}/")]
        await self._call("keep_record", each.root, each.ignored, own, within=FINISHING_SECONDS, returns=bool)

    async def _list(self, folder: str) -> Listing:
        try:
            return await self._call("listing", folder, within=LISTING_SECONDS, returns=Listing)
        except WorkError as error:
            raise IndexFailed(f"{folder} cannot be indexed: {explain(error, self._database)}") from error

    async def _work(self, todo: Iterator[tuple[Listing, str]]) -> None:
        for listing, path in todo:
            taken = await self._take(listing, path)
            self._counts[taken.status] += 1
            self._done += 1
            self._passages += taken.passages
            source = f"{listing.name}/{path}"
            if taken.status == "skipped":
                self._skipped.append((source, taken.reason))
            self._progress(IndexProgress(self._done, self._total, source, self._passages))

    async def _take(self, listing: Listing, path: str) -> Taken:
        limits = (self._settings.file_megabytes, self._settings.file_seconds)
        place = (listing.folder, listing.root, path)
        try:
            return await self._call("take", *place, *limits, within=self._settings.file_seconds, returns=Taken)
        except WorkTimedOut:
            reason = f"took longer than {self._settings.file_seconds:g} s to read (knowledge.file_seconds)"
        except WorkFailed as error:
            if "OperationalError" in str(error) or "DatabaseError" in str(error):
                raise IndexFailed(f"The index cannot be written: {explain(error, self._database)}") from error
            reason = f"could not be read: {error.detail}"
        await self._call("give_up", *place, *limits, reason, within=FINISHING_SECONDS, returns=bool)
        return Taken("skipped", reason)

    async def _call(self, function: str, *arguments: Any, within: float, returns: type[R]) -> R:
        name = f"{_WORK}:{function}"
        return await self._workers.call(name, self._database, *arguments, within=within, returns=returns)
