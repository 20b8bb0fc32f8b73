"""What was read, as agents ask it: passages of own documents from the index, of web pages from one made for them."""

import asyncio
from collections.abc import Sequence
from itertools import zip_longest

import msgspec

from actors.evidence.passages import Meaning, SearchHits
from actors.evidence.shortfalls import merge_shortfalls
from actors.evidence.sources import Page
from actors.ports import Knowledge, PortFailed
from runtime.embeddings.embedder import Embedder, EmbeddingFailed
from runtime.knowledge import QuestionVector
from runtime.knowledge.index import Unseen
from runtime.knowledge.knowledge_index import SHARE, embed_question
from runtime.processes.pool import WorkError, Workers, WorkTimedOut

LIST_CANDIDATES = "runtime.knowledge.index_search:list_candidates"
FIND = "runtime.knowledge.index_search:find_in_pages"
NOTHING_READ = "Nothing was read."
OWN = "knowledge"
"""The source whose pages stand in the index of own documents."""
PASSAGES = 10
"""So many passages for a question, at most."""


class ReadingFailed(PortFailed):
    """The pages that were read could not be searched."""


class Reader:
    """`actors.ports.Reading`, for all runs of a process."""

    def __init__(self, knowledge: Knowledge, workers: Workers, embedder: Embedder | None = None) -> None:
        """:param embedder: puts what words find in the pages in order by meaning."""
        self._knowledge = knowledge
        self._workers = workers
        self._embedder = embedder

    async def passages(
        self, questions: Sequence[str], pages: Sequence[Page], *, within: float
    ) -> tuple[SearchHits, ...]:
        """
        For each question what comes closest in the pages.

        :raises PortFailed: the time was up, or the index is damaged.
        """
        own = sorted({page.key for page in pages if page.source == OWN})
        web = [page for page in pages if page.source != OWN]
        of_own, of_web = await asyncio.gather(
            self._of_own(questions, own, within), self._of_web(questions, web, within)
        )
        return tuple(merge_hits(*each) for each in zip(of_own, of_web, strict=True))

    async def _of_own(self, questions: Sequence[str], sources: list[str], within: float) -> list[SearchHits]:
        if not sources:
            return [SearchHits() for _ in questions]
        asked = (
            self._knowledge.search(question, within=within, limit=PASSAGES, sources=sources) for question in questions
        )
        return await asyncio.gather(*asked)

    async def _of_web(self, questions: Sequence[str], pages: list[Page], within: float) -> list[SearchHits]:
        if not pages:
            return [SearchHits() for _ in questions]
        texts = [(_sound(page.key), _sound(page.title), _sound(page.text)) for page in pages]
        shelf = [{"key": key, "title": title, "text": text} for key, title, text in texts]
        sound = [_sound(question) for question in questions]
        loop = asyncio.get_running_loop()
        until = loop.time() + within
        try:
            asked, vectors = await self._embed(self._embedder, shelf, sound, within) if self._embedder else ([], [])
            arguments = (shelf, sound, PASSAGES, asked or [None] * len(sound), vectors)
            left = max(until - loop.time(), 0.0)
            return await self._workers.call(FIND, *arguments, within=left, returns=list[SearchHits])
        except WorkTimedOut as error:
            raise ReadingFailed(f"Searching the pages that were read took longer than {within:.1f} s.") from error
        except WorkError as error:
            raise ReadingFailed(f"The pages that were read could not be searched: {error}.") from error

    async def _embed(
        self, embedder: Embedder, shelf: list[dict[str, str]], questions: list[str], within: float
    ) -> tuple[list[QuestionVector | None], list[tuple[bytes, bytes]]]:
        """The vectors of questions, and of the passages that their words find; where those cannot be had, why."""
        asked = [await embed_question(embedder, each, within * SHARE) for each in questions]
        if not any(each and each.vector for each in asked):
            return asked, []
        texts = await self._workers.call(LIST_CANDIDATES, shelf, questions, within=within * SHARE, returns=list[Unseen])
        try:
            made = await embedder.embed([each.text for each in texts], kind="passage", within=within * SHARE)
        except EmbeddingFailed as error:
            return [QuestionVector(embedder.name, b"", str(error)) if each else None for each in asked], []
        return asked, [(each.digest, vector) for each, vector in zip(texts, made, strict=True)]


def merge_hits(own: SearchHits, web: SearchHits) -> SearchHits:
    """What two indexes found for one question, the best first: by meaning where both know it, else in turns."""
    incomplete = merge_shortfalls(own.incomplete, web.incomplete)
    sides = [each for each in (own, web) if each.passages]
    if len(sides) < 2:
        only = sides[0] if sides else own if own.abstain else web if web.abstain else SearchHits(abstain=NOTHING_READ)
        return msgspec.structs.replace(only, incomplete=incomplete)
    cosines = [each.meaning.passages if each.meaning else () for each in sides]
    near = [list(zip(each.passages, its, strict=False)) for each, its in zip(sides, cosines, strict=True)]
    if all(cosine is not None for side in near for _, cosine in side) and all(near):
        ranked = sorted((each for side in near for each in side), key=lambda each: -(each[1] or 0.0))[:PASSAGES]
        meaning = Meaning(max(side.meaning.best for side in sides if side.meaning), tuple(each for _, each in ranked))
        return SearchHits(tuple(each for each, _ in ranked), meaning=meaning, incomplete=incomplete)
    turns = (each for pair in zip_longest(own.passages, web.passages) for each in pair if each)
    return SearchHits(tuple(turns)[:PASSAGES], incomplete=incomplete)


def _sound(text: str) -> str:
    """A text of the same length without halves of characters, which no encoding can carry."""
    return text.encode("utf-8", "replace").decode()
