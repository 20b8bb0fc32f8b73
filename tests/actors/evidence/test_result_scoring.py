"""How results are judged unread, and in which order they are read."""

from typing import Any
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.evidence.result_scoring import HOSTS, match, reading_order, reasons, score, weights
from actors.evidence.sources import SearchResult
from actors.research.models import Plan
from actors.research.searcher import failed_check
from actors.text.urls import host_of, web_address

QUESTION = "How does the Halyard cache decide what to evict?"


def result(
    title: str = "Eviction in Halyard", summary: str = "The cache evicts old entries.", **more: Any
) -> SearchResult:
    known: dict[str, Any] = {"source": "web", "url": "https://a.example/eviction"}
    return SearchResult(title=title, summary=summary, **(known | more))


def quality(question: str = QUESTION, newest: str = "", **more: Any) -> float:
    prior = more.pop("prior", 0.6)
    return score(result(**more), question, prior=prior, newest=newest).value


def test_what_has_the_words_of_the_question_is_better_than_what_has_not() -> None:
    full, half, none = quality(), quality(summary=""), quality(title="Cats", summary="They sleep all day.")

    assert full > half > none
    assert full > 0.6
    assert none < Plan((), (), ()).least_quality, "what has nothing to do with it is read only for want of better"


@pytest.mark.parametrize(
    "worse",
    [
        {"url": "https://a.example/login?next=/eviction"},
        {"url": "https://a.example/tag/eviction"},
        {"url": "https://a.example/search/eviction"},
        {"url": "https://a.example/?q=eviction"},
        {"url": "https://a.example/eviction.pdf"},
        {"url": "https://a.example/eviction.zip"},
        {"url": "http://a.example/eviction"},
        {"prior": 0.5},
        {"quality": 0.1},
    ],
)
def test_what_makes_a_result_worse(worse: dict[str, Any]) -> None:
    assert quality(**worse) < quality()


@pytest.mark.parametrize(
    "url", ["https://a.example/tagging-pages", "https://a.example/research/x", "https://a.example/authors-note"]
)
def test_a_path_that_only_looks_like_a_list_is_none(url: str) -> None:
    assert quality(url=url) == quality()


def test_its_source_is_trusted_by_what_it_says_and_by_what_it_is() -> None:
    assert quality(quality=0.95) > quality(quality=0.4)
    assert quality(prior=0.9) > quality(prior=0.7) > quality(prior=0.6)


def test_age_counts_only_when_something_recent_is_asked_for() -> None:
    old, new = {"published": "2019-01-01"}, {"published": "2026-01-01"}

    assert quality(newest="2026-01-01", **old) == quality(newest="2026-01-01", **new)
    recent = "latest Halyard eviction"
    assert quality(recent, "2026-01-01", **new) > quality(recent, "2026-01-01", **old)
    assert quality(recent, "2026-01-01", **new) > quality(recent, "2026-01-01") > quality(recent, "2026-01-01", **old)


def test_it_says_what_a_quality_rests_on() -> None:
    said = score(result(url="https://a.example/tag/x", quality=0.5, summary=""), QUESTION).why

    assert said == (
        "has most of the words that were searched for", "rated 0.50 by its source", "no summary",
        "a list, a form or a log-in page",
    )  # fmt: skip


def test_a_page_tells_what_the_quality_of_its_result_rests_on() -> None:
    judged = result(quality=0.7, query=QUESTION)

    assert reasons(judged) == ("found by web", "has most of the words that were searched for")
    assert reasons(result(source="urls")) == ("named by the user",)


def test_names_and_numbers_count_double_and_endings_do_not_count() -> None:
    assert sorted(weights("What does PostgreSQL 16 index?").values()) == [1.0, 2.0, 2.0]
    assert match(weights("indexing replicated tables"), "Indexes, a replicated table") == 1.0
    assert match(weights("東京の天気"), "東京は晴れ") > 0
    assert match(weights("the of and"), "the of and") == 0.0


@given(
    st.text(max_size=300), st.text(max_size=300), st.floats(allow_nan=False), st.text(max_size=60), st.text(max_size=12)
)
def test_a_quality_is_always_between_0_and_1(question: str, title: str, said: float, url: str, date: str) -> None:
    found = score(result(title, title[::-1], quality=said, url=f"https://{url}", published=date), question, newest=date)

    assert 0 <= found.value <= 1
    assert found.why


