"""From evidence to hit, suggestion or miss: a logistic score and thresholds, learnt from the store's own rehearsal."""

import msgspec
import numpy as np
from numpy.typing import NDArray

from runtime.memory.cross_validation import Rehearsed
from runtime.memory.features import NAMES
from runtime.memory.tfidf import Floats, Ints

LEAST_ROWS = 200
"""Rehearsed tickets of each kind that a writing needs before anything in it may be a hit."""
LEAST_ANSWERS = 8
"""Answers that they must be spread over."""
NEW_SHARE = 0.4
"""Share of tickets that nothing stored answers, as it is assumed: cautious for a helpdesk."""
PRECISION = 0.95
"""Of hits, expected in rehearsal at that share."""
UNLIKE = 0.005
"""Share of right answers that had less evidence than a hit needs, of each kind in GUARDED."""
GUARDED = ("margin", "cover", "telling", "ratio")
SURE = 0.0
"""Log-odds that a hit needs at least, however easily a store's tickets are told apart."""
_NEAR_SHARE = 0.875
"""Of the weight of new tickets, what those near to stored ones have: they are the hard ones to tell."""
_FOLDS = 5
_RIDGE = 10.0
_FOCUS = 1.5
"""In log-odds around the threshold. Without this focus recall on clinc150 falls from .80 to .79 (bench.memory)."""
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
    least: list[float]
    """Of each kind of evidence, what almost every right answer had: with less, a ticket is new whatever its score."""
    scripts: dict[str, Thresholds]

    def is_new(self, evidence: Floats) -> bool:
        return bool((evidence < np.asarray(self.least)).any())

    def score(self, evidence: Floats) -> float:
        line = np.clip((evidence - np.asarray(self.mean)) / np.asarray(self.scale), -4, 4)
        return float(line @ np.asarray(self.weights[:-1]) + self.weights[-1])


def decide(rehearsed: Rehearsed, answers: Ints, scripts: list[str], false_hits: float) -> Decision | None:
    """
    Learn to decide; None where too little was rehearsed.

    :param answers: the right answer of each line, stored or left out; `scripts`: its text's writing.
    :param false_hits: share of tickets of a topic that is not stored which may be answered.
    """
    known = rehearsed.known == 1
    if not _enough(rehearsed, answers, np.ones(len(known), bool)):
        return None
    mean, scale = rehearsed.evidence[known].mean(0), rehearsed.evidence[known].std(0) + 1e-6
    lines = np.clip((rehearsed.evidence - mean) / scale, -4, 4)
    lines = np.column_stack([lines, np.ones(len(lines))]).astype(np.float64)
    # Lines are scored by weights learnt without their answers, so that the thresholds are honest.
    fold, scores = np.random.default_rng(3).permutation(answers.max() + 1)[answers] % _FOLDS, np.zeros(len(lines))
    for i in range(_FOLDS):
        scores[fold == i] = lines[fold == i] @ _weights(lines, rehearsed, fold != i, false_hits)
    weights = _weights(lines, rehearsed, fold >= 0, false_hits)
    found: dict[str, Thresholds] = {}
    for script in sorted(set(scripts)):
        part = np.array([each == script for each in scripts])
        if _enough(rehearsed, answers, part):
            found[script] = _thresholds(scores, rehearsed, part, false_hits)
    least = np.quantile(rehearsed.evidence[rehearsed.right == 1], UNLIKE, axis=0)
    least[[name not in GUARDED for name in NAMES]] = -np.inf
    return Decision(mean.tolist(), scale.tolist(), weights.tolist(), least.tolist(), found)


def _enough(rehearsed: Rehearsed, answers: Ints, part: NDArray[np.bool_]) -> bool:
    kinds = (rehearsed.known == 1, rehearsed.far == 1)
    return all(
        (kind & part).sum() >= LEAST_ROWS and len(np.unique(answers[kind & part])) >= LEAST_ANSWERS for kind in kinds
    )


def _shares(rehearsed: Rehearsed, part: NDArray[np.bool_], near_share: float) -> Doubles:
    """Weight of each line, so that each kind has its share; they sum to 1."""
    known, far = (rehearsed.known == 1) & part, (rehearsed.far == 1) & part
    near = part & ~known & ~far
    share = np.zeros(len(part))
    for kind, whole in ((known, 1 - NEW_SHARE), (near, NEW_SHARE * near_share), (far, NEW_SHARE * (1 - near_share))):
        share[kind] = whole / max(1, kind.sum())
    return share


def _weights(lines: Doubles, rehearsed: Rehearsed, part: NDArray[np.bool_], false_hits: float) -> Doubles:
    """Logistic regression, then again with more weight near the threshold: only that must be told apart."""
    share, far = _shares(rehearsed, part, _NEAR_SHARE) * 10_000, (rehearsed.far == 1) & part
    weights = _logistic(lines[part], rehearsed.right[part], share[part], _RIDGE)
    for _ in range(2):
        scores = lines @ weights
        cut = _cut(scores[far], false_hits)
        if not np.isfinite(cut):
            return weights
        focus = share * np.exp(-np.abs(scores - cut) / _FOCUS)
        weights = _logistic(lines[part], rehearsed.right[part], focus[part], _RIDGE / 2)
    return weights


def _logistic(lines: Doubles, right: Ints, share: Doubles, ridge: float) -> Doubles:
    """Newton's method; the constant is not held down."""
    weights = np.zeros(lines.shape[1])
    hold = np.full(lines.shape[1], ridge)
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


def _cut(scores: Doubles, share: float) -> float:
    """The score that at most this share of tickets reach, one more counted against us."""
    allowed = int(share * (len(scores) + 1))
    return float(np.sort(scores)[::-1][allowed]) if 0 < allowed < len(scores) else np.inf


def _thresholds(scores: Doubles, rehearsed: Rehearsed, part: NDArray[np.bool_], false_hits: float) -> Thresholds:
    share = _shares(rehearsed, part, 0.5)
    order = np.flatnonzero(part)[np.argsort(-scores[part], kind="stable")]
    sorted_scores, weight, right = scores[order], share[order], rehearsed.right[order]
    precise = np.cumsum(weight * right) >= PRECISION * np.cumsum(weight)
    reached = np.flatnonzero(precise & (np.arange(len(order)) >= LEAST_ROWS // 10))
    hit = (
        max(float(sorted_scores[reached[-1]]), _cut(scores[part & (rehearsed.far == 1)], false_hits))
        if len(reached)
        else np.inf
    )
    window = np.ones(min(_BAND, len(order)))
    local = np.convolve(weight * right, window, "same") >= 0.5 * np.convolve(weight, window, "same")
    useful = np.flatnonzero(local)
    suggestion = float(sorted_scores[useful[-1]]) if len(useful) else np.inf
    hit = max(hit, SURE)
    return Thresholds(hit, min(suggestion, hit))
