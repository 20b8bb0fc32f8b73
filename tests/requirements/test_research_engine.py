"""The research engine held to its source document: researches of a node over a loopback web and a loopback Tavily."""

import asyncio
import re
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import structlog
from aiohttp import web as http
from structlog.testing import capture_logs

from actors.evidence.sources import SearchResult
from actors.research.extractor import Extractor
from actors.research.messages import ReadSources, RunSearches
from actors.research.models import Plan, ResearchOptions
from actors.research.searcher import Searcher
from actors.research.workflow import ResearchCase
from actors.workflow.outcome import Outcome
from runtime.crawl.extract.page import extract
from runtime.crawl.http_client import Client
from runtime.engine.node import Node
from runtime.settings import (
    FeedsSettings,
    FetchSettings,
    LogSettings,
    ResearchSettings,
    Settings,
    StorageSettings,
    TavilySettings,
)
from runtime.tickets import Ticket
from tests import site_pages
from tests.actors.research.test_extractor import Turn
from tests.clock import hurried
from tests.fake_tavily import KEY, Body, FakeTavily, Step, extracts, fails, finds, hit
from tests.fakes import Trusts
from tests.requirements.desk import LONGEST_SECONDS, jumping
from tests.runtime.crawl.kit import Here, Noted, budget, make_pages, settings
from tests.site import PAGES, Reply, Site, site

WORD = re.compile(r"\w+")
QUESTIONS = (
    "How long does tram line 7 take to the airport? How many bee colonies live on flat roofs in Marwick? "
    "What went wrong with heat pumps in Osterby?"
)
PAGE_SECONDS = 5.0
FEED = "/news.rss"


class Found(NamedTuple):
    """What came of a research, and what it asked of the world."""

    outcome: Outcome
    case: ResearchCase
    lines: list[Any]
    """Of the log."""
    site: Site
    tavily: FakeTavily

    @property
    def report(self) -> str:
        assert self.outcome.resolution is not None
        return self.outcome.resolution.text

    @property
    def missed(self) -> dict[str, str]:
        """By the path of what could not be read: why."""
        return {"/" + each.place.partition("/")[2].partition("/")[2].partition("/")[2]: each.reason
                for each in self.case.missed}  # fmt: skip

    def text(self, path: str) -> str:
        (page,) = [each for each in self.case.pages if each.url.endswith(path)]
        return page.text


async def explore(
    folder: Path, paths: Mapping[str, int], *, question: str = QUESTIONS, breadth: int = 20,
    given: Mapping[str, str] | None = None, pages: Mapping[str, Reply] | None = None, search: Step | None = None,
    seconds: float = 0.0, tavily: Mapping[str, Any] | None = None, fetch: Mapping[str, Any] | None = None,
    sources: tuple[str, ...] = ("tavily",), ordered: Sequence[str] = (),
) -> Found:  # fmt: skip
    """
    One round over pages of the site.

    :param paths: what every search finds, by path the number of the host.
    :param given: texts that Tavily's extraction has, by path.
    :param seconds: how long the site takes for each answer.
    :param ordered: paths of pages that are read in any case.
    """

    async def answer(server: FakeTavily, request: http.Request, body: Body) -> http.StreamResponse:
        if request.path == "/search":
            hits = [hit(world.url(each, host), each, f"{QUESTIONS} {each}") for each, host in paths.items()]
            return await (search or finds(*hits))(server, request, body)
        texts = {world.url(path, paths[path]): text for path, text in (given or {}).items()}
        return await extracts(texts)(server, request, body)

    extract(b"<html><body><p>What extraction needs is loaded.</p></body></html>", "", "", "http://one.example", "")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("runtime.engine.node.Workers", lambda _: Here())
        async with site(seconds) as world, FakeTavily(answer) as server:
            world.pages |= pages or {}
            chosen = Settings(
                storage=StorageSettings(folder=str(folder)),
                tavily=TavilySettings(api_key=KEY, base_url=server.url, **(tavily or {})),
                fetch=FetchSettings(
                    allow=("127.0.0.0/8",), robots=False, page_seconds=PAGE_SECONDS, **(fetch or {})
                ),
                feeds=FeedsSettings(urls=(world.url(FEED),)),
                log=LogSettings(level="info"),
            )  # fmt: skip
            with capture_logs() as lines:
                async with Node.open(chosen) as node:
                    await node.sources.open("tavily")._load()  # type: ignore[attr-defined] # its SDK takes real time
                    urls = tuple(world.url(each) for each in ordered)
                    options = ResearchOptions(breadth=breadth, depth=1, sources=sources, urls=urls)
                    handle = await node.submit(Ticket(text=question, workflow="research", options=options))
                    with jumping(node):
                        async with asyncio.timeout(LONGEST_SECONDS):
                            outcome = await handle.outcome()
                    case = (await node.journal.fold(await node.journal.find(outcome.run))).case
            structlog.reset_defaults()
            return Found(outcome, case, list(lines), world, server)


