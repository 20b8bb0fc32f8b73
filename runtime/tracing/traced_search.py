"""Searches whose finds are noted in the trace of the run that asks."""

from asyncio import get_running_loop
from collections.abc import Sequence

from actors.evidence.passages import SearchHits
from actors.evidence.sources import Page
from actors.evidence.trace_steps import QUERY_CHARACTERS, SearchStep, clip, make_search_step
from actors.ports import Knowledge, PortFailed, Reading, Trace

DOCUMENTS, PAGES = "documents", "pages"


class TracedKnowledge:
    """`actors.ports.Knowledge` as one agent of one run asks it."""

    __slots__ = ("_by", "_knowledge", "_trace")

    def __init__(self, knowledge: Knowledge, trace: Trace, by: str) -> None:
        self._knowledge = knowledge
        self._trace = trace
        self._by = by

    async def search(
        self, question: str, *, within: float, limit: int | None = None, sources: Sequence[str] | None = None,
        linked: bool = False,
    ) -> SearchHits:  # fmt: skip
        """As `actors.ports.Knowledge`."""
        begun = get_running_loop().time()
        try:
            hits = await self._knowledge.search(question, within=within, limit=limit, sources=sources, linked=linked)
        except PortFailed as error:
            seconds = round(get_running_loop().time() - begun, 3)
            failed = SearchStep(
                self._by, clip(question, QUERY_CHARACTERS), DOCUMENTS, failed=clip(str(error)), seconds=seconds
            )
            self._trace.note(failed)
            raise
        seconds = get_running_loop().time() - begun
        self._trace.note(make_search_step(self._by, question, DOCUMENTS, hits, seconds))
        return hits


class TracedReading:
    """`actors.ports.Reading` as one agent of one run asks it."""

    __slots__ = ("_by", "_reading", "_trace")

    def __init__(self, reading: Reading, trace: Trace, by: str) -> None:
        self._reading = reading
        self._trace = trace
        self._by = by

    async def passages(
        self, questions: Sequence[str], pages: Sequence[Page], *, within: float
    ) -> tuple[SearchHits, ...]:
        """As `actors.ports.Reading`."""
        begun = get_running_loop().time()
        found = await self._reading.passages(questions, pages, within=within)
        seconds = get_running_loop().time() - begun
        for question, hits in zip(questions, found, strict=True):
            self._trace.note(make_search_step(self._by, question, PAGES, hits, seconds))
        return found
