"""Normal forms are those of Unicode for all that people write, and take no longer for what they do not."""

import time
import unicodedata
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.text.unicode_forms import ALWAYS, MOST_GROWTH, PIECE, fold_forms
from runtime.memory.ticket_text import digest, fold

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


@pytest.mark.parametrize("many", ["\ufdfa" * 60_000, "\ufdfa." * 60_000])
def test_a_text_that_grows_is_left_as_it_is_before_it_has_grown(many: str) -> None:
    """It took 50 ms of the event loop, eight times for each ticket."""
    assert fold_forms(many) is many
    assert least_seconds(fold_forms, many) < least_seconds(lambda text: unicodedata.normalize("NFKC", text), many) / 3


@pytest.mark.parametrize("many", ["\u3316", "\u3316aaa", "\u3316" + "中" * 4])
def test_a_ticket_is_recognised_by_the_forms_of_its_beginning_alone(many: str) -> None:
    text = many * (250_000 // len(many.encode()))
    assert least_seconds(digest, text) < 0.75 * least_seconds(fold_forms, text)


def test_forms_that_differ_at_the_beginning_of_a_long_ticket_make_no_other() -> None:
    assert digest("Zu\u0308rich" + " lake" * 10_000) == digest("Z\u00fcrich" + " LAKE" * 10_000)


def least_seconds(call: Callable[[str], object], text: str) -> float:
    """Of CPU, of some calls: a busy machine only adds."""
    taken = []
    for _ in range(5):
        began = time.thread_time()
        call(text)
        taken.append(time.thread_time() - began)
    return min(taken)
