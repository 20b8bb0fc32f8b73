"""
Folders become an index: list, take in what is new, forget what vanished; then texts get vectors, all in workers.

Reading and the making of vectors have a lock each: words can be searched, and other folders read, while vectors are
made for minutes. And what an index holds: listed, counted, taken out again.
"""

import asyncio
import contextlib
import functools
import math
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar

import msgspec
import structlog

from actors.ports import PortFailed
from runtime.embeddings.embedder import Embedder, EmbeddingFailed, understands
from runtime.knowledge.index.folder_records import (
    Forgotten,
    Ignored,
    IndexedDocument,
    IndexedFolder,
    Listing,
    MeaningState,
    Removed,
    Taken,
)
from runtime.knowledge.index.vector_store import Unseen
from runtime.knowledge.knowledge_index import FILE, explain
from runtime.processes.file_lock import LockHeld, hold_lock
from runtime.processes.pool import WorkError, Workers, WorkFailed, WorkTimedOut
from runtime.settings import KnowledgeSettings
from runtime.storage.private import make_storage

_WORK = "runtime.knowledge.index.index_jobs"
LISTING_SECONDS = 120.0
FINISHING_SECONDS = 300.0
AT_ONCE = 2
LOCK, VECTORS_LOCK = "knowledge.lock", "vectors.lock"
TEXTS = 128
"""Whose vectors are asked for at once, and kept at once: what a stopped process loses."""
EMBEDDING_SECONDS = 600.0
"""What so many texts may take; a provider's own bound is shorter."""

R = TypeVar("R")
log = structlog.get_logger(__name__)


class IndexFailed(PortFailed):
    """A folder could not be indexed at all. The text is one sentence for the user."""


class IndexBusy(IndexFailed):
    """Another process was at it for too long."""


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
Show = Callable[[IndexProgress], None]


class Vectors(NamedTuple):
    """What came of making them."""

    made: int = 0
    missing: int = 0
    """Texts that have none all the same; they are found by their words."""
    failure: str = ""
    """Why, in a sentence for the user."""


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
    progress: Show = lambda _: None,
    embedder: Embedder | None = None,
) -> IndexReport:
    """
    Read folders of documents into the index in the storage folder.

    Unchanged files are not touched, vanished ones are removed; stopped at any moment, the index is whole. What an
    index of another version held is read again as well, whether it is named here or not.

    Another process that is at it is waited for, [knowledge] wait_seconds at most: SQLite's own waiting is no queue.

    :param embedder: makes the vectors of passages before this returns; if it fails, those that have none are found by
        their words. None: that is left to `make_vectors`.
    :raises IndexFailed: when a folder cannot be listed or the index cannot be written.
    """
    async with hold_index(Path(storage), LOCK, settings.wait_seconds, progress):
        report = await _Job(Path(storage), workers, settings, progress).run([str(each) for each in folders])
    if embedder is None:
        return report
    made = await make_vectors(storage, workers, embedder, progress)
    return msgspec.structs.replace(
        report, vectors=made.made, without_vectors=made.missing, words_only=made.failure,
    )  # fmt: skip


