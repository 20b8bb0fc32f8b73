"""What could be quoted on a question, and what of it is worth it. Pure and deterministic."""

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

from actors.evidence.claims import Claim
from actors.evidence.heading_types import is_entry, leaf, nearest
from actors.evidence.passages import Passage, SearchHits, Span
from actors.extractive.decompose import subject
from actors.extractive.query_profile import FORMULA, IDENTIFIER, OPENS_ON, SHORT, WHOLE, Asked, names_entry, pairs
from actors.extractive.standalone import points, standalone_parts
from actors.text.keywords import share, terms

NEAR_PAGE = 0.3
"""A page with less than this share of the best one's score is not quoted beside it, unless a section of it is named."""
NEAR_QUOTE = 0.7
"""A quote with less than this share of the best one's score is left out."""
ON_TOPIC, SAYS_SO = 0.55, 0.3
"""So much of the question stands in a sentence of a quote with all the headings above it, and in that alone."""
LEAST = 0.4
"""A heading that says so much of the question is looked into, whatever the search singled out."""
OF_AN_ENTRY = 0.9
"""So much of the question the entry of a reference says in one sentence, or it speaks only of its own name."""
ALONE = 0.75
"""So far the nearest heading is that of a topic of one word, or it speaks of something else that has the word in it."""
ABOUT = 0.34
"""So much of a question of the whole task stands in every quote or above it, whatever direction is explored."""
IN_LEAF, IN_PATH, IN_OPENING, HEADED, FOUND, PAGE = 0.5, 0.2, 0.7, 1.0, 0.4, 0.2
"""What counts beside what a quote says of the question: its nearest heading, all of them, the nearest one where it
opens the section, that they say all of the question, the score of the search, and that of the page."""
UNQUOTED = 0.5
"""What a paragraph counts that the search did not single out, beside one that it did."""
DEFINES, POINTS, ENTRY, BRIEF = 0.5, -0.3, -0.3, -0.3
"""For a sentence that says what the thing asked for is, for one that names a chapter, for one of a reference entry that
nobody asked for by its name, for one of few words."""
WORDS = 8

_OF_AN_ENTRY = re.compile(
    r"[A-Z][a-z]+s (?:the|an?|whether|if|how|each|any) |(?:Boolean|Name|Number|Type|Maximum|Minimum|Optional) "
)
"""How the entry of a reference begins, which must not be quoted without its name."""
_BESIDES = re.compile(
    r"(?:compatibility|outputs?|see also|history|authors?|diagnostics|exit status|environment|files|acknowledge?ments?|"
    r"兼容性|호환성)$",
    re.IGNORECASE,
)
"""Sections of a reference page that do not explain its subject."""
_EXAMPLE = re.compile(r"(?:\w+ )?examples?\b|示例|例子|예제", re.IGNORECASE)
_FRAGMENT = re.compile(
    r"(?:The|An?|Name|Number|Type|Value|List|Per-\w+|Maximum|Minimum|Boolean|Total|Time|Amount|True|Optional|Any)\b"
    r"(?:(?!\b(?:is|are|was|were|has|have|can|may|must|should|will|would|does)\b)[^.])*\."
)
"""What an entry says of its name without a verb, such as "The name of the gate."."""
_ANNOUNCES = re.compile(r"There (?:are|is) (?:several|some|many|a few|various|two|three|four|a number of)\b[^.]*\.")
"""What is announced stands elsewhere."""
_CLAUSE = re.compile(r"(?:When|If|While|Because|Since|To|In|For|By|With|After|Before|On|At|As|Where|Unless)\b")
_SAYS_WHAT = re.compile(r"is|are|means?|refers?|provides?|allows?|lets?|enables?|consists?")
_WHAT = re.compile(r"^(?:what (?:is|are|does)\b|explain\b|define\b|什么是|.{1,40}是什么)", re.IGNORECASE)


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
    def shown(self) -> str:
        """It with the heading that it is read under."""
        return f"{nearest(self.passage)}. {self.text}"

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
            begins = place.start == 0 and (opens or (is_entry(passage.heading) and names_entry(passage.heading, asked)))
            bears = _anything if begins or headed else _bearing(asked.wanted)
            stands = standalone_parts(passage, place, bears, asked.code)
            if stands is None:
                continue
            quote = Quote(0.0, number, passage, stands)
            first = opens and stands.start == 0
            merits = HEADED * headed + FOUND * place.score / best + PAGE * passage.score / best_page
            merits += _merits(quote, asked, first)
            quote = quote._replace(score=merits)
            key = (number, stands.start)
            if _on_topic(quote, asked, first) and (key not in held or held[key].score < quote.score):
                held[key] = quote
    return _kept(_phrased(list(held.values()), asked), asked)


def _phrased(quotes: list[Quote], asked: Asked) -> list[Quote]:
    """Where some speak of the very thing, such as an "exclusion constraint", those that have its words apart do not."""
    if not asked.phrases:
        return quotes
    told = [each for each in quotes if asked.is_whole_answer(each.passage) or asked.phrases & {*pairs(each.shown)}]
    return told or quotes