GOOD = {"/articles/tram": 0, "/articles/bees": 1, "/articles/heat-pumps": 2}
LONG = "/long"
FAILING = {
    "/gone": "dead", "/broken": "unreachable", "/silent": "timed_out", "/hang-up": "unreachable",
    "/not-http": "unreachable", "/short": "unreachable",
}  # fmt: skip
"""4xx, 5xx, time-outs and broken connections, and how each is reported."""
CLOSED = {"/paywall": "paywall", "/pay": "paywall", "/login": "paywall", "/blocked": "blocked", "/forbidden": "blocked"}
NO_TEXT = dict.fromkeys(("/binary", "/image-as-html", "/pdf", "/pdf-as-html"), "binary")
GIVEN = "/only-tavily"
EXTRACTED = f"""\
# The ferry by Tavily

<script>window.trackVisitor = function () {{ return 1; }}</script>
<style>.menu {{ color: red; }}</style>

{site_pages.ARTICLES["/articles/ferry"].partition(chr(10))[2]}

Subscribe to our newsletter
"""


def lengthen() -> Reply:
    """A page of some forty thousand characters, no sentence twice."""
    said = [
        f"<p>Paragraph {n} tells that tram line 7 carried {n + 1_000} passengers on day {n}, and {n + 77} of them "
        f"had a ticket of zone {n % 9} in their pocket.</p>"
        for n in range(300)
    ]
    return Reply(f"<html><title>Days of line 7</title><body><main>{''.join(said)}</main></body></html>".encode())


@pytest.fixture(scope="module")
def messy() -> Iterator[Found]:
    """A research in a web as it is: good pages, and every way to fail."""
    paths = GOOD | {GIVEN: 0, LONG: 1}
    paths |= {path: n % 3 for n, path in enumerate([*FAILING, *CLOSED, *NO_TEXT])}
    with tempfile.TemporaryDirectory() as folder:
        yield asyncio.run(
            explore(Path(folder), paths, given={GIVEN: EXTRACTED}, pages={LONG: lengthen(), GIVEN: PAGES["/gone"]})
        )


@pytest.mark.req("RE-1")
@pytest.mark.parametrize("most", [2, 3])
async def test_re_1_several_queries_are_searched_in_parallel_under_a_limit(tmp_path: Path, most: int) -> None:
    async def slow(server: FakeTavily, request: http.Request, body: Body) -> http.StreamResponse:
        await asyncio.sleep(1)
        return await finds()(server, request, body)

    it = await explore(tmp_path, GOOD, search=slow, tavily={"concurrency": most})

    assert len(set(it.tavily.queries())) >= 4
    assert it.tavily.most_at_once == most


