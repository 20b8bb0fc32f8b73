"""The linear model and its evidence, on small made-up stores."""

import random
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from runtime.memory import classifier
from runtime.memory.classifier import Space
from runtime.memory.cross_validation import rehearse
from runtime.memory.features import NAMES, Shelf, Without, phrase_scores, weigh
from runtime.memory.tfidf import Rows, Vocabulary
from runtime.memory.ticket_text import words
from tests.runtime.memory.kit import ANSWERS, TEXTS, solved, text, topics

SPOKEN = [words(ticket.text) for ticket in solved()]
STARTS = np.arange(0, ANSWERS * TEXTS + 1, TEXTS)
VOCABULARY = Vocabulary.of(SPOKEN)
ROWS = VOCABULARY.rows(SPOKEN)
SHELF = Shelf.of(ROWS.below(VOCABULARY.phrases), STARTS, VOCABULARY.words, VOCABULARY.phrases)


def dense(rows: Rows, columns: int) -> np.ndarray:
    out = np.zeros((len(rows), columns), np.float32)
    for i in range(len(rows)):
        these, values = rows.row(i)
        out[i, these] = values
    return out


def test_sparse_rows_multiply_like_dense_ones() -> None:
    dice = np.random.default_rng(1)
    whole, terms = dense(ROWS, len(VOCABULARY.names)), len(VOCABULARY.names)
    matrix = dice.standard_normal((terms, 3), np.float32)
    np.testing.assert_allclose(ROWS.times(matrix), whole @ matrix, atol=1e-4)
    other = dice.standard_normal((len(ROWS), 3), np.float32)
    np.testing.assert_allclose(ROWS.spread(other, terms), whole.T @ other, atol=1e-3)
    np.testing.assert_array_equal(dense(ROWS.transpose(terms), len(ROWS)), whole.T)
    which = dice.permutation(len(ROWS))[:50]
    np.testing.assert_array_equal(dense(ROWS.take(which), terms), whole[which])
    np.testing.assert_array_equal(dense(ROWS.below(40), 40), whole[:, :40])


def test_a_text_has_the_length_one_if_all_its_terms_are_known_and_less_if_not() -> None:
    known = ["please", "help"] * 2
    texts = [known, known, ["zebra"]]
    vocabulary = Vocabulary.of(texts)
    assert np.isclose(np.square(vocabulary.weigh(known)[1]).sum(), 1)
    assert np.square(vocabulary.weigh([*known, "unheard"])[1]).sum() < 0.9
    assert vocabulary.weigh(["unheard"])[0] == []


def test_products_of_rare_and_frequent_terms_are_those_of_dense_rows() -> None:
    part = ROWS.take(np.arange(0, len(ROWS), 2))
    whole = dense(part, len(VOCABULARY.names))
    assert 0 < np.count_nonzero((whole > 0).sum(0) > classifier._FREQUENT) < whole.shape[1]
    np.testing.assert_allclose(classifier._products(part, whole.shape[1]), whole @ whole.T, atol=1e-5)


def test_threads_learn_the_very_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(classifier, "BLOCK", 3)
    space, every = Space(ROWS, len(VOCABULARY.names)), np.arange(len(ROWS))
    alone = space.fit(every, SHELF.answer, np.arange(ANSWERS))
    with ThreadPoolExecutor(2) as pool:
        together = space.fit(every, SHELF.answer, np.arange(ANSWERS), pool)
    np.testing.assert_array_equal(alone.weights, together.weights)
    np.testing.assert_array_equal(alone.last, together.last)


def test_products_of_places_are_those_of_texts() -> None:
    space = Space(ROWS, len(VOCABULARY.names))
    whole = dense(ROWS, len(VOCABULARY.names))
    np.testing.assert_allclose(space.places @ space.places.T, whole @ whole.T, atol=0.05)


def test_it_finds_the_answer_of_texts_that_it_has_not_seen() -> None:
    space = Space(ROWS, len(VOCABULARY.names))
    every = np.arange(len(ROWS))
    weights = space.term_weights(space.fit(every, SHELF.answer, np.arange(ANSWERS)))
    dice = random.Random(7)
    new = [words(text(topic, dice)) for topic in topics(ANSWERS)]
    assert (VOCABULARY.rows(new).times(weights).argmax(1) == np.arange(ANSWERS)).mean() >= 0.9


def test_a_text_that_is_left_out_is_not_seen() -> None:
    columns = ROWS.row(0)[0][ROWS.row(0)[0] < VOCABULARY.phrases].astype(np.int64)
    without = Without(np.empty(0, np.int64), 0)
    here, there = SHELF.look(columns, 9), SHELF.look(columns, 9, without)
    assert there.sizes[0] == here.sizes[0] - 1
    assert there.texts == here.texts - 1
    assert SHELF.nearest(here, 0)[0] == 0
    assert SHELF.nearest(there, 0, without)[0] != 0


def test_leaving_an_answer_out_is_like_never_having_stored_it() -> None:
    # given a shelf without the first answer
    rest = ROWS.take(np.arange(TEXTS, len(ROWS))).below(VOCABULARY.phrases)
    smaller = Shelf.of(rest, STARTS[1:] - TEXTS, VOCABULARY.words, VOCABULARY.phrases)
    columns = ROWS.row(0)[0][ROWS.row(0)[0] < VOCABULARY.phrases].astype(np.int64)
    # when the whole one is looked at without it
    left, never = SHELF.look(columns, 9, Without(np.zeros(1, np.int64), -1)), smaller.look(columns, 9)
    # then both see the same
    assert (left.strangers, left.texts) == (never.strangers, never.texts)
    np.testing.assert_array_equal(left.of_all, never.of_all)
    np.testing.assert_array_equal(left.of_answers[:, 1:], never.of_answers)
    assert left.of_answers[:, 0].sum() == 0


def test_an_answer_in_other_words_has_more_against_it() -> None:
    columns = ROWS.row(0)[0][ROWS.row(0)[0] < VOCABULARY.phrases].astype(np.int64)
    sight = SHELF.look(columns, len(set(SPOKEN[0])))
    fit = phrase_scores(sight)
    assert int(fit.argmax()) == 0
    (answer, _, right), (other, _, wrong) = weigh(SHELF, sight, fit), weigh(SHELF, sight, -2 * fit)
    assert (answer, other == answer) == (0, False)
    for name in ("phrases", "cover", "ratio"):
        assert right[NAMES.index(name)] > wrong[NAMES.index(name)]


def test_rehearsal_asks_about_every_text_and_knows_what_it_left_out() -> None:
    space = Space(ROWS, len(VOCABULARY.names))
    found = rehearse(space, SHELF, np.array([len(set(spoken)) for spoken in SPOKEN]))
    known = found.known == 1
    assert len(np.unique(found.text[known])) > len(ROWS) * 0.85  # not those that were left out with their answer
    assert np.unique(found.text[found.far == 1]).size == len(ROWS)
    assert found.right[known].mean() > 0.9
    assert found.right[~known].sum() == 0