PLAN = Plan(("What?",), ("q",), ("web", "rss"), least_results=3, least_quality=0.2)


@pytest.mark.req("PR-9")
@pytest.mark.parametrize(
    ("qualities", "failed", "said"),
    [
        ((0.5, 0.5, 0.1), 0, ""),
        ((), 0, "The searches found nothing new."),
        ((), 2, "The searches found nothing new. 2 of 2 sources did not answer."),
        ((0.5, 0.5), 0, "Of 3 new results that are needed the searches found 2."),
        ((0.1, 0.1, 0.19), 1, "Of 3 new results none seems to answer the question. 1 of 2 sources did not answer."),
    ],
)
def test_too_little_is_said_in_a_sentence(qualities: tuple[float, ...], failed: int, said: str) -> None:
    assert failed_check([result(quality=each) for each in qualities], PLAN, failed) == said


def spread(*places: tuple[str, float], **more: Any) -> list[SearchResult]:
    return [
        result(f"{n}", url=f"https://{host}.example/{n}", quality=good, **more) for n, (host, good) in enumerate(places)
    ]


@pytest.mark.req("RE-8")
def test_several_hosts_are_among_those_that_are_read_first() -> None:
    found = spread(("a", 0.9), ("a", 0.8), ("a", 0.7), ("b", 0.6), ("c", 0.5))

    assert [each.title for each in reading_order(found, 3)] == ["0", "3", "4", "1", "2"]


def test_a_host_that_has_nothing_good_is_not_read_for_its_own_sake() -> None:
    found = spread(("a", 0.9), ("a", 0.8), ("a", 0.7), ("b", 0.3), ("c", 0.1))

    assert [each.title for each in reading_order(found, 3)] == ["0", "1", "2", "3", "4"]


def test_a_page_that_the_user_named_stays_in_front() -> None:
    named = spread(("a", 0.0), ("a", 0.0), source="urls")

    order = reading_order([*spread(("b", 0.9), ("c", 0.9)), *named], 2)

    assert [each.source for each in order] == ["urls", "urls", "web", "web"]


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.floats(0, 1)), max_size=12), st.integers(1, 8))
def test_reading_order_loses_nothing_and_finds_hosts_where_there_are_good_ones(places: Any, wanted: int) -> None:
    found = spread(*places)

    order = reading_order(found, wanted)

    assert sorted(each.title for each in order) == sorted(each.title for each in found)
    assert order == reading_order(found, wanted)
    hosts = {host_of(each.url) for each in order[:wanted]}
    outside = {host_of(each.url) for each in order[wanted:]} - hosts
    if len(hosts) < min(HOSTS, wanted) and outside and len(order[:wanted]) > len(hosts):
        best = max(each.quality for each in order[wanted:] if host_of(each.url) in outside)
        assert any(2 * best < each.quality for each in order[:wanted])


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)", "file:///etc/passwd", "ftp://a.example/", "//a.example/", "a.example", "", " ", "https://",
        "https://user@a.example/", "https://user:word@a.example/", "https://a.example/" + "x" * 4096,
        "https://a.example/a b", "https://a.example/\x00", "https://a.example/\u202e", "https://a.exa\nmple/",
        "http://[::1", "http://a:99999/",
        "https://a.example\\@b.example/", 'https://a.example/"onload=', "https://a.example/<b>",
        "data:text/html,x", None, 7,
    ],
)  # fmt: skip
def test_what_is_no_address_of_a_page_is_refused(url: object) -> None:
    assert web_address(url) == ""


@pytest.mark.parametrize(
    "url",
    [
        "https://a.example",
        "http://a.example:8080/x?y=1&z[]=2#part",
        "https://münchen.example/ü",
        "https://[::1]/",
        " https://a.example/ ",
    ],
)
def test_what_is_an_address_is_kept_as_it_is(url: str) -> None:
    assert web_address(url) == url.strip()


@given(st.text(max_size=100).map("https://a.example/".__add__))
def test_an_address_that_is_accepted_has_a_host_and_no_secrets(url: str) -> None:
    if address := web_address(url):
        assert urlsplit(address).hostname == "a.example"
        assert address.isprintable()
