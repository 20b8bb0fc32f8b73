"""One page has one key however its URL is spelled, and one text one hash; others stay apart."""

import hashlib
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.evidence.dedup import SKETCH, alike, hash_of, sketch_of
from actors.text.urls import key_of
from tests.site_pages import ARTICLES, near


@given(st.text())
def test_any_text_has_a_key_a_hash_and_a_sketch(text: str) -> None:
    key_of(text)
    assert len(hash_of(text)) == 64
    assert len(sketch_of(text)) <= SKETCH
    assert list(sketch_of(text)) == sorted(set(sketch_of(text)))


@pytest.mark.req("PR-21")
def test_a_content_is_known_by_its_sha_256() -> None:
    assert hash_of("The  tide\nturns.") == hashlib.sha256(b"The tide turns.").hexdigest()
    assert len(hash_of("")) == 64


@pytest.mark.req("PR-21")
def test_a_hash_does_not_see_white_space_and_sees_everything_else() -> None:
    assert hash_of("two  words\n") == hash_of("two words")
    assert hash_of("two words.") != hash_of("two words")


def test_a_text_with_small_changes_is_alike_and_another_text_is_not() -> None:
    texts = [text for path, text in ARTICLES.items() if path != "/article"]
    for text in texts:
        assert alike(sketch_of(text), sketch_of(near(text)))
        assert alike(sketch_of(text), sketch_of(f"Read more news here.\n{text}\nAll rights reserved."))
        assert alike(sketch_of(text), sketch_of(text.upper()))
        assert [alike(sketch_of(text), sketch_of(other)) for other in texts].count(True) == 1


def test_half_of_a_text_is_not_the_text() -> None:
    text = ARTICLES["/articles/scanners"]

    assert not alike(sketch_of(text), sketch_of(text[: len(text) // 2]))


def test_texts_without_spaces_are_compared_too() -> None:
    text = "東京の地下鉄は毎日八百万人を運ぶ。料金は距離で決まり、終電は午前零時半である。"

    assert alike(sketch_of(text), sketch_of(text + "終"))
    assert not alike(sketch_of(text), sketch_of(text[::-1]))


def test_nothing_is_like_nothing() -> None:
    assert sketch_of("") == sketch_of("—!") == ()
    assert not alike((), ())
    assert not alike((), sketch_of("word"))
    assert alike(sketch_of("word"), sketch_of("Word."))


@given(st.sets(st.integers(0, 400), min_size=1), st.sets(st.integers(0, 400), min_size=1))
def test_being_alike_has_no_direction(one: set[int], other: set[int]) -> None:
    first, second = tuple(sorted(one)[:SKETCH]), tuple(sorted(other)[:SKETCH])

    assert alike(first, second) == alike(second, first)
    assert alike(first, first)


def test_a_sketch_is_the_same_in_every_process() -> None:
    program = "from actors.evidence.dedup import sketch_of; print(sketch_of('one two three four'))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)  # noqa: S603

    assert done.stdout.strip() == str(sketch_of("one two three four"))