@pytest.mark.req("RE-2")
def test_re_2_tavilys_extraction_retrieves_the_text(messy: Found) -> None:
    asked = {url for path, body in messy.tavily.asked if path == "/extract" for url in body["urls"]}

    assert {messy.site.url(path, host) for path, host in GOOD.items()} <= asked
    assert messy.site.url(GIVEN) in asked
    assert "The electric ferry Petrel has crossed the sound" in messy.text(GIVEN)
    assert messy.site.hits(GIVEN) == 0, "nobody had to go there again"


@pytest.mark.req("RE-2")
def test_re_2_what_it_does_not_have_is_read_from_the_site(messy: Found) -> None:
    assert "The ride takes 26 minutes" in messy.text("/articles/tram")
    assert messy.site.hits("/articles/tram") == 1


@pytest.mark.req("RE-3")
def test_re_3_what_the_service_extracted_is_cleaned_of_scripts_and_styles(messy: Found) -> None:
    text = messy.text(GIVEN)

    assert not re.search(r"script|style|trackVisitor|color: red|newsletter", text)
    assert "4,300 kilowatt hours" in text


@pytest.mark.req("RE-4")
@pytest.mark.parametrize(("path", "reason"), FAILING.items())
def test_re_4_no_failure_ends_the_session_and_each_is_logged_and_reported(messy: Found, path: str, reason: str) -> None:
    assert (messy.outcome.why, messy.outcome.by) == ("completed", "reporter")
    assert messy.missed[path] == reason
    logged = [line for line in messy.lines if line["event"] == "page.missed" and line["place"].endswith(path)]
    assert [line["reason"] for line in logged] == [reason]
    assert f"{path}: " in messy.report


@pytest.mark.req("RE-4")
async def test_re_4_nor_does_a_search_that_fails(tmp_path: Path) -> None:
    it = await explore(tmp_path, GOOD, search=fails(500, "oops"))

    assert (it.outcome.why, it.outcome.by) == ("completed", "reporter")
    assert [line["source"] for line in it.lines if line["event"] == "search.failed"][:1] == ["tavily"]
    assert "tavily: A source did not answer" in it.report


@pytest.mark.req("RE-5")
def test_re_5_every_content_carries_its_url_and_title(messy: Found) -> None:
    titles = {page.url: page.title for page in messy.case.pages}

    assert titles == {
        messy.site.url("/articles/tram", 0): "Tram line 7 reaches Marwick airport",
        messy.site.url("/articles/bees", 1): "City bees do well on flat roofs",
        messy.site.url("/articles/heat-pumps", 2): "Heat pumps in the old quarter of Osterby",
        messy.site.url(GIVEN): "The ferry by Tavily",
        messy.site.url(LONG, 1): "Days of line 7",
    }
    sources = messy.report.partition("## Sources")[2]
    for url, title in titles.items():
        if title.startswith(("Tram", "City", "Heat")):
            assert re.search(rf"\*\*{title}\*\* — .*<{url}>", sources)


@pytest.mark.req("RE-6")
def test_re_6_at_most_twenty_thousand_characters_of_a_page(messy: Found) -> None:
    (page,) = [each for each in messy.case.pages if each.url.endswith(LONG)]

    assert page.full_length > 30_000
    assert 19_000 < len(page.text) <= 20_000


@pytest.mark.req("RE-7")
@pytest.mark.parametrize("path", NO_TEXT)
def test_re_7_what_is_no_text_is_recognised_and_skipped(messy: Found, path: str) -> None:
    assert messy.missed[path] == "binary"
    assert [page.url for page in messy.case.pages if page.url.endswith(path)] == []
    assert f"{path}: " in messy.report.partition("### Not a text")[2]


@pytest.mark.req("RE-8")
def test_re_8_three_queries_give_cleaned_text_of_three_domains(messy: Found) -> None:
    first = messy.tavily.queries()[:3]
    assert sorted(word for word in ("tram", "bee", "heat pumps") for query in first if word in query) == [
        "bee", "heat pumps", "tram",
    ]  # fmt: skip
    hosts = {page.url.partition("//")[2].partition(":")[0] for page in messy.case.pages if len(page.text) > 250}
    assert hosts == {"127.0.0.1", "127.0.0.2", "127.0.0.3"}


