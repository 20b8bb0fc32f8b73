"""What could be quoted on a question, and what of it is worth it. Pure and deterministic."""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from actors.evidence.claims import Claim
from actors.evidence.heading_types import leaf, nearest
from actors.evidence.passages import Passage, SearchHits, Span
from actors.extractive.query_profile import OPENS_ON, WHOLE, Asked
from actors.extractive.standalone import standalone_parts
from actors.text.keywords import share, terms

NEAR_PAGE = 0.3
"""A page with less than this share of the best one's score is not quoted beside it, unless a section of it is named."""
NEAR_QUOTE = 0.7
"""A quote with less than this share of the best one's score is left out."""
SAYS_SO = 0.3
"""So much of the question stands in a sentence of a quote, unless it opens a section that the question names."""
LEAST = 0.4
"""A heading that says so much of the question is looked into, whatever the search singled out."""
ABOUT = 0.34
"""So much of a question of the whole task stands in every quote or above it, whatever direction is explored."""
IN_LEAF, IN_PATH, HEADED, FOUND, PAGE = 0.5, 0.2, 1.0, 0.4, 0.2
"""What counts beside what a quote says of the question: its nearest heading, all of them, that they say all of the
question, the score of the search, and that of the page."""
UNQUOTED = 0.5
"""What a paragraph counts that the search did not single out, beside one that it did."""


class Quote(NamedTuple):
    """A candidate: what could be quoted of a passage."""

    score: float
    number: int
    """Of the passage, as claims name it."""
    passage: Passage
    place: Span

    @property
    def text(self) -> str:
        return self.place.of(self.passage)

    @property
    def above(self) -> frozenset[str]:
        """The terms of the headings that it stands under, from the title of its document on."""
        _, title, below = self.passage.heading.rpartition(self.passage.title)
        return terms(f"{self.passage.title} {below if title else self.passage.heading}")

    @property
    def context(self) -> frozenset[str]:
        """Its terms and those of the headings."""
        return self.above | terms(self.text)

    def claim(self) -> Claim:
        return Claim(self.text, self.number, self.text)


def candidates(found: SearchHits, asked: Asked) -> list[Quote]:
    """All that could be quoted on a question: what the search singled out, and the paragraphs beside it."""
    best_page = max((each.score for each in found.passages), default=0.0) or 1.0
    best = max((place.score for each in found.passages for place in each.quotes), default=0.0) or 1.0
    held: dict[tuple[int, int], Quote] = {}
    for number, passage in enumerate(found.passages, 1):
        opens = number in found.begins
        headed = asked.is_whole_answer(passage)
        near = bool(passage.quotes) and passage.score >= NEAR_PAGE * best_page
        if not (near or opens or headed or asked.share(terms(nearest(passage))) >= LEAST):
            continue
        for place in (*passage.quotes, *_paragraphs(passage, UNQUOTED * best)):
            bears: Callable[[str], bool] = bool if headed or (opens and place.start == 0) else _bearing(asked.wanted)
            stands = standalone_parts(passage, place, bears)
            if stands is None:
                continue
            quote = Quote(0.0, number, passage, stands)
            first = opens and stands.start == 0
            merits = HEADED * headed + FOUND * place.score / best + PAGE * passage.score / best_page
            merits += asked.best(quote.text) + IN_LEAF * asked.fit(terms(nearest(passage)))
            merits += IN_PATH * asked.share(terms(passage.heading))
            quote = quote._replace(score=merits)
            key = (number, stands.start)
            if _on_topic(quote, asked, first) and (key not in held or held[key].score < quote.score):
                held[key] = quote
    return _keep(list(held.values()), asked)


def _keep(quotes: list[Quote], asked: Asked) -> list[Quote]:
    """
    Where headings say all of the question, only what stands below them, and what says all of it by itself.

    What stands below such a heading is near enough to be shown, whatever words it uses.
    """
    above = {each.passage.id for each in quotes if asked.is_whole_answer(each.passage)}
    if not above:
        return quotes
    near = NEAR_QUOTE * max(each.score for each in quotes)
    below = [each._replace(score=max(each.score, near)) for each in quotes if each.passage.id in above]
    others = [each for each in quotes if each.passage.id not in above and asked.best(each.text) >= WHOLE]
    return [*below, *others]


def _on_topic(quote: Quote, asked: Asked, first: bool) -> bool:
    """Whether a quote speaks of what is asked, and of the subject of the whole task."""
    if asked.is_whole_answer(quote.passage):
        return True
    if asked.about and max(share(each, quote.context) for each in asked.about) < ABOUT:
        return False
    near = terms(f"{quote.passage.title} {leaf(quote.passage.heading)}")
    says_so = asked.best(quote.text) >= SAYS_SO or (first and asked.share(near) >= OPENS_ON)
    return says_so and bool(asked.telling & (near | terms(quote.text)))


def _paragraphs(passage: Passage, score: float) -> Iterable[Span]:
    at = 0
    for paragraph in passage.text.split("\n\n"):
        if not any(each.start < at + len(paragraph) and each.end > at for each in passage.quotes):
            yield Span(at, at + len(paragraph), score)
        at += len(paragraph) + 2


def _bearing(wanted: dict[str, float]) -> Callable[[str], bool]:
    return lambda said: bool(wanted.keys() & terms(said))
