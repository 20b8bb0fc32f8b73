"""Folders become an index: list, take in what is new, forget what vanished, all in worker processes."""

import asyncio
import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from actors.ports import PortFailed
from runtime.knowledge.index.index_jobs import Listing, Taken
from runtime.knowledge.index.index_writer import OTHER_VERSION
from runtime.knowledge.knowledge_index import FILE, detail, explain
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
    """How far indexing is: `done` of `total` files, and the one that was just finished."""

    done: int
    total: int
    current: str
    passages: int
    waiting: bool = False
    """Another indexing has to end first."""


WAITING = IndexProgress(0, 0, "waiting for another indexing", 0, waiting=True)


class IndexReport(msgspec.Struct, frozen=True):
    """What indexing did."""

    files: int
    """Documents that were found."""
    read: int
    """New or changed ones."""
    unchanged: int
    removed: int
    skipped: tuple[tuple[str, str], ...]
    """(source, reason) of each document that is not in the index."""
    ignored: int
    """Files of other kinds."""
    passages: int
    """New ones."""
    seconds: float
    megabytes: float
    """Size of the index file."""


async def index(
    folders: Sequence[str | Path],
    storage: str | Path,
    workers: Workers,
    settings: KnowledgeSettings,
    progress: Callable[[IndexProgress], None] = lambda _: None,
) -> IndexReport:
    """
    Read folders of documents into the index in the storage folder.

    Unchanged files are not touched, vanished ones are removed; stopped at any moment, the index is whole.

    Another process that is at it is waited for, [knowledge] wait_seconds at most: SQLite's own waiting is no queue.

    :raises IndexFailed: when a folder cannot be listed or the index cannot be written.
    """
    job, most = _Job(Path(storage) / FILE, workers, settings, progress), settings.wait_seconds
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
        self, database: Path, workers: Workers, settings: KnowledgeSettings, progress: Callable[[IndexProgress], None]
    ) -> None:
        self._database = str(database.absolute())  # a worker process may stand elsewhere
        self._workers = workers
        self._settings = settings
        self._progress = progress
        self._skipped: list[tuple[str, str]] = []
        self._counts = {"read": 0, "unchanged": 0, "skipped": 0}
        self._done = self._total = self._passages = 0

    async def run(self, folders: list[str]) -> IndexReport:
        began = time.monotonic()
        lapsed: list[str] = await self._call("lapsed", within=FINISHING_SECONDS, returns=list[str])
        listings = [await self._list(folder) for folder in dict.fromkeys(folders)]
        todo = iter([(each, path) for each in listings for path in each.files])
        self._total = sum(len(each.files) for each in listings)
        await asyncio.gather(*(self._work(todo) for _ in range(AT_ONCE)))
        removed = 0
        for each in listings:
            self._skipped += [(f"{each.name}/{path}", reason) for path, reason in each.skipped]
            removed += await self._call("forget", each.folder, each.files, within=FINISHING_SECONDS, returns=int)
        others = set(lapsed) - {each.root for each in listings}
        self._skipped += [(path, f"its index was {OTHER_VERSION}: index it again") for path in others]
        megabytes = await self._call("finish", within=FINISHING_SECONDS, returns=float)
        return IndexReport(
            files=self._total,
            read=self._counts["read"],
            unchanged=self._counts["unchanged"],
            removed=removed,
            skipped=tuple(sorted(self._skipped)),
            ignored=sum(each.ignored for each in listings),
            passages=self._passages,
            seconds=time.monotonic() - began,
            megabytes=megabytes,
        )

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
            reason = f"could not be read: {detail(error)}"
        await self._call("give_up", *place, *limits, reason, within=FINISHING_SECONDS, returns=bool)
        return Taken("skipped", reason)

    async def _call(self, function: str, *arguments: Any, within: float, returns: type[R]) -> R:
        name = f"{_WORK}:{function}"
        return await self._workers.call(name, self._database, *arguments, within=within, returns=returns)