async def make_vectors(
    storage: str | Path,
    workers: Workers,
    embedder: Embedder,
    progress: Show = lambda _: None,
    *,
    at_once: int = TEXTS,
    within: float = math.inf,
    anew: bool = True,
) -> Vectors:
    """
    Make the vectors that an index lacks, beside whoever reads folders or searches. A text in a language that the model
    does not know gets an empty one: it is found by its words. Stopped at any moment, what was stored is kept.

    :param at_once: texts that are embedded at once: with few, others who need the workers wait for less.
    :param within: seconds that another process which makes them is waited for.
    :param anew: vectors of a model of another name give way to those of this one; else they stay, and none are made.
    :raises IndexBusy: another process was at it for too long.
    :raises IndexFailed: the index cannot be written.
    """
    call = functools.partial(_call, storage, workers)
    made, done, failure, after = 0, 0, "", b""
    async with hold_index(Path(storage), VECTORS_LOCK, within, progress):
        try:
            missing, others = await call("begin_vectors", embedder.name, anew, returns=tuple[int, bool])
            what = f"the meaning of passages{', with another model' if others else ''}"
            show = functools.partial(IndexProgress, current=what, passages=0, phase="meaning")
            while missing and not failure:
                found = await call("find_texts_without_vectors", after, TEXTS, returns=list[Unseen])
                if not found:
                    progress(show(done, done))
                    break
                after = found[-1].digest
                for start in range(0, len(found), at_once):
                    progress(show(done, max(missing, done + len(found))))
                    texts = found[start : start + at_once]
                    vectors = await _embed(embedder, texts)
                    if not await call("keep_vectors", embedder.name, vectors, returns=bool):
                        failure = "Another process makes vectors with another model, or the index is gone."
                        break
                    made, done = made + sum(bool(vector) for _, vector in vectors), done + len(texts)
        except EmbeddingFailed as error:
            failure = str(error)
    if failure:
        log.warning("knowledge.vectors_failed", missing=missing - done, error=failure)
    elif made:
        log.info("knowledge.vectors_made", texts=made)
    return Vectors(made, max(missing - done, 0) if failure else 0, failure)


async def _embed(embedder: Embedder, texts: Sequence[Unseen]) -> list[tuple[bytes, bytes]]:
    """Digests of some texts and their vectors, an empty one where the model does not know the language."""
    known = {each.digest: each.text for each in texts if understands(embedder, each.text)}
    vectors = await embedder.embed(list(known.values()), kind="passage", within=EMBEDDING_SECONDS) if known else []
    made = dict(zip(known, vectors, strict=True))
    return [(each.digest, made.get(each.digest, b"")) for each in texts]


async def list_folders(storage: str | Path, workers: Workers) -> list[IndexedFolder]:
    """
    The folders of the index in a storage folder; none, when there is no index yet or one of another version.

    :raises IndexFailed: the index cannot be read.
    """
    with _explaining(storage, "The index cannot be read"):
        return await _call(storage, workers, "list_folders", returns=list[IndexedFolder])


async def list_documents(after: str, most: int, storage: str | Path, workers: Workers) -> list[IndexedDocument]:
    """
    So many documents of the index by their names, those after one.

    :raises IndexFailed: the index cannot be read.
    """
    with _explaining(storage, "The index cannot be read"):
        return await _call(storage, workers, "list_documents", after, most, returns=list[IndexedDocument])


async def measure_meaning(storage: str | Path, workers: Workers, embedder: Embedder | None) -> MeaningState | None:
    """
    How many texts of the index have a vector; None where nothing makes any.

    :raises IndexFailed: the index cannot be read.
    """
    if embedder is None:
        return None
    with _explaining(storage, "The index cannot be read"):
        return await _call(storage, workers, "measure_meaning", embedder.name, returns=MeaningState)


async def store_upload(folder: str, name: str, body: bytes, workers: Workers) -> str:
    """
    Keep a document in the folder of uploads; returns why not, in a sentence, or nothing.

    :raises IndexFailed: it cannot be written.
    """
    with _explaining(folder, "The document cannot be written"):
        work = f"{_WORK}:store_upload"
        return await workers.call(work, folder, name, body, within=FINISHING_SECONDS, returns=str)


async def remove_upload(
    folder: str, name: str, storage: str | Path, workers: Workers, settings: KnowledgeSettings
) -> bool:
    """
    Delete a document of the folder of uploads, and take it out of the index; false: there is none.

    :raises IndexFailed: another process is indexing for too long, or the index cannot be written.
    """
    async with hold_index(Path(storage), LOCK, settings.wait_seconds):
        return await _call(storage, workers, "remove_upload", folder, name, returns=bool)


async def remove_folder(folder: str, storage: str | Path, workers: Workers, settings: KnowledgeSettings) -> int | None:
    """
    Take a folder out of the index, by its path or its name there. How many documents it held; None: it is not there.

    :raises IndexFailed: another process is indexing for too long, or the index cannot be written.
    """
    async with hold_index(Path(storage), LOCK, settings.wait_seconds):
        return (await _call(storage, workers, "remove_folder", folder, returns=Removed)).documents


