"""
Earlier tickets that are nearest to a ticket by meaning and words, and what speaks for their answer.

The arrays of an index are mapped from a file by worker processes, so nothing here changes them.
"""

import itertools
import math
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from runtime.embeddings.sentence_model import multiply

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

NAMES = ("nearness", "share", "familiar", "cover", "length", "odds")
"""
The kinds of evidence, see `Neighbours.weigh`.

Of thirteen that were tried (bench/README.md) the others helped no more than chance does.
"""
WORDS = 0.3
"""Weight of common words beside meaning in what is nearest; without vectors they are all."""
LOOKED_AT = 64
"""Nearest texts among which those of one answer are looked for."""
VOTERS = 24
WARMTH = 0.1
"""A neighbour that is nearer by so much has e times the weight."""
NEAR = 5
"""So many of the nearest texts of an answer speak for it."""
MAX_TERMS = 200_000
"""Words and twos of words that are known; a rarer one only makes a ticket stranger."""
ALONE = 0.5
"""How near others usually are to the only text of an answer, as long as nobody knows."""
COMPARED = 2_048
"""Texts of one answer that its texts are compared with to know how near they usually are."""
_ONE = np.float32(127 * 127)
_GONE = np.float32(-9)


class Ticket(NamedTuple):
    """A ticket as an index sees it."""

    terms: Ints
    """Columns of its known terms, each once."""
    strangers: int
    """How many of its terms are unknown."""
    words: Floats
    """How much of its words each text has: a cosine."""
    meaning: Floats | None
    """How near each text is by meaning: a cosine; None where the ticket has no vector."""

    @property
    def nearness(self) -> Floats:
        return self.words if self.meaning is None else self.meaning


class Evidence(NamedTuple):
    """What speaks for one answer."""

    answer: int
    text: int
    """The nearest of its texts."""
    tickets: int
    """How many texts it has."""
    numbers: Floats
    """In the order of NAMES."""


class Neighbours:
    """Texts in the order of their answers; those whose answers may be hits come first."""

    def __init__(self, names: Sequence[str], sure: int, arrays: dict[str, NDArray[Any]]) -> None:
        """
        :param names: the known terms, words before twos.
        :param sure: texts from this one on are only found by `most_alike`.
        :param arrays: as `arrange` makes them.
        """
        self.arrays = arrays
        self.answer: NDArray[np.int32] = arrays["answer"]
        """Of each text."""
        self.vectors: NDArray[np.int8] = arrays["vectors"]
        """One for each text, of no width where no sentence model made any."""
        self._texts: NDArray[np.int32] = arrays["texts"]
        self._starts: Ints = arrays["starts"]
        self._lengths: Floats = arrays["lengths"]
        self._usual: Floats = arrays["usual"]
        self._columns = {name: column for column, name in enumerate(names)}
        self._words = _count_words(names)
        self._telling = _tell(np.diff(self._starts), len(self.answer))
        self._unsure = np.arange(len(self.answer)) >= sure
        self._sizes = np.bincount(self.answer[:sure], minlength=int(self.answer.max(initial=0)) + 1)

    def see(self, said: Sequence[str], vector: bytes) -> Ticket:
        """A ticket of these terms, with its vector; one of another width is none."""
        width = self.vectors.shape[1]
        return self.compare(said, multiply(self.vectors, vector) / _ONE if 0 < len(vector) == width else None)

    def compare(self, said: Sequence[str], meaning: Floats | None) -> Ticket:
        """A ticket of these terms; `meaning` as in `Ticket`."""
        terms = np.array([self._columns[term] for term in said if term in self._columns], np.int64)
        known = terms[terms < self._words]
        words = np.zeros(len(self.answer), np.float32)
        for word in known:
            words[self._having(word)] += self._telling[word] ** 2
        strangers = _count_words(said) - len(known)
        words /= self._lengths * _measure(self._telling[known], strangers, len(self.answer))
        return Ticket(terms, len(said) - len(terms), words, meaning)

    def most_alike(self, ticket: Ticket) -> tuple[int, float]:
        """The text with most words in common, whatever its answer, and how much: a cosine."""
        best = int(ticket.words.argmax())
        return best, float(ticket.words[best])

    def compare_two(self, one: Sequence[str], other: Sequence[str]) -> float:
        """How much of their words two texts have in common that may both be unknown: a cosine."""
        words, others = ({term for term in said if not _is_two(term)} for said in (one, other))
        whole = math.sqrt(self._add_up(words) * self._add_up(others))
        return self._add_up(words & others) / whole if whole else 0.0

    def _add_up(self, words: set[str]) -> float:
        known = self._telling[[self._columns[word] for word in words if word in self._columns]]
        rest = (len(words) - len(known)) * math.log1p(len(self.answer)) ** 2
        return float((known**2).sum()) + rest

    def weigh(self, ticket: Ticket, out: Ints | None = None) -> Evidence:
        """
        What speaks for the answer of most neighbours.

        :param out: texts that a rehearsal pretends not to have. How often a word was said is
            counted without them, too: else each of its words seems to be known.
        """
        gone, size_out = self._unsure, 0
        if out is not None:
            gone = gone.copy()
            gone[out] = True
        score = ticket.nearness.copy()
        if ticket.meaning is not None:
            score += np.float32(WORDS) * ticket.words
        score[gone] = _GONE
        near = np.argpartition(-score, min(LOOKED_AT, len(score)) - 1)[:LOOKED_AT]
        near = near[score[near] > _GONE]
        near = near[np.argsort(-score[near], kind="stable")]
        voters = near[:VOTERS]
        names, places = np.unique(self.answer[voters], return_inverse=True)
        votes = np.bincount(places, np.exp((score[voters] - score[near[0]]) / WARMTH))
        answer, share = int(names[votes.argmax()]), float(votes.max() / votes.sum())
        best = near[self.answer[near] == answer][:NEAR]
        if out is not None:
            size_out = int((self.answer[out] == answer).sum())
        size, texts = int(self._sizes[answer]) - size_out, int(np.count_nonzero(~gone))
        of_answer, of_all = np.zeros((2, len(ticket.terms) + ticket.strangers), np.float32)
        for place, term in enumerate(ticket.terms):
            having = self._having(term)
            having = having[~gone[having]]
            of_all[place] = len(having)
            of_answer[place] = np.count_nonzero(self.answer[having] == answer)
        telling = _tell(of_all, texts)
        odds = np.log((of_answer + 0.5) / (size + 1)) - np.log((of_all + 0.5) / (texts + 1))
        numbers = (
            ticket.nearness[best[0]],
            math.log((share + 0.02) / (1.02 - share)),
            (ticket.nearness[best] - self._usual[best]).mean(),
            telling[of_answer > 0].sum() / max(float(telling.sum()), 1e-6),
            math.log(1 + len(odds)),
            odds.mean() if len(odds) else 0.0,
        )
        return Evidence(answer, int(best[0]), size, np.array(numbers, np.float32))

    def _having(self, term: int) -> NDArray[np.int32]:
        return self._texts[self._starts[term] : self._starts[term + 1]]


