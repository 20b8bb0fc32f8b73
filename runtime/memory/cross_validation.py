"""
Rehearsal: what would this memory have said to tickets whose right answer is known?

Parts of the store are left out in turn: texts, whose answers should be found, and whole answers, whose texts should
find none. New tickets are of two kinds, near to what is stored and of another topic, so answers are left out singly
mixed and by neighbourhood.
"""

import os
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import NamedTuple

import numpy as np

from runtime.memory.classifier import Space
from runtime.memory.features import NAMES, Shelf, Without, weigh
from runtime.memory.tfidf import Floats, Ints

MIXED = 12
"""Parts for leaving out answers that have nothing in common. With fewer, too much is missing at once."""
DEPTH = 3
"""How often neighbourhoods are parted in two."""
SHARES = (0.4, 0.6)
"""Where: more than one way, for one grouping alone is too much a matter of luck."""
CORES = min(2, os.cpu_count() or 1)
"""Threads that learn side by side: the arithmetic of each lets the others go on."""
PROBES = 500
"""Texts that are asked about at most, of each kind in each part."""


class Rehearsed(NamedTuple):
    """One line a question."""

    evidence: Floats
    right: Ints
    """1: the first answer is the right one."""
    known: Ints
    """1: the right answer was there to be found."""
    far: Ints
    """1: the right answer was left out with its neighbours."""
    text: Ints
    """Which text was asked about."""


class _Part(NamedTuple):
    """What is left out together, and which texts are asked about then."""

    out: Ints
    """Answers."""
    far: bool
    """They are neighbours."""
    kept: Ints
    """The texts that are learnt from."""
    known: Ints
    new: Ints


_Line = tuple[Floats, int, int, int, int]


def rehearse(space: Space, shelf: Shelf, words: Ints) -> Rehearsed:
    """Ask about parts that are left out. `words`: distinct words of each text; texts are those of space and shelf."""
    dice = np.random.default_rng(2)
    labels = shelf.answer
    part_of_text = dice.permutation(len(labels)) % MIXED
    parts: list[_Part] = []
    mixed, neighbours = _parts(space, shelf, dice)
    for part, out in enumerate(mixed + neighbours):
        far = part >= len(mixed)
        known = part_of_text == (-1 if far else part)  # every text is asked about once
        left = np.isin(labels, out)
        probes = [dice.permutation(np.flatnonzero(here))[:PROBES] for here in (known & ~left, left)]
        parts.append(_Part(out, far, np.flatnonzero(~left & ~known), *probes))
    with ThreadPoolExecutor(CORES) as pool:
        found = pool.map(partial(_ask_part, space, shelf, words), parts)
        return _gather([line for lines in found for line in lines])


def _ask_part(space: Space, shelf: Shelf, words: Ints, part: _Part) -> list[_Line]:
    labels, answers, found = shelf.answer, len(shelf.sizes), list[_Line]()
    there = np.setdiff1d(np.arange(answers), part.out)
    fitted = space.fit(part.kept, labels[part.kept], there)
    for probes, new in ((part.known, False), (part.new, True)):
        scores = np.full((len(probes), answers), -np.inf, np.float32)
        scores[:, there] = space.scores(probes, fitted)
        for text, line in zip(probes, scores, strict=True):
            without = Without(part.out, -1 if new else int(text))
            best, evidence = _ask(space, shelf, int(text), int(words[text]), line, without)
            right = not new and best == labels[text]
            found.append((evidence, int(right), int(not new), int(new and part.far), int(text)))
    return found


def _ask(space: Space, shelf: Shelf, text: int, words: int, scores: Floats, without: Without) -> tuple[int, Floats]:
    columns, _ = space.rows.row(text)
    sight = shelf.look(columns[columns < len(shelf.known)].astype(np.int64), words, without)
    best, _, evidence = weigh(shelf, sight, scores, without)
    return best, evidence


def _parts(space: Space, shelf: Shelf, dice: np.random.Generator) -> tuple[list[Ints], list[Ints]]:
    """The answers that are left out together: mixed ones, then neighbours."""
    answers = len(shelf.sizes)
    mixed = dice.permutation(answers) % MIXED
    centres = np.stack([space.places[shelf.starts[a] : shelf.starts[a + 1]].mean(0) for a in range(answers)])
    neighbours = [group for share in SHARES for group in _neighbourhoods(np.arange(answers), centres, share)]
    return [np.flatnonzero(mixed == i) for i in range(MIXED)], neighbours


def _neighbourhoods(group: Ints, centres: Floats, share: float, depth: int = DEPTH) -> list[Ints]:
    """Groups of like answers: two parts, and parts of these, along the direction in which their centres differ most."""
    if depth == 0 or len(group) < 2:
        return [group]
    offsets = centres[group] - centres[group].mean(0)
    along = np.linalg.svd(offsets, full_matrices=False)[0][:, 0]
    # which end of the direction comes first is chance in the arithmetic; the larger side is made to
    order = group[np.argsort(along if np.abs(along.max()) >= np.abs(along.min()) else -along, kind="stable")]
    cut = min(max(1, round(len(order) * share)), len(order) - 1)
    return [part for side in (order[:cut], order[cut:]) for part in _neighbourhoods(side, centres, share, depth - 1)]


def _gather(found: list[_Line]) -> Rehearsed:
    evidence = np.stack([line[0] for line in found]) if found else np.empty((0, len(NAMES)), np.float32)
    right, known, far, text = (np.array([line[i] for line in found], np.int64) for i in (1, 2, 3, 4))
    return Rehearsed(evidence, right, known, far, text)
