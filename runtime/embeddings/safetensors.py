"""Reads a file of the safetensors format: a length, a table in JSON, raw arrays. Nothing in it is ever executed."""

import struct
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

_LENGTH = struct.Struct("<Q")
_TABLE_BYTES = 1 << 20
KINDS: dict[str, np.dtype[Any]] = {"F32": np.dtype("<f4"), "F16": np.dtype("<f2"), "I64": np.dtype("<i8")}


class NotReadable(Exception):
    """The file is no safetensors file that can be read here; the text says why."""


class _Place(msgspec.Struct, frozen=True):
    dtype: str
    shape: list[int]
    data_offsets: tuple[int, int]


def read(path: Path) -> dict[str, NDArray[Any]]:
    """
    The arrays by their names, mapped, not loaded.

    :raises NotReadable: it is damaged, or holds a kind of number that nobody here needs.
    """
    with path.open("rb") as file:
        head = file.read(_LENGTH.size)
        length = int(_LENGTH.unpack(head)[0]) if len(head) == _LENGTH.size else 0
        if not 0 < length <= _TABLE_BYTES:
            raise NotReadable("its table is missing or too long")
        packed = file.read(length)
        if len(packed) < length:
            raise NotReadable("its table is cut off")
    try:
        table = msgspec.json.decode(packed, type=dict[str, msgspec.Raw])
        places = {name: msgspec.json.decode(raw, type=_Place) for name, raw in table.items() if name != "__metadata__"}
    except msgspec.MsgspecError as error:
        raise NotReadable(f"its table cannot be read: {error}") from None
    start = _LENGTH.size + length
    size = path.stat().st_size - start
    body: NDArray[np.uint8] = np.memmap(path, np.uint8, "r", start, (size,)) if size > 0 else np.empty(0, np.uint8)
    return {name: _array(name, body, place) for name, place in places.items()}


def _array(name: str, body: NDArray[np.uint8], place: _Place) -> NDArray[Any]:
    kind, (begin, end) = KINDS.get(place.dtype), place.data_offsets
    if kind is None:
        raise NotReadable(f"{name} holds numbers of the kind {place.dtype}")
    count = 1
    for each in place.shape:
        count *= each
    if min(place.shape, default=0) < 0 or not 0 <= begin <= end <= len(body) or end - begin != count * kind.itemsize:
        raise NotReadable(f"{name} does not stand where the table says")
    return body[begin:end].copy().view(kind).reshape(place.shape)
