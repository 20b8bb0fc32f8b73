"""Which of the quotes on a question are shown, and in which order they read. Pure."""

import re
from collections.abc import Sequence

from actors.evidence.facts import facts
from actors.extractive.quote_candidates import NEAR_QUOTE, Quote
from actors.text.keywords import alike, terms

QUOTES_OF_A_PAGE = 3
"""So many quotes of one page while others have something to add."""
SAME = 0.7
"""A quote that shares more of its terms than this with another one says the same, unless its figures differ."""

_ASIDE = re.compile(r"\([^()]*\)|\b(?:Section|Chapter|Table|Figure|Part) [\w.]+")


def chosen_of(quotes: Sequence[Quote], known: Sequence[str], most: int) -> list[Quote]:
    """The best, none of which says what another one or something known says already."""
    ranked = sorted(quotes, key=lambda each: (-each.score, each.number, each.place.start))
    said = [(terms(each), each) for each in known]
    chosen: list[Quote] = []
    held: list[Quote] = []
    for quote in ranked:
        if quote.score < NEAR_QUOTE * ranked[0].score:
            break
        if any(_overlap(quote, other) for other in chosen) or any(_same(quote.text, *each) for each in said):
            continue
        if sum(each.passage.source == quote.passage.source for each in chosen) >= QUOTES_OF_A_PAGE:
            held.append(quote)
            continue
        chosen.append(quote)
        said.append((terms(quote.text), quote.text))
        if len(chosen) == most:
            return chosen
    for quote in held:
        if len(chosen) < most and not any(_same(quote.text, *each) for each in said):
            chosen.append(quote)
            said.append((terms(quote.text), quote.text))
    return chosen


def _overlap(one: Quote, other: Quote) -> bool:
    same = one.passage.id == other.passage.id
    return same and one.place.start < other.place.end and other.place.start < one.place.end


def _same(text: str, said: frozenset[str], other: str) -> bool:
    if alike(terms(text), said) <= SAME:
        return False
    return not facts(_ASIDE.sub("", text)).quantities - facts(_ASIDE.sub("", other)).quantities


def readable(chosen: list[Quote]) -> list[Quote]:
    """Page by page, the best page first, each in its own order."""
    rank = {each.passage.source: place for place, each in reversed(list(enumerate(chosen)))}
    return sorted(chosen, key=lambda each: (rank[each.passage.source], each.passage.start + each.place.start))
