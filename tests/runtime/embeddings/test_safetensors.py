"""A file of weights is read as far as its table is true; everything else is refused before anything is allocated."""

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from runtime.embeddings.sentence_model import NotReadable, read
from tests.runtime.embeddings.kit import Arrays, pack_safetensors

ARRAYS: Arrays = {
    "a": np.arange(6, dtype=np.float32).reshape(2, 3),
    "b": np.array([1.5], np.float16),
    "n": np.arange(3, dtype=np.int64),
    "none": np.empty((0, 4), np.float32),
}


def write(folder: Path, content: bytes) -> Path:
    file = folder / "some.safetensors"
    file.write_bytes(content)
    return file


def table(entry: Any, body: bytes = b"\0" * 24) -> bytes:
    packed = json.dumps({"a": entry}).encode()
    return struct.pack("<Q", len(packed)) + packed + body


def test_what_was_published_is_read(tmp_path: Path) -> None:
    found = read(write(tmp_path, pack_safetensors(ARRAYS)))

    assert set(found) == set(ARRAYS)
    for name, array in ARRAYS.items():
        assert found[name].dtype == array.dtype
        np.testing.assert_array_equal(found[name], array)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "table is missing"),
        (b"\x01\0\0", "table is missing"),
        (struct.pack("<Q", 1 << 62) + b"{}", "too long"),
        (struct.pack("<Q", 5) + b"{nope", "cannot be read"),
        (struct.pack("<Q", 500) + b"{}", "cut off"),
        (table([1, 2]), "cannot be read"),
        (table({"dtype": "F64", "shape": [3], "data_offsets": [0, 24]}), "kind F64"),
        (table({"dtype": "F32", "shape": [6], "data_offsets": [0, 20]}), "does not stand"),
        (table({"dtype": "F32", "shape": [6], "data_offsets": [8, 32]}), "does not stand"),
        (table({"dtype": "F32", "shape": [6], "data_offsets": [-24, 0]}), "does not stand"),
        (table({"dtype": "F32", "shape": [-2, -3], "data_offsets": [0, 24]}), "does not stand"),
        (table({"dtype": "F32", "shape": [1 << 40, 1 << 40], "data_offsets": [0, 24]}), "does not stand"),
        (table({"dtype": "F32", "shape": [6], "data_offsets": [0, 24]}, b""), "does not stand"),
    ],
)
def test_what_its_table_does_not_bear_out_is_refused(tmp_path: Path, content: bytes, why: str) -> None:
    with pytest.raises(NotReadable, match=why):
        read(write(tmp_path, content))
