"""Tavily: what it finds and reads, what it costs, and everything that it may do instead of answering."""

import asyncio
import contextlib
import gzip
import json
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
import respx

from actors.evidence.sources import SearchResult
from actors.ports import PortFailed
from runtime.resilience.limiters import BudgetExceeded, ResearchBudget
from runtime.search.source import SourceFailed
from runtime.search.sources.tavily import Tavily
from runtime.settings import TavilySettings
from tests.fake_tavily import (
    KEY,
    FakeTavily,
    Step,
    answers,
    cuts,
    extracts,
    fails,
    finds,
    hangs,
    hit,
    sends,
    together,
)  # fmt: skip
from tests.runtime.search.hasty import Hasty

PAGE = "https://a.example/page"
LONG = 6000.0
"""Seconds of the hasty clock: a minute of ours."""


def budget(credits_: float = 0) -> ResearchBudget:
    return ResearchBudget({"pages": 0, "credits": credits_})


@contextlib.asynccontextmanager
async def tavily(*script: Step, **settings: Any) -> AsyncIterator[tuple[Tavily, FakeTavily]]:
    async with FakeTavily(*script) as server:
        known = {"api_key": KEY, "base_url": server.url, "seconds": 600.0, **settings}
        client = Tavily(TavilySettings(**known), Hasty())
        try:
            yield client, server
        finally:
            await client.close()


async def search(client: Tavily, query: str = "tea", spent: ResearchBudget | None = None) -> tuple[SearchResult, ...]:
    return await client.search(query, limit=5, within=LONG, budget=spent or budget())


@pytest.mark.req("PR-11", "PR-4")
async def test_a_hit_becomes_a_result_with_a_short_summary_and_few_key_points() -> None:
    text = " ".join(f"Sentence number {n} tells how tea is made in the mountains of the far north." for n in range(20))
    found = hit(PAGE, "Tea", text, 0.91, published_date="2026-03-04T10:00:00Z")
    async with tavily(finds(found, hit("https://b.example/"))) as (client, server):
        first, second = await search(client)

    assert (first.source, first.title, first.url, first.query) == ("tavily", "Tea", PAGE, "tea")
    assert (first.quality, first.published) == (0.91, "2026-03-04")
    assert 0 < len(first.summary) < 200
    assert len(first.key_points) == 4
    assert all(0 < len(each) < 200 for each in first.key_points)
    assert second.url == "https://b.example/"
    assert server.headers[0]["Authorization"] == f"Bearer {KEY}"
    assert server.asked[0][1]["search_depth"] == "basic"


async def test_what_comes_is_data_and_only_what_can_be_shown_and_read_is_kept() -> None:
    bad = [
        hit(url) for url in (
            "javascript:alert(1)", "file:///etc/passwd", "https://user:word@a.example/",
            "https://a.example/" + "x" * 4096, "ftp://a.example/", "https://",
            "https://a.example/\u202etxt", "http://[::1", "http://a:99999/", "a b", "",
        )
    ]  # fmt: skip
    odd = [None, 7, "text", {}, {"url": 5}, {"url": ["https://a.example/"]}]
    good = hit(PAGE, "T\x1b[31mi\u202et\nle" + "e" * 9000, "a\x00b " * 90_000, score="1e9", published_date={"a": 1})
    async with tavily(finds(*bad, *odd, good)) as (client, _):
        results = await client.search("tea", limit=20, within=LONG, budget=budget())

    (only,) = results
    assert only.url == PAGE
    assert only.title.startswith("T[31mit lee")
    assert len(only.title) <= 300
    assert only.summary.startswith("ab ab")
    assert len(only.summary) < 200
    assert (only.quality, only.published) == (0.0, "")


async def test_a_question_is_shortened_to_what_tavily_takes() -> None:
    async with tavily(finds(hit(PAGE))) as (client, server):
        results = await search(client, "how  is\ntea made? " * 100)

    assert len(results) == 1
    assert len(server.queries()[0]) <= 400
    assert server.queries()[0].startswith("how is tea made? how is")


async def test_without_a_key_it_says_that_it_has_none() -> None:
    async with tavily(finds(hit(PAGE)), api_key="", keyless=True) as (client, server):
        await search(client)

    assert server.headers[0]["X-Tavily-Access-Mode"] == "keyless"
    assert "Authorization" not in server.headers[0]


