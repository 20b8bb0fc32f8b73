"""What could be quoted on a question, what of it is worth it, and in which order it reads. Pure and deterministic."""

import math
import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from actors.evidence import Claim, Findings, Passage, Slice
from actors.facts import facts
from actors.research.rules.decompose import decompose, essence, subject
from actors.research.rules.headings import is_entry, leaf, named_by, nearest
from actors.research.rules.terms import alike, ordered, share, terms
from runtime.model.prose import points, standing

QUOTES_OF_A_PAGE = 3
"""So many quotes of one page while others have something to add."""
NEAR_PAGE = 0.3
"""A page with less than this share of the best one's score is not quoted beside it, unless a section of it is named."""
NEAR_QUOTE = 0.7
"""A quote with less than this share of the best one's score is left out."""
ON_TOPIC, SAYS_SO = 0.55, 0.3
"""So much of the question stands in a quote with all the headings above it, and in the quote alone."""
OPENS_ON = 0.5
"""A section speaks from its first sentence on of what its heading, or that of its page, says of the question so far."""
WHOLE, HEADED = 0.9, 1.0
"""Where the headings say so much of a question, all below them counts so much more."""
LEAST = 0.4
"""A heading that says so much of the question is looked into, whatever the search singled out."""
OF_AN_ENTRY = 0.9
"""So much of them the entry of a reference says by itself, or it speaks only of its own name."""
ABOUT = 0.34
"""So much of a question of the whole task stands in every quote or above it, whatever direction is explored."""
TELLING = 0.6
"""A word of the question is what it is about when it tells so much of what the most telling one tells."""
SHORT = 2
"""A question of so few terms wants all of them."""
SAME = 0.7
"""A quote that shares more of its terms than this with another one says the same, unless its figures differ."""
IN_LEAF, IN_PATH, IN_OPENING, FOUND, PAGE = 0.5, 0.2, 0.7, 0.4, 0.2
"""What counts beside what a quote says of the question: its nearest heading, all of them, that one where it opens the
section, the score of the search, and that of the page."""
UNKNOWN = 0.2
"""What a word counts that no document has, beside a middling one: whether the others do is judged by the search."""
ACTIVITY = 0.3
"""What a word counts that says what is done with the subject, such as "tune"."""
UNQUOTED = 0.5
"""What a paragraph counts that the search did not single out, beside one that it did."""
DEFINES, POINTS, ENTRY = 0.5, -0.3, -0.3
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
_SETS = re.compile(r"\b(?:tun|configur|setting|set\b|parameter|option|enabl|disabl|control|decide)", re.IGNORECASE)
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
_ASPECTS = terms("limitations advantages benefits strengths risks")
"""What somebody wants to know of a subject: what does not speak of it is off the topic."""
_PLAIN = re.compile(
    r"what|when|which|where|does|should|would|could|have|work(?:s|ing)?|your|they|them|there|that|with|from|into|about|"
    r"explain|describe|need|want|want(?:ed)?|happens?|difference|between|often|much|many|this|these|those|tell|more|know|"
    r"understand|overview|summary|report|give|write|please|some|will|mean(?:s|ing)?|best|good|actually|exactly|find|tune|"
    r"configured?|monitor(?:ing)?|choose|decides?|handles?|handled|manage"
)
_ASIDE = re.compile(r"\([^()]*\)|\b(?:Section|Chapter|Table|Figure|Part) [\w.]+")
_EXAMPLE = re.compile(r"(?:\w+ )?examples?\b|示例|例子|예제", re.IGNORECASE)
_FRAGMENT = re.compile(
    r"(?:The|An?|Name|Number|Type|Value|List|Per-\w+|Maximum|Minimum|Boolean|Total|Time|Amount|True|Optional|Any)\b"
    r"(?:(?!\b(?:is|are|was|were|has|have|can|may|must|should|will|would|does)\b)[^.])*\."
)
"""What an entry says of its name without a verb, such as "The name of the gate."."""
_SAYS_WHAT = re.compile(r"is|are|means?|refers?|provides?|allows?|lets?|enables?|consists?")
_WHAT = re.compile(r"^(?:what (?:is|are|does)\b|explain\b|define\b|什么是|.{1,40}是什么)", re.IGNORECASE)


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

    def share(self, have: frozenset[str]) -> float:
        """How much of the question some terms say, 0 to 1."""
        whole = sum(self.wanted.values())
        return sum(weight for term, weight in self.wanted.items() if term in have) / whole if whole else 0.0

    def headed(self, passage: Passage) -> bool:
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
        """Its terms and those of the headings that it stands under, from the title of its document on."""
        _, title, below = self.passage.heading.rpartition(self.passage.title)
        return terms(" ".join((self.passage.title, below if title else self.passage.heading, self.text)))

    def claim(self) -> Claim:
        return Claim(self.text, self.number, self.text)


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
        question, weighed(question, weights), tuple(map(terms, decompose(whole).questions)),
        tuple(_IDENTIFIER.findall(question)),
        tuple(_speaks(side, each - shared or each) for side, each in zip(sides, of, strict=True)) if compares else (),
        bool(_SETS.search(question)), _besides(question, wanted), wanted & _ASPECTS,
        CODE if _HOW.search(question) else FORMULA,
    )  # fmt: skip


