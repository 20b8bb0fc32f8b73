"""A source of searches: the record that a file in `sources/` has, and what it is once it is opened."""

import importlib.util
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, NamedTuple, Protocol

from actors.evidence.sources import FailedSource, SearchResult
from actors.ports import Knowledge
from runtime.crawl.extract.extracted import Extracted

if TYPE_CHECKING:
    from runtime.crawl.http_client import Client
    from runtime.processes.pool import Workers
    from runtime.resilience.budget import ResearchBudget
    from runtime.settings import Settings
    from runtime.storage.effects import Effects

Found = tuple[SearchResult | FailedSource, ...]


class SourcePorts(NamedTuple):
    """What a source may use of the process that it is opened in."""

    settings: "Settings"
    knowledge: Knowledge
    workers: "Workers"
    client: "Client"
    """Fetches addresses that strangers name."""


class Search(Protocol):
    """A source as one research asks it."""

    def __call__(self, query: str, *, limit: int, within: float) -> Awaitable[Found]:
        """:raises PortFailed: with a sentence for the user."""
        ...


class OpenSource(Protocol):
    """A source of one process, with limits that hold for all its runs."""

    def for_run(self, effects: "Effects", budget: "ResearchBudget") -> Search: ...

    async def close(self) -> None: ...


class Reader(Protocol):
    """An open source that reads what it found itself, because it is no page of the web."""

    async def read(self, url: str, question: str, *, within: float) -> Extracted:
        """:raises SourceFailed: with a sentence for the user."""
        ...


class Source(NamedTuple):
    """All that the product knows of a source: help, refusals, `doctor`, trust and reading follow from it."""

    title: str
    """As users know it."""
    prior: float
    """How far it is trusted to bring what was asked for, 0 to 1; the most trusted is asked first."""
    open: Callable[[SourcePorts], OpenSource]
    configured: Callable[["Settings"], bool] = lambda _: True
    remedy: str = ""
    """What configures it, such as "set TAVILY_API_KEY"."""
    module: str = ""
    """What must be installed besides."""
    install: str = ""
    """The command that installs it."""
    scheme: str = ""
    """Of addresses that it reads itself (it is a `Reader`); without one its results are pages of the web."""
    extracts: bool = False
    """It takes texts out of pages of the web, too (it is an `Extractor`)."""
    answers_kept: bool = True
    """The answer to each query is kept for a run that is resumed; without, it keeps itself what it needs."""
    found: Callable[["Settings"], str] | None = None
    """What `doctor` says of it once it is configured; its title without."""
    fault: Callable[["Settings"], tuple[str, str] | None] = lambda _: None
    """What is wrong with its settings, and the remedy."""

    @property
    def is_installed(self) -> bool:
        return not self.module or importlib.util.find_spec(self.module) is not None
