"""A folder of two or three short documents answers what stands in it, and does not pretend to know the rest."""

from pathlib import Path

import pytest

from bench.folders import FOLDERS, count_outcomes
from bench.manual import measure_sets


@pytest.mark.parametrize("name", ["travel", "it"])
async def test_a_small_folder_answers_by_words_what_stands_in_it(name: str, tmp_path: Path) -> None:
    _, sets = await measure_sets(FOLDERS / name, [FOLDERS / f"{name}.jsonl"], tmp_path, meaning=False)

    outcomes = count_outcomes(sets)

    assert outcomes["answerable, not found"] == "0 of 8"
    assert outcomes["answerable, right place first"] == "8 of 8"
    assert outcomes["no answer, but sure"].startswith("0 of ")
    assert outcomes["no answer, off topic: places"].startswith(("0 of ", "1 of "))
