"""The cases as agents ask them: a thin client, so that a search can be ended with the process that does it."""

from pathlib import Path
from typing import Any

from actors.evidence.court_cases import CourtCase, FoundCases
from runtime.cases.case_file import CaseStoreFailed
from runtime.processes.pool import WorkError, Workers, WorkTimedOut

FIND = "runtime.cases.case_lookup:find_case"
SEARCH = "runtime.cases.case_lookup:search_cases"


class CaseStore:
    """`actors.ports.Cases` over the file in a storage folder."""

    def __init__(self, storage: str | Path, workers: Workers) -> None:
        self._storage = str(Path(storage).absolute())
        self._workers = workers

    async def find(self, number: str, *, within: float) -> CourtCase | None:
        """As `Cases`."""
        found: CourtCase | None = await self._ask(FIND, number, within=within, returns=CourtCase | None)
        return found

    async def search(self, question: str, *, limit: int, within: float) -> FoundCases:
        """As `Cases`."""
        found: FoundCases = await self._ask(SEARCH, question, limit, within=within, returns=FoundCases)
        return found

    async def _ask(self, function: str, *arguments: Any, within: float, returns: Any) -> Any:
        try:
            return await self._workers.call(function, self._storage, *arguments, within=within, returns=returns)
        except WorkTimedOut as error:
            raise CaseStoreFailed(f"The search of the cases took longer than {within:.1f} s.") from error
        except WorkError as error:
            raise CaseStoreFailed(error.detail) from error
