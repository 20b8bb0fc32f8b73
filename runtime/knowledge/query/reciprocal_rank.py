"""Words and meaning together: what either ranks high comes first, whatever its scores are."""

from collections.abc import Collection, Hashable, Iterable, Sequence
from typing import NamedTuple, TypeVar

import msgspec

from runtime.knowledge.index.index_reader import IndexReader
from runtime.knowledge.query.analyze import Question
from runtime.knowledge.query.identifiers import find_codes, find_names, find_pages_with
from runtime.knowledge.query.ranking import Hit, Page, rank_pages

FLATNESS = 60
"""Reciprocal rank fusion: the first of a ranking gets 1/61, the second 1/62."""
MEANING, CODES = 2.0, 2.0
"""What a rank by meaning, and one among the pages with a code that the question has, count for, beside one by words."""
OWN_WORDS, UNLIKE, ALIKE, FIRST = 4.0, 0.4, 0.8, 3
"""
A rank by words counts for so much more where one of the first passages says the question in its own words: nothing
below .4 of it, all above .8 (`bench.everyday`, PostgreSQL, right page among three: of 20 questions in the manual's own
words 18, 15 without; of 30 everyday mails, most of which lie below .5, 16 either way).
"""
FADING = 0.9
"""What the last of fewer scores becomes with each place behind it."""

K = TypeVar("K", bound=Hashable)


class Near(NamedTuple):
    """A passage and the cosine of the angle between its vector and the question's."""

    id: int
    document: int
    cosine: float


class Nearness(NamedTuple):
    """What meaning has to say on a question."""

    passages: tuple[Near, ...] = ()
    """The nearest ones, the nearest first."""
    unknown: frozenset[int] = frozenset()
    """The documents of which it cannot tell anything."""
    lacks_some: bool = False
    """Vectors of some passages are still to be made."""


def fuse(shelf: IndexReader, question: Question, pages: Sequence[Page], near: Nearness) -> list[Page]:
    """
    The pages of both rankings, best first; of each page the passages, best first.

    Ranks are compared, for scores of both cannot be. What words scored is given out anew in the order found, so that
    whoever looks at how far one stands above the next finds what words alone would have shown. Where meaning cannot
    tell, or a name of the question stands, a page loses nothing by its rank by meaning; where a code stands, it gains.
    """
    known = {hit.id for page in pages for hit in page.hits}
    found = {page.document: page for page in pages}
    for page in rank_pages(shelf, question, shelf.candidates_of({each.id for each in near.passages} - known)):
        have = found.get(page.document)
        found[page.document] = msgspec.structs.replace(have, hits=have.hits + page.hits) if have else page
    coded = find_pages_with(find_codes(shelf, question), pages)
    spared = near.unknown | coded | find_pages_with(find_names(shelf, question), pages)
    by_words = sorted((hit for page in pages for hit in page.hits), key=lambda hit: (-hit.score, hit.id))
    spared_hits = {hit.id for hit in by_words if hit.document in spared}
    said = max((hit.evidence for page in pages[:FIRST] for hit in page.hits), default=0.0)
    words = 1 + OWN_WORDS * min(1.0, max(0.0, (said - UNLIKE) / (ALIKE - UNLIKE)))
    place = _fuse([hit.id for hit in by_words], [each.id for each in near.passages], words, spared_hits)
    by_meaning = dict.fromkeys(each.document for each in near.passages)
    order = _fuse([page.document for page in pages], list(by_meaning), words, spared, coded)
    scores = _spread([page.score for page in pages], len(order))
    return [Page(each, score, _reorder(found[each].hits, place)) for each, score in zip(order, scores, strict=True)]


def _fuse(
    by_words: Sequence[K], by_meaning: Sequence[K], share: float, spared: Collection[K], coded: Collection[K] = ()
) -> dict[K, int]:
    """
    Each with its place in all rankings together, best first.

    :param share: what a rank by words counts for.
    :param spared: who counts by meaning at least as by words.
    """
    words = {each: rank for rank, each in enumerate(by_words, 1)}
    meaning = {each: rank for rank, each in enumerate(by_meaning, 1)}
    for each in words.keys() & spared:
        meaning[each] = min(words[each], meaning.get(each, words[each]))
    gains = {each: share / (FLATNESS + rank) for each, rank in words.items()}
    for each, rank in meaning.items():
        gains[each] = gains.get(each, 0.0) + MEANING / (FLATNESS + rank)
    for rank, each in enumerate((each for each in by_words if each in coded), 1):
        gains[each] += CODES / (FLATNESS + rank)
    return {each: place for place, each in enumerate(sorted(gains, key=lambda each: -gains[each]))}


def _reorder(hits: Iterable[Hit], place: dict[int, int]) -> list[Hit]:
    ordered = sorted(hits, key=lambda hit: place[hit.id])
    scores = _spread([hit.score for hit in ordered], len(ordered))
    return [msgspec.structs.replace(hit, score=score) for hit, score in zip(ordered, scores, strict=True)]


def _spread(scores: Iterable[float], count: int) -> list[float]:
    """So many scores, best first: those given that are above zero, and behind them ever smaller ones."""
    spread = sorted((score for score in scores if score > 0.0), reverse=True)[:count] or [1.0]
    while len(spread) < count:
        spread.append(spread[-1] * FADING)
    return spread
