"""All sources behind one port: those that a file in `sources/` describes, with limits for all runs of a process."""

from collections.abc import Iterable, Mapping
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, cast

from actors.evidence.sources import SearchResult
from actors.ports import PortFailed
from runtime.search import sources
from runtime.search.source import Found, OpenSource, Reader, Search, Source, SourcePorts
from runtime.user_text import display, nearest

if TYPE_CHECKING:
    from runtime.crawl.batch import Extractor
    from runtime.resilience.limiters import ResearchBudget
    from runtime.settings import Settings
    from runtime.storage.effects import Effects


def load_sources() -> dict[str, Source]:
    """Every source by its name, the most trusted first."""
    known: dict[str, Source] = {name: import_module(f"{sources.__name__}.{name}").SOURCE for name in sources.names()}
    return dict(sorted(known.items(), key=lambda pair: -pair[1].prior))


def explain_refusal(name: str, settings: "Settings") -> str:
    """Why a source cannot be asked and what to do, to follow after a colon; empty when it can."""
    source = load_sources().get(name)
    if source is None:
        return f"there is no source {display(name)}. {nearest(name, sources.names())}"
    if not source.configured(settings):
        return f"the source {name} is not configured: {source.remedy}, or leave it away."
    if not source.is_installed:
        return f"the source {name} is not installed: {source.install}, or leave it away."
    return ""


class Sources:
    """The sources of a process. None is opened before it is first asked."""

    def __init__(self, ports: SourcePorts) -> None:
        self.ports = ports
        self._open: dict[str, OpenSource] = {}

    @cached_property
    def available(self) -> Mapping[str, Source]:
        """Those that are configured, by name, the most trusted first."""
        settings = self.ports.settings
        return {name: source for name, source in load_sources().items() if source.configured(settings)}

    def open(self, name: str) -> OpenSource:
        if name not in self._open:
            self._open[name] = self.available[name].open(self.ports)
        return self._open[name]

    def extractor(self) -> "tuple[str, Extractor] | None":
        """The source that takes texts out of pages before our own crawler is sent, and its name."""
        name = next((name for name, source in self.available.items() if source.extracts), None)
        return None if name is None else (name, cast("Extractor", self.open(name)))

    def reader(self, scheme: str) -> Reader | None:
        """Who reads addresses of a scheme that is not the web's."""
        name = next((name for name, source in self.available.items() if scheme and source.scheme == scheme), None)
        return cast("Reader", self.open(name)) if name else None

    def for_run(self, effects: "Effects", budget: "ResearchBudget") -> "RunSources":
        return RunSources(self, effects, budget)

    async def close(self) -> None:
        """Close the connections of the sources, and end their processes."""
        for each in self._open.values():
            await each.close()


KEPT = "search"
"""The kind of effect that an answer is."""


class RunSources:
    """`actors.ports.Search` for one research: what was answered before a crash is not asked again."""

    def __init__(self, shared: Sources, effects: "Effects", budget: "ResearchBudget") -> None:
        self._shared = shared
        self._effects = effects
        self._budget = budget
        self._searches: dict[str, Search] = {}

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._shared.available)

    def prior(self, source: str) -> float:
        """As `Search.prior`."""
        record = self._shared.available.get(source)
        return record.prior if record is not None else 0.0

    async def search(self, source: str, query: str, *, limit: int, within: float) -> Found:
        """As `Search.search`."""
        record = self._shared.available.get(source)
        if record is None:
            said = explain_refusal(source, self._shared.ports.settings)
            raise PortFailed(f"{said[:1].upper()}{said[1:]}")
        if source not in self._searches:
            self._searches[source] = self._shared.open(source).for_run(self._effects, self._budget)
        search = self._searches[source]
        if not record.answers_kept:
            return await search(query, limit=limit, within=within)
        key = f"{source}\n{limit}\n{query}"
        known: Found | None = self._effects.get(KEPT, key, tuple[SearchResult, ...])
        if known is None:
            known = await search(query, limit=limit, within=within)
            await self._effects.put(KEPT, key, known)
        return known


def list_answered(effects: Iterable[tuple[str, str, bytes]]) -> frozenset[tuple[str, str]]:
    """Source and query of each search whose answer is among the effects of a run."""
    keys = (key.split("\n", 2) for kind, key, _ in effects if kind == KEPT)
    return frozenset((source, query) for source, _, query in keys)
