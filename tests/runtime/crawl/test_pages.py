"""Reading what was found: several at once, the first good ones by rank, every failure told, nothing fetched twice."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from actors.evidence.dedup import hash_of
from actors.evidence.sources import PAGE_CHARACTERS, FailedSource, Page
from actors.ports import PortFailed
from runtime.crawl import crawler
from runtime.crawl.http_client import Client
from runtime.crawl.pages import Pages
from runtime.knowledge.indexing import index
from runtime.processes.pool import Workers
from runtime.resilience.limiters import ResearchBudget
from runtime.settings import FetchSettings
from runtime.storage.effects import Effects
from runtime.storage.sqlite.database import Database
from runtime.storage.sqlite.effect_store import SCHEMA, SqliteEffects
from tests.clock import hurried
from tests.runtime.crawl.kit import SOON, Here, Noted, make_pages, read, settings
from tests.runtime.knowledge.kit import VPN, library
from tests.site import BEHAVIOURS, FLAKY, PAGES, TRICKLE_SECONDS, Reply, Site
from tests.site_pages import ARTICLES, INJECTED, NOISE


@pytest.mark.req("RE-4", "RE-12")
async def test_whatever_a_page_does_it_is_read_or_reported_and_logged_and_the_others_are_read(
    web: Site, effects: Effects, tmp_path: Path
) -> None:
    fetch = FetchSettings(allow=("127.0.0.0/8",), page_megabytes=0.05, per_host=8, page_seconds=5.0)
    client, workers = Client(fetch, SOON), Workers(2)
    pages = make_pages(settings(tmp_path, fetch, round_seconds=60.0), workers, client)
    paths = [*PAGES, *BEHAVIOURS, *FLAKY, "/chain/0"]
    paths.remove("/endless-chunks")  # which takes all of its 30 seconds, and is tried elsewhere
    urls = [*(web.url(path) for path in paths), "http://127.0.0.9:1/", "ftp://x/"]
    try:
        with capture_logs() as logs:
            heard = await read(pages, effects, urls, wanted=100, within=60.0)
    finally:
        await client.close()
        workers.close()

    assert [
        each.url if isinstance(each, Page) else each.place for each in heard.all if isinstance(each, FailedSource)
    ] == [url for url in urls if url in heard.missed]
    assert len(heard.all) == len(urls)
    assert len(heard.pages) >= 5
    missed = [each for each in heard.all if isinstance(each, FailedSource)]
    assert all(each.detail.endswith(".") and each.detail[0].isupper() for each in missed)
    logged = [(each["place"], each["reason"]) for each in logs if each["event"] == "page.missed"]
    assert logged == [(each.place, each.reason) for each in missed]
    for path, reason in {"/blocked": "blocked", "/paywall": "paywall", "/thin": "thin", "/pdf": "binary",
                         "/private/accounts": "robots", "/to-private": "refused", "/gone": "dead"}.items():  # fmt: skip
        assert heard.missed[web.url(path)] == reason


@pytest.mark.req("RE-3", "RE-5", "RE-6", "RE-8")
async def test_pages_of_several_hosts_come_clean_with_their_address_title_and_time(
    web: Site, effects: Effects, pages: Pages
) -> None:
    heard = await read(pages, effects, [web.url("/article", host) for host in range(3)], wanted=3)

    assert [page.url for page in heard.pages] == [web.url("/article", host) for host in range(3)]
    assert {page.title for page in heard.pages} == {
        "The Brannock tidal barrage", "Twelve years of power from the tide", "What a dam at the Esk has changed",
    }  # fmt: skip
    for page in heard.pages:
        assert not [noise for noise in NOISE if noise in page.text]
        assert page.read_at == "2027-01-15T08:00:00+00:00"
        assert len(page.text) <= PAGE_CHARACTERS
        assert (page.source, page.quality, len(page.sha256)) == ("urls", 0.5, 64)


@pytest.mark.req("RE-6")
async def test_of_a_long_page_so_much_is_kept_and_its_length_told(web: Site, effects: Effects, pages: Pages) -> None:
    paragraphs = "".join(
        f"<p>Paragraph {n} speaks of the tide at hour {n * 7}, and of nothing else.</p>" for n in range(900)
    )
    web.pages["/long"] = Reply(f"<html><title>Long</title><body><main>{paragraphs}</main></body></html>".encode())
    (page,) = (await read(pages, effects, [web.url("/long")])).pages

    assert len(page.text) <= PAGE_CHARACTERS < page.full_length


async def test_the_first_good_ones_by_rank_are_taken_and_spares_that_nobody_needs_are_not_told(
    web: Site, effects: Effects, pages: Pages
) -> None:
    urls = [web.url(path) for path in ("/gone", "/article", "/blocked", "/articles/tram", "/articles/bees", "/silent")]
    heard = await read(pages, effects, [*urls, web.url("/articles/ferry")], wanted=3)

    assert [page.url for page in heard.pages] == [urls[1], urls[3], urls[4]]
    assert heard.missed == {urls[0]: "dead", urls[2]: "blocked"}


@pytest.mark.req("RE-10")
async def test_a_slow_page_is_not_waited_for_when_enough_others_are_there(
    web: Site, effects: Effects, tmp_path: Path, here: Here
) -> None:
    client = Client(FetchSettings(allow=("127.0.0.0/8",)))
    pages = make_pages(settings(tmp_path, client.settings, round_seconds=10.0), here, client)
    try:
        heard = await read(pages, effects, [web.url(p) for p in ("/silent", "/article", "/articles/tram")], wanted=2)
    finally:
        await client.close()

    assert [page.url for page in heard.pages] == [web.url("/article"), web.url("/articles/tram")]
    assert heard.missed == {web.url("/silent"): "timed_out"}
    (late,) = (each for each in heard.all if isinstance(each, FailedSource))
    assert late.detail == "It had not arrived when enough other pages had."


@pytest.mark.req("PR-25")
@pytest.mark.parametrize(
    ("page_seconds", "round_seconds", "took"),
    [(30.0, 600.0, None), (20.0, 600.0, 20.0), (30.0, 15.0, 15.0), (600.0, 600.0, None)],
)
async def test_a_page_has_the_time_that_is_configured_unless_the_round_has_less(
    web: Site,
    tmp_path: Path,
    here: Here,
    page_seconds: float,
    round_seconds: float,
    took: float | None,
) -> None:
    fetch = FetchSettings(allow=("127.0.0.0/8",), page_seconds=page_seconds, robots=False)
    client, loop = Client(fetch), asyncio.get_running_loop()
    pages = make_pages(settings(tmp_path, fetch, round_seconds=round_seconds), here, client)
    try:
        with hurried():
            start = loop.time()
            heard = await read(pages, Noted(), [web.url("/trickle")], within=600.0)
            seconds = loop.time() - start
    finally:
        await client.close()

    assert FetchSettings().page_seconds == 30.0
    if took is None:
        assert [page.url for page in heard.pages] == [web.url("/trickle")]
        assert TRICKLE_SECONDS <= seconds < TRICKLE_SECONDS + 2.0
    else:
        assert heard.missed == {web.url("/trickle"): "timed_out"}
        assert took - 0.1 < seconds < took + 2.0


@pytest.mark.req("PR-25")
async def test_a_site_may_be_as_slow_with_its_rules_as_with_its_pages(web: Site, tmp_path: Path, here: Here) -> None:
    web.latency = 12.0
    client = Client(FetchSettings(allow=("127.0.0.0/8",)))
    pages = make_pages(settings(tmp_path, client.settings, round_seconds=600.0), here, client)
    try:
        with hurried():
            heard = await read(pages, Noted(), [web.url("/articles/tram")], within=600.0)
    finally:
        await client.close()

    assert [page.url for page in heard.pages] == [web.url("/articles/tram")]
    assert web.hits("/robots.txt") == 1


async def test_without_time_nothing_is_begun(web: Site, effects: Effects, pages: Pages) -> None:
    heard = await read(pages, effects, [web.url("/article")], within=0.0)

    assert heard.all == []
    assert web.asked == []


@pytest.mark.req("PR-20", "PR-21")
async def test_the_same_again_is_recognised_by_address_text_and_likeness(
    web: Site, effects: Effects, pages: Pages
) -> None:
    paths = [
        "/articles/bees",
        "/articles/bees?utm_source=x#top",
        "/copy",
        "/near",
        "/copy-that-says-so",
        "/articles/tram",
    ]
    heard = await read(pages, effects, [web.url(path) for path in paths])

    assert [page.url for page in heard.pages] == [web.url("/articles/bees"), web.url("/articles/tram")]
    assert set(heard.missed.values()) == {"duplicate"}
    assert set(heard.missed) == {web.url(path) for path in paths[2:5]}
    assert all(web.url("/articles/bees") in each.detail for each in heard.all if isinstance(each, FailedSource))
    said = {each.place: each.detail.partition(" http")[0] for each in heard.all if isinstance(each, FailedSource)}
    assert said[web.url("/copy")] == "It has the same text as"
    assert said[web.url("/near")] == "It has nearly the same text as"
    assert web.hits("/articles/bees?utm_source=x") == 0


async def test_what_a_page_orders_is_only_its_text(web: Site, effects: Effects, pages: Pages) -> None:
    heard = await read(pages, effects, [web.url("/injected"), web.url("/frontmatter.md"), web.url("/articles/tram")])

    assert len(heard.pages) == 3
    assert "TERMINATE_WORKFLOW" in heard.pages[0].text
    assert "TERMINATE_WORKFLOW" in INJECTED
    assert "status: completed" in heard.pages[1].text


class Service:
    """Extracts what it was given, as Tavily does."""

    def __init__(self, texts: dict[str, str], error: Exception | None = None) -> None:
        self.texts, self.error = texts, error
        self.calls: list[tuple[str, ...]] = []

    async def extract(self, urls: Sequence[str], *, within: float, budget: ResearchBudget) -> dict[str, str]:
        self.calls.append(tuple(urls))
        await asyncio.sleep(0)
        if self.error is not None:
            raise self.error
        return {url: self.texts[url] for url in urls if url in self.texts}


@pytest.mark.req("RE-2")
async def test_an_extracting_service_is_asked_once_and_our_crawler_gets_the_rest(
    web: Site, effects: Effects, pages: Pages
) -> None:
    urls = [web.url(path) for path in ("/article", "/articles/tram", "/articles/bees")]
    service = Service({urls[0]: "# From outside\n\n" + ARTICLES["/articles/ferry"] * 30, urls[1]: "Too little."})
    pages.extractor, pages.extracts = service, "tavily"
    heard = await read(pages, effects, urls, wanted=3, source="tavily")
    again = await read(pages, effects, urls, wanted=3, source="tavily")

    assert service.calls == [tuple(urls)]
    assert [page.url for page in heard.pages] == urls
    assert "Petrel" in heard.pages[0].text
    assert len(heard.pages[0].text) <= PAGE_CHARACTERS
    assert web.hits("/article") == 0
    assert (web.hits("/articles/tram"), web.hits("/articles/bees")) == (1, 1)
    assert again.all == heard.all


async def test_an_extracting_service_never_hears_of_addresses_of_the_own_network(
    web: Site, effects: Effects, pages: Pages
) -> None:
    service = Service({web.url("/article"): "Nobody asked for this."})
    pages.extractor, pages.extracts = service, "tavily"

    heard = await read(pages, effects, [web.url("/article")])

    assert service.calls == []
    assert [page.url for page in heard.pages] == [web.url("/article")]
    assert web.hits("/article") == 1


@pytest.mark.req("RE-2")
@pytest.mark.parametrize("error", [PortFailed("No credits are left."), TimeoutError(), RuntimeError("a fault")])
async def test_a_service_that_fails_is_logged_and_our_crawler_reads_all(
    web: Site, effects: Effects, pages: Pages, error: Exception
) -> None:
    pages.extractor, pages.extracts = Service({}, error), "tavily"
    with capture_logs() as logs:
        heard = await read(pages, effects, [web.url("/article"), web.url("/gone")], source="tavily")

    assert len(heard.pages) == 1
    assert heard.missed == {web.url("/gone"): "dead"}
    assert [each["event"] for each in logs].count("extraction.failed") == 1


async def test_text_that_cannot_be_found_in_time_is_given_up_with_its_process(
    web: Site, effects: Effects, tmp_path: Path, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(crawler, "EXTRACT_SECONDS", 0.01)
    workers = Workers(1)
    pages = make_pages(settings(tmp_path, FetchSettings(robots=False)), workers, client)
    try:
        heard = await read(pages, effects, [web.url("/article")])
    finally:
        workers.close()

    assert heard.missed == {web.url("/article"): "timed_out"}
    assert workers.killed == 1


async def test_real_workers_find_the_text_too(web: Site, effects: Effects, tmp_path: Path, client: Client) -> None:
    workers = Workers(1)
    pages = make_pages(settings(tmp_path), workers, client)
    try:
        heard = await read(pages, effects, [web.url("/article"), web.url("/private/accounts")])
    finally:
        workers.close()

    assert [page.title for page in heard.pages] == ["The Brannock tidal barrage"]
    assert heard.missed == {web.url("/private/accounts"): "robots"}


async def test_a_fault_of_ours_is_logged_and_costs_one_page(
    web: Site, effects: Effects, pages: Pages, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(crawler, "EXTRACT", "runtime.crawl.robots:verdict")  # which takes and returns something else
    with capture_logs() as logs:
        heard = await read(pages, effects, [web.url("/article"), web.url("/gone")])

    assert heard.missed == {web.url("/article"): "unreachable", web.url("/gone"): "dead"}
    assert [each["place"] for each in logs if each["event"] == "page.failed"] == [web.url("/article")]


@pytest.mark.req("PR-11")
async def test_an_own_document_is_read_from_the_index_letter_by_letter(tmp_path: Path, client: Client) -> None:
    workers, made = Workers(1), settings(tmp_path / "data")
    database = Database(tmp_path / "terminus.db", SCHEMA)
    try:
        (tmp_path / "data").mkdir()
        await index([library(tmp_path / "kb")], tmp_path / "data", workers, made.knowledge)
        effects = Effects(SqliteEffects(database), "r")
        heard = await read(make_pages(made, workers, client), effects, ["knowledge:kb/vpn.md"])
    finally:
        workers.close()
        database.close()

    assert heard.missed == {}
    (page,) = heard.pages
    assert (page.key, page.url, page.title) == ("kb/vpn.md", "knowledge:kb/vpn.md", "Result 0")
    assert page.text == VPN
    assert (page.full_length, page.sha256) == (len(VPN), hash_of(VPN))


async def test_a_document_that_is_not_in_the_index_is_reported(
    effects: Effects, tmp_path: Path, client: Client
) -> None:
    workers = Workers(1)
    try:
        heard = await read(make_pages(settings(tmp_path), workers, client), effects, ["knowledge:manual/gone.html"])
    finally:
        workers.close()

    assert heard.missed == {"knowledge:manual/gone.html": "unreachable"}
