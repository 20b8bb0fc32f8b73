"""Looking up a ticket, in a worker process that keeps the index loaded and follows its file."""

import functools
from pathlib import Path

import msgspec
import numpy as np

from runtime.memory.decision import LEAST_TICKETS, Thresholds
from runtime.memory.job_results import NOTHING_LEARNT, Candidate, Looked
from runtime.memory.neighbours import Neighbours, Ticket
from runtime.memory.ticket_text import Digest, script, terms
from runtime.memory.training import MARK, Header
from runtime.processes import array_file
from runtime.storage.sqlite.memory_texts import read_confirmed_after

ALIKE = 0.6
"""Cosine of the words from which a single earlier ticket is suggested, whoever confirmed it."""
MOST_NEW = 200
"""So many of the tickets that were confirmed since the last learning are looked at."""
SURE_OF_NOTHING = Thresholds(np.inf, np.inf)


class Index:
    """A file of what was learnt, mapped."""

    def __init__(self, path: Path) -> None:
        """:raises array_file.Damaged: it cannot be used."""
        packed, arrays = array_file.read(path, MARK)
        try:
            self.header = msgspec.msgpack.decode(packed, type=Header)
            self._ids = arrays["ids"]
            self._neighbours = Neighbours(self.header.terms, self.header.sure, arrays)
        except (msgspec.MsgspecError, KeyError, ValueError, IndexError) as error:
            raise array_file.Damaged(str(error)) from error

    def look_up(self, text: str, vector: bytes, database: str) -> Looked:
        """What earlier tickets say of one; `vector` may be empty."""
        said = terms(text)
        if not said or not len(self._ids):
            return Looked(why="there is nothing to compare")
        ticket = self._neighbours.see(said, vector)
        candidates, first = list[Candidate](), None
        if self.header.sure:
            first, candidates = self._judge(text, ticket)
        candidates += self._suggest_new(said, database)
        candidates += self._suggest_alike(ticket)
        why = "" if candidates else "no earlier ticket has enough in common with this one"
        return Looked(tuple(candidates), first, why=why)

    def _judge(self, text: str, ticket: Ticket) -> tuple[tuple[int, Digest], list[Candidate]]:
        """The answer of most neighbours, and what it is good for."""
        found, decision = self._neighbours.weigh(ticket), self.header.decision
        first = self._name(found.text)
        lacks_meaning = self._neighbours.vectors.shape[1] > 0 and ticket.meaning is None
        if decision is None or lacks_meaning:  # nothing was rehearsed, or with more than there is
            return first, []
        score = decision.score(found.numbers)
        limits = decision.scripts.get(script(text), SURE_OF_NOTHING)
        if score >= limits.hit and found.tickets >= LEAST_TICKETS:
            why = f"the score {score:.1f} reaches {limits.hit:.1f}"
            return first, [Candidate(*first, "hit", why)]
        if score < limits.suggestion:
            return first, []
        why = f"the score is {score:.1f}, a hit needs {limits.hit:.1f}"
        if found.tickets < LEAST_TICKETS:
            why += f" and {LEAST_TICKETS} tickets, there are {found.tickets}"
        return first, [Candidate(*first, "suggestion", why)]

    def _suggest_new(self, said: list[str], database: str) -> list[Candidate]:
        """The most alike of the tickets that people confirmed since this was learnt."""
        new = read_confirmed_after(database, int(self._ids.max()), MOST_NEW)
        likeness = [self._neighbours.compare_two(said, _read_terms(each.text)) for each in new]
        if (alike := max(likeness, default=0.0)) < ALIKE:
            return []
        best = new[likeness.index(alike)]
        return [_suggest(best.id, Digest(best.answer), alike)]

    def _suggest_alike(self, ticket: Ticket) -> list[Candidate]:
        text, alike = self._neighbours.most_alike(ticket)
        return [_suggest(*self._name(text), alike)] if alike >= ALIKE else []

    def _name(self, text: int) -> tuple[int, Digest]:
        """Row and answer of a text."""
        return int(self._ids[text]), Digest(self.header.answers[self._neighbours.answer[text]])


def _suggest(row: int, answer: Digest, alike: float) -> Candidate:
    return Candidate(row, answer, "suggestion", f"{alike:.0%} of the words agree")


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
    problem = "it was learnt with another sentence model, or with none"
    return msgspec.structs.replace(looked, problem=problem)
