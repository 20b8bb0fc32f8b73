"""A question as an embedder has it. Without its help a search goes by words."""

import structlog

from runtime.embeddings.embedder import Embedder, EmbeddingFailed, understands
from runtime.knowledge import QuestionVector

SHARE = 0.4
"""Of a search's time that a vector may take."""

log = structlog.get_logger(__name__)


async def embed_question(embedder: Embedder, question: str, within: float) -> QuestionVector | None:
    """The vector of a question, or why there is none; None: the model does not know its language."""
    if not understands(embedder, question):
        return None
    try:
        return QuestionVector(embedder.name, (await embedder.embed([question], kind="query", within=within * SHARE))[0])
    except EmbeddingFailed as error:
        log.warning("knowledge.words_only", error=str(error))
        return QuestionVector(embedder.name, b"", str(error))
