"""Pages that stand in the place of the text, and texts that only speak of such pages."""

import pytest

from tests.runtime.crawl.extract.test_page import PARAGRAPHS, article, page, read
from tests.site_pages import SENTENCES


@pytest.mark.req("RE-12")
@pytest.mark.parametrize(("name", "paywall"), [("blocked", False), ("paywall", True), ("login", True)])
def test_pages_in_the_place_of_the_text_are_known(name: str, paywall: bool) -> None:
    found = read(f"<html><head></head><body>{SENTENCES[name]}</body></html>")

    assert found.blocked.startswith("The ")
    assert found.paywall is paywall


GATES = [
    "<title>Example</title><div id=root></div><noscript>You need to enable JavaScript to run this app.</noscript>",
    "<title>Attention Required! | Cloudflare</title><p>Sorry, you have been blocked. Ray ID: 7f</p>",
    "<title>news.org</title><p>We have detected unusual traffic from your network.</p><div class=g-recaptcha></div>",
    "<title>请稍候…</title><p>正在进行人机验证</p>",
]


@pytest.mark.req("RE-12")
@pytest.mark.parametrize("html", GATES)
def test_gates_against_robots_are_known(html: str) -> None:
    found = read(f"<html><body>{html}</body></html>")

    assert found.blocked == "The site shows a bot check instead of the text."
    assert not found.paywall


FREE = '<script type="application/ld+json">{"@type": "NewsArticle", "isAccessibleForFree": false}</script>'


@pytest.mark.req("RE-12")
def test_the_beginning_of_a_text_before_a_paywall_is_no_page() -> None:
    offer = "<div class=offer><p>Subscribe to continue reading.</p><button>Buy</button></div>"

    assert read(page(article(*PARAGRAPHS[:3]) + offer)).paywall
    assert read(page(article(*PARAGRAPHS[:3]), FREE)).paywall


@pytest.mark.parametrize(
    "html",
    [
        page(
            article(
                "CAPTCHAs ask you to verify that you are human. Sites show “just a moment” before that.",
                *PARAGRAPHS * 2,
            )
        ),
        page(article(*PARAGRAPHS) + "<noscript>Please enable JavaScript to see the comments.</noscript>"),
        page(article(*PARAGRAPHS) + "<form><p>You must be logged in to post a comment.</p></form>"),
        page(article(*PARAGRAPHS * 3), FREE),
        page(article("Subscribers must log in to read, said the board.", *PARAGRAPHS * 2)),
        page(article(*PARAGRAPHS) + '<form class="g-recaptcha"><input></form>'),
    ],
    ids=["about captchas", "noscript", "comment form", "metered but whole", "about subscribers", "contact form"],
)
def test_a_text_that_only_speaks_of_gates_and_walls_is_a_text(html: str) -> None:
    found = read(html)

    assert (found.blocked, found.thin, found.paywall) == ("", "", False)


def test_too_little_text_does_not_count() -> None:
    links = "".join(f'<li><a href="/{n}">A link to page number {n} of the shop</a></li>' for n in range(100))

    assert read(page("<p>Coming soon.</p>")).thin.startswith("The page has only")
    assert read(page("")).thin == "The page has no text."
    assert read(page(f"<ul>{links}</ul><article><p>{PARAGRAPHS[0]}</p><p>{PARAGRAPHS[1]}</p></article>")).thin
