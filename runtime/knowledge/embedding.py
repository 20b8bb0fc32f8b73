"""What a search asks of an embedder. Without its help, or with less of it, the search goes on by words."""

import array

import msgspec
import structlog

from actors.evidence.passages import SearchHits, Sentence
from actors.evidence.shortfalls import Shortfall, merge_shortfalls
from runtime.embeddings.embedder import Embedder, EmbeddingFailed, understands
from runtime.knowledge.query.question_vector import QuestionVector

SHARE = 0.4
"""Of a search's time that a vector may take."""
SENTENCE_CHARACTERS = 400
"""Of a sentence that is weighed: a longer one is a list or a table."""
ONE = 127.0 * 127.0
"""The dot product of two equal vectors."""

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


async def weigh_sentences(embedder: Embedder, question: QuestionVector, found: SearchHits, within: float) -> SearchHits:
    """What was found with the cosines of its sentences, or without them where they cannot be had."""
    if found.meaning is None or not found.meaning.sentences:
        return found
    places = found.meaning.sentences
    texts = [each.place.of(found.passages[each.passage - 1])[:SENTENCE_CHARACTERS] for each in places]
    try:
        vectors = await embedder.embed(texts, kind="passage", within=within * SHARE)
    except EmbeddingFailed as error:
        log.warning("knowledge.sentences_not_weighed", error=str(error))
        weighed = list[Sentence]()
        incomplete = merge_shortfalls(found.incomplete, (Shortfall("no_meaning", str(error)),))
    else:
        cosines = [round(cosine(question.vector, vector), 4) for vector in vectors]
        weighed = [_weigh(each, score) for each, score in zip(places, cosines, strict=True)]
        weighed.sort(key=lambda each: (-each.place.score, each.passage, each.place.start))
        incomplete = found.incomplete
    return msgspec.structs.replace(
        found, meaning=msgspec.structs.replace(found.meaning, sentences=tuple(weighed)), incomplete=incomplete
    )


def cosine(one: bytes, other: bytes) -> float:
    """Of the angle between two vectors. Plain Python: there are few, and this process loads no numpy."""
    return sum(a * b for a, b in zip(array.array("b", one), array.array("b", other), strict=True)) / ONE


def _weigh(sentence: Sentence, score: float) -> Sentence:
    return msgspec.structs.replace(sentence, place=msgspec.structs.replace(sentence.place, score=score))
