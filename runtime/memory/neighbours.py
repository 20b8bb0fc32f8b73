"""
Earlier tickets that are nearest to a ticket by meaning and words, what speaks for their answer, and when that is a hit.

What is a hit is learnt from tickets whose right answer is known: each text that is remembered is asked
about again, once without itself, so that its answer should be found, and once without all texts of its
answer, so that nothing should. The arrays of an index are mapped from a file by worker processes, so
nothing here changes them.
"""

import itertools
import math
import time
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from runtime.embeddings.sentence_model import multiply

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]
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

LEAST_ROWS = 200
"""Rehearsed tickets of each kind that a writing needs before anything in it may be a hit."""
LEAST_ANSWERS = 8
"""Answers that they must be spread over."""
LEAST_TICKETS = 4
"""Tickets that an answer needs to be a hit: of those with one to three some 2 % were wrong."""
NEW_SHARE = 0.4
"""Share of tickets that nothing stored answers, as it is assumed: cautious for a helpdesk."""
PRECISION = 0.95
"""Of hits, expected in rehearsal at that share."""
EVEN = 0.0
"""Log-odds from which an answer is suggested, and below which none is a hit: as often right as wrong."""
REHEARSAL_SECONDS = 25.0
"""Of the processor's time: all texts of 15,000, some 9,000 of 100,000."""
_BLOCK = 64
_FOLDS = 25
"""With five, thresholds of small stores are a matter of luck: recall .27 to .35 by the folds alone."""
_RIDGE = 10.0
_ONE = np.float32(127 * 127)
_GONE = np.float32(-9)
_NONE_OUT = (0, 0)
_RARE_WORD, _RARE_TWO = -1, -2


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
        self.sure = sure
        self._texts: NDArray[np.int32] = arrays["texts"]
        self._starts: Ints = arrays["starts"]
        self._lengths: Floats = arrays["lengths"]
        self._usual: Floats = arrays["usual"]
        self._columns = {name: column for column, name in enumerate(names)}
        self._words = _count_words(names)
        self._telling = _tell(np.diff(self._starts), len(self.answer))

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

    def find(self, answer: int) -> tuple[int, int]:
        """Where the texts of an answer begin and end."""
        first, last = np.searchsorted(self.answer[: self.sure], np.array([answer, answer + 1], np.int32))
        return int(first), int(last)

    def weigh(self, ticket: Ticket, out: tuple[int, int] = _NONE_OUT) -> Evidence:
        """
        What speaks for the answer of most neighbours.

        :param out: from where to where a rehearsal pretends not to have the texts: one of them, or all
            of an answer. How often a word was said is counted without them, too: else each of its words
            seems to be known.
        """
        nearness = ticket.nearness[: self.sure]
        score = nearness.copy()
        if ticket.meaning is not None:
            score += np.float32(WORDS) * ticket.words[: self.sure]
        score[slice(*out)] = _GONE
        near = np.argpartition(-score, min(LOOKED_AT, len(score)) - 1)[:LOOKED_AT]
        near = near[score[near] > _GONE]
        near = near[np.argsort(-score[near], kind="stable")]
        voters = near[:VOTERS]
        names, places = np.unique(self.answer[voters], return_inverse=True)
        votes = np.bincount(places, np.exp((score[voters] - score[near[0]]) / WARMTH))
        answer, share = int(names[votes.argmax()]), float(votes.max() / votes.sum())
        best = near[self.answer[near] == answer][:NEAR]

        first, last = self.find(answer)
        gone = out[1] - out[0]
        gone_of_answer = gone if first <= out[0] < last else 0
        size, texts = last - first - gone_of_answer, self.sure - gone
        of_answer, of_all = np.zeros((2, len(ticket.terms) + ticket.strangers), np.float32)
        edges = np.array([first, last, *out, self.sure], np.int32)
        for place, term in enumerate(ticket.terms):
            start, stop, start_out, stop_out, every = self._having(term).searchsorted(edges).tolist()
            of_all[place] = every - (stop_out - start_out)
            of_answer[place] = stop - start - (stop_out - start_out if gone_of_answer else 0)
        telling = _tell(of_all, texts)
        odds = np.log((of_answer + 0.5) / (size + 1)) - np.log((of_all + 0.5) / (texts + 1))
        numbers = (
            nearness[best[0]],
            math.log((share + 0.02) / (1.02 - share)),
            (nearness[best] - self._usual[best]).mean(),
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
    counts = Counter(itertools.chain.from_iterable(texts))
    names = sorted((name for name, _ in counts.most_common()[:MAX_TERMS]), key=_is_two)
    words = _count_words(names)
    columns = {term: _RARE_TWO if _is_two(term) else _RARE_WORD for term in counts}
    columns.update((name, column) for column, name in enumerate(names))
    entries = np.fromiter((columns[term] for said in texts for term in said), np.int64)
    owners = np.repeat(np.arange(len(texts), dtype=np.int32), [len(said) for said in texts])
    spread = np.bincount(entries[entries >= 0], minlength=len(names))
    is_word = (entries < words) & (entries != _RARE_TWO)
    squares = np.append(_tell(spread, len(texts)), _tell(1, len(texts))) ** 2  # the last one is of rare words
    lengths = np.sqrt(np.bincount(owners[is_word], squares[entries[is_word]], len(texts)))
    order = np.argsort(entries, kind="stable")[np.count_nonzero(entries < 0) :]
    arrays: dict[str, NDArray[Any]] = {
        "answer": answer,
        "vectors": vectors,
        "starts": np.concatenate([np.zeros(1, np.int64), np.cumsum(spread)]),
        "texts": owners[order],
        "lengths": np.where(lengths > 0, lengths, 1).astype(np.float32),
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


class Decision(msgspec.Struct, frozen=True):
    """How evidence is weighed. The score is in log-odds that the answer is right."""

    mean: list[float]
    scale: list[float]
    weights: list[float]
    """One for each kind of evidence, then the constant."""
    hits: dict[str, float]
    """What a hit needs, for each writing in which enough was rehearsed; infinite where nothing may be a hit."""

    def score(self, evidence: Floats) -> float:
        line = np.clip((evidence - np.asarray(self.mean)) / np.asarray(self.scale), -4, 4)
        return float(line @ np.asarray(self.weights[:-1]) + self.weights[-1])


class Rehearsed(NamedTuple):
    """One line a question."""

    evidence: Floats
    right: Flags
    """The answer of the neighbours is the right one."""
    known: Flags
    """The right answer was there to be found."""
    able: Flags
    """The answer had enough tickets to be a hit."""
    text: Ints
    """Which text was asked about."""


def rehearse(neighbours: Neighbours, texts: Sequence[Sequence[str]]) -> Rehearsed:
    """Ask about the texts that may be hits, given as their terms, in no order, for a bounded time."""
    until, sure = time.process_time() + REHEARSAL_SECONDS, neighbours.sure
    answer, has_vectors = neighbours.answer[:sure], neighbours.vectors.shape[1] > 0
    vectors = neighbours.vectors.astype(np.float32) / np.float32(127)
    enough = len(np.unique(answer)) >= LEAST_ANSWERS
    order = np.random.default_rng(1).permutation(sure if enough else 0)
    evidence, facts = list[Floats](), list[tuple[bool, bool, bool, int]]()
    for start in range(0, len(order), _BLOCK):
        if time.process_time() > until:
            break
        block = order[start : start + _BLOCK]
        for text, meaning in zip(block.tolist(), vectors[block] @ vectors.T, strict=True):
            ticket = neighbours.compare(texts[text], meaning if has_vectors else None)
            itself, whole = (text, text + 1), neighbours.find(int(answer[text]))
            for out in dict.fromkeys((itself, whole)):
                found, known = neighbours.weigh(ticket, out), out != whole
                evidence.append(found.numbers)
                facts.append((found.answer == answer[text], known, found.tickets >= LEAST_TICKETS, text))
    told = np.array(facts, np.int64).reshape(-1, 4)
    lines = np.array(evidence, np.float32).reshape(-1, len(NAMES))
    return Rehearsed(lines, told[:, 0] > 0, told[:, 1] > 0, told[:, 2] > 0, told[:, 3])


def decide(
    rehearsed: Rehearsed, answers: NDArray[np.int32], scripts: Sequence[str], false_hits: float
) -> Decision | None:
    """
    Learn to decide; None where too little was rehearsed.

    :param answers: the right answer of each line, stored or left out.
    :param scripts: the writing of each line's text.
    :param false_hits: share of tickets whose answer is not stored that may be answered.
    """
    known = rehearsed.known
    if not _is_enough(rehearsed, answers, np.ones(len(known), bool)):
        return None
    mean, scale = rehearsed.evidence[known].mean(0), rehearsed.evidence[known].std(0) + 1e-6
    lines = np.clip((rehearsed.evidence - mean) / scale, -4, 4)
    lines = np.column_stack([lines, np.ones(len(lines))]).astype(np.float64)
    share = _share(known)
    # Lines are scored by weights learnt without their answers, so that the thresholds are honest.
    fold = np.random.default_rng(3).permutation(answers.max() + 1)[answers] % _FOLDS
    scores = np.zeros(len(lines))
    for i in range(_FOLDS):
        rest = fold != i
        scores[~rest] = lines[~rest] @ _regress(lines[rest], rehearsed.right[rest], share[rest])
    hits: dict[str, float] = {}
    for script in sorted(set(scripts)):
        part = np.array([each == script for each in scripts])
        if _is_enough(rehearsed, answers, part):
            hits[script] = _find_threshold(scores[part], rehearsed, part, false_hits)
    weights = _regress(lines, rehearsed.right, share)
    return Decision(mean.tolist(), scale.tolist(), weights.tolist(), hits)


def _is_enough(rehearsed: Rehearsed, answers: NDArray[np.int32], part: Flags) -> bool:
    return all(
        (kind & part).sum() >= LEAST_ROWS and len(np.unique(answers[kind & part])) >= LEAST_ANSWERS
        for kind in (rehearsed.known, ~rehearsed.known)
    )


def _share(known: Flags) -> Doubles:
    """Weight of each line, so that each kind has its share; they sum to 1."""
    found, new = known.sum(), (~known).sum()
    share: Doubles = np.where(known, (1 - NEW_SHARE) / max(1, found), NEW_SHARE / max(1, new))
    return share


def _regress(lines: Doubles, right: Flags, share: Doubles) -> Doubles:
    """Logistic regression by Newton's method; the constant is not held down."""
    share = share / share.sum() * 10_000
    weights = np.zeros(lines.shape[1])
    hold = np.full(lines.shape[1], _RIDGE)
    hold[-1] = 1e-6
    for _ in range(30):
        said = 1 / (1 + np.exp(-np.clip(lines @ weights, -30, 30)))
        slope = lines.T @ (share * (said - right)) + hold * weights
        bend = (lines * (share * said * (1 - said))[:, None]).T @ lines + np.diag(hold)
        step = np.linalg.solve(bend, slope)
        weights -= np.clip(step, -3, 3)
        if np.abs(step).max() < 1e-6:
            break
    return weights


def _find_threshold(scores: Doubles, rehearsed: Rehearsed, part: Flags, false_hits: float) -> float:
    """The score from which both promises are kept, that of precision and that of false hits."""
    known, able, right = rehearsed.known[part], rehearsed.able[part], rehearsed.right[part]
    order = np.argsort(-scores, kind="stable")
    hits = (_share(known) * able)[order]
    precise = np.cumsum(hits * right[order]) >= PRECISION * np.cumsum(hits)
    reached = np.flatnonzero(precise & (np.arange(len(order)) >= LEAST_ROWS // 10))
    if not len(reached):
        return math.inf
    new = np.where(able, scores, -np.inf)[~known]
    return max(float(scores[order[reached[-1]]]), _cut(new, false_hits), EVEN)


def _cut(scores: Doubles, share: float) -> float:
    """The score that at most this share of tickets reach, what chance adds counted against us."""
    # so many and their standard deviation are the share: of few tickets fewer may reach it
    allowed = int(((math.sqrt(1 + 4 * share * (len(scores) + 1)) - 1) / 2) ** 2)
    return float(np.sort(scores)[::-1][allowed]) if 0 < allowed < len(scores) else math.inf
