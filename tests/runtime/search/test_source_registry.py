"""All sources behind one port: which there are, and that nothing is asked twice."""

import asyncio
import contextlib
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from actors.evidence.passages import SearchHits
from actors.evidence.sources import SearchResult
from actors.ports import PortFailed
from runtime.crawl.http_client import Client
from runtime.processes.pool import Workers
from runtime.resilience.limiters import ResearchBudget
from runtime.search.source import SourcePorts
from runtime.search.source_registry import RunSources, Sources
from runtime.settings import DuckduckgoSettings, FeedsSettings, FetchSettings, Settings, TavilySettings
from runtime.storage.effects import Effects
from runtime.storage.sqlite.database import Database
from runtime.storage.sqlite.effect_store import SCHEMA, SqliteEffects
from tests.fake_tavily import KEY, FakeTavily, fails, finds, hit
from tests.fakes import Knows

HIT = hit("https://a.example/", "VPN", "Set the keep-alive.")


class Shelf(Knows):
    """The documents on VPN; counts how often they are searched."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def search(self, question: str, *, within: float, limit: int | None = None, **_: object) -> SearchHits:
        self.asked.append(question)
        return await super().search(question, within=within, limit=limit)


@contextlib.asynccontextmanager
async def sources(folder: Path, own: Shelf | None = None, **sections: Any) -> AsyncIterator[RunSources]:
    """As after the start of a process: what was kept in the folder is known."""
    database = Database(folder / "db.sqlite", SCHEMA)
    workers, settings = Workers(1), Settings(**sections)
    shared = Sources(SourcePorts(settings, own or Shelf(), workers, Client(FetchSettings())))
    try:
        effects = Effects(SqliteEffects(database), "R-1")
        await effects.load()
        yield shared.for_run(effects, ResearchBudget({"pages": 0, "credits": 0}))
    finally:
        await shared.close()
        workers.close()
        await asyncio.to_thread(database.close)


async def ask(run: RunSources, source: str, query: str = "VPN") -> tuple[Any, ...]:
    return await run.search(source, query, limit=5, within=20)


@pytest.mark.req("PR-4")
@pytest.mark.parametrize(
    ("sections", "names"),
    [
        ({}, ("knowledge",)),
        ({"tavily": TavilySettings(api_key=KEY)}, ("knowledge", "tavily")),
        ({"tavily": TavilySettings(keyless=True)}, ("knowledge", "tavily")),
        ({"duckduckgo": DuckduckgoSettings(enabled=True)}, ("knowledge", "web")),
        ({"feeds": FeedsSettings(urls=("https://a.example/feed",))}, ("knowledge", "rss")),
    ],
)
async def test_only_what_is_configured_can_be_asked(tmp_path: Path, sections: Any, names: tuple[str, ...]) -> None:
    async with sources(tmp_path, **sections) as run:
        assert run.names == names
        for source in {"tavily", "web", "rss"} - {*names}:
            with pytest.raises(PortFailed, match=f"The source {source} is not configured: "):
                await ask(run, source)


@pytest.mark.req("PR-4")
@pytest.mark.parametrize(
    ("name", "part"), [("knowlege", "Did you mean 'knowledge'?"), ("urls", "Known are: knowledge, rss, tavily, web.")]
)
async def test_an_unknown_source_is_refused_with_the_nearest_name(tmp_path: Path, name: str, part: str) -> None:
    own = Shelf()
    async with sources(tmp_path, own) as run:
        with pytest.raises(PortFailed, match=f"There is no source '{name}'") as refused:
            await ask(run, name)

    assert part in str(refused.value)
    assert own.asked == [], "nor do the own documents answer for it"


async def test_without_being_configured_tavily_is_never_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TAVILY_API_KEY", "")
    async with sources(tmp_path) as run:
        assert run._shared.extractor() is None
        with pytest.raises(PortFailed, match="set TAVILY_API_KEY"):
            await ask(run, "tavily")


@pytest.mark.req("PR-11")
async def test_own_documents_are_a_source_like_the_others(tmp_path: Path) -> None:
    async with sources(tmp_path) as run:
        (result,) = await ask(run, "knowledge", "My VPN drops")
        assert await ask(run, "knowledge", "Something else") == ()

    assert isinstance(result, SearchResult)
    assert (result.source, result.url, result.title) == ("knowledge", "knowledge:kb/vpn.md", "VPN")
    assert "keep-alive" in result.summary


async def test_what_was_answered_before_a_crash_is_not_asked_again(tmp_path: Path) -> None:
    own = Shelf()
    async with FakeTavily(finds(HIT)) as server:
        sections: dict[str, Any] = {"tavily": TavilySettings(api_key=KEY, base_url=server.url)}
        found = []
        for _ in range(2):
            async with sources(tmp_path, own, **sections) as run:
                found.append(
                    [await ask(run, "tavily"), await ask(run, "knowledge"), await ask(run, "knowledge", "none")]
                )

    assert found[0] == found[1]
    assert server.queries() == ["VPN"]
    assert own.asked == ["VPN", "none"]


async def test_what_failed_before_a_crash_is_asked_again(tmp_path: Path) -> None:
    async with FakeTavily(fails(401), finds(HIT)) as server:
        sections: dict[str, Any] = {"tavily": TavilySettings(api_key=KEY, base_url=server.url)}
        async with sources(tmp_path, **sections) as run:
            with pytest.raises(PortFailed):
                await ask(run, "tavily")
        async with sources(tmp_path, **sections) as run:
            assert len(await ask(run, "tavily")) == 1


async def test_limits_hold_for_all_researches_of_a_process(tmp_path: Path) -> None:
    async with FakeTavily(fails(401)) as server:
        sections: dict[str, Any] = {"tavily": TavilySettings(api_key=KEY, base_url=server.url)}
        async with sources(tmp_path, **sections) as run:
            other = run._shared.for_run(run._effects, ResearchBudget({"pages": 0, "credits": 0}))
            for n, each in enumerate((run, other, run, other, run)):
                with pytest.raises(PortFailed):
                    await ask(each, "tavily", f"query {n}")

    assert len(server.asked) == 3, "one that refused three times rests for everybody"


def test_the_sources_cost_nothing_before_they_are_asked() -> None:
    heavy = {"tavily", "httpx", "ddgs", "fastfeedparser", "lxml"}
    program = (
        f"import runtime.search.source_registry as r, sys; r.load_sources(); print(sorted({heavy} & {{*sys.modules}}))"
    )

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)  # noqa: S603

    assert done.stdout.strip() == "[]"
