"""When two texts are the same, and which writing and words a text has."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.memory.ticket_text import READ_WORDS, digest, fold, script, terms, words


@given(st.text())
def test_folding_twice_is_folding_once(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@given(st.text())
def test_case_and_space_do_not_make_another_text(text: str) -> None:
    assert digest(f"  {text}\n") == digest(text)
    assert digest(fold(text)) == digest(text)


@pytest.mark.parametrize(("one", "other"), [("a b", "ab"), ("reset it", "reset it not"), ("café", "cafe")])
def test_different_words_make_another_text(one: str, other: str) -> None:
    assert digest(one) != digest(other)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("My iPhone is locked", "latin"),
        ("我的 iPhone 无法激活", "han"),
        ("パスワードを忘れました", "kana"),
        ("비밀번호를 재설정하고 싶어요", "hangul"),
        ("Не могу войти в Outlook", "cyrillic"),
        ("12345 !?", "latin"),
        ("", "latin"),
    ],
)
def test_the_writing_is_that_of_the_language_not_of_product_names(text: str, name: str) -> None:
    assert script(text) == name


def test_writing_without_spaces_is_read_in_pairs() -> None:
    assert words("我的VPN断了") == ["我的", "vpn", "断了"]
    assert words("无法激活") == ["无法", "法激", "激活"]


def test_an_apostrophe_does_not_part_a_word() -> None:
    assert words("It isn’t / isn't") == ["it", "isnt", "isnt"]


def test_long_texts_are_read_within_a_bound() -> None:
    assert len(words("word " * 100_000)) == READ_WORDS


def test_terms_are_the_words_and_their_twos_each_once() -> None:
    assert terms("Reset it, reset it!") == ["reset", "it", "^ reset", "reset it", "it reset", "it $"]
    assert terms(" \n?") == []
