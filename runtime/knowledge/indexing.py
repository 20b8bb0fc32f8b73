"""
Folders become an index: listed, what is new taken in, what vanished forgotten; then texts get vectors, all in workers.

Reading and the making of vectors have a lock each: words can be searched, and other folders read, while vectors are
made for minutes. Below: what an index holds, listed and taken out again, and what a daemon does for its index.
"""

import asyncio
import contextlib
import functools
import math
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar, cast

import msgspec
import structlog

from actors.ports import PortFailed
from runtime.embeddings.embedder import Embedder, EmbeddingFailed, understands
from runtime.embeddings.providers import open_workers
from runtime.knowledge import FILE
from runtime.knowledge.index import Ignored, IndexedDocument, IndexedFolder, MeaningState, Unseen
from runtime.knowledge.indexing_jobs import Forgotten, Listing, Taken
from runtime.knowledge.knowledge_index import explain
from runtime.processes.file_lock import LockHeld, hold_lock
from runtime.processes.pool import WorkError, Workers, WorkFailed, WorkTimedOut
from runtime.settings import KnowledgeSettings
from runtime.storage.private import make_storage
from runtime.times import Moment, iso

if TYPE_CHECKING:
    from runtime.engine.node import Node

JOBS = "runtime.knowledge.indexing_jobs"
TAKE = f"{JOBS}:take"
LISTING_SECONDS = 120.0
FINISHING_SECONDS = 300.0
SIDE_SECONDS = 3600.0
"""What laws and cases that another version had indexed may take."""
FILES_AT_ONCE = 2
LOCK, VECTORS_LOCK = "knowledge.lock", "vectors.lock"
TEXTS = 128
"""Whose vectors are asked for at once, and kept at once: what a stopped process loses."""
EMBEDDING_SECONDS = 600.0
"""What so many texts may take; a provider's own bound is shorter."""
SKIPPED_SHOWN = 100
NICENESS = 10
"""Of a daemon's process that makes vectors: one that answers a ticket gets nine times as much of a processor."""
TEXTS_BESIDE_TICKETS = 8
LOOK_SECONDS = 2.0
"""Between two looks of a daemon whether the index has changed."""
AGAIN_SECONDS = 60.0
"""Before vectors are tried again that could not be made."""

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
    index of another version held is read again as well, named here or not, and so are laws and cases.

    Another process that is at it is waited for, [knowledge] wait_seconds at most: SQLite's own waiting is no queue.

    :param embedder: makes the vectors of passages before this returns; if it fails, those that have none are found by
        their words. None: that is left to `make_vectors`.
    :raises IndexFailed: when a folder cannot be listed or the index cannot be written.
    """
    async with hold_index(Path(storage), LOCK, settings.wait_seconds, progress):
        report = await _read_folders([str(each) for each in folders], storage, workers, settings, progress)
    if embedder is None:
        return report
    made = await make_vectors(storage, workers, embedder, progress)
    return msgspec.structs.replace(
        report, vectors=made.made, without_vectors=made.missing, words_only=made.failure,
    )  # fmt: skip


async def _read_folders(
    folders: Sequence[str], storage: str | Path, workers: Workers, settings: KnowledgeSettings, progress: Show
) -> IndexReport:
    began, call = time.monotonic(), functools.partial(_call, workers, storage)

    async def list_files(folder: str) -> Listing:
        what = f"{folder} cannot be indexed"
        return await call("listing", folder, within=LISTING_SECONDS, returns=Listing, what=what)

    lapsed = await call("find_lapsed", returns=list[str])
    listings, gone = [await list_files(folder) for folder in dict.fromkeys(folders)], list[tuple[str, str]]()
    for folder in sorted({*lapsed} - {each.root for each in listings}):
        try:
            listings.append(await list_files(folder))
        except IndexFailed as error:
            gone.append((folder, f"forgotten; another version had indexed it, but {error}"))

    todo = [(each, path) for each in listings for path in each.files]
    waiting, taken, passages = iter(todo), dict[str, Taken](), 0

    async def take_each() -> None:
        nonlocal passages
        for listing, path in waiting:
            source = f"{listing.name}/{path}"
            taken[source] = found = await _take(workers, (_file(storage), listing.folder, listing.root, path), settings)
            passages += found.passages
            progress(IndexProgress(len(taken), len(todo), source, passages))

    await asyncio.gather(*(take_each() for _ in range(FILES_AT_ONCE)))
    skipped = [(f"{each.name}/{path}", reason) for each in listings for path, reason in each.skipped]
    skipped += [(source, its.reason) for source, its in taken.items() if its.status == "skipped"]
    forgotten, vanished = list[str](), list[tuple[str, int]]()
    for each in listings:
        own = [(source, reason) for source, reason in skipped if source.startswith(f"{each.name}/")]
        settled = await call("settle", each, own, returns=Forgotten)
        forgotten += [f"{each.name}/{path}" for path in settled.paths]
        vanished += [(each.root, settled.kept)] if settled.kept else []
    megabytes = await call("finish", returns=float)
    await call("renew_side_indexes", within=SIDE_SECONDS, returns=bool)
    counts = Counter(each.status for each in taken.values())
    kinds = sorted((kind for each in listings for kind in each.ignored), key=lambda kind: -kind.count)
    return IndexReport(
        files=len(todo), read=counts["read"], unchanged=counts["unchanged"], removed=len(forgotten),
        skipped=tuple(sorted([*skipped, *gone])), ignored=sum(kind.count for kind in kinds), passages=passages,
        seconds=time.monotonic() - began, megabytes=megabytes, gone=tuple(gone), twins=counts["twin"],
        forgotten=tuple(forgotten), vanished=tuple(vanished), kinds=tuple(kinds),
    )  # fmt: skip


async def _take(workers: Workers, place: tuple[str, int, str, str], settings: KnowledgeSettings) -> Taken:
    """
    Have a file read; one whose reader had to be stopped, or died, is noted as such.

    :param place: index, folder by number and path, and the file below it.
    """
    asked = (*place, settings.file_megabytes, settings.file_seconds)
    try:
        return await workers.call(TAKE, *asked, "", within=settings.file_seconds, returns=Taken)
    except WorkTimedOut:
        reason = f"took longer than {settings.file_seconds:g} s to read (knowledge.file_seconds)"
    except WorkFailed as error:
        reason = f"could not be read: {error.detail}"
        if "OperationalError" in str(error) or "DatabaseError" in str(error):
            raise IndexFailed(f"The index cannot be written: {explain(error, place[0])}") from error
    return await workers.call(TAKE, *asked, reason, within=FINISHING_SECONDS, returns=Taken)


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
    ask = functools.partial(_ask, workers, storage)
    made, done, failure, after = 0, 0, "", b""
    async with hold_index(Path(storage), VECTORS_LOCK, within, progress):
        try:
            missing, others = await ask("begin_vectors", embedder.name, anew, returns=tuple[int, bool])
            what = f"the meaning of passages{', with another model' if others else ''}"
            show = functools.partial(IndexProgress, current=what, passages=0, phase="meaning")
            while missing and not failure:
                found = await ask("find_texts_without_vectors", after, TEXTS, returns=list[Unseen])
                if not found:
                    progress(show(done, done))
                    break
                after = found[-1].digest
                for start in range(0, len(found), at_once):
                    progress(show(done, max(missing, done + len(found))))
                    texts = found[start : start + at_once]
                    vectors = await _embed(embedder, texts)
                    if not await ask("keep_vectors", embedder.name, vectors, returns=bool):
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
    return await _ask(workers, storage, "list_folders", returns=list[IndexedFolder])


async def list_documents(after: str, most: int, storage: str | Path, workers: Workers) -> list[IndexedDocument]:
    """
    So many documents of the index by their names, those after one.

    :raises IndexFailed: the index cannot be read.
    """
    return await _ask(workers, storage, "list_documents", after, most, returns=list[IndexedDocument])


async def measure_meaning(storage: str | Path, workers: Workers, embedder: Embedder | None) -> MeaningState | None:
    """
    How many texts of the index have a vector; None where nothing makes any.

    :raises IndexFailed: the index cannot be read.
    """
    if embedder is None:
        return None
    return await _ask(workers, storage, "measure_meaning", embedder.name, returns=MeaningState)


async def remove_folder(folder: str, storage: str | Path, workers: Workers, settings: KnowledgeSettings) -> int | None:
    """
    Take a folder out of the index, by its path or its name there. How many documents it held; None: it is not there.

    :raises IndexFailed: another process is indexing for too long, or the index cannot be written.
    """
    async with hold_index(Path(storage), LOCK, settings.wait_seconds):
        return await _ask(workers, storage, "remove_folder", folder, returns=cast("type[int]", int | None))


async def store_upload(folder: str, name: str, body: bytes, workers: Workers) -> str:
    """
    Keep a document in the folder of uploads; returns why not, in a sentence, or nothing.

    :raises IndexFailed: it cannot be written.
    """
    job = f"{JOBS}:store_upload"
    try:
        return await workers.call(job, folder, name, body, within=FINISHING_SECONDS, returns=str)
    except WorkError as error:
        raise IndexFailed(f"The document cannot be written: {explain(error, folder)}") from error


async def remove_upload(
    folder: str, name: str, storage: str | Path, workers: Workers, settings: KnowledgeSettings
) -> bool:
    """
    Delete a document of the folder of uploads, and take it out of the index; false: there is none.

    :raises IndexFailed: another process is indexing for too long, or the index cannot be written.
    """
    async with hold_index(Path(storage), LOCK, settings.wait_seconds):
        return await _call(workers, storage, "remove_upload", folder, name, returns=bool)


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
        yield


async def _call(
    workers: Workers, storage: str | Path, job: str, *arguments: Any, returns: type[R],
    within: float = FINISHING_SECONDS, what: str = "The index cannot be written",
) -> R:  # fmt: skip
    """
    What a function in a worker process says of the index in a storage folder.

    :raises IndexFailed: it failed, at what is told first.
    """
    try:
        return await workers.call(f"{JOBS}:{job}", _file(storage), *arguments, within=within, returns=returns)
    except WorkError as error:
        raise IndexFailed(f"{what}: {explain(error, _file(storage))}") from error


async def _ask(workers: Workers, storage: str | Path, method: str, *arguments: Any, returns: type[R]) -> R:
    """The same of a method of the index."""
    return await _call(
        workers, storage, "ask", method, arguments, returns=returns, what="The index cannot be used"
    )  # fmt: skip


def _file(storage: str | Path) -> str:
    return str((Path(storage) / FILE).absolute())


class IndexingState(msgspec.Struct, frozen=True, omit_defaults=True):
    """How a daemon's reading of folders stands, or how the last one ended."""

    state: Literal["idle", "running", "done", "failed"]
    folders: tuple[str, ...] = ()
    done: int = 0
    """Documents that were looked at."""
    total: int = 0
    current: str = ""
    started: Moment | None = None
    ended: Moment | None = None
    read: int = 0
    """New or changed documents."""
    unchanged: int = 0
    removed: int = 0
    passages: int = 0
    """New ones."""
    skipped: tuple[tuple[str, str], ...] = ()
    """(document, reason) of those that are not in the index."""
    why: str = ""
    """Why it failed."""