FAULTS = {
    "400": (fails(400, "Bad"), "rejected", "did not accept the query (it says: Bad)", 0),
    "401": (fails(401, f"Key {KEY} is wrong"), "refused", "TAVILY_API_KEY (it says: Key *** is wrong)", 0),
    "403": (fails(403), "refused", "look at your plan", 0),
    "429": (fails(429), "rate_limited", "fewer requests", 0),
    "432": (fails(432, "This request exceeds your plan's limit."), "refused", "credits", 0),
    "433": (fails(433), "refused", "pay-as-you-go", 0),
    "500": (fails(500), "broken", "status 500", 0),
    "404": (sends(b"<html>", status=404), "broken", "status 404", 0),
    "302": (sends(b"", status=302, headers={"Location": "http://127.0.0.1:1/"}), "broken", "status 302", 0),
    "202": (sends(b"{}", status=202), "broken", "status 202", 0),
    "429 without a key": (
        sends(b'{"error": {"code": "limit", "message": "Daily limit."}}', status=429), "rate_limited", "Daily limit", 0,
    ),
    "error in an odd form": (sends(b'{"detail": ["x"]}', status=500), "broken", "status 500", 0),
    "no JSON": (sends(b"<html>"), "broken", "no answer", 1),
    "no object": (answers([1]), "broken", "", 1),
    "results are no list": (answers({"results": {"a": 1}}), "broken", "without results", 1),
    "nested without end": (sends(b"[" * 100_000), "broken", "no answer", 1),
    "too large": (sends(b'{"results": [' + b" " * 9_000_000 + b"]}"), "broken", "too much", 1),
    "packed": (
        sends(gzip.compress(b'{"results": []}'), headers={"Content-Encoding": "gzip"}), "broken", "too much", 1,
    ),
    "cut": (cuts(), "unreachable", "broke the connection off", 1),
}  # fmt: skip


@pytest.mark.req("RE-4")
@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
async def test_every_failure_is_one_sentence_and_only_what_may_have_been_charged_is_counted(fault: Any) -> None:
    step, kind, said, charged = fault
    spent = budget()
    async with tavily(step) as (client, server):
        with pytest.raises(SourceFailed) as caught:
            await search(client, spent=spent)

    sentence = str(caught.value)
    assert caught.value.kind == kind
    assert said in sentence
    assert sentence.startswith(("Tavily ", "Tavily's "))
    assert sentence.endswith(".")
    assert "\n" not in sentence
    assert KEY not in sentence
    tries = 2 if kind in {"rate_limited", "broken", "unreachable"} else 1
    assert len(server.asked) == tries
    assert spent.spent("credits") == charged * tries


async def test_one_failure_is_made_good_by_a_second_try() -> None:
    spent = budget()
    async with tavily(fails(500), finds(hit(PAGE))) as (client, server):
        results = await search(client, spent=spent)

    assert len(results) == 1
    assert len(server.asked) == 2
    assert spent.spent("credits") == 1


@pytest.mark.req("RE-13")
async def test_it_waits_as_long_as_tavily_asks_when_that_fits() -> None:
    async with tavily(fails(429, headers={"Retry-After": "20"}), finds(hit(PAGE))) as (client, server):
        begun = asyncio.get_running_loop().time()
        results = await search(client)
        took = asyncio.get_running_loop().time() - begun

    assert len(results) == 1
    assert len(server.asked) == 2
    assert took >= 0.2


@pytest.mark.req("RE-13")
async def test_when_tavily_asks_for_longer_than_there_is_nobody_asks_or_waits() -> None:
    async with tavily(fails(429, headers={"Retry-After": "3600"}), finds(hit(PAGE))) as (client, server):
        sentences = set()
        for query in ("one", "two"):
            with pytest.raises(PortFailed) as caught:
                await search(client, query)
            sentences.add(str(caught.value))

    assert server.queries() == ["one"]
    assert len(sentences) == 1


@pytest.mark.req("RE-4", "PR-25")
async def test_a_silent_tavily_is_given_up_in_time_and_hears_that_nobody_waits() -> None:
    async with tavily(hangs(), seconds=100.0) as (client, server):
        await client._load()
        with pytest.raises(SourceFailed, match=r"^Tavily did not answer within 100 s\.$"):
            await search(client)
        await server.until(lambda: server.hung_up == 1)


@pytest.mark.req("RE-1", "RE-13")
async def test_no_more_calls_than_allowed_are_made_at_once() -> None:
    async with tavily(together(3, finds(hit(PAGE))), concurrency=3) as (client, server):
        results = await asyncio.gather(*(search(client, f"query {n}") for n in range(9)))

    assert all(results)
    assert len(server.asked) == 9
    assert server.most_at_once == 3


async def test_after_three_equal_failures_tavily_is_left_alone() -> None:
    async with tavily(fails(401)) as (client, server):
        sentences = []
        for n in range(5):
            with pytest.raises(PortFailed) as caught:
                await search(client, f"query {n}")
            sentences.append(str(caught.value))

    assert server.queries() == ["query 0", "query 1", "query 2"]
    assert all("TAVILY_API_KEY" in each for each in sentences)
    assert "3 times" in sentences[-1]


