"""What a learning takes stays bounded, however much is remembered."""

from pathlib import Path

import numpy as np
import pytest

from bench.solved_tickets import remember_all
from runtime.memory import learning, neighbours
from runtime.memory.neighbours import arrange, rehearse
from runtime.memory.ticket_text import terms
from tests.runtime.memory.conftest import Open
from tests.runtime.memory.kit import solved

WITHIN = 30.0


async def test_a_store_above_every_bound_still_learns(
    opened: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # given a store that is larger than what may be read, known and compared
    memory = opened()
    await remember_all(memory, solved())
    monkeypatch.setattr(learning, "MAX_TEXTS", 200)
    monkeypatch.setattr(neighbours, "MAX_TERMS", 500)
    monkeypatch.setattr(neighbours, "COMPARED", 7)
    monkeypatch.setattr("os.setpriority", lambda *_: None)  # it learns in this process, for once
    # when it learns
    path = str(tmp_path / "terminus.db")
    learnt = learning.learn(path, str(memory.model), similar=False, false_hits=0.02, embedder="")
    # then it keeps to them, and its model serves
    assert (learnt.texts, learnt.answers) == (200, 7)
    recall = await memory.recall(f"{solved()[-1].text} again", within=WITHIN)
    assert recall.verdict != "miss"
    assert recall.resolution is not None
    assert recall.resolution.text == solved()[-1].resolution.text


def test_a_rehearsal_ends_when_its_time_is_up(monkeypatch: pytest.MonkeyPatch) -> None:
    said, answer = [terms(each.text) for each in solved()], np.arange(600, dtype=np.int32) // 30
    _, index = arrange(said, answer, 600, np.zeros((600, 0), np.int8))
    monkeypatch.setattr(neighbours, "_BLOCK", 50)
    times = iter([0.0, 0.0, 0.5, 1.5])
    monkeypatch.setattr(neighbours, "REHEARSAL_SECONDS", 1.0)
    monkeypatch.setattr("time.process_time", lambda: next(times))
    asked = rehearse(index, said).text
    # two blocks, each text known and new, from all over the store
    assert len(asked) == 200
    assert len(np.unique(answer[asked])) > 15


def test_an_answer_of_many_texts_is_compared_with_some_of_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    vectors = np.eye(9, dtype=np.int8)[np.arange(90) % 9] * 127
    answer = np.zeros(90, np.int32)
    said = [["word"]] * 90
    usual = []
    for most in (9, 90, 1000):
        monkeypatch.setattr(neighbours, "COMPARED", most)
        usual.append(arrange(said, answer, 90, vectors)[1].arrays["usual"])
    np.testing.assert_allclose(usual[1], usual[2])
    np.testing.assert_allclose(usual[2], 1.0, atol=1e-5)
    np.testing.assert_allclose(usual[0][9:], 1 / 5, atol=1e-5)
