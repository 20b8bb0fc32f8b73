"""robots.txt is kept to, read once a site, and cannot hold anybody up."""

import asyncio

import pytest

from runtime.crawl import robots
from runtime.crawl.http_client import Client
from runtime.crawl.robots import Robots, verdict
from runtime.processes.pool import Workers
from tests.patience import HANGS_SECONDS, promised
from tests.runtime.crawl.kit import Here
from tests.site import Reply, Site


def ruled(web: Site, text: str, status: str = "200 OK") -> None:
    web.pages["/robots.txt"] = Reply(text.encode(), "text/plain", status)


async def test_what_it_forbids_is_not_read_and_the_rest_is(web: Site, client: Client, here: Here) -> None:
    rules = Robots(client, here)

    assert "robots.txt forbids" in await rules.objection(web.url("/private/accounts"))
    assert await rules.objection(web.url("/article")) == ""
    assert await rules.objection(web.url("/article", 1)) == ""


async def test_it_is_read_once_a_site_also_when_many_come_at_once(web: Site, client: Client, here: Here) -> None:
    rules = Robots(client, here)
    said = await asyncio.gather(*(rules.objection(web.url(f"/articles/{n}")) for n in range(10)))

    assert set(said) == {""}
    assert web.hits("/robots.txt") == 1


async def test_without_one_all_may_be_read(web: Site, client: Client, here: Here) -> None:
    del web.pages["/robots.txt"]

    assert await Robots(client, here).objection(web.url("/private/accounts")) == ""
    assert here.calls == []


async def test_a_site_that_cannot_say_its_rules_is_not_read(web: Site, client: Client, here: Here) -> None:
    ruled(web, "", "500 Oops")

    assert "could not be fetched" in await Robots(client, here).objection(web.url("/article"))


async def test_a_site_that_cannot_be_reached_says_so_itself(client: Client, here: Here) -> None:
    assert await Robots(client, here).objection("http://127.0.0.9:1/") == ""


@pytest.mark.parametrize(
    ("text", "allowed"),
    [
        ("User-agent: *\nDisallow: /", False),
        ("User-agent: terminus\nDisallow: /\n\nUser-agent: *\nAllow: /", False),
        ("User-agent: other\nDisallow: /", True),
        ("User-agent: *\nDisallow: /articles\nAllow: /articles/tram", True),
        ("User-agent: *\nDisallow: /*.html$", True),
        ("\ufeffUser-agent: *\nDisallow: /", False),
        ("<html><body>Not found</body></html>", True),
        ("\x00\x01nonsense: \n:::\nDisallow", True),
        ("", True),
    ],
)
def test_rules_are_understood_as_the_standard_says(text: str, allowed: bool) -> None:
    assert verdict(text.encode(), "Terminus/0.1", "http://a.example/articles/tram")[0] is allowed


async def test_the_delay_that_a_site_asks_for_is_kept_up_to_a_bound(
    web: Site, client: Client, here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(robots, "MOST_DELAY", 0.05)
    ruled(web, "User-agent: *\nCrawl-delay: 86400")
    rules, loop = Robots(client, here), asyncio.get_running_loop()
    await rules.objection(web.url("/article"))
    start = loop.time()

    await asyncio.gather(*(rules.objection(web.url("/article")) for _ in range(3)))

    assert 0.14 <= loop.time() - start < promised(5.0)


async def test_rules_that_take_too_long_to_understand_are_given_up(
    web: Site, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(robots, "VERDICT_SECONDS", 0.01)
    ruled(web, f"User-agent: *\nDisallow: /{'*a' * 60}b$")
    workers = Workers(1)
    try:
        said = await Robots(client, workers).objection(web.url("/" + "a" * 3000))
    finally:
        workers.close()

    assert "cannot be understood" in said
    assert workers.killed == 1


async def test_few_sites_are_remembered(client: Client, here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(robots, "SITES", 3)
    rules = Robots(client, here)
    for n in range(10, 20):
        await rules.objection(f"http://127.0.0.{n}:1/")

    assert len(rules._sites) == 3


async def test_who_stops_waiting_does_not_stop_the_others(web: Site, client: Client, here: Here) -> None:
    web.latency = 0.1
    rules = Robots(client, here)
    first = asyncio.create_task(rules.objection(web.url("/private/accounts")))
    second = asyncio.create_task(rules.objection(web.url("/private/accounts")))
    async with asyncio.timeout(HANGS_SECONDS):
        while not web.asked:  # noqa: ASYNC110 - nobody tells when
            await asyncio.sleep(0)
    first.cancel()

    assert "forbids" in await second
    assert first.cancelled()
