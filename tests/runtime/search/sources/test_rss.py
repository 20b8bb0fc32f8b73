"""Feeds: read once, searched often, and believed in nothing."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

import pytest

from actors.evidence.sources import FailedSource, SearchResult
from bus import Clock
from runtime.crawl.http_client import Client, FetchResult
from runtime.processes.pool import Workers
from runtime.search.feed_parser import Entry, plain, read
from runtime.search.sources.rss import FEED_BYTES, NONE_READ, Feeds, RunFeeds, best
from runtime.settings import FeedsSettings, FetchSettings
from tests.runtime.search.hasty import Hasty
from tests.site import site

NEWS, BLOG = "https://news.example/feed.xml", "https://blog.example/atom"


def rss(*items: tuple[str, str, str], more: str = "") -> bytes:
    entries = "".join(
        f"<item><title>{title}</title><link>{link}</link><description>{text}</description>{more}</item>"
        for title, link, text in items
    )
    return f'<?xml version="1.0"?><rss version="2.0"><channel><title>T</title>{entries}</channel></rss>'.encode()


TEA = rss(
    (
        "Green tea",
        "/green",
        "&lt;p&gt;Steeped at &lt;b&gt;80&lt;/b&gt; degrees.&lt;script&gt;x()&lt;/script&gt;&lt;/p&gt;",
    ),
    ("Coffee", "https://news.example/coffee", "Roasted beans."),
    ("Tea and more", "https://news.example/more", "Black or green, tea is steeped."),
    ("Bad green tea", "javascript:alert(1)", "Steeped."),
)


class Web:
    """A client that gives what it was told, and counts."""

    def __init__(self, **pages: FetchResult) -> None:
        self.pages = {NEWS: FetchResult(NEWS, 200, "application/rss+xml", "utf-8", TEA)} | pages
        self.asked: list[str] = []
        self.hanging = asyncio.Event()

    async def get(self, url: str, *, within: float, types: str = "text") -> FetchResult:
        assert types == "feed"
        self.asked.append(url)
        got = self.pages.get(url)
        if got is None:
            self.hanging.set()
            await asyncio.Event().wait()
        assert got is not None
        await asyncio.sleep(0)
        return got


class Shelf:
    """Effects in memory."""

    def __init__(self) -> None:
        self.kept: dict[tuple[str, str], Any] = {}

    def get(self, kind: str, key: str, type_: Any) -> Any:
        return self.kept.get((kind, key))

    async def put(self, kind: str, key: str, value: Any) -> None:
        await asyncio.sleep(0)
        self.kept.setdefault((kind, key), value)


@contextlib.asynccontextmanager
async def feeds(
    web: Any, *urls: str, shelf: Shelf | None = None, clock: Clock | None = None
) -> AsyncIterator[RunFeeds]:
    workers = Workers(2)
    shared = Feeds(FeedsSettings(urls=urls or (NEWS,)), web, workers, clock or asyncio.get_running_loop())
    try:
        yield RunFeeds(shared, shelf or Shelf())  # type: ignore[arg-type]
    finally:
        await shared.close()
        workers.close()


async def ask(run: RunFeeds, query: str = "green tea", limit: int = 5) -> tuple[list[SearchResult], list[FailedSource]]:
    found = await run.search(query, limit=limit, within=20)
    return [e for e in found if isinstance(e, SearchResult)], [e for e in found if isinstance(e, FailedSource)]


@pytest.mark.req("PR-11")
async def test_entries_that_have_the_words_come_first_and_the_others_not_at_all() -> None:
    async with feeds(Web()) as run:
        results, missed = await ask(run)

    assert [(each.source, each.url) for each in results] == [
        ("rss", "https://news.example/green"), ("rss", "https://news.example/more"),
    ]  # fmt: skip
    assert results[0].summary == "Steeped at 80 degrees."
    assert results[0].quality > results[1].quality > 0
    assert missed == []


@pytest.mark.req("PR-22")
async def test_a_feed_is_fetched_once_in_a_research_even_after_a_crash() -> None:
    web, shelf = Web(), Shelf()
    async with feeds(web, shelf=shelf) as run:
        every = await asyncio.gather(*(ask(run, query) for query in ("green tea", "coffee", "roasted beans")))
    async with feeds(web, shelf=shelf) as run:
        again = await ask(run, "coffee")

    assert web.asked == [NEWS]
    assert again == every[1]
    assert [each.title for each in again[0]] == ["Coffee"]


@pytest.mark.req("RE-4", "PR-25")
async def test_each_feed_that_fails_is_named_and_the_others_are_searched() -> None:
    many = {
        "https://gone.example/": FetchResult("https://gone.example/", 404, reason="dead", detail="It is not there."),
        "https://html.example/": FetchResult(
            "https://html.example/", 200, body=b"<!doctype html><html><body>x</body></html>"
        ),
        "https://large.example/": FetchResult("https://large.example/", 200, body=b"<rss>" + b" " * FEED_BYTES),
        "https://cut.example/": FetchResult("https://cut.example/", 200, body=TEA, truncated=True),
    }
    urls = (NEWS, *many, "file:///etc/passwd")
    web = Web(**many)
    async with feeds(web, *urls) as run:
        results, missed = await ask(run)
        _, again = await ask(run, "coffee")

    assert len(results) == 2
    said = {each.place: (each.reason, each.detail) for each in missed}
    assert said["https://gone.example/"] == ("dead", "It is not there.")
    assert said["https://html.example/"][1].startswith("The feed cannot be parsed (ValueError: ")
    assert said["https://large.example/"] == ("too_large", "The feed has more than 2 MB.")
    assert said["https://cut.example/"][0] == "too_large"
    assert said["file:///etc/passwd"][0] == "refused"
    assert again == missed, "what failed is not asked again in this research, and not forgotten"
    assert sorted(web.asked) == sorted({*urls} - {"file:///etc/passwd"})


@pytest.mark.req("PR-25")
async def test_a_silent_feed_is_given_up_after_its_seconds() -> None:
    async with feeds(Web(), "https://silent.example/", clock=Hasty()) as run:
        _, missed = await ask(run)

    assert missed[0] == FailedSource("https://silent.example/", "timed_out", "The feed did not answer within 15 s.")


async def test_when_no_feed_can_be_read_the_source_has_failed() -> None:
    async with feeds(Web(**{NEWS: FetchResult(NEWS, 500, reason="dead", detail="It answers with 500.")})) as run:
        _, missed = await ask(run)

    assert missed[-1] == FailedSource("rss", "source_failed", NONE_READ)


async def test_whoever_gives_up_while_a_feed_is_read_holds_up_nobody() -> None:
    web = Web(**{BLOG: FetchResult(BLOG, 200, body=TEA)})
    async with feeds(web, BLOG, "https://silent.example/") as run:
        first = asyncio.create_task(ask(run))
        await web.hanging.wait()
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        web.pages["https://silent.example/"] = FetchResult("https://silent.example/", 200, body=TEA)

        assert len({each.url for each in (await ask(run))[0]}) == 3


async def test_feeds_of_a_real_server_are_read() -> None:
    async with site() as web:
        client = Client(FetchSettings(allow=("127.0.0.0/8",)))
        urls = (web.url("/feed.rss"), web.url("/feed.atom", 1), web.url("/gone"), web.url("/endless"))
        try:
            async with feeds(client, *urls) as run:
                results, missed = await ask(run, "bees")
        finally:
            await client.close()

    assert len({each.url.split("/")[2] for each in results}) == 2
    assert all("bee" in f"{each.title} {each.summary}".lower() for each in results)
    assert {each.place for each in missed} == set(urls[2:])


ATOM = b"""<?xml version="1.0" encoding="iso-8859-1"?><feed xmlns="http://www.w3.org/2005/Atom"><title>T</title>
<entry><title>Caf\xe9</title><link href="one"/><summary>Short.</summary><updated>2026-03-04T05:06:07Z</updated></entry>
<entry><title>Two</title><link href="https://e.example/two"/>
<content type="html">&lt;p&gt;Long text.&lt;/p&gt;</content></entry>
<entry><title>Nowhere</title></entry></feed>"""


def test_atom_relative_links_dates_and_old_charsets_are_understood() -> None:
    assert read(ATOM, "", "https://e.example/blog/feed") == (
        Entry("Café", "https://e.example/blog/one", "Short.", "2026-03-04"),
        Entry("Two", "https://e.example/two", "Long text."),
    )
    assert read(ATOM, "no-such-charset", "https://e.example/")[0].title == "Café"
    assert read(ATOM, "utf-8", "https://e.example/")[0].title == "Café"


def test_a_body_that_is_an_address_is_not_fetched() -> None:
    for body in (b"http://127.0.0.1:1/feed", b"/etc/passwd", b"file:///etc/passwd"):
        with pytest.raises(ValueError, match=r"feed|XML"):
            read(body, "utf-8", NEWS)


BOMBS = {
    "a billion laughs": b'<?xml version="1.0"?><!DOCTYPE r [<!ENTITY a "ha">'
    + b"".join(b'<!ENTITY %c "%s">' % (98 + n, b"&%c;" % (97 + n) * 10) for n in range(20))
    + b"]><rss version='2.0'><channel><item><title>&u;</title><link>https://e.example/</link></item></channel></rss>",
    "an outer entity": b'<?xml version="1.0"?><!DOCTYPE r [<!ENTITY a SYSTEM "file:///etc/passwd">]>'
    b"<rss version='2.0'><channel><item><title>&a;</title><link>https://e.example/</link></item></channel></rss>",
    "two hundred thousand levels": b'<?xml version="1.0"?><rss version="2.0"><channel>' + b"<a>" * 200_000,
    "levels in a summary": rss(("Tea", "https://e.example/", "&lt;div&gt;" * 50_000)),
    "a tag without end": rss(("Tea", "https://e.example/", "&lt;a " * 100_000)),
    "many entries": rss(*[("Tea", "https://e.example/", "x")] * 20_000),
    "zeros": b'<?xml version="1.0"?><rss version="2.0"><channel><item><title>\x00\x00</title></item>',
    "nested JSON": b'{"items": ' + b"[" * 500_000,
}


@pytest.mark.parametrize("body", BOMBS.values(), ids=BOMBS)
async def test_a_bomb_harms_nobody_and_brings_nothing_in(body: bytes) -> None:
    async with feeds(Web(**{BLOG: FetchResult(BLOG, 200, body=body)}), BLOG, NEWS) as run:
        results, missed = await ask(run, "tea root passwd")

    assert any(each.url == "https://news.example/green" for each in results), "the other feed is searched"
    assert {each.place for each in missed} <= {BLOG}
    assert not any("root:" in f"{each.title}{each.summary}" or "haha" in each.title for each in results)


def test_tags_go_and_what_only_looks_like_one_stays() -> None:
    assert plain("a < b and c > d") == "a < b and c > d"
    assert " ".join(plain("<p>One<br>two</p><style>p {}</style>three").split()) == "One two three"


def test_equals_stay_in_the_order_of_the_feeds_and_more_than_wanted_are_left() -> None:
    entries = [Entry("Tea", f"https://e.example/{n}") for n in range(9)]

    assert [each.url[-1] for each in best(entries, "tea", 3)] == ["0", "1", "2"]