@pytest.mark.req("RE-12")
@pytest.mark.parametrize(("path", "reason"), CLOSED.items())
def test_re_12_a_page_that_is_not_for_everybody_is_logged_and_skipped(messy: Found, path: str, reason: str) -> None:
    assert messy.missed[path] == reason
    assert [line["reason"] for line in messy.lines if line.get("place", "").endswith(path)] == [reason]
    assert "two sets of books" not in "".join(page.text for page in messy.case.pages)


@pytest.mark.req("RE-12")
async def test_re_12_the_next_source_is_taken_instead(tmp_path: Path) -> None:
    it = await explore(tmp_path, {"/paywall": 0, "/login": 1, **GOOD}, breadth=3)

    assert {page.url for page in it.case.pages} == {it.site.url(path, host) for path, host in GOOD.items()}


@pytest.mark.req("RE-13")
async def test_re_13_a_host_is_asked_for_two_pages_at_once_and_all_for_eight(tmp_path: Path) -> None:
    here = {f"/n/{n}": n % 3 for n in range(15)}
    pages = {
        path: Reply(lengthen().body.replace(b"Paragraph", f"Note {path} of".encode())) for path in here
    }  # fmt: skip

    it = await explore(tmp_path, here, pages=pages, seconds=1.0)

    assert it.site.most_at_once["127.0.0.1"] == it.site.most_at_once["127.0.0.3"] == 2
    assert 3 <= it.site.most_at_once[""] <= 8


@pytest.mark.req("RE-13")
async def test_re_13_a_provider_that_asks_for_fewer_requests_is_left_alone(tmp_path: Path) -> None:
    limits = fails(429, "Too many requests.", {"Retry-After": "3600"})

    it = await explore(tmp_path, GOOD, search=limits, tavily={"concurrency": 1})

    assert len(it.tavily.queries()) == 1, "for an hour nothing is asked"
    assert "tavily: A source did not answer" in it.report
    assert any("Tavily asks for fewer requests" in str(line) for line in it.lines)


@pytest.mark.req("RE-13")
async def test_re_13_who_asks_for_a_moment_is_asked_again_after_it(tmp_path: Path) -> None:
    moments: list[float] = []

    async def once(server: FakeTavily, request: http.Request, body: Body) -> http.StreamResponse:
        moments.append(asyncio.get_running_loop().time())
        step = finds() if len(moments) > 1 else fails(429, "Too many requests.", {"Retry-After": "5"})
        return await step(server, request, body)

    await explore(tmp_path, GOOD, search=once, tavily={"concurrency": 1})

    assert moments[1] - moments[0] >= 5.0


@pytest.mark.req("RE-14")
def test_re_14_each_source_was_read_or_failed_and_holds_its_content(messy: Found) -> None:
    read = {page.url: page.text for page in messy.case.pages}
    failed = {each.place: (each.reason, each.detail) for each in messy.case.missed}
    paths = {**GOOD, GIVEN: 0, LONG: 1, **{path: n % 3 for n, path in enumerate([*FAILING, *CLOSED, *NO_TEXT])}}
    every = {messy.site.url(path, host) for path, host in paths.items()}

    assert {each.url for each in messy.case.results} == every, "what the searches found"
    assert set(read) | set(failed) == every, "and what became of each"
    assert set(read).isdisjoint(failed)
    assert all(read.values())
    assert all(detail.endswith(".") for _, detail in failed.values())


@pytest.mark.req("RE-14")
def test_re_14_the_queries_and_how_each_ended_are_known(messy: Found) -> None:
    asked = messy.tavily.queries()
    assert len(set(asked)) >= 3
    assert all(each.query in asked for each in messy.case.results), "each result is that of a query"
    assert messy.case.unavailable == ()


