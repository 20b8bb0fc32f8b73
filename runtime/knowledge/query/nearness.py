"""Which passages mean nearly what a question asks: a scan of all vectors of an index, kept between searches."""

from collections.abc import Collection
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from runtime.knowledge.index.index_reader import IndexReader
from runtime.knowledge.query.reciprocal_rank import Near, Nearness

SLAB = 4096
"""Rows that are widened to float32 at once: the copy of a slab stays in the processor's cache."""
ONE = 127.0 * 127.0
"""The dot product of two equal vectors."""


class _Matrix(NamedTuple):
    ids: NDArray[np.int64]
    documents: NDArray[np.int64]
    rows: NDArray[np.int8]
    unknown: frozenset[int]
    """The documents that have none."""
    lacks_some: bool


_matrices: WeakKeyDictionary[IndexReader, tuple[int, _Matrix]] = WeakKeyDictionary()


def find_near(shelf: IndexReader, vector: bytes, limit: int, documents: Collection[int] | None = None) -> Nearness:
    """The passages nearest to a question's vector; of some documents only, if they are given."""
    matrix = _matrix(shelf, len(vector))
    cosines = _cosines(matrix.rows, np.frombuffer(vector, np.int8).astype(np.float32))
    among = np.arange(len(cosines))
    if documents is not None:
        among = among[np.isin(matrix.documents, np.fromiter(documents, np.int64))]
    best = among[np.argsort(-cosines[among], kind="stable")[:limit]]
    near = (Near(int(matrix.ids[i]), int(matrix.documents[i]), float(cosines[i])) for i in best)
    return Nearness(tuple(near), matrix.unknown, matrix.lacks_some)


def _cosines(rows: NDArray[np.int8], vector: NDArray[np.float32]) -> NDArray[np.float32]:
    found = np.empty(len(rows), np.float32)
    for start in range(0, len(rows), SLAB):
        found[start : start + SLAB] = rows[start : start + SLAB].astype(np.float32) @ vector
    found /= ONE
    return found


def _matrix(shelf: IndexReader, width: int) -> _Matrix:
    """All vectors of an index, read again when somebody has written."""
    known = _matrices.get(shelf)
    if known is None or known[0] != shelf.version or known[1].rows.shape[1] != width:
        ids, documents, joined = shelf.vectors(width)
        rows = np.frombuffer(joined, np.int8).reshape(-1, width)
        unknown = frozenset(shelf.documents_without_vectors())
        lacks_some = shelf.lacks_vectors()
        known = (
            shelf.version,
            _Matrix(np.array(ids, np.int64), np.array(documents, np.int64), rows, unknown, lacks_some),
        )
        _matrices[shelf] = known
    return known[1]