def _besides(question: str, wanted: frozenset[str]) -> tuple[str, ...]:
    if len(wanted) != 1:
        return ()
    rest = (word for word in re.findall(r"[a-z]{4,}", question.lower()) if not terms(word) & wanted)
    return tuple(word[:4].rstrip("ed") for word in rest if not _PLAIN.fullmatch(word))


def _speaks(side: str, own: frozenset[str]) -> Callable[[str], bool]:
    """Whether a text speaks of one side of a comparison: by its identifier, or by a word that is its own."""
    named = _IDENTIFIER.findall(side)
    if named:
        return lambda text: any(re.search(rf"\b{each}\b", text) for each in named)
    return lambda text: bool(own & terms(text))


def weighed(question: str, weights: Sequence[tuple[str, float]]) -> dict[str, float]:
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
        for term in ordered(question)
    }


def candidates(found: Findings, asked: Asked) -> list[Quote]:
    """All that could be quoted on a question: what the search singled out, and the paragraphs beside it."""
    best_page = max((each.score for each in found.passages), default=0.0) or 1.0
    best = max((place.score for each in found.passages for place in each.quotes), default=0.0) or 1.0
    held: dict[tuple[int, int], Quote] = {}
    for number, passage in enumerate(found.passages, 1):
        opens = number in found.begins
        headed = asked.headed(passage)
        near = bool(passage.quotes) and passage.score >= NEAR_PAGE * best_page
        if not (near or opens or headed or asked.share(terms(nearest(passage))) >= LEAST):
            continue
        for place in (*passage.quotes, *_paragraphs(passage, UNQUOTED * best)):
            begins = place.start == 0 and (opens or (is_entry(passage.heading) and _named(passage.heading, asked)))
            bears = _anything if begins or headed else _bearing(asked.wanted)
            stands = standing(passage, place, bears, asked.code)
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
    quotes, best = list(held.values()), max((each.score for each in held.values()), default=0.0)
    above = {each.passage.id for each in quotes if asked.headed(each.passage)}
    if not above:
        return quotes
    told = [each for each in quotes if each.passage.id in above or asked.share(terms(each.text)) >= WHOLE]
    return [_held_up(each, best) if each.passage.id in above else each for each in told]


def _held_up(quote: Quote, best: float) -> Quote:
    """What stands under a heading that says all of the question is near enough, whatever words it uses."""
    return quote._replace(score=max(quote.score, NEAR_QUOTE * best))


def _merits(quote: Quote, asked: Asked, first: bool) -> float:
    """What speaks for and against a quote beside the score of the search."""
    heading = quote.passage.heading
    unnamed = is_entry(heading) and not _named(heading, asked)
    tells = is_entry(heading) and not unnamed and quote.place.start == 0  # an entry says first what its name stands for
    near = asked.fit(terms(nearest(quote.passage)))
    said = asked.share(terms(quote.text)) + IN_LEAF * near + IN_PATH * asked.share(terms(heading))
    said += IN_OPENING * near * first
    meaning = max(DEFINES * tells, defines(quote.text, asked.question))
    return said + meaning + POINTS * points(quote.text) + ENTRY * unnamed