SECTIONS = ("World", "Money", "Weather", "Sport", "Culture", "Letters", "Jobs", "Motors", "Recipes", "Puzzles")
TEASERS = "".join(
    f'<li><a href="/t/{n}">{word} news: {word.lower()} readers ask what comes next</a></li>'
    for n, word in enumerate(SECTIONS * 3)
)


def crowded(article: site_pages.Article) -> str:
    """A page as large sites make it: menus, a cookie notice, teasers and a footer around the article."""
    menu = "".join(f'<li><a href="/{each.lower()}">{each}</a></li>' for each in SECTIONS)
    around = (
        (
            f'<header><ul class="menu">{menu}</ul><div class="cookie-banner">We and 214 partners use cookies for '
            f"our advertisements. <button>Accept all</button></div></header>"
        ),
        (
            f'<aside class="related"><h2>More for you</h2><ul>{TEASERS}</ul></aside><footer><ul>{menu}</ul>'
            "<p>Imprint, privacy, contact. All rights reserved by the publisher.</p></footer>"
        ),
    )
    return article.html.replace("<main>", f"{around[0]}<main>").replace("</main>", f"</main>{around[1]}")


def shares(text: str, truth: str) -> tuple[float, float]:
    """(noise, coverage): words that are not the article's, and words of the article that are there."""
    said, true = Counter(WORD.findall(text.lower())), Counter(WORD.findall(truth.lower()))
    both = sum((said & true).values())
    return 1 - both / max(1, sum(said.values())), both / sum(true.values())


PLACES = {f"/crowded{n}": n % 3 for n in range(8)}
TOLD = [(path, host) for path in site_pages.ARTICLES for host in range(3 if path == "/article" else 1)]
TOLD = [each for each in TOLD if each != ("/articles/barrage", 0)]


@pytest.fixture(scope="module")
def crowd() -> Iterator[Found]:
    """A research over articles as large sites print them."""
    pages = {
        place: Reply(crowded(site_pages.article(*told)).encode()) for place, told in zip(PLACES, TOLD, strict=True)
    }  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        yield asyncio.run(explore(Path(folder), PLACES, pages=pages))


def read(crowd: Found) -> dict[str, tuple[float, float]]:
    """By path of each page that was read: (noise, coverage)."""
    told = dict(zip(PLACES, TOLD, strict=True))
    paths = {page.url.rpartition("/")[2]: page.text for page in crowd.case.pages}
    return {path: shares(text, site_pages.article(*told[f"/{path}"]).text) for path, text in paths.items()}


@pytest.mark.req("RE-9")
def test_re_9_the_main_text_of_at_least_seven_in_ten_reachable_pages_is_found(crowd: Found) -> None:
    found = [coverage > 0.9 for _, coverage in read(crowd).values()]

    assert sum(found) / len(PLACES) >= 0.7


@pytest.mark.req("RE-11")
def test_re_11_less_than_fifteen_percent_of_an_article_page_is_noise(crowd: Found) -> None:
    noise = {path: noise for path, (noise, _) in read(crowd).items()}

    assert len(noise) == 8
    assert {path: share for path, share in noise.items() if share >= 0.15} == {}


@pytest.mark.req("RE-3")
def test_re_3_no_navigation_advertisement_or_script_is_left_of_a_page(crowd: Found) -> None:
    texts = [page.text for page in crowd.case.pages]

    assert len(texts) == 8
    for noise in (
        "Subscribe to our newsletter", "trackVisitor", "Advertisement: buy two", "Home | Topics | Shop",
        "All rights reserved", "More for you", "214 partners", "Imprint",
    ):  # fmt: skip
        assert [text for text in texts if noise in text] == []
    assert not any(re.search(r"</?(?:p|div|script|nav|style)\b", text) for text in texts)


