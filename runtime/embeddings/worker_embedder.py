"""A model that runs in worker processes: what its library holds never comes into this one."""

import asyncio
from collections.abc import Sequence

from runtime.embeddings.batches import extend_name, prepare, work_in_batches
from runtime.embeddings.embedder import EmbeddingFailed, Kind
from runtime.processes.pool import WorkError, Workers, WorkTimedOut
from runtime.settings import EmbeddingsSettings

BATCH = 8
"""Texts a call: a question that comes while documents are indexed waits for no more."""


class WorkerEmbedder:
    """An `Embedder` whose vectors a function makes in worker processes."""

    def __init__(
        self, name: str, call: tuple[str, ...], remedy: str, workers: Workers, settings: EmbeddingsSettings,
        languages: frozenset[str] = frozenset(),
    ) -> None:  # fmt: skip
        """
        :param call: `module:function` and what it takes before a list of texts; it returns their vectors.
        :param remedy: what to do when it cannot be used.
        """
        self.name = extend_name(name, settings)
        self.languages = languages
        self._function, *self._arguments = call
        self._remedy = remedy
        self._workers = workers
        self._settings = settings

    async def embed(self, texts: Sequence[str], *, kind: Kind, within: float) -> list[bytes]:
        loop = asyncio.get_running_loop()
        until = loop.time() + within

        async def work(batch: Sequence[str]) -> list[bytes]:
            left = min(until - loop.time(), self._settings.seconds)
            return await self._workers.call(
                self._function, *self._arguments, list(batch), within=max(left, 0.0), returns=list[bytes]
            )

        try:
            return await work_in_batches(prepare(texts, kind, self._settings), BATCH, self._workers.size, work)
        except WorkTimedOut as error:
            raise EmbeddingFailed("The sentence model took too long: raise [embeddings] seconds.") from error
        except WorkError as error:
            raise EmbeddingFailed(f"The sentence model cannot be used ({error.detail}): {self._remedy}.") from error

    async def close(self) -> None:
        """The processes are their owner's."""
