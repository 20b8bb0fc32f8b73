"""Two sources that say different figures of the same thing. Prefers missing one to reporting a false one. Pure."""

import re
from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import NamedTuple

from actors.evidence.facts import Facts, facts
from actors.evidence.passages import Passage
from actors.evidence.sources import Statement
from actors.research.models import Contradiction
from actors.text.keywords import terms
from actors.text.normalize import casefold
from actors.text.sentences import sentences

CONTRADICTIONS = 10
SENTENCES = 200
"""So many sentences with figures are compared."""
SENTENCE_CHARACTERS = 400
ALIKE = 0.75
"""So much of all their words do two sentences on the same thing share, figures left out."""
SUBJECT_TERMS = 3
"""With fewer words in common they may speak of anything."""

_FIGURE = re.compile(r"[\d.,:%$€£¥+-]{0,30}\d[\d.,:%]{0,30}\w{0,30}")
_ENDS = (".", "。", "!", "！")
_HEDGED = re.compile(
    r"\b(?:for example|e\.g\.|such as|up to|at least|at most|more than|less than|about|around|between)\b", re.IGNORECASE
)


class Said(NamedTuple):
    """A sentence with figures, and what it says without them."""

    statement: Statement
    words: frozenset[str]
    facts: Facts


def contradictions(
    statements: Iterable[Statement], passages: Iterable[Passage], number: int
) -> tuple[Contradiction, ...]:
    """
    The pairs of sentences of different pages that agree in all but a figure.

    :param passages: what was found on the questions; what they say is compared, too.
    """
    stated = _read_sentences(statements, passages, number)
    found: dict[frozenset[str], Contradiction] = {}
    for one, other in combinations(stated, 2):
        if one.statement.page != other.statement.page and _differ(one, other):
            pair = frozenset((one.statement.text, other.statement.text))
            found.setdefault(pair, Contradiction(_subject(one, other), one.statement, other.statement))
            if len(found) == CONTRADICTIONS:
                break
    return tuple(found.values())


def _read_sentences(statements: Iterable[Statement], passages: Iterable[Passage], number: int) -> Sequence[Said]:
    texts = [(each.quote, each.passage, each.page) for each in statements]
    texts += [(each.text, each.id, each.source) for each in passages]
    found: dict[tuple[str, str], Said] = {}
    for text, passage, page in texts:
        for line in (row[a:b] for row in text.split("\n") for a, b in sentences(row, 0, len(row))):
            if len(line) > SENTENCE_CHARACTERS or (page, line) in found or not any(c.isdigit() for c in line):
                continue
            if not line.endswith(_ENDS):  # a row of a table, a heading, an example: each page has its own figures there
                continue
            stated = facts(line)
            if (stated.quantities or stated.dates) and not _HEDGED.search(line):
                words = terms(_FIGURE.sub(" ", casefold(line)))
                found[page, line] = Said(Statement(line, line, passage, page, number), words, stated)
                if len(found) == SENTENCES:
                    return tuple(found.values())
    return tuple(found.values())


def _differ(one: Said, other: Said) -> bool:
    """Whether exactly one figure differs between two sentences on the same thing."""
    common = one.words & other.words
    if len(common) < SUBJECT_TERMS or len(common) < ALIKE * len(one.words | other.words):
        return False
    if one.facts.negated != other.facts.negated or one.facts.identifiers != other.facts.identifiers:
        return False
    mine, theirs = one.facts.quantities - other.facts.quantities, other.facts.quantities - one.facts.quantities
    if one.facts.dates != other.facts.dates:
        return len(one.facts.dates) == len(other.facts.dates) == 1 and not mine and not theirs
    if len(mine) != 1 or len(theirs) != 1:
        return False
    return next(iter(mine)).family == next(iter(theirs)).family


def _subject(one: Said, other: Said) -> str:
    """What both speak of: the words of the first that the second has, too, as they are written."""
    common = one.words & other.words
    words = [word for word in re.findall(r"[\w.'-]{0,60}\w", one.statement.text) if terms(word) & common]
    return " ".join(dict.fromkeys(words))
