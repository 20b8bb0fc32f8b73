"""What speaks for an answer, on small made-up stores."""

import random

import numpy as np
import pytest

from runtime.memory.neighbours import LEAST_TICKETS, NAMES, Neighbours, arrange, rehearse
from runtime.memory.ticket_text import terms
from tests.runtime.memory.kit import ANSWERS, TEXTS, solved, text, topics

SAID = [terms(ticket.text) for ticket in solved()]
ANSWER = np.repeat(np.arange(ANSWERS, dtype=np.int32), TEXTS)
SIZE = len(SAID)
DICE = np.random.default_rng(4)
VECTORS = np.rint(127 * (unit := DICE.normal(0, 1, (SIZE, 32))) / np.linalg.norm(unit, axis=1, keepdims=True)).astype(
    np.int8
)
NONE = np.zeros((SIZE, 0), np.int8)


def index(first: int = 0, vectors: np.ndarray = NONE, sure: int = SIZE) -> Neighbours:
    """Of all texts from a first one on."""
    return arrange(SAID[first:], ANSWER[first:], sure - first, vectors[first:])[1]


def test_cosines_of_words_are_those_of_vectors_weighed_by_how_rare_words_are() -> None:
    texts = [["a", "b"], ["b", "c"], ["d"]]
    found = arrange(texts, np.zeros(3, np.int32), 3, NONE[:3])[1].see(["b", "c", "stranger"], b"")
    once, twice = np.log1p(3 / 1), np.log1p(3 / 2)
    ticket = np.sqrt(twice**2 + 2 * once**2)
    other = np.sqrt(once**2 + twice**2)
    expected = [twice**2 / (ticket * other), (twice**2 + once**2) / (ticket * other), 0]
    np.testing.assert_allclose(found.words, expected, rtol=1e-5)
    assert (found.strangers, len(found.terms)) == (1, 2)


def test_two_texts_are_as_much_alike_as_if_one_of_them_was_known() -> None:
    known = index()
    ticket = known.see([*SAID[0], "stranger"], b"")
    for number in (0, 1, 40, 599):
        alike = known.compare_two([*SAID[0], "stranger"], SAID[number])
        assert alike == pytest.approx(ticket.words[number], abs=1e-5)
    assert known.compare_two(["stranger"], ["stranger"]) == pytest.approx(1.0)
    assert known.compare_two(["stranger"], ["other"]) == known.compare_two([], []) == 0.0


def test_twos_of_words_make_no_text_nearer() -> None:
    texts = [terms("reset my token"), terms("token my reset")]
    ticket = arrange(texts, np.zeros(2, np.int32), 2, NONE[:2])[1].see(terms("reset my token"), b"")
    np.testing.assert_allclose(ticket.words, 1.0, rtol=1e-5)


def test_meaning_is_the_cosine_of_the_vectors_whatever_is_widened_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("runtime.embeddings.sentence_model.SLAB", 70)
    ticket = index(vectors=VECTORS).see(["word"], VECTORS[5].tobytes())
    assert ticket.meaning is not None
    wide = VECTORS.astype(float)
    np.testing.assert_allclose(ticket.meaning, wide @ wide[5] / 127**2, atol=1e-5)


def test_a_vector_of_another_width_is_none() -> None:
    assert index(vectors=VECTORS).see(["word"], b"\1" * 31).meaning is None
    assert index().see(["word"], VECTORS[5].tobytes()).meaning is None


def test_the_answer_of_texts_that_it_has_not_seen_is_found_by_words() -> None:
    dice, known = random.Random(7), index()
    found = [known.weigh(known.see(terms(text(topic, dice)), b"")) for topic in topics(ANSWERS)]
    assert np.mean([each.answer == n for n, each in enumerate(found)]) >= 0.9
    assert all(ANSWER[each.text] == each.answer and each.tickets == TEXTS for each in found)


@pytest.mark.parametrize("vectors", [NONE, VECTORS], ids=["words", "meaning"])
def test_leaving_an_answer_out_is_like_never_having_stored_it(vectors: np.ndarray) -> None:
    # given an index without the first answer, and the whole one
    never, whole = index(TEXTS, vectors), index(vectors=vectors)
    ticket = vectors[0].tobytes()
    # when both are asked about a ticket of that answer
    without = whole.weigh(whole.see(SAID[0], ticket), (0, TEXTS))
    there = never.weigh(never.see(SAID[0], ticket))
    # then nothing gives away that the whole one knows its words
    assert (without.text - TEXTS, without.answer) == (there.text, there.answer)
    for name in ("cover", "odds"):
        place = NAMES.index(name)
        assert without.numbers[place] == pytest.approx(there.numbers[place], rel=1e-4)


def test_a_text_that_is_left_out_does_not_speak_for_its_answer() -> None:
    known = index()
    ticket = known.see(SAID[0], b"")
    with_it, without = known.weigh(ticket), known.weigh(ticket, (0, 1))
    assert (with_it.text, with_it.tickets) == (0, TEXTS)
    assert (without.answer, without.tickets) == (0, TEXTS - 1)
    assert without.text != 0
    for name in ("nearness", "cover", "odds"):
        assert without.numbers[NAMES.index(name)] < with_it.numbers[NAMES.index(name)]


def test_texts_that_nobody_confirmed_have_no_say_but_are_found_alike() -> None:
    known = index(sure=SIZE - TEXTS)
    ticket = known.see(SAID[-1], b"")
    assert known.weigh(ticket).answer != ANSWERS - 1
    found, alike = known.most_alike(ticket)
    assert found == SIZE - 1
    assert alike == pytest.approx(1.0, abs=1e-5)


def test_rehearsal_asks_about_every_text_once_known_and_once_new() -> None:
    found = rehearse(index(), SAID)
    for kind in (found.known, ~found.known):
        assert sorted(found.text[kind]) == list(range(SIZE))
    assert found.right[found.known].mean() > 0.9
    assert found.right[~found.known].sum() == 0
    assert found.able.all()


def test_the_only_text_of_an_answer_is_new_and_few_texts_make_no_hit() -> None:
    # given an answer of one text, and one of so few that one less is not enough
    answer = ANSWER.copy()
    answer[:TEXTS] = 0
    kept = [0, *range(TEXTS, TEXTS + LEAST_TICKETS), *range(2 * TEXTS, SIZE)]
    said = [SAID[text] for text in kept]
    _, known = arrange(said, answer[kept], len(kept), NONE[kept])
    found = rehearse(known, said)
    assert found.known[found.text == 0].tolist() == [False]
    few = (found.text > 0) & (found.text <= LEAST_TICKETS) & found.right
    assert few.any()
    assert not found.able[few].any()
