"""The cases as agents ask them: a thin client, so that a search can be ended with the process that does it."""

from pathlib import Path

from actors.evidence.court_cases import FoundCases
from runtime.knowledge.knowledge_index import ask_worker
from runtime.processes.pool import Workers

SEARCH = "runtime.cases.case_lookup:search_cases"


class CaseStore:
    """`actors.ports.Cases` over the index in a storage folder."""

    def __init__(self, storage: str | Path, workers: Workers) -> None:
        self._storage = str(Path(storage).absolute())
        self._workers = workers

    async def search(self, question: str, *, limit: int, within: float) -> FoundCases:
        """As `Cases`."""
        asked = (self._storage, question, limit)
        return await ask_worker(self._workers, SEARCH, *asked, within=within, returns=FoundCases)
