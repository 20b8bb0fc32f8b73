"""What was read is durable before it is told, and not done twice: after a crash, a cancellation, at a budget's end."""

import asyncio
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from actors.evidence.sources import FailedSource, Page, SearchResult
from runtime.crawl.crawler import Crawler
from runtime.crawl.duplicates import Fetched
from runtime.crawl.http_client import Client
from runtime.crawl.pages import Pages
from runtime.settings import FetchSettings
from runtime.storage.effects import Effects
from runtime.storage.sqlite.database import Database
from runtime.storage.sqlite.effect_store import SCHEMA, SqliteEffects
from tests.clock import settle
from tests.patience import HANGS_SECONDS
from tests.runtime.crawl.kit import SOON, Heard, Here, budget, make_pages, read, settings
from tests.site import Site, site
from tests.site_pages import ARTICLES

TOPICS = [path for path in ARTICLES if path != "/articles/barrage"]


@pytest.mark.req("PR-22", "DR-10")
async def test_what_was_read_in_an_earlier_round_or_before_a_crash_is_not_fetched_again(
    web: Site, effects: Effects, pages: Pages
) -> None:
    urls = [web.url(path) for path in ("/article", "/gone", "/articles/tram")]
    first = await read(pages, effects, urls, wanted=3)
    asked = list(web.asked)

    again = await read(pages, effects, urls, wanted=3)
    other = await read(pages, effects, [web.url("/articles/barrage")], wanted=3)

    assert again.all == first.all
    assert other.missed == {web.url("/articles/barrage"): "duplicate"}
    assert [each for each in web.asked if each not in asked] == [("127.0.0.1", "/articles/barrage")]


@pytest.mark.req("PR-22")
@pytest.mark.parametrize("stop_after", range(7))
async def test_a_reading_that_was_cut_off_chooses_the_same_when_it_is_resumed(
    tmp_path: Path, here: Here, stop_after: int
) -> None:
    paths = ["/articles/bees", "/gone", "/near", "/article", "/paywall", "/articles/tram", "/copy", "/articles/ferry"]
    heard: dict[str, Heard] = {}
    for name in ("whole", "cut"):
        async with site() as web:
            database = Database(tmp_path / f"{name}.db", SCHEMA)
            client = Client(FetchSettings(allow=("127.0.0.0/8",)), SOON)
            pages, urls = (
                make_pages(settings(tmp_path), here, client, now=lambda: 0.0),
                [web.url(path) for path in paths],
            )
            try:
                if name == "cut":
                    task = asyncio.create_task(
                        read(pages, Effects(SqliteEffects(database), "r"), urls, wanted=4, then=lambda _: stop())
                    )
                    told = 0

                    def stop(task: "asyncio.Task[Heard]" = task) -> None:
                        nonlocal told
                        told += 1
                        if told > stop_after:
                            task.cancel()

                    await asyncio.wait([task])
                await database.run()  # what was being written is
                again = Effects(SqliteEffects(database), "r")
                await again.load()
                heard[name] = await read(pages, again, urls, wanted=4)
            finally:
                await client.close()
                database.close()
            fetched = Counter(path for _, path in web.asked)
            assert {fetched[path] for path in paths[: stop_after + 1]} <= {1}

    shown = {
        name: [(type(each), (each.url if isinstance(each, Page) else each.place).rpartition("/")[2]) for each in it.all]
        for name, it in heard.items()
    }
    assert shown["cut"] == shown["whole"]
    assert [page.sha256 for page in heard["cut"].pages] == [page.sha256 for page in heard["whole"].pages]


async def test_what_is_told_is_durable_before(web: Site, effects: Effects, pages: Pages) -> None:
    stored: list[bool] = []

    def look(each: Page | FailedSource) -> None:
        known = effects.get("page", each.key if isinstance(each, Page) else each.place, Page | FailedSource)
        stored.append(known == each)

    await read(pages, effects, [web.url(path) for path in ("/article", "/gone", "/blocked")], then=look)

    assert stored == [True] * 3


