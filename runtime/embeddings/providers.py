"""Opens what makes vectors here, as the settings say."""

import contextlib
from collections.abc import AsyncIterator

from runtime.embeddings.embedder import (
    BUILTIN_LANGUAGES,
    BUILTIN_NAME,
    MULTILINGUAL,
    MULTILINGUAL_FLOOR,
    MULTILINGUAL_NAME,
    Embedder,
    WorkerEmbedder,
    choose_provider,
)
from runtime.embeddings.model_file import find_model_file
from runtime.processes.pool import Workers
from runtime.program import command
from runtime.settings import Settings


def open_embedder(settings: Settings, workers: Workers) -> Embedder | None:
    """What makes vectors here, at no cost until it is asked; None: nothing does, and everything works by words."""
    own = settings.embeddings
    provider = choose_provider(own)
    if provider == "none":
        return None
    if provider == "server":
        from runtime.embeddings.server_embedder import ServerEmbedder

        return ServerEmbedder(settings)
    install = command("model install")
    if provider == "builtin":
        call = ("runtime.embeddings.weights:embed", str(find_model_file(own)))
        return WorkerEmbedder(BUILTIN_NAME, call, f"{install} installs it anew", workers, own, BUILTIN_LANGUAGES)
    job = ("runtime.embeddings.multilingual:embed",)
    return WorkerEmbedder(MULTILINGUAL_NAME, job, MULTILINGUAL, workers, own, floor=MULTILINGUAL_FLOOR)


@contextlib.asynccontextmanager
async def open_workers(settings: Settings, workers: Workers) -> AsyncIterator[tuple[Workers, Embedder | None]]:
    """Workers with what makes vectors in them, both closed at the end."""
    embedder = open_embedder(settings, workers)
    try:
        yield workers, embedder
    finally:
        if embedder is not None:
            await embedder.close()
        workers.close()
