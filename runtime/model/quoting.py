"""What could be quoted on a question, what of it is worth it, and in which order it reads. Pure and deterministic."""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from actors.evidence import Claim, Passage, Slice
from actors.facts import facts
from actors.research.rules.decompose import decompose, subject
from actors.research.rules.headings import is_entry, leaf, named_by
from actors.research.rules.terms import alike, share, terms
from runtime.model.prose import points, standing

QUOTES_OF_A_PAGE = 3
"""So many quotes of one page while others have something to add."""
NEAR_PAGE = 0.5
"""A page with less than this share of the best one's score is not quoted beside it."""
NEAR_QUOTE = 0.5
"""A quote with less than this share of the best one's score is left out."""
ON_TOPIC, SAYS_SO = 0.6, 0.4
"""So much of the question's terms stand in a quote with all the headings above it, and with the nearest one alone."""
OF_AN_ENTRY = 0.8
"""So much of them the entry of a reference says by itself, or it speaks only of its own name."""
ABOUT = 0.34
"""So much of a question of the whole task stands in every quote or above it, whatever direction is explored."""
LEFT = 0.34
"""So much of what the title and headings do not say of the question, the quote itself must say."""
SHORT = 2
"""A question of so few terms wants all of them."""
SAME = 0.7
"""A quote that shares more of its terms than this with another one says the same, unless its figures differ."""
UNQUOTED = 0.8
"""What a paragraph counts that the search did not single out, beside one that it did."""
DEFINES, POINTS, ENTRY = 0.5, -0.25, -0.3
"""For a sentence that says what the thing asked for is, for one that names a chapter, for one of a reference entry that
nobody asked for by its name."""

CODE, FORMULA = 8, 2
"""Lines of code that a quote may end with: of who asks how something is done, and of everybody else."""
_HOW = re.compile(
    r"\bhow (?:to|(?:do|can|should|could|would) (?:i|we|you|one|users?))\b|\bexamples?\b|\bsyntax\b|\bcommands?\b|"
    r"如何|怎么|怎样|어떻게|방법",
    re.IGNORECASE,
)
_IDENTIFIER = re.compile(r"\b\w*[A-Za-z]\w*_\w+\b")
_EXAMPLE = re.compile(r"(?:\w+ )?examples?\b|示例|例子|예제", re.IGNORECASE)
_FRAGMENT = re.compile(
    r"(?:The|An?|Name|Number|Type|Value|List)\b(?:(?!\b(?:is|are|was|were|has|have|can|may|must|should|will|would|does)\b)"
    r"[^.])*\."
)
"""What an entry says of its name without a verb, such as "The name of the gate."."""
_SAYS_WHAT = re.compile(r"is|are|means?|refers?|provides?|allows?|lets?|enables?|consists?")
_WHAT = re.compile(r"^(?:what (?:is|are|does)\b|explain\b|define\b|什么是|.{1,40}是什么)", re.IGNORECASE)


class Asked(NamedTuple):
    """A question, in the terms that quotes are measured by."""

    question: str
    wanted: frozenset[str]
    about: tuple[frozenset[str], ...]
    """The terms of each question of the whole task."""
    names: tuple[str, ...]
    """Identifiers, one of which a quote or its headings must name."""
    sides: tuple[frozenset[str], ...]
    """Of a question that compares: what is peculiar to each side, and must stand in every quote."""
    code: int
    """Lines of code that a quote may end with."""


class Quote(NamedTuple):
    """A candidate: what could be quoted of a passage."""

    score: float
    number: int
    """Of the passage, as claims name it."""
    passage: Passage
    place: Slice

    @property
    def text(self) -> str:
        return self.place.of(self.passage)

    @property
    def context(self) -> frozenset[str]:
        """Its terms and those of the headings that it stands under."""
        return terms(" ".join((self.passage.title, self.passage.heading, self.text)))

    def claim(self) -> Claim:
        return Claim(self.text, self.number, self.text)


def asked_by(question: str, whole: str, sides: tuple[str, ...]) -> Asked:
    """A question of a task, and what its sides are where it compares them all."""
    wanted = terms(question)
    of = [terms(each) for each in sides]
    shared = frozenset.intersection(*of) if of else frozenset()
    compares = bool(of) and all(each <= wanted for each in of)
    return Asked(
        question, wanted, tuple(map(terms, decompose(whole).questions)), tuple(_IDENTIFIER.findall(question)),
        tuple(each - shared or each for each in of) if compares else (),
        CODE if _HOW.search(question) else FORMULA,
    )  # fmt: skip


