"""What reading the web must come to, over the articles of the loopback site: their text, and next to nothing else."""

import asyncio
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from actors.evidence.sources import FailedSource, Page, SearchResult
from actors.research.extractor import Extractor
from actors.research.messages import AnalyzeSources, ReadSources, RunSearches
from actors.research.models import Plan, ResearchOptions
from actors.research.searcher import Searcher
from runtime.crawl.extract.extracted import Extracted
from runtime.crawl.extract.page import extract
from runtime.crawl.http_client import Client
from runtime.settings import FetchSettings, ResearchSettings
from tests import site_pages
from tests.actors.research.test_extractor import Turn
from tests.clock import hurried
from tests.fakes import Trusts
from tests.inquiry import WEB, Inquiry, Reads
from tests.runtime.crawl.kit import Here, Noted, budget, make_pages, settings
from tests.site import Site, site

WORD = re.compile(r"\w+")
NOISE_SHARE = 0.15
COVERED_SHARE = 0.9
"""So much of an article's own words must be there: an empty text has no noise either."""


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


def read(path: str) -> tuple[site_pages.Article, Extracted]:
    article = site_pages.article(path)
    html = crowded(article).encode()
    return article, extract(html, "utf-8", "text/html", f"http://site.example{path}", "What is it about?")


def shares(text: str, truth: str) -> tuple[float, float]:
    """(noise, coverage): words that are not the article's, and words of the article that are there."""
    said, true = Counter(WORD.findall(text.lower())), Counter(WORD.findall(truth.lower()))
    both = sum((said & true).values())
    return 1 - both / max(1, sum(said.values())), both / sum(true.values())


@pytest.mark.req("RE-11", "RE-3")
@pytest.mark.parametrize("path", sorted(site_pages.ARTICLES))
def test_re_11_less_than_fifteen_percent_of_an_article_page_is_noise(path: str) -> None:
    article, extracted = read(path)

    noise, coverage = shares(extracted.text, article.text)

    assert noise < NOISE_SHARE
    assert coverage > COVERED_SHARE
    assert [each for each in site_pages.NOISE if each in extracted.text] == []


def test_the_pages_would_be_full_of_noise_if_nobody_cleaned_them() -> None:
    for path in site_pages.ARTICLES:
        article = site_pages.article(path)
        everything = re.sub(r"<[^>]*>", " ", crowded(article))
        assert shares(everything, article.text)[0] > 3 * NOISE_SHARE


@pytest.mark.req("RE-9")
def test_re_9_the_main_text_of_at_least_seven_in_ten_pages_is_found() -> None:
    found = [shares(read(path)[1].text, site_pages.article(path).text)[1] > 0.5 for path in site_pages.ARTICLES]

    assert sum(found) / len(found) >= 0.7


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


@pytest.mark.req("RE-14")
async def test_re_14_each_source_of_a_research_was_read_or_failed_and_holds_its_content() -> None:
    gone, *there = WEB
    asked: list[AnalyzeSources] = []
    inquiry = Inquiry(brief=ResearchOptions(breadth=4, depth=1), fetch=Reads(missing=[gone]))
    cast = inquiry.live._bus._cast
    analyzer = cast["analyzer"]

    def kept() -> Any:
        agent = analyzer()
        receive = agent.receive

        async def look(message: AnalyzeSources, ctx: Any) -> Any:
            asked.append(message)
            return await receive(message, ctx)  # type: ignore[misc]

        agent_ = type("Kept", (), {"receive": staticmethod(look)})
        return agent_()

    cast["analyzer"] = kept  # type: ignore[index]
    await inquiry.end()

    # a source is one URL, with what it says or why it says nothing
    sources: list[Page | FailedSource] = [*inquiry.known.pages, *inquiry.known.missed]
    assert {each.url if isinstance(each, Page) else each.place for each in sources} == set(WEB)
    assert {each.place: each.reason for each in inquiry.known.missed} == {gone: "dead"}
    assert all(each.detail for each in inquiry.known.missed)
    # and the cleaned content is what the next agent gets to think about
    (message,) = asked
    assert {page.url: page.text for page in message.pages} == {url: WEB[url] for url in there}
    assert isinstance(message.pages[0], Page)


@pytest.mark.req("RE-14", "RE-5")
def test_re_14_cleaned_content_is_the_text_with_its_address_and_title() -> None:
    article, extracted = read("/articles/tram")

    assert isinstance(extracted, Extracted)
    assert extracted.title == article.title
    assert extracted.text
    assert not re.search(r"</?(?:p|div|script|nav|style)\b", extracted.text)
    assert {"key", "url", "title", "text", "sha256", "read_at"} <= set(Page.__struct_fields__)