class Slow(Crawler):
    """A crawler of which one page is not there before a test says so."""

    def __init__(self, crawler: Crawler, slow: str) -> None:
        self._crawler, self._slow, self.free = crawler, slow, asyncio.Event()

    async def read(self, result: SearchResult, *more: Any) -> Fetched:
        if result.url == self._slow:
            await self.free.wait()
        return await self._crawler.read(result, *more)


@pytest.mark.req("PR-29")
async def test_a_page_that_is_there_shows_at_once_whatever_page_is_slow(
    web: Site, effects: Effects, pages: Pages
) -> None:
    # given
    urls = [web.url(path) for path in ("/article", "/articles/tram", "/articles/bees", "/gone")]
    slow = pages.crawler = Slow(pages.crawler, urls[0])
    arrived, heard = Heard(), Heard()

    # when three of four are there
    three = asyncio.Event()

    def arrive(each: Page | FailedSource) -> None:
        arrived(each)
        if len(arrived.all) == 3:
            three.set()

    reading = asyncio.create_task(read(pages, effects, urls, wanted=4, arrived=arrive, then=heard))
    async with asyncio.timeout(HANGS_SECONDS):
        await three.wait()

    # then they are told, though none of them is judged before the first
    assert {page.url for page in arrived.pages} == set(urls[1:3])
    assert arrived.missed == {urls[3]: "dead"}
    assert heard.all == []

    # and each once
    slow.free.set()
    assert [page.url for page in (await reading).pages] == urls[:3]
    assert len(arrived.all) == 4
    assert [each.url for each in arrived.pages][-1] == urls[0]


async def test_whoever_stops_reading_leaves_nothing_behind_and_gets_back_what_was_reserved(
    web: Site, effects: Effects, pages: Pages
) -> None:
    money = budget(10)
    urls = [web.url(path) for path in ("/silent", "/drip", "/endless-chunks")]
    task = asyncio.create_task(read(pages, effects, urls, money=money))
    async with asyncio.timeout(HANGS_SECONDS):
        while len({path for _, path in web.asked} & {"/silent", "/drip", "/endless-chunks"}) < 3:  # noqa: ASYNC110
            await asyncio.sleep(0)
    assert money.spent("pages") == 3
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert money.spent("pages") == 0
    assert effects.all("page", Page | FailedSource) == []


async def test_whoever_stops_reading_still_hears_of_what_had_arrived(
    web: Site, effects: Effects, tmp_path: Path, here: Here
) -> None:
    client = Client(FetchSettings(allow=("127.0.0.0/8",), per_host=8))
    pages, heard = make_pages(settings(tmp_path), here, client), Heard()
    urls = [web.url(path) for path in ("/silent", "/article", "/articles/barrage", "/gone")]
    task = asyncio.create_task(read(pages, effects, urls, then=heard))
    async with asyncio.timeout(HANGS_SECONDS):
        while len(effects.all("fetched", Fetched)) < 3:  # noqa: ASYNC110 - nobody tells when
            await asyncio.sleep(0.01)
    await effects.put("mark", "after them", None)  # by then it has been told of all that was durable before
    await settle()
    assert heard.all == []
    task.cancel()
    await asyncio.wait([task])

    assert [page.url for page in heard.pages] == [urls[1]]
    assert heard.missed == {urls[0]: "cancelled", urls[2]: "duplicate", urls[3]: "dead"}
    again = await read(pages, effects, urls[1:])
    assert [page.url for page in again.pages] == [urls[1]]
    assert web.hits("/article") == 1
    await client.close()


async def test_at_the_end_of_its_budget_a_reading_has_what_it_has(web: Site, effects: Effects, pages: Pages) -> None:
    money = budget(3)
    urls = [web.url(path) for path in TOPICS]
    heard = await read(pages, effects, urls, wanted=6, money=money)

    assert [page.url for page in heard.pages] == urls[:3]
    assert heard.missed == {urls[3]: "budget"}
    assert money.spent("pages") == 3
    assert len({path for _, path in web.asked if path != "/robots.txt"}) == 3