def candidates(passages: Sequence[Passage], asked: Asked) -> list[Quote]:
    """All that could be quoted on a question: what the search singled out, and the paragraphs beside it."""
    near = NEAR_PAGE * max((each.score for each in passages), default=0.0)
    found: dict[tuple[int, int], Quote] = {}
    for number, passage in enumerate(passages, 1):
        if passage.score < near or not passage.quotes:
            continue
        best = max(each.score for each in passage.quotes)
        rest = Slice(0, len(passage.text), UNQUOTED * best * share(asked.wanted, terms(passage.text)))
        for place in (*passage.quotes, *_paragraphs(passage, rest)):
            stands = standing(passage, place, _bearing(asked.wanted), asked.code)
            if stands is None:
                continue
            quote = Quote(0.0, number, passage, stands)
            quote = quote._replace(score=place.score + _merits(quote, asked))
            key = (number, stands.start)
            if _on_topic(quote, asked) and (key not in found or found[key].score < quote.score):
                found[key] = quote
    return list(found.values())


def _merits(quote: Quote, asked: Asked) -> float:
    """What speaks for and against a quote beside the score of the search."""
    heading = quote.passage.heading
    unnamed = is_entry(heading) and not terms(named_by(heading)) <= asked.wanted
    tells = is_entry(heading) and not unnamed and quote.place.start == 0  # an entry says first what its name stands for
    return max(DEFINES * tells, defines(quote.text, asked.question)) + POINTS * points(quote.text) + ENTRY * unnamed


def _on_topic(quote: Quote, asked: Asked) -> bool:
    """Whether a quote speaks of what is asked, and of the subject of the whole task."""
    heading, wanted = quote.passage.heading, asked.wanted
    words = terms(quote.text)
    if asked.names and not any(re.search(rf"\b{name}\b", f"{quote.text} {heading}") for name in asked.names):
        return False
    if any(not own & words for own in asked.sides):
        return False
    if asked.about and max(share(each, quote.context) for each in asked.about) < ABOUT:
        return False
    if is_entry(heading):
        named = terms(named_by(heading))
        told = len(wanted) > SHORT and share(wanted, words) >= OF_AN_ENTRY
        return not _FRAGMENT.match(quote.text) and (told or bool(named and named <= wanted))
    if asked.code == FORMULA and _EXAMPLE.match(leaf(heading)):
        return False
    left = wanted - terms(f"{quote.passage.title} {heading}")
    near = share(wanted, terms(f"{quote.text} {leaf(heading)}"))
    least = 1.0 if len(wanted) <= SHORT else SAYS_SO
    spoken = bool(words & wanted) and (not left or share(left, words) >= LEFT)
    return spoken and near >= least and share(wanted, quote.context) >= ON_TOPIC


def _paragraphs(passage: Passage, whole: Slice) -> Iterable[Slice]:
    at = 0
    for paragraph in passage.text.split("\n\n"):
        if not any(each.start < at + len(paragraph) and each.end > at for each in passage.quotes):
            yield Slice(at, at + len(paragraph), whole.score)
        at += len(paragraph) + 2


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
    return alike(terms(text), said) > SAME and not (facts(text).quantities - facts(other).quantities)


def readable(chosen: list[Quote]) -> list[Quote]:
    """The best one first, then page by page, each in its own order."""
    if not chosen:
        return []
    rank = {each.passage.source: place for place, each in reversed(list(enumerate(chosen)))}
    rest = sorted(chosen[1:], key=lambda each: (rank[each.passage.source], each.passage.start + each.place.start))
    return [chosen[0], *rest]


def defines(text: str, question: str) -> float:
    """A bonus for a sentence that begins with what the question is about, when that is asked: twice if it says so."""
    about = terms(subject(question) or (question if len(terms(question)) <= SHORT else ""))
    opening = text.split()[: len(about) + 2]
    asked = _WHAT.match(question) or len(terms(question)) <= SHORT
    if not asked or not about or not about <= terms(" ".join(opening[: len(about) + 1])):
        return 0.0
    return DEFINES * (2 if any(_SAYS_WHAT.fullmatch(word) for word in opening) else 1)


def _bearing(wanted: frozenset[str]) -> Callable[[str], bool]:
    return lambda said: bool(wanted & terms(said))
