"""Normal forms are those of Unicode for all that people write, and take no longer for what they do not."""

import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.text.unicode_forms import ALWAYS, MOST_GROWTH, PIECE, fold_forms
from runtime.memory.ticket_text import fold

MARKS = "\u0301\u0316"
"""In this order they have to change places; a run of them is sorted by insertion."""
WRITTEN = st.text(st.one_of(st.characters(max_codepoint=127), st.characters()), max_size=PIECE)


@given(st.lists(WRITTEN, max_size=6))
def test_what_has_a_blank_now_and_then_is_normalised_as_the_standard_library_does(parts: list[str]) -> None:
    text = " ".join(parts)
    plain = unicodedata.normalize("NFKC", text)
    assert fold_forms(text) == (plain if len(plain) <= MOST_GROWTH * len(text) + ALWAYS else text)


@pytest.mark.parametrize("text", ["Zu\u0308rich " * 200, "ﬁne " * 300, "한국어 지원 " * 100, "é" * PIECE, "x" * 9999])
def test_long_texts_stay_what_they_are(text: str) -> None:
    assert fold_forms(text) == unicodedata.normalize("NFKC", text)


def test_marks_upon_marks_take_time_in_proportion() -> None:
    """A ticket of 60 KB took eight seconds, which no other ticket had meanwhile."""
    began = time.thread_time()
    fold("a" + MARKS * 30_000)
    assert time.thread_time() - began < 1.0
