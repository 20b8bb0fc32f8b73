"""Where what was learnt leads the next search: its names, and what need not be looked for any more. Pure."""

import re
from collections.abc import Sequence

from actors.extractive.decompose import keywords
from actors.text.keywords import in_order, share, terms

WORDS = 2
"""So many words of a learning go with a direction: more would search for the learning itself."""
QUERIES = 2
"""So many queries of a round are led by learnings; each is asked of every source."""
SEVERAL = 2
"""A direction of one term is said by any sentence on the subject, which does not make it known."""

_NAME = re.compile(r"[^\WA-Z]*+[A-Z]\w*+|\w[^\W_]*+_\w++|[^\W\d]*+\d[^\WA-Za-z]*+[A-Za-z]\w*+")
_ASKS = ("?", "？")


def build_queries(directions: Sequence[str], task: str, learnings: Sequence[str]) -> tuple[str, ...]:
    """
    Queries that ask each direction with words of the learning that is nearest to it, the first directions first.

    :param learnings: the latest last.
    """
    found: list[str] = []
    for direction in directions:
        said = _nearest(direction, learnings)
        if words := _new_words(said, f"{task} {direction}"):
            found.append(f"{keywords(direction) or direction} {' '.join(words)}")
    return tuple(dict.fromkeys(found))[:QUERIES]


def open_topics(directions: Sequence[str], learnings: Sequence[str]) -> tuple[str, ...]:
    """Without topics of which a learning says every word; questions, which a learning need not answer, stay."""
    held = [terms(each) for each in learnings]

    def is_known(direction: str) -> bool:
        wanted = terms(direction)
        return len(wanted) >= SEVERAL and not direction.endswith(_ASKS) and any(wanted <= each for each in held)

    return tuple(each for each in directions if not is_known(each))


def _nearest(direction: str, learnings: Sequence[str]) -> str:
    """The learning that shares most with a direction; of several the latest."""
    wanted = terms(direction)
    ranked = ((share(wanted, terms(each)), place, each) for place, each in enumerate(learnings))
    return max(ranked, default=(0.0, 0, ""))[2]


def _new_words(said: str, known: str) -> tuple[str, ...]:
    """Words of weight of a sentence that are not known yet, as they are written: its names first."""
    words = keywords(said, len(in_order(said))).split()
    fresh = [each for each in words if not terms(each) & terms(known) and not each.isdigit()]
    names = [each for place, each in enumerate(fresh) if _NAME.fullmatch(each) and (place or each != words[0])]
    return tuple(dict.fromkeys((*names, *fresh)))[:WORDS]
