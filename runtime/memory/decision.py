"""
When the answer of a ticket's neighbours is a hit: learnt from tickets whose right answer is known.

Each text that is remembered is asked about again, once without itself, so that its answer should be
found, and once without all texts of its answer, so that nothing should.
"""

import math
import time
from collections.abc import Sequence
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from runtime.memory.neighbours import NAMES, Flags, Floats, Ints, Neighbours

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
SURE = 0.0
"""Log-odds that a hit needs at least, however easily a store's tickets are told apart."""
REHEARSAL_SECONDS = 40.0
"""Of the processor's time: all texts of 15,000, some 6,000 of 100,000."""
_BLOCK = 64
_FOLDS = 25
"""With five, thresholds of small stores are a matter of luck: recall .27 to .35 by the folds alone."""
_RIDGE = 10.0
_BAND = 200
Doubles = NDArray[np.float64]


class Thresholds(msgspec.Struct, frozen=True):
    """For one writing. `hit` is infinite where nothing may be a hit."""

    hit: float
    suggestion: float


class Decision(msgspec.Struct, frozen=True):
    """How evidence is weighed. The score is in log-odds."""

    mean: list[float]
    scale: list[float]
    weights: list[float]
    """One for each kind of evidence, then the constant."""
    scripts: dict[str, Thresholds]

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


def rehearse(neighbours: Neighbours, texts: Sequence[Sequence[str]], sure: int) -> Rehearsed:
    """Ask about the first `sure` texts, given as their terms, in no order, for a bounded time."""
    until = time.process_time() + REHEARSAL_SECONDS
    answer, width = neighbours.answer, neighbours.vectors.shape[1]
    vectors = neighbours.vectors.astype(np.float32) / np.float32(127)
    first = np.searchsorted(answer[:sure], answer[:sure])
    last = np.searchsorted(answer[:sure], answer[:sure], "right")
    enough = len(np.unique(answer[:sure])) >= LEAST_ANSWERS
    order = np.random.default_rng(1).permutation(sure if enough else 0)
    evidence, facts = list[Floats](), list[tuple[bool, bool, bool, int]]()
    for start in range(0, len(order), _BLOCK):
        if time.process_time() > until:
            break
        block = order[start : start + _BLOCK]
        for text, meaning in zip(block, vectors[block] @ vectors.T, strict=True):
            ticket = neighbours.compare(texts[text], meaning if width else None)
            whole = np.arange(first[text], last[text])
            for out in (whole[whole == text], whole) if len(whole) > 1 else (whole,):
                found = neighbours.weigh(ticket, out)
                evidence.append(found.numbers)
                known = len(out) < len(whole)
                right = found.answer == answer[text]
                facts.append((right, known, found.tickets >= LEAST_TICKETS, int(text)))
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
    if not _enough(rehearsed, answers, np.ones(len(known), bool)):
        return None
    mean, scale = rehearsed.evidence[known].mean(0), rehearsed.evidence[known].std(0) + 1e-6
    lines = np.clip((rehearsed.evidence - mean) / scale, -4, 4)
    lines = np.column_stack([lines, np.ones(len(lines))]).astype(np.float64)
    share = _shares(known)
    # Lines are scored by weights learnt without their answers, so that the thresholds are honest.
    fold = np.random.default_rng(3).permutation(answers.max() + 1)[answers] % _FOLDS
    scores = np.zeros(len(lines))
    for i in range(_FOLDS):
        rest = fold != i
        scores[~rest] = lines[~rest] @ _weigh(lines[rest], rehearsed.right[rest], share[rest])
    found: dict[str, Thresholds] = {}
    for script in sorted(set(scripts)):
        part = np.array([each == script for each in scripts])
        if _enough(rehearsed, answers, part):
            found[script] = _find_thresholds(scores, rehearsed, part, false_hits)
    weights = _weigh(lines, rehearsed.right, share)
    return Decision(mean.tolist(), scale.tolist(), weights.tolist(), found)


def _enough(rehearsed: Rehearsed, answers: NDArray[np.int32], part: Flags) -> bool:
    return all(
        (kind & part).sum() >= LEAST_ROWS and len(np.unique(answers[kind & part])) >= LEAST_ANSWERS
        for kind in (rehearsed.known, ~rehearsed.known)
    )


def _shares(known: Flags) -> Doubles:
    """Weight of each line, so that each kind has its share; they sum to 1."""
    found, new = known.sum(), (~known).sum()
    share: Doubles = np.where(known, (1 - NEW_SHARE) / max(1, found), NEW_SHARE / max(1, new))
    return share


def _weigh(lines: Doubles, right: Flags, share: Doubles) -> Doubles:
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


def _find_thresholds(scores: Doubles, rehearsed: Rehearsed, part: Flags, false_hits: float) -> Thresholds:
    """A hit keeps both promises, of precision and of false hits; one suggestion in two is right."""
    scores, known, able = scores[part], rehearsed.known[part], rehearsed.able[part]
    order = np.argsort(-scores, kind="stable")
    share, right = _shares(known)[order], rehearsed.right[part][order]
    hits = share * able[order]
    precise = np.cumsum(hits * right) >= PRECISION * np.cumsum(hits)
    reached = np.flatnonzero(precise & (np.arange(len(order)) >= LEAST_ROWS // 10))
    new = np.where(able, scores, -np.inf)[~known]
    hit = np.inf
    if len(reached):
        hit = max(float(scores[order[reached[-1]]]), _cut(new, false_hits), SURE)
    window = np.ones(min(_BAND, len(order)))
    found, right_ones = (np.convolve(each, window, "same") for each in (share, share * right))
    useful = np.flatnonzero(right_ones >= 0.5 * found)
    suggestion = float(scores[order[useful[-1]]]) if len(useful) else np.inf
    return Thresholds(hit, min(suggestion, hit))


def _cut(scores: Doubles, share: float) -> float:
    """The score that at most this share of tickets reach, what chance adds counted against us."""
    # so many and their standard deviation are the share: of few tickets fewer may reach it
    allowed = int(((math.sqrt(1 + 4 * share * (len(scores) + 1)) - 1) / 2) ** 2)
    return float(np.sort(scores)[::-1][allowed]) if 0 < allowed < len(scores) else np.inf
