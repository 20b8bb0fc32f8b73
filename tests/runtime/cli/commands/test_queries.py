"""The queries of a research and how far each has come, as its user sees them: while it runs, killed, and at its end."""

import asyncio
from collections import Counter

import pytest
from aiohttp import web

from tests.fake_tavily import KEY, Body, FakeTavily, extracts, fails, finds, hit
from tests.patience import HANGS_SECONDS
from tests.runtime.cli.commands.program import Place

QUESTION = (
    "How many bee colonies live on flat roofs in Marwick? How long does tram line 7 take to the airport? "
    "What went wrong with heat pumps in Osterby?"
)
URL = "http://127.0.0.1:9/bees"
TEXT = "# Bees\n\n" + "In Marwick 212 bee colonies live on flat roofs, and each roof has a keeper of its own. " * 8


@pytest.mark.req("RE-14", "PR-10")
async def test_killed_while_it_searches_a_research_tells_which_queries_are_done_and_asks_only_the_others(
    place: Place,
) -> None:
    # given a search that answers two queries, and is silent on all others until it is told to speak
    speaks = asyncio.Event()
    answered: list[str] = []
    refused: set[str] = set()

    async def answer(server: FakeTavily, request: web.Request, body: Body) -> web.StreamResponse:
        if request.path == "/extract":
            return await extracts({URL: TEXT})(server, request, body)
        if len(answered) >= 2 and not speaks.is_set():
            await server.hang()
        if body["query"] in refused:
            return await fails(400, "No.")(server, request, body)
        answered.append(body["query"])
        return await finds(hit(URL, "Bees", TEXT[:200]))(server, request, body)

    async with FakeTavily(answer) as server:
        world = {
            "TAVILY_API_KEY": KEY, "TERMINUS_TAVILY_BASE_URL": server.url, "TERMINUS_FETCH_ALLOW": "127.0.0.0/8",
            "TERMINUS_FETCH_ROBOTS": "false",
        }  # fmt: skip

        async def look() -> dict[str, str]:
            """How far each query has come."""
            done = await asyncio.to_thread(place.run, "status", "T-1", "--json", **world)
            return {each["query"]: each["status"] for each in done.json.get("searches", ())} if not done.status else {}

        words = ("submit", "--research", "--id", "T-1", "--breadth", "2", "--depth", "1", "--sources", "tavily")
        with place.running(*words, QUESTION, **world) as popen:
            async with asyncio.timeout(HANGS_SECONDS):
                await server.until(lambda: len(server.queries()) >= 3)
                while list((await look()).values()).count("done") < 2:
                    pass
            # when
            popen.kill()
            popen.wait(30)
        before = Counter(server.queries())
        killed = await look()

        # then what was done is known after the kill
        assert {query for query, status in killed.items() if status == "done"} == set(answered)
        assert set(killed.values()) == {"done", "pending"}
        told = (await asyncio.to_thread(place.run, "status", "T-1", **world)).out
        assert f"Queries: 2 done, {len(killed) - 2} pending." in told
        state = (place.folder / "task-data" / "T-1.md").read_text(encoding="utf-8")
        assert "\n## Searches\n\n| Query | Source | Status | Results | Round | Why |\n" in state

        # and only the others are asked when it goes on
        first = set(answered)
        refused |= {min(set(killed) - first)}
        speaks.set()
        done = await asyncio.to_thread(place.run, "resume", "--json", **world)
        assert [each["why"] for each in done.json["outcomes"]] == ["completed"]
        again = Counter(server.queries()) - before
        assert set(again).isdisjoint(first)
        assert set(again) >= set(killed) - first
        assert await look() == {query: "failed" if query in refused else "done" for query in killed}
        told = (await asyncio.to_thread(place.run, "status", "T-1", **world)).out
        assert f"Queries: {len(killed) - 1} done, 1 failed.\n  failed, tavily: {min(refused)} (" in told
        state = (place.folder / "task-data" / "T-1.md").read_text(encoding="utf-8")
        searches = state.split("\n## Searches\n")[1].split("\n## ")[0].strip().splitlines()[2:]
        assert len(searches) == len(killed)
        assert sum("| tavily | done | 1 | 1 |" in each for each in searches) == len(killed) - 1
        assert sum("| tavily | failed | 0 | 1 |" in each for each in searches) == 1
