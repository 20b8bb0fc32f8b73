"""Learning, in a worker process: texts become neighbours, are rehearsed, and stand in a file."""

import contextlib
import os
import time
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from runtime.memory.decision import Decision, decide, rehearse
from runtime.memory.job_results import Learnt
from runtime.memory.neighbours import Ints, arrange
from runtime.memory.ticket_text import script, terms
from runtime.processes import array_file
from runtime.storage.sqlite.memory_texts import read_keys, read_texts

MAX_TEXTS = 200_000
"""The newest tickets are learnt from."""
TRIES = 3
"""To learn without a purge in between."""
_NICE = 10
MARK = array_file.Mark(b"terminus-memory\n", 3)


class Header(msgspec.Struct, frozen=True):
    """What the file holds beside arrays."""

    terms: list[str]
    answers: list[bytes]
    """Their digests."""
    sure: int
    """Texts before this one have answers that may be hits."""
    embedder: str
    """What made the vectors; empty: there are none."""
    decision: Decision | None


class _Texts(NamedTuple):
    """Tickets in the order of their answers, those that may be hits first."""

    ids: Ints
    texts: list[str]
    answer: NDArray[np.int32]
    names: list[bytes]
    """Digests of the answers."""
    sure: int
    vectors: NDArray[np.int8]


class Purged(Exception):
    """Tickets were purged while they were learnt from; what was learnt is not kept."""


def learn(database: str, path: str, similar: bool, false_hits: float, embedder: str) -> Learnt:
    """
    Learn from all remembered tickets and put the file in place of the older one.

    :param similar: unconfirmed answers may be hits for similar texts.
    :param embedder: whose vectors are used; texts that have none wait for the next time.
        Empty: words only.
    :raises Purged: time and again tickets vanished meanwhile.
    """
    os.setpriority(os.PRIO_PROCESS, 0, _NICE)  # look-ups and the loop come first
    for _ in range(TRIES):
        known = read_keys(database)
        with contextlib.suppress(FileNotFoundError):  # the draft was removed, too
            learnt = _learn(database, path, similar, false_hits, embedder)
            if known <= read_keys(database):
                return learnt
        # After the file is in place: a purge either sees it there and removes it, or is seen here.
        Path(path).unlink(missing_ok=True)
    raise Purged("tickets were purged while they were learnt from")


def _learn(database: str, path: str, similar: bool, false_hits: float, embedder: str) -> Learnt:
    began = time.monotonic()
    read = _read(database, similar, embedder)
    said = [terms(text) for text in read.texts]
    names, neighbours = arrange(said, read.answer, read.sure, read.vectors)
    rehearsed = rehearse(neighbours, said, read.sure)
    scripts = [script(read.texts[text]) for text in rehearsed.text]
    decision = decide(rehearsed, read.answer[rehearsed.text], scripts, false_hits)
    header = Header(names, read.names, read.sure, embedder, decision)
    arrays = {"ids": read.ids, **neighbours.arrays}
    array_file.write(Path(path), MARK, msgspec.msgpack.encode(header), arrays)
    sure = tuple(sorted(decision.scripts)) if decision is not None else ()
    answers = len(np.unique(read.answer[: read.sure]))
    return Learnt(len(read.ids), answers, sure, time.monotonic() - began)


def _read(database: str, similar: bool, embedder: str) -> _Texts:
    """Texts that differ, each answer once: a form that came a hundred times is one ticket."""
    rows = read_texts(database, MAX_TEXTS, similar=similar, embedder=embedder)
    width = len(rows[0].vector) if rows else 0
    # A server that was given another model keeps its name.
    rows = [row for row in rows if len(row.vector) == width]
    rows.sort(key=lambda row: (not row.sure, row.answer))
    names = sorted({row.answer for row in rows})
    place = {name: number for number, name in enumerate(names)}
    return _Texts(
        np.array([row.id for row in rows], np.int64),
        [row.text for row in rows],
        np.array([place[row.answer] for row in rows], np.int32),
        names,
        sum(row.sure for row in rows),
        np.frombuffer(b"".join(row.vector for row in rows), np.int8).reshape(len(rows), width),
    )