def _kept(quotes: list[Quote], asked: Asked) -> list[Quote]:
    """Where headings say all of the question, only what stands below them, and what says all of it by itself."""
    best = max((each.score for each in quotes), default=0.0)
    above = {each.passage.id for each in quotes if asked.is_whole_answer(each.passage)}
    if not above:
        return quotes
    told = [each for each in quotes if each.passage.id in above or asked.best(each.text) >= WHOLE]
    return [_held_up(each, best) if each.passage.id in above else each for each in told]


def _held_up(quote: Quote, best: float) -> Quote:
    """What stands under a heading that says all of the question is near enough, whatever words it uses."""
    return quote._replace(score=max(quote.score, NEAR_QUOTE * best))


def _merits(quote: Quote, asked: Asked, first: bool) -> float:
    """What speaks for and against a quote beside the score of the search."""
    heading = quote.passage.heading
    unnamed = is_entry(heading) and not names_entry(heading, asked)
    tells = is_entry(heading) and not unnamed and quote.place.start == 0  # an entry says first what its name stands for
    near = asked.fit(terms(nearest(quote.passage)))
    said = asked.best(quote.text) + IN_LEAF * near + IN_PATH * asked.share(terms(heading))
    said += IN_OPENING * near * first
    meaning = max(DEFINES * tells, defines(quote.text, asked.question))
    brief = len(quote.text.split()) < WORDS and not meaning
    return said + meaning + POINTS * points(quote.text) + ENTRY * unnamed + BRIEF * brief


def _on_topic(quote: Quote, asked: Asked, first: bool) -> bool:
    """Whether a quote speaks of what is asked, and of the subject of the whole task."""
    heading = quote.passage.heading
    if not _speaks_of(quote, asked) or _ANNOUNCES.fullmatch(quote.text):
        return False
    if asked.is_whole_answer(quote.passage):
        return not (_OF_AN_ENTRY.match(quote.text) or _BESIDES.match(leaf(heading)))
    if asked.about and max(share(each, quote.context) for each in asked.about) < ABOUT:
        return False
    if asked.aspects and not asked.aspects & asked.read(quote.shown):
        return False
    if is_entry(heading):
        begins = quote.place.start == 0 and not _FRAGMENT.match(quote.text)
        told = not asked.names and len(asked.wanted) > SHORT and asked.best(quote.text) >= OF_AN_ENTRY
        return (begins or bool(asked.names)) and (told or names_entry(heading, asked))
    if _OF_AN_ENTRY.match(quote.text) or _BESIDES.match(leaf(heading)):
        return False
    if asked.code == FORMULA and _EXAMPLE.match(leaf(heading)):
        return False
    return _says_enough(quote, asked, first)


def _speaks_of(quote: Quote, asked: Asked) -> bool:
    """Whether it has what a question cannot do without: an identifier, both sides, a word besides its only term."""
    said = f"{quote.text} {quote.passage.heading}"
    if asked.names and not any(re.search(rf"\b{name}\b", said) for name in asked.names):
        return False
    if any(not side(quote.text) for side in asked.sides):
        return False
    headed = asked.is_whole_answer(quote.passage)
    return headed or not asked.besides or any(word in quote.text.lower() for word in asked.besides)


def _says_enough(quote: Quote, asked: Asked, first: bool) -> bool:
    """Whether running text says enough of the question, by itself and with the headings above it."""
    alone = len(asked.wanted) == 1 and not asked.question.rstrip().endswith(("?", "？"))  # such as a side
    strays = asked.fit(terms(nearest(quote.passage))) < ALONE and not defines(quote.text, asked.question)
    if alone and strays:
        return False
    near = terms(f"{quote.passage.title} {leaf(quote.passage.heading)}")
    least = 1.0 if len(asked.wanted) <= SHORT else ON_TOPIC
    if not asked.telling & (near | asked.read(quote.text)) or asked.best(quote.text, quote.above) < least:
        return False
    return asked.best(quote.text) >= SAYS_SO or (first and asked.share(near) >= OPENS_ON)


def _paragraphs(passage: Passage, score: float) -> Iterable[Span]:
    at = 0
    for paragraph in passage.text.split("\n\n"):
        if not any(each.start < at + len(paragraph) and each.end > at for each in passage.quotes):
            yield Span(at, at + len(paragraph), score)
        at += len(paragraph) + 2


def defines(text: str, question: str) -> float:
    """A bonus for a sentence that begins with what the question is about, when that is asked: twice if it says so."""
    about = terms(subject(question) or (question if len(terms(question)) <= SHORT else ""))
    opening = IDENTIFIER.sub("", text).split()[: len(about) + 2]
    asked = _WHAT.match(question) or len(terms(question)) <= SHORT
    if not asked or not about or _CLAUSE.match(text) or not about <= terms(" ".join(opening[: len(about) + 1])):
        return 0.0
    return DEFINES * (2 if any(_SAYS_WHAT.fullmatch(word) for word in opening) else 1)


def _anything(said: str) -> bool:
    return bool(said)


def _bearing(wanted: dict[str, float]) -> Callable[[str], bool]:
    return lambda said: bool(wanted.keys() & terms(said))
