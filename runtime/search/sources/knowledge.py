"""The own documents as a source: a result a document."""

from pathlib import Path

from actors.evidence.passages import Passage
from actors.evidence.sources import SearchResult
from actors.evidence.summarize import SUMMARY_CHARACTERS
from actors.ports import PortFailed
from actors.text.truncate import shorten
from actors.text.urls import key_of
from runtime.crawl.extract.extracted import Extracted
from runtime.knowledge import FILE, no_index_message
from runtime.processes.pool import WorkError, WorkTimedOut
from runtime.resilience.limiters import ResearchBudget
from runtime.search.results import TEXT_CHARACTERS, TITLE_CHARACTERS, line
from runtime.search.source import Search, Source, SourceFailed, SourcePorts
from runtime.storage.effects import Effects

READ = "runtime.crawl.own_document:read"


class OwnDocuments:
    """One a process. Searches the index, and reads from it."""

    def __init__(self, ports: SourcePorts) -> None:
        self._knowledge = ports.knowledge
        self._workers = ports.workers
        self._database = str(Path(ports.settings.storage.folder).absolute() / FILE)

    def for_run(self, effects: Effects, budget: ResearchBudget) -> Search:  # noqa: ARG002 - it costs nothing
        return self.search

    async def search(self, query: str, *, limit: int, within: float) -> tuple[SearchResult, ...]:
        """As `Search`. That nothing is indexed at all is a failure, which the user can mend."""
        findings = await self._knowledge.search(query, within=within, limit=limit, linked=True)
        if not findings.passages and findings.abstain == no_index_message():
            raise PortFailed(findings.abstain)
        if findings.abstain and findings.incomplete:
            raise PortFailed("Nothing was found in the documents, but not all that is known of them was looked at.")
        if findings.abstain:
            return ()
        return tuple(_result(query, each) for each in findings.passages)[:limit]

    async def read(self, url: str, question: str, *, within: float) -> Extracted:
        """As `Reader`: the beginning of a document as the index holds it."""
        arguments = (self._database, key_of(url), question)
        try:
            return await self._workers.call(READ, *arguments, within=within, returns=Extracted)
        except WorkTimedOut:
            said = f"The document could not be read within {within:g} seconds."
            raise SourceFailed("timed_out", said, reason="timed_out") from None
        except WorkError:
            said = "The document could not be read: `index` may have to be run again."
            raise SourceFailed("broken", said, reason="unreachable") from None

    async def close(self) -> None:
        """The index is closed by whoever opened it."""


def _result(query: str, passage: Passage) -> SearchResult:
    """A document, by its passage that comes closest."""
    title = shorten(line(passage.title, TEXT_CHARACTERS), TITLE_CHARACTERS) or passage.source
    said = shorten(line(passage.text, TEXT_CHARACTERS), SUMMARY_CHARACTERS)
    quality = round(max(0.0, min(1.0, passage.score)), 3)
    return SearchResult("knowledge", title, f"knowledge:{passage.source}", said, (), quality, query)


SOURCE = Source("own documents", 0.9, OwnDocuments, scheme="knowledge")
