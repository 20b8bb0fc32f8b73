"""An index of another version is made anew by itself, from the folders that it names, once for all who need it."""

import asyncio
import contextlib
from pathlib import Path

import structlog

from runtime.embeddings.embedder import Embedder
from runtime.knowledge.index.indexing import IndexFailed, IndexProgress, index
from runtime.processes.pool import Workers
from runtime.settings import KnowledgeSettings

log = structlog.get_logger(__name__)


class Renewal:
    """Goes on in the background from the first who asks for it."""

    def __init__(self, storage: Path, workers: Workers, settings: KnowledgeSettings, embedder: Embedder | None) -> None:
        self._arguments = storage, workers, settings
        self._embedder = embedder
        self._task: asyncio.Task[None] | None = None
        self._readable = asyncio.Event()
        self._failure: IndexFailed | None = None

    async def wait(self) -> None:
        """
        Until all that the folders hold can be found by its words; vectors are made after that.

        :raises IndexFailed: it cannot be made. Who asks again has it tried again.
        """
        if self._task is None or self._task.done():
            self._readable, self._failure = asyncio.Event(), None
            self._task = asyncio.create_task(self._run(), name="index renewal")
        await self._readable.wait()
        if self._failure is not None:
            raise self._failure

    async def close(self) -> None:
        """Stop; what was read is kept, and the next one goes on."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    async def _run(self) -> None:
        log.info("knowledge.renewal_began")
        try:
            report = await index([], *self._arguments, self._show, self._embedder)
        except IndexFailed as error:
            self._failure = error
            log.warning("knowledge.renewal_failed", error=str(error))
        else:
            log.info(
                "knowledge.renewed", files=report.files, skipped=len(report.skipped), seconds=round(report.seconds, 1)
            )
        finally:
            self._readable.set()

    def _show(self, progress: IndexProgress) -> None:
        if progress.phase == "meaning":
            self._readable.set()