class IndexingDesk:
    """
    What a daemon does for its index while tickets go on: folders are read, one reading at a time, others after it; and
    whatever is found without vectors gets them, whoever has read it. One a process, on its node.
    """

    def __init__(self, node: "Node") -> None:
        self._node = node
        self._wanted: dict[str, None] = {}
        self._task: asyncio.Task[None] | None = None
        self.state = IndexingState("idle")
        self.why_no_vectors = ""
        """In a sentence; empty: nothing is wrong."""
        self._vectors = asyncio.create_task(self._make_vectors(), name="vectors") if node.embedder else None

    def start(self, folders: Sequence[str]) -> IndexingState:
        """Read these folders, once what is being read has been; returns how it stands now."""
        self._wanted |= dict.fromkeys(folders)
        if self._task is None or self._task.done():
            self.state = IndexingState("running", tuple(self._wanted), started=iso(time.time()))
            self._task = asyncio.create_task(self._work(), name="indexing")
        return self.state

    async def close(self) -> None:
        """Stop; the index is whole at any moment."""
        for task in filter(None, (self._task, self._vectors)):
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task

    async def _work(self) -> None:
        while self._wanted:
            folders = tuple(self._wanted)
            self._wanted.clear()
            self.state = IndexingState("running", folders, started=iso(time.time()))
            try:
                report = await self._node.index(folders, self._show, words_only=True)
            except PortFailed as error:
                self._end("failed", why=str(error))
                log.warning("knowledge.failed", error=str(error))
            except Exception:
                self._end("failed", why="Reading the folders failed; the log says more.")
                log.exception("knowledge.crashed")
            else:
                self._end(
                    "done", read=report.read, unchanged=report.unchanged, removed=report.removed,
                    passages=report.passages, skipped=report.skipped[:SKIPPED_SHOWN], done=report.files,
                    total=report.files,
                )  # fmt: skip

    def _show(self, progress: IndexProgress) -> None:
        self.state = msgspec.structs.replace(
            self.state, done=progress.done, total=progress.total, current=progress.current
        )

    def _end(self, state: Literal["done", "failed"], **more: object) -> None:
        self.state = msgspec.structs.replace(self.state, state=state, current="", ended=iso(time.time()), **more)

    async def _make_vectors(self) -> None:
        """
        Make the vectors that the index lacks whenever it has changed.

        What another model has made gives way once: two daemons with a model each would replace each other's for ever.
        """
        looked: object = None
        anew = True
        while True:
            if (found := self._look()) != looked:
                try:
                    self.why_no_vectors = await self._make_missing(anew)
                except IndexBusy:
                    found = looked
                except PortFailed as error:
                    self.why_no_vectors = str(error)
                except Exception:
                    self.why_no_vectors = "Making vectors failed; the log says more."
                    log.exception("knowledge.vectors_crashed")
                else:
                    anew = False
                looked = None if self.why_no_vectors else found
            await asyncio.sleep(AGAIN_SECONDS if self.why_no_vectors else LOOK_SECONDS)

    def _look(self) -> object:
        """Something else once the index is another."""
        files = (self._node.folder / f"{FILE}{end}" for end in ("", "-wal"))
        return [(its.st_ino, its.st_size, its.st_mtime_ns) for its in (each.stat() for each in files if each.exists())]

    async def _make_missing(self, anew: bool) -> str:
        """
        Make the vectors that are missing; returns why that could not be.

        :raises IndexBusy: somebody reads folders, or makes vectors already.
        """
        node = self._node
        state = await measure_meaning(node.folder, node.workers, node.embedder)
        if state is None or state.ready == state.texts:
            return ""
        async with hold_index(node.folder, LOCK, 0.0):
            pass  # nobody reads: whoever has read makes the vectors, too, if nobody else does by then
        async with open_workers(node.settings, Workers(1, NICENESS)) as (workers, embedder):
            if embedder is None:
                return ""
            making = make_vectors(node.folder, workers, embedder, at_once=TEXTS_BESIDE_TICKETS, within=0.0, anew=anew)
            return (await making).failure