@contextlib.asynccontextmanager
async def hold_index(storage: Path, lock: str, within: float, progress: Show = lambda _: None) -> AsyncIterator[None]:
    """
    One of the locks of an index, for work in it.

    :raises IndexBusy: another process holds it for longer.
    :raises IndexFailed: the index, or the lock, cannot be written.
    """
    async with contextlib.AsyncExitStack() as stack:
        try:
            held = hold_lock(make_storage(storage) / lock, within=within, waits=lambda: progress(WAITING))
            await stack.enter_async_context(held)
        except LockHeld:
            raise IndexBusy(
                f"Another process has been indexing into {storage} for more than {within:g} s (knowledge.wait_seconds)."
                " Wait until it has ended, or end it, and try again."
            ) from None
        except OSError as error:
            raise IndexFailed(f"The index cannot be written: {error.strerror}, {storage}.") from error
        with _explaining(storage):
            yield


class _Job:
    def __init__(self, storage: Path, workers: Workers, settings: KnowledgeSettings, progress: Show) -> None:
        self._call = functools.partial(_call, storage, workers)
        self._storage = storage
        self._settings = settings
        self._progress = progress
        self._skipped: list[tuple[str, str]] = []
        self._gone: list[tuple[str, str]] = []
        self._forgotten: list[str] = []
        self._vanished: list[tuple[str, int]] = []
        self._counts = {"read": 0, "unchanged": 0, "twin": 0, "skipped": 0}
        self._done = self._total = self._passages = 0

    async def run(self, folders: list[str]) -> IndexReport:
        began = time.monotonic()
        lapsed = await self._call("lapsed", returns=list[str])
        listings = [await self._list(folder) for folder in dict.fromkeys(folders)]
        listings += await self._list_lapsed(set(lapsed) - {each.root for each in listings})
        todo = iter([(each, path) for each in listings for path in each.files])
        self._total = sum(len(each.files) for each in listings)
        await asyncio.gather(*(self._work(todo) for _ in range(AT_ONCE)))
        for each in listings:
            await self._settle(each)
        settled = [*lapsed, *(each.root for each in listings)]
        await self._call("settle", settled, returns=int)
        megabytes = await self._call("finish", returns=float)
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

    async def _settle(self, each: Listing) -> None:
        """Forget what vanished from a folder, and note how it was."""
        self._skipped += [(f"{each.name}/{path}", reason) for path, reason in each.skipped]
        gone = await self._call("forget", each.folder, each.files, each.unopened, returns=Forgotten)
        self._forgotten += [f"{each.name}/{path}" for path in gone.paths]
        if gone.kept:
            self._vanished.append((each.root, gone.kept))
            return
        own = [(source, reason) for source, reason in self._skipped if source.startswith(f"{each.name}/")]
        await self._call("keep_record", each.root, each.ignored, own, returns=bool)

    async def _list(self, folder: str) -> Listing:
        with _explaining(self._storage, f"{folder} cannot be indexed"):
            return await self._call("listing", folder, within=LISTING_SECONDS, returns=Listing)

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
                raise
            reason = f"could not be read: {error.detail}"
        await self._call("give_up", *place, *limits, reason, returns=bool)
        return Taken("skipped", reason)


async def _call(
    storage: str | Path, workers: Workers, function: str, *arguments: Any, returns: type[R],
    within: float = FINISHING_SECONDS,
) -> R:  # fmt: skip
    """What a function of the index says in a worker process, which may stand in another folder."""
    return await workers.call(f"{_WORK}:{function}", _file(storage), *arguments, within=within, returns=returns)


def _file(storage: str | Path) -> str:
    return str((Path(storage) / FILE).absolute())


@contextlib.contextmanager
def _explaining(storage: str | Path, what: str = "The index cannot be written") -> Iterator[None]:
    """:raises IndexFailed: a function in a worker process failed."""
    try:
        yield
    except WorkError as error:
        raise IndexFailed(f"{what}: {explain(error, _file(storage))}") from error
