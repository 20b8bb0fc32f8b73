"""Thresholds that keep what they promise on rehearsed tickets."""

import math

import numpy as np
import pytest

from runtime.memory.neighbours import EVEN, LEAST_ANSWERS, LEAST_ROWS, NAMES, Decision, Rehearsed, decide

ANSWERS = 40


def rehearsed(lines: int, apart: float, seed: int = 1) -> tuple[Rehearsed, np.ndarray]:
    """As many known tickets as new ones; `apart`: how far right evidence is from other evidence."""
    dice = np.random.default_rng(seed)
    known = np.arange(lines * 2) < lines
    right = known & (dice.random(lines * 2) < 0.9)
    evidence = dice.standard_normal((lines * 2, len(NAMES))) + apart * right[:, None]
    able = np.ones(lines * 2, bool)
    lines_ = Rehearsed(evidence.astype(np.float32), right, known, able, np.arange(lines * 2))
    return lines_, dice.integers(0, ANSWERS, lines * 2)


def decided(lines: int, apart: float, false_hits: float = 0.02) -> Decision:
    seen, answers = rehearsed(lines, apart)
    decision = decide(seen, answers, ["latin"] * len(answers), false_hits)
    assert decision is not None
    return decision


def scores(decision: Decision, lines: Rehearsed) -> np.ndarray:
    return np.array([decision.score(line) for line in lines.evidence])


@pytest.mark.parametrize("aim", [0.005, 0.02, 0.1])
def test_no_more_new_tickets_than_allowed_reach_a_hit_among_others_of_the_kind(aim: float) -> None:
    decision = decided(4000, 1.2, aim)
    others, _ = rehearsed(4000, 1.2, seed=2)
    hits = scores(decision, others) >= decision.hits["latin"]
    assert hits[~others.known].mean() <= aim * 1.5
    assert hits[others.right].mean() > 0.2


def test_hits_are_right_as_often_as_promised_even_where_many_may_be_false() -> None:
    decision = decided(4000, 0.8, 0.5)
    others, _ = rehearsed(4000, 0.8, seed=2)
    hits = scores(decision, others) >= decision.hits["latin"]
    new_share = 0.4 / 0.6
    right, wrong_known = (hits & others.right).sum(), (hits & others.known & ~others.right).sum()
    wrong_new = new_share * (hits & ~others.known).sum()
    assert 0.93 <= right / (right + wrong_known + wrong_new) <= 0.98


def test_where_nothing_can_be_told_apart_nothing_is_a_hit() -> None:
    assert decided(1000, 0.0).hits["latin"] == math.inf


@pytest.mark.parametrize("aim", [0.0, 1e-9])
def test_none_allowed_is_none_given(aim: float) -> None:
    assert decided(1000, 0.8, aim).hits["latin"] == math.inf


def test_a_hit_is_more_often_right_than_wrong_however_many_may_be_false() -> None:
    assert decided(1000, 4.0, 0.5).hits["latin"] >= EVEN


def test_answers_of_few_tickets_count_neither_for_hits_nor_against_them() -> None:
    # given false answers with much evidence, all of them of few tickets
    seen, answers = rehearsed(1000, 1.2)
    seen.evidence[1000:1100] = 4.0
    seen.able[1000:1100] = False
    alike = seen._replace(able=np.ones(2000, bool))
    kept, stricter = (decide(each, answers, ["latin"] * 2000, 0.02) for each in (seen, alike))
    assert kept is not None
    assert stricter is not None
    assert kept.hits["latin"] < stricter.hits["latin"]


def test_a_small_store_is_not_decided_about() -> None:
    seen, answers = rehearsed(LEAST_ROWS - 1, 5.0)
    assert decide(seen, answers, ["latin"] * len(answers), 0.02) is None
    seen, answers = rehearsed(1000, 5.0)
    few = answers % (LEAST_ANSWERS - 1)
    assert decide(seen, few, ["latin"] * len(answers), 0.02) is None


def test_a_writing_with_few_rehearsed_tickets_has_no_hits() -> None:
    seen, answers = rehearsed(1000, 0.8)
    scripts = ["han" if i % 10 == 0 else "latin" for i in range(len(answers))]
    decision = decide(seen, answers, scripts, 0.02)
    assert decision is not None
    assert set(decision.hits) == {"latin"}