async def test_an_empty_purse_keeps_the_question_at_home() -> None:
    async with tavily(finds(hit(PAGE), credits_=1), search_depth="advanced") as (client, server):
        spent = budget(2)
        await search(client, spent=spent)
        with pytest.raises(BudgetExceeded, match="raise \\[research\\] credits"):
            await search(client, "more", spent)

    assert server.queries() == ["tea"]
    assert spent.spent("credits") == 1, "it said that it charged one of the two"


@pytest.mark.parametrize(
    ("said", "counted"),
    [(0, 0), (1, 1), (None, 1), (99, 1), (-5, 1), ("1", 1), (10**30, 1), (0.5, 1), (True, 1), (float("nan"), 1)],
)
async def test_what_tavily_says_that_it_charged_is_believed_within_reason(said: Any, counted: int) -> None:
    spent = budget()
    async with tavily(finds(hit(PAGE), credits_=said)) as (client, _):
        await search(client, spent=spent)

    assert spent.spent("credits") == counted


@pytest.mark.req("RE-2")
async def test_pages_are_read_twenty_at_a_call_and_what_failed_is_missing() -> None:
    urls = [f"https://a.example/{n}" for n in range(45)]
    texts = {url: f"# Page {url}" for url in urls[1:]}
    spent = budget()
    async with tavily(extracts(texts, besides=["https://evil.example/"])) as (client, server):
        got = await client.extract([*urls, urls[3]], within=LONG, budget=spent)

    assert got == texts
    assert sorted(len(body["urls"]) for _, body in server.asked) == [5, 20, 20]
    assert all(body["format"] == "markdown" for _, body in server.asked)
    assert spent.spent("credits") == 4 + 4 + 1


async def test_a_call_that_fails_takes_no_other_with_it() -> None:
    urls = [f"https://a.example/{n}" for n in range(40)]
    async with tavily(fails(401), extracts(dict.fromkeys(urls, "Text."))) as (client, _):
        got = await client.extract(urls, within=LONG, budget=budget())

    assert len(got) == 20


async def test_when_no_call_comes_to_anything_it_says_why() -> None:
    async with tavily(fails(432)) as (client, _):
        with pytest.raises(PortFailed, match="credits"):
            await client.extract([f"https://a.example/{n}" for n in range(40)], within=LONG, budget=budget())


@pytest.mark.parametrize("raw", [None, "", "  \n ", 7, ["text"]])
async def test_a_page_without_text_was_not_read(raw: Any) -> None:
    async with tavily(answers({"results": [{"url": PAGE, "raw_content": raw}], "failed_results": []})) as (client, _):
        assert await client.extract([PAGE], within=LONG, budget=budget()) == {}


async def test_whoever_gives_up_waiting_ends_the_call() -> None:
    async with tavily(hangs(), finds(hit(PAGE)), concurrency=1) as (client, server):
        task = asyncio.create_task(search(client))
        await server.until(lambda: len(server.asked) == 1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await server.until(lambda: server.hung_up == 1)
        assert len(await search(client)) == 1, "its place is free again"


@pytest.mark.parametrize(
    ("error", "said", "charged"),
    [
        (httpx.ConnectError("no route"), "cannot be reached", 0),
        (httpx.ConnectTimeout("slow"), "did not answer in time", 1),
        (httpx.ReadTimeout("slow"), "did not answer in time", 1),
        (httpx.ReadError("gone"), "broke the connection off", 1),
        (httpx.RemoteProtocolError("odd"), "broke the connection off", 1),
    ],
)
async def test_what_the_network_does_is_told_apart(error: Exception, said: str, charged: int) -> None:
    spent = budget()
    client = Tavily(TavilySettings(api_key=KEY, base_url="http://tavily.example", seconds=600.0), Hasty())
    with respx.mock(base_url="http://tavily.example") as routes:
        route = routes.post("/search").mock(side_effect=error)
        with pytest.raises(SourceFailed, match=said):
            await search(client, spent=spent)
        await client.close()

    assert spent.spent("credits") == charged * route.call_count


async def test_the_body_that_is_sent_holds_what_was_asked_and_nothing_else() -> None:
    client = Tavily(TavilySettings(api_key=KEY, base_url="http://tavily.example", seconds=600.0), Hasty())
    with respx.mock(base_url="http://tavily.example") as routes:
        route = routes.post("/search").respond(json={"results": []})
        assert await search(client, "tea") == ()
        await client.close()

    assert json.loads(route.calls.last.request.content) == {
        "query": "tea", "search_depth": "basic", "max_results": 5, "include_usage": True,
    }  # fmt: skip


async def test_a_client_that_cannot_be_made_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", "/there/is/no/such/file")
    client = Tavily(TavilySettings(api_key=KEY, seconds=600.0), Hasty())

    with pytest.raises(PortFailed, match="cannot be loaded"):
        await search(client)
    await client.close()