def _named(heading: str, asked: Asked) -> bool:
    """Whether the question asks for an entry: by its name, or for all entries whose names say what it is about."""
    name = named_by(heading)
    words = terms(name)
    if not words or asked.names:
        return any(re.search(rf"\b{each}\b", leaf(heading)) for each in asked.names)
    if asked.share(words) < OPENS_ON or not words & asked.telling:
        return False
    if _IDENTIFIER.search(name):
        return len(words & asked.wanted.keys()) > 1 or (asked.sets and ordered(name)[0] in asked.telling)
    return words <= asked.wanted.keys()


def _on_topic(quote: Quote, asked: Asked, first: bool) -> bool:
    """Whether a quote speaks of what is asked, and of the subject of the whole task."""
    heading, words = quote.passage.heading, terms(quote.text)
    if asked.names and not any(re.search(rf"\b{name}\b", f"{quote.text} {heading}") for name in asked.names):
        return False
    if any(not side(quote.text) for side in asked.sides):
        return False
    if asked.about and max(share(each, quote.context) for each in asked.about) < ABOUT:
        return False
    if asked.besides and not any(word in quote.text.lower() for word in asked.besides):
        return False
    if asked.aspects and not asked.aspects & quote.context:
        return False
    said = asked.share(words)
    if is_entry(heading):
        begins = quote.place.start == 0 and not _FRAGMENT.match(quote.text)
        told = not asked.names and len(asked.wanted) > SHORT and said >= OF_AN_ENTRY
        return (begins or bool(asked.names)) and (told or _named(heading, asked))
    if _OF_AN_ENTRY.match(quote.text) or _BESIDES.match(leaf(heading)):
        return False
    if asked.code == FORMULA and _EXAMPLE.match(leaf(heading)):
        return False
    near, least = terms(f"{quote.passage.title} {leaf(heading)}"), 1.0 if len(asked.wanted) <= SHORT else ON_TOPIC
    if not asked.telling & (near | words) or asked.share(quote.context) < least:
        return False
    return said >= SAYS_SO or asked.headed(quote.passage) or (first and asked.share(near) >= OPENS_ON)


def _paragraphs(passage: Passage, score: float) -> Iterable[Slice]:
    at = 0
    for paragraph in passage.text.split("\n\n"):
        if not any(each.start < at + len(paragraph) and each.end > at for each in passage.quotes):
            yield Slice(at, at + len(paragraph), score)
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
    if alike(terms(text), said) <= SAME:
        return False
    return not facts(_ASIDE.sub("", text)).quantities - facts(_ASIDE.sub("", other)).quantities


def readable(chosen: list[Quote], question: str) -> list[Quote]:
    """What says what the thing is first, then page by page, the best page first, each in its own order."""
    rank = {each.passage.source: place for place, each in reversed(list(enumerate(chosen)))}
    return sorted(
        chosen,
        key=lambda each: (
            -defines(each.text, question), rank[each.passage.source], each.passage.start + each.place.start
        ),
    )  # fmt: skip


def defines(text: str, question: str) -> float:
    """A bonus for a sentence that begins with what the question is about, when that is asked: twice if it says so."""
    about = terms(subject(question) or (question if len(terms(question)) <= SHORT else ""))
    opening = text.split()[: len(about) + 2]
    asked = _WHAT.match(question) or len(terms(question)) <= SHORT
    if not asked or not about or not about <= terms(" ".join(opening[: len(about) + 1])):
        return 0.0
    return DEFINES * (2 if any(_SAYS_WHAT.fullmatch(word) for word in opening) else 1)


def _anything(said: str) -> bool:
    return bool(said)


def _bearing(wanted: dict[str, float]) -> Callable[[str], bool]:
    return lambda said: bool(wanted.keys() & terms(said))
