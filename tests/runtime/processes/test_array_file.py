"""A file of arrays is either whole or refused."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from runtime.processes import array_file
from runtime.processes.array_file import Mark

MARK = Mark(b"arrays of a test", 7)
ARRAYS: dict[str, NDArray[Any]] = {
    "a": np.arange(12, dtype=np.float32).reshape(3, 4),
    "none": np.empty((0, 3), np.int64),
    "b": np.arange(5),
}


def test_what_is_written_is_read(tmp_path: Path) -> None:
    path = tmp_path / "model"
    array_file.write(path, MARK, b"header\0", ARRAYS)
    header, arrays = array_file.read(path, MARK)
    assert header == b"header\0"
    assert set(arrays) == set(ARRAYS)
    for name, array in ARRAYS.items():
        assert arrays[name].dtype == array.dtype
        np.testing.assert_array_equal(arrays[name], array)
    assert [found.name for found in tmp_path.iterdir()] == ["model"]


def test_a_newer_model_takes_the_place_of_one_that_is_in_use(tmp_path: Path) -> None:
    path = tmp_path / "model"
    array_file.write(path, MARK, b"", {"a": np.zeros(1000)})
    old = array_file.read(path, MARK)[1]["a"]
    array_file.write(path, MARK, b"", {"a": np.ones(1000)})
    assert old.sum() == 0
    assert array_file.read(path, MARK)[1]["a"].sum() == 1000


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=200)
@given(place=st.integers(0, 10_000), bit=st.integers(0, 7))
def test_no_flipped_bit_goes_unnoticed(tmp_path: Path, place: int, bit: int) -> None:
    path = tmp_path / "model"
    array_file.write(path, MARK, b"header", ARRAYS)
    raw = bytearray(path.read_bytes())
    place %= len(raw)
    raw[place] ^= 1 << bit
    path.write_bytes(raw)
    try:
        header, arrays = array_file.read(path, MARK)
    except array_file.Damaged:
        return
    # only filling between the table and the arrays is not checked
    assert header == b"header"
    assert all(np.array_equal(arrays[name], array) for name, array in ARRAYS.items())


@given(share=st.floats(0, 1, exclude_max=True))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
def test_a_file_that_was_cut_off_is_refused(tmp_path: Path, share: float) -> None:
    path = tmp_path / "model"
    array_file.write(path, MARK, b"header", ARRAYS)
    raw = path.read_bytes()
    path.write_bytes(raw[: int(share * len(raw))])
    with pytest.raises(array_file.Damaged):
        array_file.read(path, MARK)


@pytest.mark.parametrize("other", [Mark(MARK.magic, 8), Mark(b"another kind....", 7)])
def test_a_file_of_another_kind_or_version_is_stale(tmp_path: Path, other: Mark) -> None:
    path = tmp_path / "model"
    array_file.write(path, MARK, b"", ARRAYS)
    with pytest.raises(array_file.Damaged, match="version"):
        array_file.read(path, other)
