"""What is shown of a place: whole paragraphs, the steps with what introduces them, no more than one reads."""

import msgspec

from actors.evidence.passages import Meaning, Passage, SearchHits, Sentence, Span
from actors.extractive.place_excerpts import PART, STEPS, WHOLE, take_excerpt

SENTENCE = "This paragraph tells in some words of no weight what else there is to be known here, and then more. "


def passage(*paragraphs: str) -> Passage:
    text = "\n\n".join(paragraphs)
    return Passage("a#0", "a", "A", "A", text, 0, len(text))


def excerpt(passage: Passage, meaning: Meaning | None = None) -> str:
    return take_excerpt(1, SearchHits((passage,), meaning=meaning)).of(passage)


def test_a_short_passage_is_shown_whole() -> None:
    text = passage("To turn a page:", "Choose Format.", "Click OK.")

    assert excerpt(text) == text.text


def test_what_stands_behind_the_place_is_not_cut_off_a_passage_of_middling_length() -> None:
    text = passage(SENTENCE * 5, SENTENCE * 3, "Any other can be copied by its name.")

    assert PART < len(text.text) <= WHOLE
    assert excerpt(text) == text.text


def test_of_a_long_list_of_steps_more_is_shown_than_of_prose_with_its_introduction() -> None:
    steps = [f"Choose item number {n} of the menu that opens, then wait until it closes." for n in range(20)]
    text = passage("To turn a page, follow these steps:", *steps)

    shown = excerpt(text)

    assert len(text.text) > WHOLE
    assert PART < len(shown) <= STEPS
    assert shown.startswith("To turn a page, follow these steps:\n\n")


def test_of_a_long_passage_the_paragraphs_around_the_nearest_sentence_are_shown() -> None:
    told = "Press the red key to stop it."
    text = passage(*([SENTENCE * 3] * 3), f"{SENTENCE}{told}", *([SENTENCE * 3] * 3))
    at = text.text.index(told)
    by_words = msgspec.structs.replace(text, quotes=(Span(0, 20, 1.0),))
    meaning = Meaning(0.5, (0.5,), (Sentence(1, Span(at, at + len(told), 0.6)), Sentence(1, Span(0, 20, 0.5))))

    near, first = excerpt(by_words, meaning), excerpt(by_words)

    assert told in near
    assert told not in first
    assert first == text.text[: len(first)]
    for shown in (near, first):
        assert len(shown) <= PART
        assert f"\n\n{shown}\n\n" in f"\n\n{text.text}\n\n"  # no paragraph is cut


def test_what_introduces_the_steps_is_shown_with_them() -> None:
    text = passage(*([SENTENCE * 4] * 3), "To stop it, do this:", SENTENCE * 5, SENTENCE * 3)
    at = text.text.index("do this:") + 10

    shown = excerpt(text, Meaning(0.5, (0.5,), (Sentence(1, Span(at, at + 30, 0.6)),)))

    assert shown.startswith("To stop it, do this:\n\n")


def test_one_paragraph_that_is_longer_than_that_is_shown_whole_and_none_is_no_excerpt() -> None:
    assert excerpt(passage(SENTENCE * 20)) == (SENTENCE * 20)
    assert excerpt(passage("")) == ""
