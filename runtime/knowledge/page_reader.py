"""What was read, as agents ask it: passages of own documents from the index, of web pages from one made for them."""

import asyncio
from collections.abc import Sequence

from actors.evidence.passages import SearchHits
from actors.evidence.sources import Page
from actors.ports import Knowledge, PortFailed
from runtime.knowledge.query.rank_fusion import merge
from runtime.processes.pool import WorkError, Workers, WorkTimedOut

FIND = "runtime.knowledge.index.transient_index:find"
OWN = "knowledge"
"""The source whose pages stand in the index of own documents."""
PASSAGES = 10
"""So many passages for a question, at most."""


class ReadingFailed(PortFailed):
    """The pages that were read could not be searched."""


class Reader:
    """`actors.ports.Reading`, for all runs of a process."""

    def __init__(self, knowledge: Knowledge, workers: Workers) -> None:
        self._knowledge = knowledge
        self._workers = workers

    async def passages(
        self, questions: Sequence[str], pages: Sequence[Page], *, within: float
    ) -> tuple[SearchHits, ...]:
        """
        For each question its findings; own documents are weighed by the statistics of the whole index.

        :raises PortFailed: the time was up, or the index is damaged.
        """
        own = sorted({page.key for page in pages if page.source == OWN})
        web = [page for page in pages if page.source != OWN]
        of_own, of_web = await asyncio.gather(
            self._of_own(questions, own, within), self._of_web(questions, web, within)
        )
        return tuple(merge(*each, limit=PASSAGES) for each in zip(of_own, of_web, strict=True))

    async def _of_own(self, questions: Sequence[str], sources: list[str], within: float) -> list[SearchHits]:
        if not sources:
            return [SearchHits() for _ in questions]
        asked = (
            self._knowledge.search(question, within=within, limit=PASSAGES, sources=sources, hops=True)
            for question in questions
        )
        return await asyncio.gather(*asked)

    async def _of_web(self, questions: Sequence[str], pages: list[Page], within: float) -> list[SearchHits]:
        if not pages:
            return [SearchHits() for _ in questions]
        texts = [(_sound(page.key), _sound(page.title), _sound(page.text)) for page in pages]
        shelf = [{"key": key, "title": title, "text": text} for key, title, text in texts]
        arguments = (shelf, [_sound(question) for question in questions], PASSAGES)
        try:
            return await self._workers.call(FIND, *arguments, within=within, returns=list[SearchHits])
        except WorkTimedOut as error:
            raise ReadingFailed(f"Searching the pages that were read took longer than {within:.1f} s.") from error
        except WorkError as error:
            raise ReadingFailed(f"The pages that were read could not be searched: {error}.") from error


def _sound(text: str) -> str:
    """A text of the same length without halves of characters, which no encoding can carry."""
    return text.encode("utf-8", "replace").decode()
