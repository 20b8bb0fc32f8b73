"""Looking up a ticket, in a worker process that keeps the model loaded and follows the file when it changes."""

import math
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from runtime.memory.calibration import Thresholds
from runtime.memory.features import Shelf, weigh
from runtime.memory.job_results import NOTHING_LEARNT, Candidate, Looked
from runtime.memory.tfidf import Floats, Ints, Rows, Vocabulary
from runtime.memory.ticket_text import Digest, script, words
from runtime.memory.training import MARK, Header
from runtime.processes import array_file

ALIKE = 0.6
"""Share of words in common (weighed by how rare they are) from which a single earlier ticket is suggested."""
POSTINGS = 50_000
"""Entries of word lists that are read to find it, the rarest words first."""
SURE_OF_NOTHING = Thresholds(math.inf, math.inf)


class Index:
    """A model file, mapped."""

    def __init__(self, path: Path) -> None:
        """:raises array_file.Damaged: it cannot be used."""
        packed, arrays = array_file.read(path, MARK)
        try:
            header = msgspec.msgpack.decode(packed, type=Header)
            self._arrange(header, arrays)
        except (msgspec.MsgspecError, KeyError, ValueError, IndexError) as error:
            raise array_file.Damaged(str(error)) from error

    def _arrange(self, header: Header, arrays: dict[str, NDArray[Any]]) -> None:
        self.decision = header.decision
        self.answers = header.answers
        self.vocabulary = Vocabulary(header.names, arrays["idf"], header.unseen)
        self.ids: Ints = arrays["ids"]
        self.weights: NDArray[np.float16] = arrays["weights"]
        nothing = np.empty(0, np.float32)
        self.spoken = Rows(arrays["spoken.starts"], arrays["spoken.columns"], nothing)
        self.postings = Rows(arrays["postings.starts"], arrays["postings.columns"], nothing)
        starts: Ints = arrays["starts"]
        modelled = self.spoken.starts[: starts[-1] + 1]
        counts = Rows(arrays["counts.starts"], arrays["counts.columns"], arrays["counts.values"])
        self.shelf = Shelf(
            self.vocabulary.words, starts, counts, Rows(modelled, self.spoken.columns[: modelled[-1]], nothing)
        )
        info = self.vocabulary.idf[: self.vocabulary.words]
        self.masses = np.bincount(self.spoken.owners(), info[self.spoken.columns], len(self.ids))

    def look_up(self, text: str) -> Looked:
        spoken = words(text)
        if not spoken or not len(self.ids):
            return Looked(why="there is nothing to compare")
        columns, values = self.vocabulary.weigh(spoken)
        terms = np.asarray(columns, np.int64)
        candidates = list[Candidate]()
        first: int | None = None
        if len(terms) and len(self.shelf.sizes):
            first, candidates = self._classify(text, terms, np.asarray(values, np.float32), len(set(spoken)))
        candidates += self._alike(terms[terms < self.vocabulary.words], len(set(spoken)))
        return Looked(
            tuple(candidates),
            None if first is None else (int(self.ids[first]), Digest(self.answers[first])),
            why="" if candidates else "no earlier ticket has enough in common with this one",
        )

    def _classify(self, text: str, terms: Ints, values: Floats, spoken: int) -> tuple[int, list[Candidate]]:
        """The text that stands for the answer that ranks first, and what it is good for."""
        sight = self.shelf.look(terms[terms < self.vocabulary.phrases], spoken)
        linear = values @ self.weights[terms].astype(np.float32)
        _, nearest, evidence = weigh(self.shelf, sight, linear)
        if self.decision is None:
            return nearest, []
        score, limits = self.decision.score(evidence), self.decision.scripts.get(script(text), SURE_OF_NOTHING)
        if score >= limits.hit and not self.decision.is_new(evidence):
            return nearest, [self._candidate(nearest, "hit", f"the score {score:.1f} reaches {limits.hit:.1f}")]
        if score >= limits.suggestion:
            why = f"the score is {score:.1f}, a hit needs {limits.hit:.1f} and nothing that is new"
            return nearest, [self._candidate(nearest, "suggestion", why)]
        return nearest, []

    def _alike(self, mine: Ints, spoken: int) -> list[Candidate]:
        """The earlier ticket with the most words in common, whatever its answer: never more than a suggestion."""
        info = self.vocabulary.idf
        both = np.zeros(len(self.ids), np.float32)
        left = POSTINGS
        for word in sorted(mine, key=lambda word: -info[word]):
            texts = self.postings.row(int(word))[0]
            left -= len(texts)
            if left < 0:
                break
            both[texts] += info[word]
        mass = float(info[mine].sum()) + (spoken - len(mine)) * self.vocabulary.unseen
        like = 2 * both / (mass + self.masses + 1e-6)
        best = int(like.argmax())
        if like[best] < ALIKE:
            return []
        return [self._candidate(best, "suggestion", f"{like[best]:.0%} of the words agree")]

    def _candidate(self, text: int, verdict: Any, why: str) -> Candidate:
        return Candidate(int(self.ids[text]), Digest(self.answers[text]), verdict, why)


_loaded: dict[str, tuple[tuple[int, int, int], Index]] = {}


def look_up(path: str, text: str) -> Looked:
    """What the model at `path` says of a ticket. It is loaded again when another has taken its place."""
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
    return _loaded[path][1].look_up(text)
