"""
What a daemon does for its index while tickets go on: folders are read, one reading at a time, others after it; and
whatever is found without vectors gets them, whoever has read it.
"""

import asyncio
import contextlib
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import msgspec
import structlog

from actors.ports import PortFailed
from runtime.embeddings.embedder import open_workers
from runtime.knowledge.index.indexing import (
    LOCK,
    IndexBusy,
    IndexProgress,
    IndexReport,
    hold_index,
    make_vectors,
    measure_meaning,
)
from runtime.knowledge.knowledge_index import FILE
from runtime.processes.pool import Workers
from runtime.run_record import Moment
from runtime.times import iso

if TYPE_CHECKING:
    from runtime.node import Node

log = structlog.get_logger()


class IndexingState(msgspec.Struct, frozen=True, omit_defaults=True):
    """How the reading of folders stands, or how the last one ended."""

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


SKIPPED_SHOWN = 100
NICENESS = 10
"""Of the one process that makes vectors: one that answers a ticket gets nine times as much of a processor."""
AT_ONCE = 8
LOOK_SECONDS = 2.0
"""Between two looks whether the index has changed."""
AGAIN_SECONDS = 60.0
"""Before vectors are tried again that could not be made."""


class IndexingDesk:
    """One a process, on its node."""

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
                self._conclude(await self._node.index(folders, self._show, words_only=True))
            except PortFailed as error:
                self.state = self._end("failed", why=str(error))
                log.warning("knowledge.failed", error=str(error))
            except Exception:
                self.state = self._end("failed", why="Reading the folders failed; the log says more.")
                log.exception("knowledge.crashed")

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
                looked = found
            if self.why_no_vectors:
                looked = None
            await asyncio.sleep(AGAIN_SECONDS if self.why_no_vectors else LOOK_SECONDS)

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
            making = make_vectors(node.folder, workers, embedder, at_once=AT_ONCE, within=0.0, anew=anew)
            return (await making).failure

    def _look(self) -> object:
        """Something else once the index is another."""
        files = (self._node.folder / f"{FILE}{end}" for end in ("", "-wal"))
        return [(its.st_ino, its.st_size, its.st_mtime_ns) for its in (each.stat() for each in files if each.exists())]

    def _show(self, progress: IndexProgress) -> None:
        self.state = msgspec.structs.replace(
            self.state, done=progress.done, total=progress.total, current=progress.current
        )

    def _conclude(self, report: IndexReport) -> None:
        self.state = self._end(
            "done", read=report.read, unchanged=report.unchanged, removed=report.removed, passages=report.passages,
            skipped=report.skipped[:SKIPPED_SHOWN], done=report.files, total=report.files,
        )  # fmt: skip

    def _end(self, state: Literal["done", "failed"], **more: object) -> IndexingState:
        return msgspec.structs.replace(self.state, state=state, current="", ended=iso(time.time()), **more)
