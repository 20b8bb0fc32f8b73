"""Thresholds that keep what they promise on rehearsed tickets."""

import math

import numpy as np
import pytest

from runtime.memory.calibration import LEAST_ANSWERS, LEAST_ROWS, Decision, decide
from runtime.memory.cross_validation import Rehearsed
from runtime.memory.features import NAMES

ANSWERS = 40


def rehearsed(lines: int, apart: float, seed: int = 1) -> tuple[Rehearsed, np.ndarray]:
    """As many known tickets as near and far new ones; `apart`: how far their evidence is from that of new ones."""
    dice = np.random.default_rng(seed)
    known = np.arange(lines * 3) < lines
    far = np.arange(lines * 3) >= 2 * lines
    right = known & (dice.random(lines * 3) < 0.9)
    evidence = dice.standard_normal((lines * 3, len(NAMES))) + apart * right[:, None]
    return (
        Rehearsed(evidence.astype(np.float32), right * 1, known * 1, far * 1, np.arange(lines * 3)),
        dice.integers(0, ANSWERS, lines * 3),
    )


def scores(decision: Decision, lines: Rehearsed) -> np.ndarray:
    return np.array([decision.score(line) for line in lines.evidence])


@pytest.mark.parametrize("aim", [0.005, 0.02, 0.1])
def test_no_more_new_tickets_than_allowed_reach_a_hit_among_others_of_the_kind(aim: float) -> None:
    seen, answers = rehearsed(4000, 0.8)
    decision = decide(seen, answers, ["latin"] * len(answers), aim)
    assert decision is not None
    others, _ = rehearsed(4000, 0.8, seed=2)
    hits = scores(decision, others) >= decision.scripts["latin"].hit
    assert hits[others.far == 1].mean() <= aim * 1.5
    assert hits[others.right == 1].mean() > 0.2


def test_where_nothing_can_be_told_apart_nothing_is_a_hit() -> None:
    seen, answers = rehearsed(1000, 0.0)
    decision = decide(seen, answers, ["latin"] * len(answers), 0.02)
    assert decision is not None
    assert decision.scripts["latin"].hit == math.inf


@pytest.mark.parametrize("aim", [0.0, 1e-9])
def test_none_allowed_is_none_given(aim: float) -> None:
    seen, answers = rehearsed(1000, 0.8)
    decision = decide(seen, answers, ["latin"] * len(answers), aim)
    assert decision is not None
    assert decision.scripts["latin"].hit == math.inf


def test_a_hit_needs_more_than_a_suggestion() -> None:
    seen, answers = rehearsed(1000, 0.8)
    decision = decide(seen, answers, ["latin"] * len(answers), 0.02)
    assert decision is not None
    assert decision.scripts["latin"].suggestion < decision.scripts["latin"].hit


def test_a_small_store_is_not_decided_about() -> None:
    seen, answers = rehearsed(LEAST_ROWS - 1, 5.0)
    assert decide(seen, answers, ["latin"] * len(answers), 0.02) is None
    seen, answers = rehearsed(1000, 5.0)
    assert decide(seen, answers % (LEAST_ANSWERS - 1), ["latin"] * len(answers), 0.02) is None


def test_a_writing_with_few_rehearsed_tickets_has_no_hits() -> None:
    seen, answers = rehearsed(1000, 0.8)
    scripts = ["han" if i % 10 == 0 else "latin" for i in range(len(answers))]
    decision = decide(seen, answers, scripts, 0.02)
    assert decision is not None
    assert set(decision.scripts) == {"latin"}


def test_evidence_below_what_right_answers_have_is_new() -> None:
    seen, answers = rehearsed(1000, 2.0)
    decision = decide(seen, answers, ["latin"] * len(answers), 0.02)
    assert decision is not None
    usual = np.full(len(NAMES), 2.0, np.float32)
    assert not decision.is_new(usual)
    usual[NAMES.index("telling")] = -5
    assert decision.is_new(usual)
