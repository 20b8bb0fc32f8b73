"""What makes vectors of texts, and which provider does it here."""

import time
from collections.abc import Sequence
from typing import Literal, Protocol

import structlog

from actors.ports import PortFailed
from actors.text.languages import guess_language
from runtime.embeddings.model_file import find_model_file, models_folder
from runtime.processes.pool import Workers
from runtime.program import command
from runtime.settings import EmbeddingsSettings, Settings

log = structlog.get_logger(__name__)

WARM_SECONDS = 30.0
"""What a model may take to load before tickets are taken without it."""
Provider = Literal["builtin", "server", "fastembed", "none"]
Kind = Literal["query", "passage"]
"""A question, or a text that may answer one: some models are told which."""

BUILTIN_NAME = "builtin/all-MiniLM-L6-v2/1"
"""The last number grows with whatever makes other vectors of the same texts."""
BUILTIN_LANGUAGES = frozenset({"en"})
FASTEMBED_MODEL = "sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2"
"""For some fifty languages, 220 MB."""
FASTEMBED = "pip install -e '.[fastembed]'"


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
    from runtime.embeddings.worker_embedder import BATCH

    began = time.monotonic()
    try:
        await embedder.embed(["Hello."] * (BATCH * processes), kind="query", within=WARM_SECONDS)
    except EmbeddingFailed as error:
        log.warning("embeddings.not_warm", error=str(error))
    else:
        log.info("embeddings.warm", seconds=round(time.monotonic() - began, 3))


def open_embedder(settings: Settings, workers: Workers) -> Embedder | None:
    """What makes vectors here, at no cost until it is asked; None: nothing does, and everything works by words."""
    own = settings.embeddings
    provider = choose_provider(own)
    if provider == "none":
        return None
    if provider == "server":
        from runtime.embeddings.server_embedder import ServerEmbedder

        return ServerEmbedder(settings)
    from runtime.embeddings.worker_embedder import WorkerEmbedder

    install = command("model install")
    if provider == "builtin":
        call = ("runtime.embeddings.builtin:embed", str(find_model_file(own)))
        return WorkerEmbedder(BUILTIN_NAME, call, f"{install} installs it anew", workers, own, BUILTIN_LANGUAGES)
    model = own.model or FASTEMBED_MODEL
    job = ("runtime.embeddings.fastembed_job:embed", model, str(models_folder(own)))
    return WorkerEmbedder(f"fastembed/{model}", job, f"{FASTEMBED}, then {install}", workers, own)
