"""A folder of two or three short documents answers what stands in it."""

from pathlib import Path

import pytest

from bench.truth import SMALL, measure, read_set


@pytest.mark.parametrize("name", ["small-travel", "small-it"])
async def test_a_small_folder_answers_by_words_what_stands_in_it(name: str, tmp_path: Path) -> None:
    asked = read_set(tmp_path, name)

    row = await measure(name, asked, [], SMALL / name.removeprefix("small-"), tmp_path, "none")

    assert (row.answerable, row.refused) == (8, 0)
    assert row.first >= 7
    assert row.three == 8
