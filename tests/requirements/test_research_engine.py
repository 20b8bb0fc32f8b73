"""What reading the web must come to, over the articles of the loopback site: their text, and next to nothing else."""

import re
from collections import Counter

import pytest

from runtime.extract.page import extract
from runtime.extract.wire import Extracted
from tests import site_pages

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
