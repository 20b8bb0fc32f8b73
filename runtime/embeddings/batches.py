"""Texts on their way to a model: bounded in size, a few at once, in order."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from runtime.embeddings.embedder import Kind
from runtime.settings import EmbeddingsSettings

MOST_CHARACTERS = 2_000
"""Of one text: models read its beginning only."""


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
    starts = iter(range(0, len(texts), size))
    done: dict[int, list[bytes]] = {}

    async def work_on() -> None:
        for start in starts:
            done[start] = await work(texts[start : start + size])

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(min(side_by_side, -(-len(texts) // size))):
                group.create_task(work_on())
    except ExceptionGroup as failures:
        raise failures.exceptions[0] from None
    return [vector for start in sorted(done) for vector in done[start]]
