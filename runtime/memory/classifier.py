"""A linear model of which answer fits a text: one squared-hinge classifier an answer over the texts' terms."""

from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from runtime.memory.tfidf import Floats, Ints, Rows

DIMENSIONS = 1024
LANDMARKS = 4096
"""Texts that span the dense space in which most of the fitting is done."""
PENALTY = 0.2
"""Of squared weights, against the squared hinge losses."""
STEPS = 12
"""Without them recall falls from .51 to .35 on banking77 and from .80 to .72 on clinc150 (bench.memory, a third)."""
SHARPEN = 0.8
"""Length of the last step, which also uses the terms that the dense space has lost."""
BLOCK = 256
"""Answers that are fitted together; bounds the memory that fitting takes."""
_FREQUENT = 48
"""Texts with a term from which dense products are quicker."""
_PAIRS = 1 << 20
_SLAB = 4096
_PASSES = 2


class Fitted(NamedTuple):
    """What was learnt from some texts of a space; `Space.term_weights` adds it up."""

    weights: Floats
    """Dimensions x answers."""
    last: Floats
    """The last step, terms x answers."""


class Space:
    """Texts with their places in a dense space whose products are nearly those of the texts."""

    def __init__(self, rows: Rows, terms: int) -> None:
        self.rows = rows
        self.terms = terms
        self.basis = _basis(rows, terms)
        self.places = rows.times(self.basis)
        gram = self.places.T @ self.places + (PENALTY + 1e-4) * np.eye(self.places.shape[1], dtype=np.float32)
        self._start = np.linalg.inv(gram).astype(np.float32)

    def fit(self, which: Ints, labels: Ints, answers: Ints, pool: ThreadPoolExecutor | None = None) -> Fitted:
        """
        Learn from the texts `which` with their labels, which are among `answers`.

        :param pool: fits several blocks of answers at once; the result is the same.
        """
        places = self.places[which]
        weights = np.empty((places.shape[1], len(answers)), np.float32)
        missing = np.empty((len(which), len(answers)), np.float32)

        def fit_block(first: int) -> None:
            these = slice(first, first + BLOCK)
            sign = np.where(labels[:, None] == answers[these], np.float32(1), np.float32(-1))

            def loss(w: Floats, sign: Floats = sign) -> tuple[float, Floats]:
                short = np.maximum(0, 1 - sign * (places @ w))
                slope = places.T @ (sign * short)
                return float(np.vdot(short, short) + PENALTY * np.vdot(w, w)), 2 * (PENALTY * w - slope)

            weights[:, these] = _descend(loss, self._start @ (places.T @ sign), lambda slope: self._start @ slope)
            missing[:, these] = sign * np.maximum(0, 1 - sign * (places @ weights[:, these]))

        blocks = range(0, len(answers), BLOCK)
        deque(pool.map(fit_block, blocks) if pool else map(fit_block, blocks), 0)
        return Fitted(weights, SHARPEN * self.rows.take(which).spread(missing, self.terms))

    def scores(self, which: Ints, fitted: Fitted) -> Floats:
        """Of texts of this space for each answer."""
        return self.places[which] @ fitted.weights + self.rows.take(which).times(fitted.last)

    def term_weights(self, fitted: Fitted) -> Floats:
        """Terms x answers: a text's scores are its row times this."""
        weights: Floats = self.basis @ fitted.weights
        weights += fitted.last
        return weights


def _basis(rows: Rows, terms: int) -> Floats:
    """Directions, terms x dimensions, that keep most of what the texts say: a randomised subspace iteration."""
    dice = np.random.default_rng(1)
    marks = rows.take(np.sort(dice.permutation(len(rows))[:LANDMARKS]))
    gram = _products(marks, terms)
    wanted = min(DIMENSIONS, len(marks))
    space = dice.standard_normal((len(marks), min(wanted + 64, len(marks))), np.float32)
    for _ in range(_PASSES):
        space = np.linalg.qr(gram @ space)[0]
    energy, turn = np.linalg.eigh(space.T @ (gram @ space))
    kept = np.flatnonzero(energy > max(float(energy[-1]), 1e-9) * 1e-5)[-wanted:]
    mix = (space @ turn[:, kept]) / np.sqrt(energy[kept])
    return marks.spread(mix.astype(np.float32), terms)


def _products(rows: Rows, terms: int) -> Floats:
    """All inner products of sparse rows: slabs of frequent terms, and pairs of texts that share a rare one."""
    size, turned = len(rows), rows.transpose(terms)
    spread = np.diff(turned.starts)
    gram = np.zeros((size, size), np.float32)
    frequent = np.flatnonzero(spread > _FREQUENT)
    for first in range(0, len(frequent), _SLAB):
        part = turned.take(frequent[first : first + _SLAB])
        slab = np.zeros((size, len(part)), np.float32)
        slab[part.columns, part.owners()] = part.values
        gram += slab @ slab.T
    rare = rows.where(spread[rows.columns] <= _FREQUENT)
    owners, flat = rare.owners(), gram.reshape(-1)
    for first in range(0, len(owners), _PAIRS // _FREQUENT):
        others = turned.take(rare.columns[first : first + _PAIRS // _FREQUENT].astype(np.int64))
        mine = others.owners() + first
        np.add.at(flat, owners[mine] * size + others.columns, rare.values[mine] * others.values)
    return gram


def _descend(
    loss: Callable[[Floats], tuple[float, Floats]], x: Floats, precondition: Callable[[Floats], Floats]
) -> Floats:
    """L-BFGS with a preconditioner, in a bounded number of steps."""
    value, slope = loss(x)
    past: list[tuple[Floats, Floats, float]] = []
    for _ in range(STEPS):
        way = _direction(slope, past, precondition)
        length, decline = 1.0, float(np.vdot(slope, way))
        for _ in range(8):
            there, its_slope = loss(x + length * way)
            if there <= value + 1e-4 * length * decline:
                break
            length /= 2
        else:
            return x
        step, bend = length * way, its_slope - slope
        x, slope = x + step, its_slope
        if value - there < 1e-4 * value:
            return x
        value = there
        if (turned := float(np.vdot(step, bend))) > 0:
            past = [*past[-7:], (step, bend, 1 / turned)]
    return x


def _direction(
    slope: Floats, past: list[tuple[Floats, Floats, float]], precondition: Callable[[Floats], Floats]
) -> Floats:
    way, shares = -slope, []
    for step, bend, inverse in reversed(past):
        share = inverse * float(np.vdot(step, way))
        way = way - share * bend
        shares.append(share)
    way = precondition(way) * np.float32(0.5)
    for (step, bend, inverse), share in zip(past, reversed(shares), strict=True):
        way = way + step * (share - inverse * float(np.vdot(bend, way)))
    return way
