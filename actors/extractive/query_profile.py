"""A question in the terms that quotes are measured by: what it is about, what each of its words tells. Pure."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from actors.evidence.heading_types import is_entry, nearest
from actors.evidence.passages import Passage
from actors.extractive.decompose import decompose
from actors.text.keywords import in_order, share, terms
from actors.text.sentences import split_sentences

OPENS_ON = 0.5
"""A section speaks from its first sentence on of what its heading, or that of its page, says of the question so far."""
TELLING = 0.6
"""A word of the question is what it is about when it tells so much of what the most telling one tells."""
WHOLE = 0.9
"""Where the headings say so much of a question, all that stands below them answers it."""
UNKNOWN = 0.2
"""What a word counts that no document has, beside a middling one: whether the others do is judged by the search."""


class Asked(NamedTuple):
    """A question, in the terms that quotes are measured by."""

    question: str
    wanted: dict[str, float]
    """Its terms, and what each tells."""
    about: tuple[frozenset[str], ...]
    """The terms of each question of the whole task."""

    def best(self, text: str) -> float:
        """The share of the question that the best sentence of a text says."""
        return max((self.share(terms(each)) for each in split_sentences(text)), default=0.0)

    def share(self, have: frozenset[str]) -> float:
        """How much of the question some terms say, 0 to 1."""
        whole = sum(self.wanted.values())
        return sum(weight for term, weight in self.wanted.items() if term in have) / whole if whole else 0.0

    def is_whole_answer(self, passage: Passage) -> bool:
        """Whether all that stands in a passage answers the question, for its headings say the whole of it."""
        above = terms(f"{passage.title} {passage.heading}")
        own = bool(self.telling & terms(nearest(passage)))
        return len(self.wanted) > 1 and own and not is_entry(passage.heading) and self.share(above) >= WHOLE

    def fit(self, heading: frozenset[str]) -> float:
        """How far a heading is the question's own: less when it says other things, too."""
        return self.share(heading) * (1 + share(heading, frozenset(self.wanted))) / 2

    @property
    def telling(self) -> frozenset[str]:
        """What the question is about before all."""
        most = max(self.wanted.values(), default=0.0)
        return frozenset(term for term, weight in self.wanted.items() if weight >= TELLING * most)


def asked_by(question: str, whole: str, weights: Sequence[tuple[str, float]] = ()) -> Asked:
    """
    A question of a task.

    :param weights: its words with what each tells, where the search knows.
    """
    return Asked(question, weigh(question, weights), tuple(map(terms, decompose(whole).questions)))


def weigh(question: str, weights: Sequence[tuple[str, float]]) -> dict[str, float]:
    """The terms of a question with what each tells."""
    known: dict[str, float] = {}
    for word, weight in weights:
        for term in terms(word):
            known[term] = max(known.get(term, 0.0), math.sqrt(max(0.0, weight)))
    middle = sum(known.values()) / len(known) if any(known.values()) else 1.0
    return {term: known.get(term, middle) or UNKNOWN * middle for term in in_order(question)}
