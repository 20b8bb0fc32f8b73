"""A file of arrays with a checked header, which processes share by mapping it: what memory learnt, a sentence model."""

import os
import struct
import zlib
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from runtime.processes.atomic_files import replace_whole

_HEAD = struct.Struct("<16sIIQ")
_ALIGN = 64
_MOST = 1 << 30


class Mark(NamedTuple):
    """What a file begins with."""

    magic: bytes
    """What it is: 16 bytes."""
    version: int
    """Of the file and of everything that it was made with: a change of either makes every older file stale."""


class Damaged(Exception):
    """The file is not a whole one of this kind and version."""


class _Place(msgspec.Struct, frozen=True):
    kind: str
    shape: list[int]
    start: int


class _Table(msgspec.Struct, frozen=True):
    header: bytes
    arrays: dict[str, _Place]
    size: int
    check: int


def write(path: Path, mark: Mark, header: bytes, arrays: dict[str, NDArray[Any]], rights: int | None = None) -> None:
    """
    Write all or nothing; whoever has the older file mapped keeps it.

    :param rights: of the file; None: nobody else may read it.
    """
    places: dict[str, _Place] = {}
    chunks: list[bytes] = []
    size = check = 0
    for name, array in arrays.items():
        raw = np.ascontiguousarray(array).tobytes()
        raw += bytes(-len(raw) % _ALIGN)
        places[name] = _Place(array.dtype.str, list(array.shape), size)
        chunks.append(raw)
        size, check = size + len(raw), zlib.crc32(raw, check)
    table = msgspec.msgpack.encode(_Table(header, places, size, check))
    with replace_whole(path, path.with_name(f"{path.name}.{os.getpid()}.new"), rights) as file:
        file.write(_HEAD.pack(*mark, zlib.crc32(table), len(table)) + table)
        file.write(bytes(_body(len(table)) - _HEAD.size - len(table)))
        file.writelines(chunks)


def read(path: Path, mark: Mark) -> tuple[bytes, dict[str, NDArray[Any]]]:
    """
    The header and the arrays, mapped, not loaded.

    :raises Damaged: whatever is wrong with it.
    :raises FileNotFoundError: there is none.
    """
    with path.open("rb") as file:
        head = file.read(_HEAD.size)
        if len(head) < _HEAD.size:
            raise Damaged("the file is too short")
        magic, version, table_check, length = _HEAD.unpack(head)
        if (magic, version) != mark:
            raise Damaged("the file is of another version")
        packed = file.read(min(length, _MOST))
        if zlib.crc32(packed) != table_check:
            raise Damaged("the table is damaged")
    table, start = msgspec.msgpack.decode(packed, type=_Table), _body(length)
    if path.stat().st_size != start + table.size:
        raise Damaged("the file is not whole")
    body: NDArray[np.uint8] = (
        np.memmap(path, np.uint8, "r", start, (table.size,)) if table.size else np.empty(0, np.uint8)
    )
    if zlib.crc32(body.data) != table.check:
        raise Damaged("the arrays are damaged")
    return table.header, {name: _array(body, place) for name, place in table.arrays.items()}


def _array(body: NDArray[np.uint8], place: _Place) -> NDArray[Any]:
    kind = np.dtype(place.kind)
    size = int(np.prod(place.shape)) * kind.itemsize
    return body[place.start : place.start + size].view(kind).reshape(place.shape)


def _body(length: int) -> int:
    """Where the arrays start, after a table of this length."""
    return -(-(_HEAD.size + length) // _ALIGN) * _ALIGN
