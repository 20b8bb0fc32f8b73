"""What a training takes stays bounded, however much is remembered."""

from pathlib import Path

import numpy as np
import pytest

from bench.solved_tickets import remember_all
from runtime.memory import training
from tests.runtime.memory.conftest import Open
from tests.runtime.memory.kit import solved

STARTS = np.array([0, 50, 60, 63, 163])
WITHIN = 30.0


def test_a_small_store_is_fitted_and_rehearsed_whole() -> None:
    whole, starts = training._whole(STARTS)
    np.testing.assert_array_equal(training._thin(STARTS), np.arange(163))
    np.testing.assert_array_equal(whole, np.arange(163))
    np.testing.assert_array_equal(starts, STARTS)


def test_of_a_large_store_common_answers_are_thin_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training, "MAX_FITTED", 60)
    fitted = training._thin(STARTS)
    assert np.diff(np.searchsorted(fitted, STARTS)).tolist() == [23, 10, 3, 23]
    assert len(np.unique(fitted)) == len(fitted)


def test_of_a_large_store_whole_answers_are_rehearsed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training, "MAX_REHEARSED", 120)
    whole, starts = training._whole(STARTS)
    assert 0 < len(whole) <= 120
    kept = [set(range(STARTS[a], STARTS[a + 1])) for a in range(4) if STARTS[a] in whole]
    assert set(whole.tolist()) == set.union(*kept)
    assert starts.tolist() == [0, *np.cumsum([len(answer) for answer in kept])]


async def test_a_store_above_every_bound_still_learns(
    opened: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # given a store that is larger than what may be read, fitted, rehearsed and modelled
    memory = opened()
    await remember_all(memory, solved())
    bounds = {"MAX_TEXTS": 200, "MAX_FITTED": 100, "MAX_REHEARSED": 80, "MAX_ANSWERS": 5, "MAX_TERMS": 500}
    for name, most in bounds.items():
        monkeypatch.setattr(training, name, most)
    monkeypatch.setattr("os.setpriority", lambda *_: None)  # it learns in this process, for once
    # when it learns
    learnt = training.learn(str(tmp_path / "terminus.db"), str(memory.model), similar=False, false_hits=0.02)
    # then it keeps to them, and its model serves
    assert (learnt.texts, learnt.answers) == (200, 5)
    recall = await memory.recall(f"{solved()[-1].text} again", within=WITHIN)
    assert recall.verdict != "miss"
    assert recall.resolution is not None
    assert recall.resolution.text == solved()[-1].resolution.text