def test_the_pages_would_be_full_of_noise_if_nobody_cleaned_them() -> None:
    for path in site_pages.ARTICLES:
        article = site_pages.article(path)
        everything = re.sub(r"<[^>]*>", " ", crowded(article))
        assert shares(everything, article.text)[0] > 0.45


SILENT = 10_000.0
SLOW: list[tuple[float, tuple[float, ...]]] = [
    (0.5, (1, 1, 1, 1, 1, 1, 1)),
    (2.0, (4, 2, 6, 3, 5, 7, 2)),
    (5.0, (9, 1, 7, 12, 8, 10, 14)),
    (3.0, (2, SILENT, 3, 2, 2, 4, 3)),
    (6.0, (SILENT, 3, SILENT, 9, 12, 2, 20)),
]
"""Seconds that a search takes, and those that each of its results does: a quick web, a usual one, and bad ones."""


class Engine(Trusts):
    """A search that takes its time and finds pages of the site, the best first."""

    names = ("web",)

    def __init__(self, urls: list[str], seconds: float) -> None:
        self._urls, self._seconds = urls, seconds

    async def search(self, source: str, query: str, *, limit: int, within: float) -> tuple[SearchResult, ...]:
        await asyncio.sleep(self._seconds)
        assert limit >= len(self._urls)
        return tuple(
            SearchResult(source, f"The tidal barrage, part {n}", url, f"On the barrage, {n}.", quality=1 - n / 100)
            for n, url in enumerate(self._urls)
        )


async def top_five(web: Site, folder: Path, here: Here, searching: float, reading: tuple[float, ...]) -> ReadSources:
    """Search one query, and read the best five pages, as a research does; what is known then."""
    paths = [path for path in site_pages.ARTICLES if path != "/articles/barrage"]
    urls = [web.url(path, n % 3) for n, path in enumerate([*paths, "/article"][: len(reading)])]
    web.slow = dict(zip((url.partition(str(web.port))[2] for url in urls), reading, strict=True))
    plan, brief, text = (
        Plan(("What of the barrage?",), ("tidal barrage",), ("web",)),
        ResearchOptions(breadth=5),
        "tidal barrage",
    )
    found = await Searcher(Engine(urls, searching)).receive(
        RunSearches(text=text, brief=brief, plan=plan, results=(), pages=(), missed=(), unavailable=(), shortfall=""),
        Turn(300.0),  # type: ignore[arg-type]
    )  # fmt: skip
    client = Client(FetchSettings(allow=("127.0.0.0/8",)))
    try:
        pages = make_pages(settings(folder, client.settings), here, client).for_run(Noted(), budget())
        known: dict[str, Any] = {
            "text": text, "brief": brief, "plan": plan, "results": found.results, "partial": "",
        }  # fmt: skip
        read = await Extractor(pages).receive(
            ReadSources(**known, pages=(), missed=(), read_before=0), Turn(300.0)  # type: ignore[arg-type]
        )  # fmt: skip
    finally:
        await client.close()
    return ReadSources(**known, pages=read.pages, missed=read.missed, read_before=0)


@pytest.mark.req("RE-10")
async def test_re_10_the_top_five_of_a_query_are_searched_and_read_in_under_twenty_seconds(tmp_path: Path) -> None:
    # given the web as it is, with the limits as they are when nobody sets them
    assert ResearchSettings().breadth == 5
    loop, here, seconds, read = asyncio.get_running_loop(), Here(), list[float](), list[int]()

    # when
    try:
        for number, (searching, reading) in enumerate(SLOW):
            folder = tmp_path / str(number)
            folder.mkdir()
            async with site() as web:
                with hurried():
                    start = loop.time()
                    known = await top_five(web, folder, here, searching, reading)
                    seconds.append(loop.time() - start)
                    read.append(len(known.pages))
    finally:
        here.close()

    # then
    assert read[:4] == [5, 5, 5, 5]
    assert read[4] >= 3
    assert sum(seconds) / len(seconds) < 20.0
    assert max(seconds) < 25.0
