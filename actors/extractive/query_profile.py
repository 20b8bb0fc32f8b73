"""A question in the terms that quotes are measured by: what it is about, what each of its words tells. Pure."""

import math
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from actors.evidence.heading_types import is_entry, leaf, named_by, nearest
from actors.evidence.passages import Passage
from actors.extractive.decompose import decompose, essence
from actors.text.keywords import in_order, share, terms

OPENS_ON = 0.5
"""A section speaks from its first sentence on of what its heading, or that of its page, says of the question so far."""
TELLING = 0.6
"""A word of the question is what it is about when it tells so much of what the most telling one tells."""
SHORT = 2
"""A question of so few terms wants all of them."""
WHOLE = 0.9
"""Where the headings say so much of a question, all that stands below them answers it."""
UNKNOWN = 0.2
"""What a word counts that no document has, beside a middling one: whether the others do is judged by the search."""
ACTIVITY = 0.3
"""What a word counts that says what is done with the subject, such as "tune"."""
CODE, FORMULA = 8, 2
"""Lines of code that a quote may end with: of who asks how something is done, and of everybody else."""

IDENTIFIER = re.compile(r"\b(?=[\d_]{0,60}[A-Za-z])\w{0,60}_\w{1,60}\b")
_HOW = re.compile(
    r"\bhow (?:to|(?:do|can|should|could|would) (?:i|we|you|one|users?))\b|\bexamples?\b|\bsyntax\b|\bcommands?\b|"
    r"如何|怎么|怎样|어떻게|방법",
    re.IGNORECASE,
)
_SETS = re.compile(r"\b(?:tun|configur|setting|set\b|parameter|option|enabl|disabl|control|decide)", re.IGNORECASE)
_PLAIN = re.compile(
    r"what|when|which|where|does|should|would|could|have|work(?:s|ing)?|your|they|them|there|that|with|from|into|about|"
    r"explain|describe|need|want|want(?:ed)?|happens?|difference|between|often|much|many|this|these|those|tell|more|know|"
    r"understand|overview|summary|report|give|write|please|some|will|mean(?:s|ing)?|best|good|actually|exactly|find|tune|"
    r"configured?|monitor(?:ing)?|choose|decides?|handles?|handled|manage"
)

_WEAK = re.compile(
    r"\b(?:limit(?:ation|ed)s?|restrict\w*|caveats?|drawbacks?|disadvantages?|shortcomings?|downsides?|cannot|can't|unable|"
    r"unsupported|not (?:\w+ )?(?:possible|supported|allowed|permitted|available|replicated|implemented|enforced)|"
    r"slow\w*|expensive|overhead|exclusive|blocks|costly|fails?|however|must not|no way)\b",
    re.IGNORECASE,
)
_GOOD = re.compile(
    r"\b(?:advantag\w*|benefits?|strengths?|useful|faster|better|best|efficien\w*|improv\w*|helps?|easier|simpler|allows?|"
    r"avoids?|reduces?|cheap\w*|convenient|powerful)\b",
    re.IGNORECASE,
)
_ASPECTS = {"limit": _WEAK, "risk": _WEAK, "advantag": _GOOD, "strength": _GOOD}
"""What somebody wants to know of a subject, by the words in which sources say it: the rest is off the topic."""
_WORD = re.compile(r"\w+|[^\w\s-]")
PAIRED = 2000
"""So many characters of a text are searched for phrases."""
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n\n+")


