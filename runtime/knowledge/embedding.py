"""A question as an embedder has it. Without its help a search goes by words."""

import msgspec
import structlog

from runtime.embeddings.embedder import Embedder, EmbeddingFailed, understands

SHARE = 0.4
"""Of a search's time that a vector may take."""

log = structlog.get_logger(__name__)


class QuestionVector(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What a question means, on its way into a worker process."""

    model: str
    """Only vectors that this model made can be compared with it."""
    vector: bytes
    """Empty: there is none."""
    failure: str = ""
    """Why, in a sentence."""


async def embed_question(embedder: Embedder, question: str, within: float) -> QuestionVector | None:
    """The vector of a question, or why there is none; None: the model does not know its language."""
    if not understands(embedder, question):
        return None
    try:
        return QuestionVector(embedder.name, (await embedder.embed([question], kind="query", within=within * SHARE))[0])
    except EmbeddingFailed as error:
        log.warning("knowledge.words_only", error=str(error))
        return QuestionVector(embedder.name, b"", str(error))
