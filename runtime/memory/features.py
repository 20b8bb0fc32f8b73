"""What speaks for an answer: how its texts' words fit a ticket's, as a part of the ranking and as twelve numbers."""

import math
from typing import NamedTuple

import numpy as np

from runtime.memory.tfidf import LEAST, Floats, Ints, Rows

NAMES = (
    "margin", "phrases", "strength", "cover", "telling", "back", "length", "ratio", "against", "worst", "fit", "crowd",
)  # fmt: skip
PHRASES = 0.4
"""Weight of words and pairs counted by answer, beside the linear model, in the score that ranks answers."""
STRANGE = 2.0
"""How telling an unknown word counts: about as much as one that few answers have."""
COMPARED = 512
"""Texts of the first answer that a ticket is compared with."""
CROWD = 3.0
"""
How fast an answer counts less in the crowd around the first, by what its linear score is lower.

Without the crowd and the worst word recall falls from .51 to .50 and from .80 to .79 (bench.memory, a third).
"""
_HALF = np.float32(0.5)


class Without(NamedTuple):
    """What a rehearsal pretends not to have: whole answers, and one text (or -1)."""

    answers: Ints
    text: int


class TicketView(NamedTuple):
    """A ticket's words and pairs as a shelf knows them."""

    words: Ints
    """Columns of the ticket's known words."""
    strangers: int
    """How many of its words are unknown."""
    of_answers: Floats
    """Texts of each answer that have the term: known words and pairs x answers, the words first."""
    of_all: Floats
    sizes: Floats
    """Texts of each answer."""
    texts: float


class Shelf:
    """How often each word and pair was said under each answer, and by whom. Texts are in the order of answers."""

    def __init__(self, words: int, starts: Ints, counts: Rows, spoken: Rows) -> None:
        """
        :param words: terms below are words, the others pairs.
        :param starts: of answer a the texts `starts[a]` to `starts[a + 1]`.
        :param counts: of each term the answers and how many of their texts have it.
        :param spoken: words of each text.
        """
        self.words = words
        self.starts = starts
        self.counts = counts
        self.spoken = spoken
        self.sizes = np.diff(starts).astype(np.float32)
        self.texts = float(starts[-1])
        self.answer = np.repeat(np.arange(len(self.sizes)), np.diff(starts))
        self.known = np.bincount(counts.owners(), counts.values, len(counts)).astype(np.float32)
        self.info: Floats = 1 + np.log((1 + np.float32(self.texts)) / (1 + self.known[:words]))
        self.masses = np.bincount(spoken.owners(), self.info[spoken.columns], len(spoken)).astype(np.float32)
        self.telling = self._telling()

    @classmethod
    def of(cls, said: Rows, starts: Ints, words: int, phrases: int) -> "Shelf":
        """Of rows of the texts' words and pairs (values are not used)."""
        answer = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        return cls(words, starts, _count(said, answer, phrases, len(starts) - 1), said.below(words))

    def _telling(self) -> Floats:
        """How much each term says about the answer: the divergence of the answers given it from all answers."""
        prior = np.maximum(self.sizes, 1) / max(self.texts, 1.0)
        total, owner, columns = self.known + STRANGE, self.counts.owners(), self.counts.columns
        share = (self.counts.values + STRANGE * prior[columns]) / total[owner]
        gain = np.bincount(owner, share * np.log(share / prior[columns]), len(total))
        rest = np.maximum(0, 1 - np.bincount(owner, share, len(total)))
        telling: Floats = np.maximum(0, gain + rest * np.log(STRANGE / total)).astype(np.float32)
        return telling

    def look(self, columns: Ints, words: int, without: Without | None = None) -> TicketView:
        """
        What the shelf knows of a ticket with these columns, among them words and pairs, and `words` words in all.

        A term that is left in fewer texts than a vocabulary takes is unknown again.
        """
        columns = np.sort(columns)
        of_answers = np.zeros((len(columns), len(self.sizes)), np.float32)
        for i, column in enumerate(columns):
            these, values = self.counts.row(column)
            of_answers[i, these] = values
        of_all, sizes, texts = self.known[columns], self.sizes, self.texts
        if without is not None:
            sizes = sizes.copy()
            if without.text >= 0:
                own = self.answer[without.text]
                of_answers[:, own] -= 1
                of_all, texts = of_all - 1, texts - 1
                sizes[own] -= 1
            of_all = of_all - of_answers[:, without.answers].sum(1)
            texts -= float(sizes[without.answers].sum())
            of_answers[:, without.answers], sizes[without.answers] = 0, 0
        kept = of_all >= LEAST
        mine = columns[kept]
        mine = mine[mine < self.words].astype(np.int64)
        return TicketView(mine, words - len(mine), of_answers[kept], of_all[kept], sizes, texts)

    def nearest(self, sight: TicketView, answer: int, without: Without | None = None) -> tuple[int, float, float]:
        """The text of an answer most like the ticket, how much so, and the share of its words that the ticket has."""
        first, last = int(self.starts[answer]), int(self.starts[answer + 1])
        last = min(last, first + COMPARED)
        part = slice(self.spoken.starts[first], self.spoken.starts[last])
        mark = np.zeros(self.words, np.float32)
        mark[sight.words] = self.info[sight.words]
        owner = np.repeat(np.arange(last - first), np.diff(self.spoken.starts[first : last + 1]))
        both = np.bincount(owner, mark[self.spoken.columns[part]], last - first)
        whole = self.masses[first:last] + 1e-6
        mass = float(mark[sight.words].sum()) + sight.strangers * (1 + math.log(1 + self.texts))
        like = 2 * both / (mass + whole)
        if without is not None and first <= without.text < last:
            like[without.text - first] = -1
        best = int(like.argmax()) if len(like) else 0
        return (first + best, float(like[best]), float(both[best] / whole[best])) if len(like) else (-1, 0.0, 0.0)


