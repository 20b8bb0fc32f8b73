"""Texts that have to be shorter lose nothing but their end."""

from hypothesis import given
from hypothesis import strategies as st

from actors.text.truncate import shorten


def test_a_long_text_is_cut_between_words() -> None:
    assert shorten("one two  three\nfour", 14) == "one two three…"
    assert shorten("short", 14) == "short"
    assert shorten("设定" * 20, 10) == "设定设定设定设定设…"


@given(st.text(max_size=200), st.integers(min_value=10, max_value=60))
def test_a_neat_text_is_one_line_within_its_bound(text: str, characters: int) -> None:
    said = shorten(text, characters)

    assert len(said) <= characters
    assert "\n" not in said


def test_a_text_is_cut_between_words() -> None:
    assert shorten("several words and more of them", 20) == "several words and…"
