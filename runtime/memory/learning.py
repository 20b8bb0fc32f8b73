"""The jobs of worker processes: learn from all that is remembered into a file, and look tickets up in it."""

import contextlib
import functools
import os
import time
from pathlib import Path

import msgspec
import numpy as np

from runtime.memory.job_results import NOTHING_LEARNT, Candidate, Learnt, Looked
from runtime.memory.neighbours import LEAST_TICKETS, Decision, Neighbours, Ticket, arrange, decide, rehearse
from runtime.memory.ticket_text import Digest, script, terms
from runtime.processes import array_file
from runtime.storage.sqlite.memory_texts import read_confirmed_after, read_keys, read_texts

MAX_TEXTS = 200_000
"""The newest tickets are learnt from."""
TRIES = 3
"""To learn without a purge in between."""
ALIKE = 0.6
"""Cosine of the words from which a single earlier ticket is suggested, whoever confirmed it."""
MOST_NEW = 200
"""So many of the tickets that were confirmed since the last learning are looked at."""
MARK = array_file.Mark(b"terminus-memory\n", 4)
_NICE = 10


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
    """None: too little was rehearsed."""


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
    # Texts that differ, each answer once: a form that came a hundred times is one ticket.
    rows = read_texts(database, MAX_TEXTS, similar=similar, embedder=embedder)
    width = len(rows[0].vector) if rows else 0
    # A server that was given another model keeps its name.
    rows = [row for row in rows if len(row.vector) == width]
    rows.sort(key=lambda row: (not row.sure, row.answer))
    digests = sorted({row.answer for row in rows})
    place = {each: number for number, each in enumerate(digests)}
    answer = np.array([place[row.answer] for row in rows], np.int32)
    vectors = np.frombuffer(b"".join(row.vector for row in rows), np.int8).reshape(len(rows), width)
    sure, said = sum(row.sure for row in rows), [terms(row.text) for row in rows]
    names, neighbours = arrange(said, answer, sure, vectors)
    rehearsed = rehearse(neighbours, said)
    scripts = [script(rows[text].text) for text in rehearsed.text]
    decision = decide(rehearsed, answer[rehearsed.text], scripts, false_hits)
    header = Header(names, digests, sure, embedder, decision)
    arrays = {"ids": np.array([row.id for row in rows], np.int64), **neighbours.arrays}
    array_file.write(Path(path), MARK, msgspec.msgpack.encode(header), arrays)
    writings = tuple(sorted(decision.hits)) if decision is not None else ()
    return Learnt(len(rows), len(np.unique(answer[:sure])), writings, time.monotonic() - began)


class Index:
    """A file of what was learnt, mapped."""

    def __init__(self, path: Path) -> None:
        """:raises array_file.Damaged: it cannot be used."""
        packed, arrays = array_file.read(path, MARK)
        try:
            self.header = msgspec.msgpack.decode(packed, type=Header)
            self._ids = arrays["ids"]
            self.neighbours = Neighbours(self.header.terms, self.header.sure, arrays)
        except (msgspec.MsgspecError, KeyError, ValueError, IndexError) as error:
            raise array_file.Damaged(str(error)) from error

    def look_up(self, text: str, vector: bytes, database: str) -> Looked:
        """What earlier tickets say of one; `vector` may be empty."""
        said = terms(text)
        if not said or not len(self._ids):
            return Looked(why="there is nothing to compare")
        ticket = self.neighbours.see(said, vector)
        found = (self._judge(text, ticket), self._suggest_new(said, database), self._suggest_alike(ticket))
        candidates = tuple(each for each in found if each is not None)
        return Looked(candidates, why="" if candidates else "no earlier ticket has enough in common with this one")

    def name(self, text: int) -> tuple[int, Digest]:
        """Row and answer of a text."""
        return int(self._ids[text]), Digest(self.header.answers[self.neighbours.answer[text]])

    def _judge(self, text: str, ticket: Ticket) -> Candidate | None:
        """The answer of most neighbours, and what it is good for."""
        decision = self.header.decision
        least = decision.hits.get(script(text)) if decision is not None else None
        lacks_meaning = self.neighbours.vectors.shape[1] > 0 and ticket.meaning is None
        if decision is None or least is None or lacks_meaning:  # nothing was rehearsed, or with more than there is
            return None
        found = self.neighbours.weigh(ticket)
        score = decision.score(found.numbers)
        if score >= least and found.tickets >= LEAST_TICKETS:
            return Candidate(*self.name(found.text), "hit", f"the score {score:.1f} reaches {least:.1f}")
        if score < 0:  # log-odds: it is more likely wrong than right
            return None
        why = f"the score is {score:.1f}, a hit needs {least:.1f}"
        if found.tickets < LEAST_TICKETS:
            why += f" and {LEAST_TICKETS} tickets, there are {found.tickets}"
        return Candidate(*self.name(found.text), "suggestion", why)

    def _suggest_new(self, said: list[str], database: str) -> Candidate | None:
        """The most alike of the tickets that people confirmed since this was learnt."""
        new = read_confirmed_after(database, int(self._ids.max()), MOST_NEW)
        likeness = [self.neighbours.compare_two(said, _read_terms(each.text)) for each in new]
        alike = max(likeness, default=0.0)
        best = new[likeness.index(alike)] if likeness else None
        return _suggest(best.id, Digest(best.answer), alike) if best else None

    def _suggest_alike(self, ticket: Ticket) -> Candidate | None:
        text, alike = self.neighbours.most_alike(ticket)
        return _suggest(*self.name(text), alike)


def _suggest(row: int, answer: Digest, alike: float) -> Candidate | None:
    return Candidate(row, answer, "suggestion", f"{alike:.0%} of the words agree") if alike >= ALIKE else None


@functools.lru_cache(maxsize=MOST_NEW)
def _read_terms(text: str) -> list[str]:
    return terms(text)


_loaded: dict[str, tuple[tuple[int, int, int], Index]] = {}


def look_up(path: str, database: str, text: str, vector: bytes, embedder: str) -> Looked:
    """
    What the file at `path` says of a ticket. It is loaded again when another has taken its place.

    :param database: with what was confirmed since the file was made.
    :param vector: of the ticket, made by the sentence model `embedder`; both empty: by words.
    """
    try:
        stat = Path(path).stat()
        mark = (stat.st_mtime_ns, stat.st_size, stat.st_ino)
        if path not in _loaded or _loaded[path][0] != mark:
            _loaded[path] = (mark, Index(Path(path)))
    except FileNotFoundError:
        return Looked(problem=NOTHING_LEARNT)
    except (array_file.Damaged, OSError) as error:
        _loaded.pop(path, None)
        return Looked(problem=f"what was learnt cannot be read: {error}")
    index = _loaded[path][1]
    if index.header.embedder == embedder:
        return index.look_up(text, vector, database)
    looked = index.look_up(text, b"", database)
    return msgspec.structs.replace(looked, problem="it was learnt with another sentence model, or with none")