def arrange(
    texts: Sequence[Sequence[str]],
    answer: NDArray[np.int32],
    sure: int,
    vectors: NDArray[np.int8],
) -> tuple[list[str], Neighbours]:
    """
    An index of texts given as their terms, in the order of their answers, and the terms it knows.

    :param sure: texts before this one have answers that may be hits.
    :param vectors: one for each text, or of no width.
    """
    counts = Counter(term for said in texts for term in said)
    names = sorted((name for name, _ in counts.most_common(MAX_TERMS)), key=_is_two)
    columns, words = {name: column for column, name in enumerate(names)}, _count_words(names)
    rows = [np.array([columns[t] for t in said if t in columns], np.int64) for said in texts]
    entries = np.concatenate([np.empty(0, np.int64), *rows])
    spread = np.bincount(entries, minlength=len(names))
    telling, owners = _tell(spread, len(texts)), np.arange(len(texts), dtype=np.int32)
    lengths = np.empty(len(texts), np.float32)
    for text, (said, row) in enumerate(zip(texts, rows, strict=True)):
        known = row[row < words]
        strangers = _count_words(said) - len(known)
        lengths[text] = _measure(telling[known], strangers, len(texts))
    arrays: dict[str, NDArray[Any]] = {
        "answer": answer,
        "vectors": vectors,
        "starts": np.concatenate([np.zeros(1, np.int64), np.cumsum(spread)]),
        "texts": np.repeat(owners, [len(row) for row in rows])[np.argsort(entries, kind="stable")],
        "lengths": lengths,
        "usual": _measure_usual(answer[:sure], vectors, len(texts)),
    }
    return names, Neighbours(names, sure, arrays)


def _measure_usual(answer: NDArray[np.int32], vectors: NDArray[np.int8], texts: int) -> Floats:
    """How near each text usually is to the nearest ones of its own answer."""
    usual = np.zeros(texts, np.float32)
    if not vectors.shape[1]:
        return usual
    edges = np.flatnonzero(np.diff(answer, prepend=-1, append=-1)).tolist()
    for first, last in itertools.pairwise(edges):
        others = vectors[first : min(last, first + COMPARED)].astype(np.float32) / _ONE
        few = min(NEAR, len(others) - 1)
        for start in range(first, last, COMPARED):
            near = vectors[start : min(last, start + COMPARED)].astype(np.float32) @ others.T
            if start == first:
                np.fill_diagonal(near, -1)
            nearest = np.sort(near, 1)[:, -few:].mean(1) if few else ALONE
            usual[start : start + len(near)] = nearest
    return usual


def _is_two(term: str) -> bool:
    return " " in term


def _count_words(terms: Sequence[str]) -> int:
    return sum(1 for term in terms if not _is_two(term))


def _tell(counts: Any, texts: int) -> Floats:
    """How telling terms are that so many of the texts have; one that none has, as if one had it."""
    telling: Floats = np.log1p(texts / np.maximum(counts, 1)).astype(np.float32)
    return telling


def _measure(telling: Floats, strangers: int, texts: int) -> float:
    """The length of a text, by how telling its words are."""
    return math.sqrt(float((telling**2).sum()) + strangers * math.log1p(texts) ** 2) or 1.0
