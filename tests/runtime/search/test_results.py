"""What comes from outside, made fit for use."""

import unicodedata
from typing import Any
from urllib.parse import urlsplit

from hypothesis import given
from hypothesis import strategies as st

from runtime.search.results import day, validate

anything: st.SearchStrategy[Any] = st.one_of(
    st.text(max_size=600),
    st.none(),
    st.integers(),
    st.floats(),
    st.lists(st.text(max_size=5), max_size=3),
    st.booleans(),
)
urls = st.one_of(
    anything,
    st.builds("{}://{}/{}".format, st.sampled_from(["http", "https", "file", "data"]), st.text(max_size=20), st.text()),
)


@given(title=anything, url=urls, text=anything, quality=anything, published=anything)
def test_whatever_comes_the_result_is_within_its_bounds_or_there_is_none(**given_: Any) -> None:
    result = validate("web", "tea", **given_)

    if result is None:
        return
    parts = urlsplit(result.url)
    assert parts.scheme in {"http", "https"}
    assert parts.hostname
    assert parts.username is None
    assert len(result.url) < 4096
    assert 0 < len(result.title) <= max(300, len(result.url))
    assert len(result.summary) < 200
    assert len(result.key_points) <= 4
    assert 0 <= result.quality <= 1
    shown = "".join((result.url, result.title, result.summary, *result.key_points, result.published))
    assert not any(unicodedata.category(c) in {"Cc", "Cf", "Cs"} for c in shown)


def test_dates_are_taken_only_when_they_are_dates() -> None:
    assert day("2026-11-22T10:00:00Z") == "2026-11-22"
    assert [day(each) for each in ("22.11.2026", "2026-13-01", "", None, 7)] == [""] * 5
