"""The last part of indexing: vectors for the texts that have none, a few at a time, each few kept at once."""

import time
from collections.abc import Callable
from typing import NamedTuple, TypeVar

import structlog

from runtime.embeddings.embedder import Embedder, EmbeddingFailed, understands
from runtime.processes.pool import Workers

_WORK = "runtime.knowledge.index.index_jobs"
AT_ONCE = 128
"""Texts between two commits: what a stopped run loses."""
SECONDS = 600.0
"""What so many texts may take; a provider's own bound is shorter."""
KEEPING_SECONDS = 60.0

R = TypeVar("R")

log = structlog.get_logger(__name__)


class Vectors(NamedTuple):
    """What came of it."""

    made: int = 0
    missing: int = 0
    """Texts that have none all the same; they are found by their words."""
    failure: str = ""
    """Why, in a sentence for the user."""


class VectorProgress(NamedTuple):
    """How far it is, in texts."""

    done: int
    total: int
    anew: bool
    """Another model made those that were there, so they are of no use."""


async def make_vectors(
    database: str, workers: Workers, embedder: Embedder, progress: Callable[[VectorProgress], None]
) -> Vectors:
    """
    Make the vectors that an index lacks. An embedder of another name makes all of them anew. A text in a language that
    its model does not know gets an empty one: it is found by its words.

    Stopped at any moment, what was stored is kept.

    :raises WorkError: the index cannot be written.
    """

    async def call(function: str, *arguments: object, returns: type[R]) -> R:
        return await workers.call(f"{_WORK}:{function}", database, *arguments, within=KEEPING_SECONDS, returns=returns)

    missing, anew = await call("begin_vectors", embedder.name, returns=tuple[int, bool])
    total, foreign = missing, 0
    began = time.monotonic()
    while missing:
        progress(VectorProgress(total - missing, total, anew))
        texts = await call("find_texts_without_vectors", AT_ONCE, returns=list[tuple[bytes, str]])
        known = {digest: text for digest, text in texts if understands(embedder, text)}
        try:
            vectors = await embedder.embed(list(known.values()), kind="passage", within=SECONDS) if known else []
        except EmbeddingFailed as error:
            log.warning("knowledge.vectors_failed", missing=missing, error=str(error))
            return Vectors(total - missing - foreign, missing, str(error))
        made = dict(zip(known, vectors, strict=True))
        foreign += len(texts) - len(known)
        missing = await call("keep_vectors", [(digest, made.get(digest, b"")) for digest, _ in texts], returns=int)
    progress(VectorProgress(total, total, anew))
    log.info("knowledge.vectors_made", texts=total - foreign, seconds=round(time.monotonic() - began, 1))
    return Vectors(total - foreign)
