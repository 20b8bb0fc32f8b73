"""The statutes of this installation, as agents ask for them: looked up and searched in a worker process."""

import contextlib
import datetime
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import msgspec

from actors.ports import PortFailed
from actors.statutes.articles import FoundArticles
from runtime.processes.file_lock import LockHeld, hold_lock
from runtime.processes.pool import WorkError, Workers

R = TypeVar("R")
LOCK = "statutes.lock"
WAIT_SECONDS = 600.0
INDEX_SECONDS = 900.0
"""So long a folder of laws may take: 58,637 articles take half a minute."""


class StatuteReport(msgspec.Struct, frozen=True):
    """What became of a folder of laws."""

    laws: int
    articles: int
    read: int
    """Files that are new, or changed."""
    gone: int
    skipped: tuple[tuple[str, str], ...] = ()
    """Files that hold no law, with why; the first of them."""
    more_skipped: int = 0


class StatuteIndex:
    """`ports.Statutes`, over the file below the storage folder."""

    def __init__(self, storage: Path, workers: Workers, today: Callable[[], str] | None = None) -> None:
        """:param today: the day whose law holds, where no other is asked for; ISO 8601."""
        self._storage, self._workers = storage, workers
        self._today = today or (lambda: datetime.datetime.now(datetime.UTC).date().isoformat())

    async def search(
        self, question: str, *, within: float, on: str = "", limit: int = 8, fields: Mapping[str, float] | None = None
    ) -> FoundArticles:
        """As `ports.Statutes`."""
        return await self._call(
            "search", question, on, self._today(), limit, dict(fields or {}), within=within, returns=FoundArticles
        )

    async def find_miscited(self, texts: Sequence[str], question: str, *, within: float) -> list[list[str]]:
        """As `ports.Statutes`."""
        return await self._call(
            "find_miscited", list(texts), question, self._today(), within=within, returns=list[list[str]]
        )

    async def index(self, folder: Path, waits: Callable[[], None] = lambda: None) -> StatuteReport:
        """
        Read a folder of laws.

        :param waits: is told once, when another process is reading one.
        :raises PortFailed: it cannot be done; the store is as it was.
        """
        with _explain():
            async with hold_lock(self._storage / LOCK, within=WAIT_SECONDS, waits=waits):
                return await self._workers.call(
                    "runtime.statutes.law_indexing:index_statutes", str(self._storage), str(folder),
                    within=INDEX_SECONDS, returns=StatuteReport,
                )  # fmt: skip

    async def _call(self, name: str, *arguments: object, within: float, returns: type[R]) -> R:
        with _explain():
            return await self._workers.call(
                f"runtime.statutes.statute_search:{name}", str(self._storage), *arguments, within=within,
                returns=returns,
            )  # fmt: skip


@contextlib.contextmanager
def _explain() -> Iterator[None]:
    try:
        yield
    except LockHeld:
        raise PortFailed("Another process is reading statutes in. Try again when it has ended.") from None
    except (WorkError, OSError) as error:
        raise PortFailed(f"The statutes could not be used: {error}.") from error
