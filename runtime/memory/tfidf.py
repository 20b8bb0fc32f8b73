"""Texts as sparse rows of weighted terms. Runs in worker processes only, like everything here that needs numpy."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from runtime.memory.ticket_text import KINDS, terms

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]

MAX_TERMS = 60_000
"""Most frequent terms that are kept; a rarer one only makes a text stranger."""
LEAST = 2
"""Texts that a term must stand in."""


class Rows:
    """Sparse rows: of row i the columns `columns[starts[i]:starts[i + 1]]` and what stands there."""

    __slots__ = ("columns", "starts", "values")

    def __init__(self, starts: Ints, columns: NDArray[np.int32], values: Floats) -> None:
        self.starts = starts
        self.columns = columns
        self.values = values

    def __len__(self) -> int:
        return len(self.starts) - 1

    @classmethod
    def of(cls, rows: Iterable[tuple[Sequence[int], Sequence[float]]]) -> "Rows":
        starts, columns, values = [0], [np.empty(0, np.int32)], [np.empty(0, np.float32)]
        for these, weights in rows:
            columns.append(np.asarray(these, np.int32))
            values.append(np.asarray(weights, np.float32))
            starts.append(starts[-1] + len(these))
        return cls(np.asarray(starts, np.int64), np.concatenate(columns), np.concatenate(values))

    def row(self, i: int) -> tuple[NDArray[np.int32], Floats]:
        part = slice(self.starts[i], self.starts[i + 1])
        return self.columns[part], self.values[part]

    def owners(self) -> Ints:
        """The row of each entry."""
        return np.repeat(np.arange(len(self)), np.diff(self.starts))

    def take(self, which: Ints) -> "Rows":
        sizes = self.starts[which + 1] - self.starts[which]
        starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
        places = np.arange(starts[-1]) + np.repeat(self.starts[which] - starts[:-1], sizes)
        return Rows(starts, self.columns[places], self.values[places])

    def below(self, column: int) -> "Rows":
        """The entries in columns before this one."""
        return self.where(self.columns < column)

    def where(self, kept: NDArray[np.bool_]) -> "Rows":
        """Some of the entries."""
        starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(kept)])[self.starts]
        return Rows(starts, self.columns[kept], self.values[kept])

    def transpose(self, columns: int) -> "Rows":
        """Columns as rows."""
        order = np.argsort(self.columns, kind="stable")
        starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.bincount(self.columns, minlength=columns))])
        return Rows(starts, self.owners()[order].astype(np.int32), self.values[order])

    def times(self, dense: Floats) -> Floats:
        """The product with a dense matrix."""
        out = np.empty((len(self), dense.shape[1]), np.float32)
        for i in range(len(self)):
            columns, values = self.row(i)
            out[i] = values @ dense[columns]
        return out

    def spread(self, dense: Floats, columns: int) -> Floats:
        """The product of these rows, turned, with a dense matrix."""
        out = np.zeros((columns, dense.shape[1]), np.float32)
        for i in range(len(self)):
            these, values = self.row(i)
            out[these] += values[:, None] * dense[i]
        return out


class Vocabulary:
    """The terms of a store, single words first, then pairs, then runs of characters, and how telling each is."""

    def __init__(self, names: list[str], idf: Floats, unseen: float) -> None:
        """`names`: kind and term; `idf`: weight of each, `unseen`: of a term that too few texts have."""
        self.names = names
        self.idf = idf
        self.unseen = unseen
        self.words = sum(name[0] == KINDS[0] for name in names)
        self.phrases = self.words + sum(name[0] == KINDS[1] for name in names)
        """Columns before this one are words and pairs."""
        self._weights = {name: (i, float(weight)) for i, (name, weight) in enumerate(zip(names, idf, strict=True))}

    @classmethod
    def of(cls, texts: Sequence[list[str]], most: int = MAX_TERMS) -> "Vocabulary":
        """Of texts given as their words."""
        counts: Counter[str] = Counter()
        for spoken in texts:
            for kind, found in terms(spoken):
                counts.update({kind + term for term in found})
        kept = [item for item in counts.most_common(most) if item[1] >= LEAST]
        kept.sort(key=lambda item: KINDS.index(item[0][0]))
        idf = [1 + math.log((1 + len(texts)) / (1 + n)) for _, n in kept]
        return cls([name for name, _ in kept], np.asarray(idf, np.float32), 1 + math.log(1 + len(texts)))

    def weigh(self, spoken: list[str]) -> tuple[list[int], list[float]]:
        """
        Columns and values of a text, given its words; each kind of term has the same length, all together 1.

        Unknown terms have no column but count in the length, so a strange text is short, and its scores are low.
        """
        columns: list[int] = []
        values: list[float] = []
        weights, unseen = self._weights, (-1, self.unseen)
        for kind, found in terms(spoken):
            square, first = 0.0, len(values)
            for term, n in Counter(found).items():
                column, weight = weights.get(kind + term, unseen)
                value = weight * (1 + math.log(n))
                square += value * value
                if column >= 0:
                    columns.append(column)
                    values.append(value)
            if square:
                scale = 1 / math.sqrt(square * len(KINDS))
                values[first:] = [value * scale for value in values[first:]]
        return columns, values

    def rows(self, texts: Iterable[list[str]]) -> Rows:
        return Rows.of(self.weigh(spoken) for spoken in texts)
