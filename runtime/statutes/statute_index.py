"""The statutes of this installation, as agents ask for them: looked up and searched in a worker process."""

import datetime
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from actors.statutes.articles import FoundArticles
from runtime.knowledge.knowledge_index import ask_worker
from runtime.processes.pool import Workers

SEARCH = "runtime.statutes.statute_search:search"
FIND_MISCITED = "runtime.statutes.statute_search:find_miscited"


class StatuteIndex:
    """`ports.Statutes`, over the index in a storage folder."""

    def __init__(self, storage: Path, workers: Workers, today: Callable[[], str] | None = None) -> None:
        """:param today: the day whose law holds, where no other is asked for; ISO 8601."""
        self._storage, self._workers = str(storage.absolute()), workers
        self._today = today or (lambda: datetime.datetime.now(datetime.UTC).date().isoformat())

    async def search(
        self, question: str, *, within: float, on: str = "", limit: int = 8, fields: Mapping[str, float] | None = None
    ) -> FoundArticles:
        """As `ports.Statutes`."""
        asked = (self._storage, question, on, self._today(), limit, dict(fields or {}))
        return await ask_worker(self._workers, SEARCH, *asked, within=within, returns=FoundArticles)

    async def find_miscited(self, texts: Sequence[str], question: str, *, within: float) -> list[list[str]]:
        """As `ports.Statutes`."""
        asked = (self._storage, list(texts), question, self._today())
        return await ask_worker(self._workers, FIND_MISCITED, *asked, within=within, returns=list[list[str]])
