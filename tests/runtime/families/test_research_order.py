"""What a research is ordered to be: numbers within their bounds, sources that are there, a file that can be written."""

from typing import Any

import pytest

from actors.research.models import ResearchOptions
from runtime.families.research import MOST_PAGES, MOST_URLS, ResearchOrder, make_options
from runtime.service_error import ServiceError
from runtime.settings import (
    DuckduckgoSettings,
    FeedsSettings,
    ModelSettings,
    ResearchSettings,
    Settings,
    TavilySettings,
)

ALL = Settings(
    tavily=TavilySettings(api_key="unused"), duckduckgo=DuckduckgoSettings(enabled=True),
    feeds=FeedsSettings(urls=("https://example.org/feed.xml",)),
)  # fmt: skip


def ordered(settings: Settings | None = None, **given: Any) -> ResearchOptions:
    return make_options(ResearchOrder(**given), settings or Settings())


def refusal(settings: Settings | None = None, **given: Any) -> str:
    with pytest.raises(ServiceError) as caught:
        ordered(settings, **given)
    said = str(caught.value)
    assert said.isprintable()
    return said


@pytest.mark.req("DR-7")
def test_breadth_and_depth_are_pages_a_round_and_rounds() -> None:
    assert ordered(breadth=5, depth=3) == ResearchOptions(breadth=5, depth=3)
    assert ordered(breadth=20, depth=5) == ResearchOptions(breadth=20, depth=5)


@pytest.mark.req("DR-8")
def test_a_depth_alone_is_one_pass_over_so_many_pages() -> None:
    assert ordered(depth=10) == ResearchOptions(breadth=10, depth=1)
    assert ordered(depth=MOST_PAGES) == ResearchOptions(breadth=MOST_PAGES, depth=1)


@pytest.mark.req("DR-9")
def test_with_neither_it_is_as_configured_five_pages_and_two_rounds() -> None:
    assert ordered() == ResearchOptions(breadth=5, depth=2)
    assert ordered(Settings(research=ResearchSettings(breadth=7, depth=4))) == ResearchOptions(breadth=7, depth=4)


def test_a_breadth_alone_keeps_the_configured_depth() -> None:
    assert ordered(Settings(research=ResearchSettings(depth=4)), breadth=3) == ResearchOptions(breadth=3, depth=4)


@pytest.mark.parametrize(
    ("given", "part"),
    [
        ({"breadth": 0}, "--breadth must be a whole number from 1 to 20, not 0."),
        ({"breadth": 21, "depth": 2}, "--breadth must be a whole number from 1 to 20, not 21."),
        ({"breadth": 2, "depth": 6}, "number of rounds and must be a whole number from 1 to 5, not 6."),
        ({"depth": 51}, "number of pages of one pass and must be a whole number from 1 to 50, not 51."),
        ({"depth": -1}, "not -1."),
        ({"depth": 10**4000}, "not 1000"),
    ],
)
def test_a_number_out_of_bounds_is_one_sentence(given: dict[str, Any], part: str) -> None:
    assert part in refusal(**given)


def test_sources_are_taken_once_in_the_order_that_they_are_named() -> None:
    assert ordered(ALL, sources=("Web", "knowledge ", "web", "", "rss")).sources == ("web", "knowledge", "rss")
    assert ordered(ALL).sources == (), "all that are configured"


def test_configured_sources_hold_unless_others_are_named() -> None:
    settings = Settings(research=ResearchSettings(sources=("knowledge",)), feeds=ALL.feeds)

    assert ordered(settings).sources == ("knowledge",)
    assert ordered(settings, sources=("rss",)).sources == ("rss",)


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("tavliy", "there is no source 'tavliy'. Did you mean 'tavily'?"),
        ("\x1b[2J", "Known are: knowledge, rss, tavily, web."),
        ("tavily", "set TAVILY_API_KEY"),
        ("web", "set [duckduckgo] enabled = true"),
        ("rss", "name feeds in [feeds] urls"),
    ],
)
def test_a_source_that_cannot_be_asked_says_what_to_do(name: str, part: str) -> None:
    assert part in refusal(sources=(name,))


def test_a_source_of_the_configuration_that_is_none_is_named_with_its_place() -> None:
    assert refusal(Settings(research=ResearchSettings(sources=("google",)))).startswith("[research] sources: there is")


def test_a_source_that_is_not_installed_says_how_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)

    assert "pip install -e '.[duckduckgo]'" in refusal(ALL, sources=("web",))


def test_a_budget_of_money_needs_prices_to_count_with() -> None:
    money, paid = ResearchSettings(money=1.0), ModelSettings(api_key="unused", price_in=0.25)
    assert "price_in" in refusal(Settings(research=money, model=ModelSettings(api_key="unused")))
    assert ordered(Settings(research=money, model=paid)).breadth == 5
    assert ordered(Settings(research=money)).breadth == 5, "without a model nothing is paid for"


def test_pages_are_named_once() -> None:
    assert ordered(urls=("https://a.org/x", " https://a.org/x", "http://127.0.0.1:80/")).urls == (
        "https://a.org/x",
        "http://127.0.0.1:80/",
    )


@pytest.mark.parametrize(
    ("url", "part"),
    [
        ("example.org/page", "Did you mean 'https://example.org/page'?"),
        ("javascript:alert(1)", "is no address of a web page"),
        ("file:///etc/passwd", "is no address of a web page"),
        ("https://", "is no address of a web page"),
        ("https://[::1", "is no address of a web page"),
        ("https://a.org:99999/", "is no address of a web page"),
        ("https://a.org/\x1b[2J", "is no address of a web page"),
        ("https://a.org/ b", "is no address of a web page"),
        ("", "is no address of a web page"),
        ("https://me:secret@a.org/", "Leave them away."),
        ("https://a.org/" + "a" * 3000, "over 2000 characters"),
    ],
)
def test_what_is_no_page_is_one_sentence(url: str, part: str) -> None:
    said = refusal(urls=(url,))

    assert part in said
    assert "secret" not in said
    assert len(said) < 300


def test_too_many_pages_are_refused() -> None:
    assert f"At most {MOST_URLS} URLs" in refusal(urls=tuple(f"https://a.org/{n}" for n in range(MOST_URLS + 1)))