class Asked(NamedTuple):
    """A question, in the terms that quotes are measured by."""

    question: str
    wanted: dict[str, float]
    """Its terms, and what each tells."""
    about: tuple[frozenset[str], ...]
    """The terms of each question of the whole task."""
    names: tuple[str, ...]
    """Identifiers, one of which a quote or its headings must name."""
    sides: tuple[Callable[[str], bool], ...]
    """Of a question that compares: whether a text speaks of each side, as every quote must."""
    sets: bool
    """It asks how something is set, so that entries of a reference may answer it."""
    besides: tuple[str, ...]
    """The beginnings of its other words, where it has only one term: one of them must stand in a quote, too."""
    aspects: frozenset[str]
    """Of which a quote or its headings must speak, such as limitations."""
    code: int
    """Lines of code that a quote may end with."""

    def read(self, text: str) -> frozenset[str]:
        """The terms of a text of prose: parts of identifiers are none, and an aspect may be told in other words."""
        found = terms(text if self.names else IDENTIFIER.sub(" ", text)) - self.aspects
        return found | {each for each in self.aspects if _ASPECTS[each].search(text)}

    def best(self, text: str, above: frozenset[str] = frozenset()) -> float:
        """The share of the question that the best sentence of a text says, with what the headings above it say."""
        return max(self.share(above | self.read(each)) for each in sentences(text))

    @property
    def phrases(self) -> frozenset[tuple[str, str]]:
        """The pairs of telling words that follow each other in the question, such as "exclusion constraint"."""
        return frozenset((one, other) for one, other in pairs(self.question) if {one, other} <= self.telling)

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


def asked_by(question: str, whole: str, sides: tuple[str, ...], weights: Sequence[tuple[str, float]] = ()) -> Asked:
    """
    A question of a task, and what its sides are where it compares them all.

    :param weights: its words with what each tells, where the search knows.
    """
    wanted = terms(question)
    of = [terms(each) for each in sides]
    shared = frozenset.intersection(*of) if of else frozenset()
    compares = bool(of) and all(each <= wanted for each in of)
    return Asked(
        question, weigh(question, weights), tuple(map(terms, decompose(whole).questions)),
        tuple(IDENTIFIER.findall(question)),
        tuple(_speaks(side, each - shared or each) for side, each in zip(sides, of, strict=True)) if compares else (),
        bool(_SETS.search(question)), _besides(question, wanted), wanted & _ASPECTS.keys(),
        CODE if _HOW.search(question) else FORMULA,
    )  # fmt: skip


def _besides(question: str, wanted: frozenset[str]) -> tuple[str, ...]:
    if len(wanted) != 1:
        return ()
    rest = (word for word in re.findall(r"[a-z]{4,}", question.lower()) if not terms(word) & wanted)
    return tuple(word[:4].rstrip("ed") for word in rest if not _PLAIN.fullmatch(word))


def _speaks(side: str, own: frozenset[str]) -> Callable[[str], bool]:
    """Whether a text speaks of one side of a comparison: by its identifier, or by a word that is its own."""
    names_entry = IDENTIFIER.findall(side)
    if names_entry:
        return lambda text: any(re.search(rf"\b{each}\b", text) for each in names_entry)
    return lambda text: bool(own & terms(text))


def weigh(question: str, weights: Sequence[tuple[str, float]]) -> dict[str, float]:
    """The terms of a question with what each tells; what somebody does with the subject tells little."""
    known: dict[str, float] = {}
    for word, weight in weights:
        for term in terms(word):
            known[term] = max(known.get(term, 0.0), math.sqrt(max(0.0, weight)))
    middle = sum(known.values()) / len(known) if any(known.values()) else 1.0
    subjects = terms(essence(question))
    strange = UNKNOWN * middle
    return {
        term: (known.get(term, middle) or strange) * (1.0 if term in subjects else ACTIVITY)
        for term in in_order(question)
    }


def pairs(text: str) -> Iterator[tuple[str, str]]:
    """The terms of words that follow each other with nothing but a space or a hyphen between them."""
    stems = [next(iter(in_order(word)), "") for word in _WORD.findall(text[:PAIRED])]
    return pairwise(stems)


def sentences(text: str) -> Iterator[str]:
    """Roughly the sentences of a text; at least one."""
    yield from _SENTENCE.split(text)


def names_entry(heading: str, asked: Asked) -> bool:
    """Whether the question asks for an entry: by its name, or for all entries whose names say what it is about."""
    name = named_by(heading)
    words = terms(name)
    if not words or asked.names:
        return any(re.search(rf"\b{each}\b", leaf(heading)) for each in asked.names)
    if asked.share(words) < OPENS_ON or not words & asked.telling:
        return False
    if IDENTIFIER.search(name):
        return len(words & asked.wanted.keys()) > 1 or (asked.sets and in_order(name)[0] in asked.telling)
    return words <= asked.wanted.keys()