def phrase_scores(sight: TicketView) -> Floats:
    """For each answer, how much more often than elsewhere its texts say what the ticket says."""
    if not len(sight.of_all):
        return np.zeros(len(sight.sizes), np.float32)
    here = np.log(sight.of_answers + _HALF).sum(0) - len(sight.of_all) * np.log(sight.sizes + 1)
    there = float((np.log(sight.of_all + _HALF) - math.log(sight.texts + 1)).sum())
    said: Floats = ((here - there) / len(sight.of_all)).astype(np.float32)
    return said


def weigh(shelf: Shelf, sight: TicketView, linear: Floats, without: Without | None = None) -> tuple[int, int, Floats]:
    """
    Judge the answer that ranks first by the linear model and the phrases together.

    :returns: the answer, its nearest text, and the evidence in the order of NAMES.
    """
    phrases = phrase_scores(sight)
    together = linear + np.float32(PHRASES) * phrases
    if without is not None:
        together[without.answers] = -np.inf
    best = int(together.argmax())
    others = np.isfinite(together)
    others[best] = False
    nearest, _, back = shelf.nearest(sight, best, without)
    first, rest = float(linear[best]), linear[others]
    cover, telling, odds = _words(shelf, sight, best)
    spoken = len(sight.words) + sight.strangers
    # of a word that neither the answer nor anything else has
    strange = sight.strangers * math.log((sight.texts + 1) / (float(sight.sizes[best]) + 1))
    evidence = (
        first - float(rest.max(initial=-1.0)),
        float(phrases[best]) - float(phrases[others].max(initial=-1.0)),
        math.log(0.05 + max(first, 0.0)),
        cover,
        telling,
        back,
        math.log(1 + spoken),
        (float(odds.sum()) + strange) / max(1, spoken),
        float(np.minimum(odds, 0).sum()) / max(1, spoken),
        float(min(0.0, odds.min(initial=0.0))),
        float(phrases[best]),
        math.log1p(float(np.exp(CROWD * np.minimum(rest - first, 0)).sum())),
    )
    return best, nearest, np.asarray(evidence, np.float32)


def _words(shelf: Shelf, sight: TicketView, answer: int) -> tuple[float, float, Floats]:
    """How much of what a ticket says, and of what is telling in it, an answer's texts have; of each word the odds."""
    said, of_all = sight.of_answers[: len(sight.words), answer], sight.of_all[: len(sight.words)]
    has, telling = said > 0, shelf.telling[sight.words]
    info = 1 + np.log((1 + sight.texts) / (1 + of_all))
    odds = np.log((said + _HALF) / (float(sight.sizes[answer]) + 1)) - np.log((of_all + _HALF) / (sight.texts + 1))
    mass = float(info.sum()) + sight.strangers * (1 + math.log(1 + sight.texts))
    told = float(telling.sum()) + sight.strangers * STRANGE
    cover = float(info[has].sum()) / max(mass, 1e-6)
    return cover, float(telling[has].sum()) / max(told, 1e-6), odds


def _count(said: Rows, answer: Ints, terms: int, answers: int) -> Rows:
    """Of each term the answers and how many of their texts have it."""
    pairs, counts = np.unique(said.columns.astype(np.int64) * answers + answer[said.owners()], return_counts=True)
    term, column = np.divmod(pairs, max(answers, 1))
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.bincount(term, minlength=terms))])
    return Rows(starts, column.astype(np.int32), counts.astype(np.float32))
