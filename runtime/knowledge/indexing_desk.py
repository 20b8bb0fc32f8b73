"""Folders that are read into the index while tickets go on: one reading at a time, others after it."""

import asyncio
import contextlib
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import msgspec
import structlog

from actors.ports import PortFailed
from runtime.run_record import Moment
from runtime.times import iso

if TYPE_CHECKING:
    from runtime.knowledge.index.indexing import IndexProgress, IndexReport
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


class IndexingDesk:
    """One a process, on its node."""

    def __init__(self, node: "Node") -> None:
        self._node = node
        self._wanted: dict[str, None] = {}
        self._task: asyncio.Task[None] | None = None
        self.state = IndexingState("idle")

    def start(self, folders: Sequence[str]) -> IndexingState:
        """Read these folders, once what is being read has been; returns how it stands now."""
        self._wanted |= dict.fromkeys(folders)
        if self._task is None or self._task.done():
            self.state = IndexingState("running", tuple(self._wanted), started=iso(time.time()))
            self._task = asyncio.create_task(self._work(), name="indexing")
        return self.state

    async def close(self) -> None:
        """Stop; the index is whole at any moment."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    async def _work(self) -> None:
        while self._wanted:
            folders = tuple(self._wanted)
            self._wanted.clear()
            self.state = IndexingState("running", folders, started=iso(time.time()))
            try:
                self._conclude(await self._node.index(folders, self._show))
            except PortFailed as error:
                self.state = self._end("failed", why=str(error))
                log.warning("knowledge.failed", error=str(error))
            except Exception:
                self.state = self._end("failed", why="Reading the folders failed; the log says more.")
                log.exception("knowledge.crashed")

    def _show(self, progress: "IndexProgress") -> None:
        self.state = msgspec.structs.replace(
            self.state, done=progress.done, total=progress.total, current=progress.current
        )

    def _conclude(self, report: "IndexReport") -> None:
        self.state = self._end(
            "done", read=report.read, unchanged=report.unchanged, removed=report.removed, passages=report.passages,
            skipped=report.skipped[:SKIPPED_SHOWN], done=report.files, total=report.files,
        )  # fmt: skip

    def _end(self, state: Literal["done", "failed"], **more: object) -> IndexingState:
        return msgspec.structs.replace(self.state, state=state, current="", ended=iso(time.time()), **more)
