"""A whole research with Tavily and feeds beside the own documents, all on loopback."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp.web import json_response

from actors.reporting.report import Report
from actors.research.models import ResearchOptions
from actors.workflow.outcome import EndReason
from runtime.crawl.originals import forget
from runtime.engine.node import Node
from runtime.families.research_state.state_file import parse_state
from runtime.settings import FeedsSettings, FetchSettings, Settings, StorageSettings, TavilySettings
from runtime.tickets import Ticket
from tests import site_pages
from tests.fake_tavily import KEY, FakeTavily, Step, extracts, fails, hit
from tests.runtime.crawl.kit import extract_again
from tests.site import Site, site

QUESTION = "What did tram line 7 to Marwick airport cost to build?"
TRAM, FERRY = "/articles/tram", "/articles/ferry"


def by_path(**steps: Step) -> Step:
    """Another step for each of /search and /extract."""

    async def step(server: FakeTavily, request: Any, body: dict[str, Any]) -> Any:
        return await steps[request.path.removeprefix("/")](server, request, body)

    return step


def tells(web: Site) -> Step:
    """Search hits on tram line 7, on two hosts."""

    async def step(server: FakeTavily, request: Any, body: dict[str, Any]) -> Any:
        summary = "Tram line 7 has run to Marwick airport since 2021. The ride takes 26 minutes."
        hits = [hit(web.url(TRAM), "Tram line 7 reaches Marwick airport", summary, 0.9)]
        hits.append(hit(web.url(FERRY, 1), "A ferry", "It crosses the river.", 0.3))
        return json_response({"query": body["query"], "results": hits, "usage": {"credits": 1}})

    return step


@contextlib.asynccontextmanager
async def node_with(folder: Path, tavily: FakeTavily, *feeds: str) -> AsyncIterator[Node]:
    node = Node(
        Settings(
            storage=StorageSettings(folder=str(folder)),
            tavily=TavilySettings(api_key=KEY, base_url=tavily.url),
            fetch=FetchSettings(allow=("127.0.0.0/8",), robots=False),
            feeds=FeedsSettings(urls=feeds),
        )
    )
    try:
        yield node
    finally:
        await node.close()


async def research(node: Node, **brief: Any) -> Report:
    known: dict[str, Any] = {"breadth": 2, "depth": 1, **brief}
    handle = await node.submit(Ticket(id="T-1", text=QUESTION, workflow="research", options=ResearchOptions(**known)))
    outcome = await asyncio.wait_for(handle.outcome(), 60)
    assert outcome.why is EndReason.COMPLETED
    return await node.report("T-1")


def read(report: Report) -> set[tuple[str, str]]:
    """(URL, source) of every page that was read."""
    return {(each.url, each.source) for each in report.sources}


@pytest.mark.req("RE-2", "PR-4", "PR-5")
async def test_what_tavily_finds_it_reads_and_nobody_else_is_sent(tmp_path: Path) -> None:
    async with site() as web:
        texts = {web.url(TRAM): site_pages.ARTICLES[TRAM]}
        step = by_path(search=tells(web), extract=extracts(texts))
        async with FakeTavily(step) as tavily, node_with(tmp_path, tavily) as node:
            report = await research(node)

        assert read(report) == {(web.url(TRAM), "tavily"), (web.url(FERRY, 1), "tavily")}
        assert (web.hits(TRAM), web.hits(FERRY)) == (0, 1), "only what Tavily could not read is fetched"
        assert {path for path, _ in tavily.asked} == {"/search", "/extract"}


@pytest.mark.req("RE-2", "RE-4")
async def test_what_tavily_cannot_read_is_read_by_our_own_crawler(tmp_path: Path) -> None:
    async with site() as web, FakeTavily(by_path(search=tells(web), extract=fails(500))) as tavily:
        async with node_with(tmp_path, tavily) as node:
            report = await research(node)

        assert len(read(report)) == 2
        assert (web.hits(TRAM), web.hits(FERRY)) == (1, 1)


@pytest.mark.req("RE-4", "PR-4")
async def test_a_research_whose_web_search_fails_says_so_and_uses_the_other_sources(tmp_path: Path) -> None:
    async with site() as web, FakeTavily(fails(401)) as tavily:
        async with node_with(tmp_path, tavily, web.url("/feed.rss"), web.url("/gone")) as node:
            report = await research(node)

        missed = {each.place: each.detail for each in report.missed}
        assert "TAVILY_API_KEY" in missed["tavily"]
        assert web.url("/gone") in missed
        assert (web.url(TRAM), "rss") in read(report)
        assert web.hits("/feed.rss") == 1, "a feed is fetched once in a research"
        assert KEY not in str(report)


@pytest.mark.req("PR-12")
async def test_a_research_keeps_the_pages_as_they_were_sent_and_its_file_refers_to_them(tmp_path: Path) -> None:
    async with site() as web, FakeTavily(by_path(search=tells(web), extract=fails(500))) as tavily:
        async with node_with(tmp_path, tavily) as node:
            await research(node)
        found = parse_state((tmp_path / "T-1.md").read_text())

    assert len(found.case.pages) == 2
    for page in found.case.pages:
        assert page.original is not None
        assert page.original.content_type == "text/html"
        again = extract_again(tmp_path, page, QUESTION)
        assert again is not None
        assert again.text == page.text
    assert forget(tmp_path, ["T-1"]) == 2
