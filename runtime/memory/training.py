"""Training, in a worker process: reads the database, rehearses, writes the model file."""

import contextlib
import os
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from runtime.memory.calibration import Decision, decide
from runtime.memory.classifier import Space
from runtime.memory.cross_validation import CORES, rehearse
from runtime.memory.features import Shelf
from runtime.memory.job_results import Learnt
from runtime.memory.tfidf import MAX_TERMS, Floats, Ints, Rows, Vocabulary
from runtime.memory.ticket_text import Digest, script, words
from runtime.processes import array_file
from runtime.storage.sqlite.memory_texts import read_keys, read_texts

MAX_TEXTS = 200_000
"""The newest tickets are learnt from."""
MAX_FITTED = 30_000
"""Of these, how many the linear model is fitted to; common answers are thinned first."""
MAX_REHEARSED = 16_000
LEAST_TEXTS = 3
"""Tickets that an answer needs for the linear model; rarer answers are only ever suggested."""
MAX_ANSWERS = 2_000
MAX_WEIGHTS = 64_000_000
TRIES = 3
"""To learn without a purge in between."""
_NICE = 10
MARK = array_file.Mark(b"terminus-memory\n", 2)


class Header(msgspec.Struct, frozen=True):
    """What the model file holds beside arrays."""

    names: list[str]
    unseen: float
    answers: list[bytes]
    """Digest of the answer of each text."""
    decision: Decision | None


class _Texts(NamedTuple):
    """Tickets, those of the modelled answers first, in the order of answers."""

    ids: Ints
    answers: list[Digest]
    spoken: list[list[str]]
    scripts: list[str]
    starts: Ints
    """Of the modelled answers."""


class Purged(Exception):
    """Tickets were purged while they were learnt from; what was learnt is not kept."""


def learn(database: str, path: str, similar: bool, false_hits: float) -> Learnt:
    """
    Make a model of all remembered tickets and put it in place of the older one.

    :param similar: unconfirmed answers may be hits for similar texts.
    :raises Purged: time and again tickets vanished meanwhile.
    """
    os.setpriority(os.PRIO_PROCESS, 0, _NICE)  # look-ups and the loop come first
    for _ in range(TRIES):
        known = read_keys(database)
        with contextlib.suppress(FileNotFoundError):  # the draft was removed, too
            learnt = _train(database, path, similar, false_hits)
            if known <= read_keys(database):
                return learnt
        # After the file is in place: a purge either sees it there and removes it, or is seen here.
        Path(path).unlink(missing_ok=True)
    raise Purged("tickets were purged while they were learnt from")


def _train(database: str, path: str, similar: bool, false_hits: float) -> Learnt:
    began = time.monotonic()
    texts = _read(database, similar)
    answers = len(texts.starts) - 1
    vocabulary = Vocabulary.of(texts.spoken, min(MAX_TERMS, MAX_WEIGHTS // max(1, answers)))
    rows = vocabulary.rows(texts.spoken)
    shelf = _shelf(rows.take(np.arange(texts.starts[-1])), texts.starts, vocabulary)
    weights, decision = np.zeros((len(vocabulary.names), answers), np.float32), None
    if answers > 1:
        fitted = _thin(texts.starts)
        space = Space(rows.take(fitted), len(vocabulary.names))
        with ThreadPoolExecutor(CORES) as pool:
            fit = space.fit(np.arange(len(fitted)), shelf.answer[fitted], np.arange(answers), pool)
        weights = space.term_weights(fit)
        whole, starts = _whole(texts.starts)
        if len(whole) != len(fitted):
            space = Space(rows.take(whole), len(vocabulary.names))
            shelf_of_whole = _shelf(rows.take(whole), starts, vocabulary)
        else:
            shelf_of_whole = shelf
        spoken = np.array([len(set(texts.spoken[i])) for i in whole], np.int64)
        rehearsed = rehearse(space, shelf_of_whole, spoken)
        scripts = [texts.scripts[whole[i]] for i in rehearsed.text]
        decision = decide(rehearsed, shelf_of_whole.answer[rehearsed.text], scripts, false_hits)
    header = msgspec.msgpack.encode(Header(vocabulary.names, vocabulary.unseen, [*texts.answers], decision))
    array_file.write(
        Path(path), MARK, header, _arrays(texts.ids, rows.below(vocabulary.words), vocabulary, shelf, weights)
    )
    sure = tuple(sorted(decision.scripts)) if decision is not None else ()
    return Learnt(len(texts.ids), answers, sure, time.monotonic() - began)


def _read(database: str, similar: bool) -> _Texts:
    rows = read_texts(database, MAX_TEXTS, similar=similar)
    rows.reverse()
    sizes = Counter(answer for _, _, answer, sure in rows if sure)
    common = [answer for answer, n in sizes.most_common(MAX_ANSWERS) if n >= LEAST_TEXTS]
    place = {answer: i for i, answer in enumerate(common)}
    rows.sort(key=lambda row: place[row[2]] if row[3] and row[2] in place else len(place))
    starts = np.cumsum([0, *(sizes[answer] for answer in common)])
    return _Texts(
        np.array([row[0] for row in rows], np.int64),
        [Digest(row[2]) for row in rows],
        [words(row[1]) for row in rows],
        [script(row[1]) for row in rows],
        starts.astype(np.int64),
    )


def _shelf(modelled: Rows, starts: Ints, vocabulary: Vocabulary) -> Shelf:
    return Shelf.of(modelled.below(vocabulary.phrases), starts, vocabulary.words, vocabulary.phrases)


def _thin(starts: Ints) -> Ints:
    """Texts to fit: all, or of each answer no more than keeps them below the bound."""
    sizes, dice = np.diff(starts), np.random.default_rng(4)
    if starts[-1] <= MAX_FITTED:
        return np.arange(starts[-1])
    most = max(n for n in range(1, MAX_FITTED) if np.minimum(sizes, n).sum() <= MAX_FITTED or n == 1)
    return np.concatenate(
        [first + np.sort(dice.permutation(n)[:most]) for first, n in zip(starts, sizes, strict=False)]
    )


def _whole(starts: Ints) -> tuple[Ints, Ints]:
    """Texts to rehearse with: all, or whole answers at random, so that the sizes of the rest stay true."""
    sizes = np.diff(starts)
    if starts[-1] <= MAX_REHEARSED:
        return np.arange(starts[-1]), starts
    order = np.random.default_rng(5).permutation(len(sizes))
    kept = np.sort(order[np.cumsum(sizes[order]) <= MAX_REHEARSED])
    texts = [np.arange(starts[answer], starts[answer + 1]) for answer in kept]
    return np.concatenate([np.empty(0, np.int64), *texts]), np.concatenate([[0], np.cumsum(sizes[kept])])


def _arrays(ids: Ints, spoken: Rows, vocabulary: Vocabulary, shelf: Shelf, weights: Floats) -> dict[str, NDArray[Any]]:
    postings = spoken.transpose(vocabulary.words)
    return {
        "ids": ids,
        "idf": vocabulary.idf,
        "weights": weights.astype(np.float16),
        "starts": shelf.starts,
        "counts.starts": shelf.counts.starts,
        "counts.columns": shelf.counts.columns,
        "counts.values": shelf.counts.values,
        "spoken.starts": spoken.starts,
        "spoken.columns": spoken.columns,
        "postings.starts": postings.starts,
        "postings.columns": postings.columns,
    }
