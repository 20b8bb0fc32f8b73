"""The model without key and network, for research: plans by rules, answers in verbatim quotes. Deterministic."""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from actors.evidence import Claim, Findings, Passage, Slice
from actors.facts import facts
from actors.ports import Task
from actors.research.decompose import subject
from actors.research.directions import found_in
from actors.research.drafts import Answer, Landscape, Overview, PlanDraft, Rival
from actors.research.headings import QUADRANTS, alternatives, generic, is_entry, leaf, named_by, quadrant
from actors.research.planning import drafted
from actors.research.records import Brief, Plan
from actors.research.terms import alike, share, terms
from runtime.model.prose import points, standing

QUOTES = 5
QUOTES_OF_A_PAGE = 3
"""So many quotes of one page while others have something to add."""
WELL_ABOVE_NOISE, SEVERAL = 0.85, 2
"""
Quotes are taken for an answer from this confidence of the search on, or when so many of them leave no word of the
question unsaid. Nobody has judged them: that is said by `Filled.judged`.
"""
NEAR_PAGE = 0.5
"""A page with less than this share of the best one's score is not quoted beside it."""
NEAR_QUOTE = 0.5
"""A quote with less than this share of the best one's score is left out."""
ON_TOPIC, SAYS_SO = 0.6, 0.4
"""So much of the question's terms stand in a quote with all the headings above it, and with the nearest one alone."""
OF_AN_ENTRY = 0.8
"""So much of them the entry of a reference says by itself, or it speaks only of its own name."""
LEFT = 0.34
"""So much of what the title and headings do not say of the question, the quote itself must say."""
SHORT = 2
"""A question of so few terms wants all of them."""
SAME = 0.7
"""A quote that shares more of its terms than this with another one says the same, unless its figures differ."""
UNQUOTED = 0.8
"""What a paragraph counts that the search did not single out, beside one that it did."""
DEFINES, POINTS, ENTRY, EXAMPLE = 0.5, -0.25, -0.3, -0.5
"""For a sentence that says what the thing asked for is, for one that names a chapter, for one of a reference entry that
nobody asked for by its name, and for an example that nobody asked for."""
OVERVIEW_QUOTES, OVERVIEW_CHARACTERS = 4, 480
RATED = 3
"""Quotes of one part of a landscape."""

CODE, FORMULA = 8, 2
"""Lines of code that a quote may end with: of who asks how something is done, and of everybody else."""
_HOW = re.compile(r"\bhow\b|\bexamples?\b|\bsyntax\b|\bcommands?\b|如何|怎么|怎样|어떻게|방법", re.IGNORECASE)
_IDENTIFIER = re.compile(r"\b\w*[A-Za-z]\w*_\w+\b")
_SAYS_WHAT = re.compile(r"is|are|means?|refers?|provides?|allows?|lets?|enables?|consists?")
_WHAT = re.compile(r"^(?:what (?:is|are|does)\b|explain\b|define\b|什么是|.{1,40}是什么)", re.IGNORECASE)


class Asked(NamedTuple):
    """A question, in the terms that quotes are measured by."""

    question: str
    wanted: frozenset[str]
    about: frozenset[str]
    """The terms of the whole task."""
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


def plan(task: Task) -> PlanDraft:
    """The questions in a task, and what to search for."""
    said = dict(task.material)
    lines = {label: tuple(text.splitlines()) for label, text in task.material}
    breadth = said.get("breadth", "")
    brief = Brief(breadth=int(breadth) if breadth.isdigit() else Brief().breadth, direction=said.get("direction", ""))
    before = None
    if "questions so far" in lines:
        tried, sides = lines.get("searched in vain", ()), lines.get("sides", ())
        before = Plan(lines["questions so far"], tried, (), sides)
    return drafted(said.get("question", ""), brief, lines.get("open", ()), before, said.get("shortfall", ""))


def answer(task: Task) -> Answer:
    """The sentences that bear on a question, in an order to read them in, and what leads on from them."""
    findings, said = task.findings or Findings(), dict(task.material)
    question, whole = said.get("question", ""), said.get("task", "")
    if findings.abstain or not findings.passages:
        return Answer()
    known = said.get("learnings", "").splitlines()
    asked = _asked(question, whole, tuple(said.get("sides", "").splitlines()))
    chosen = _chosen(_candidates(findings.passages, asked), known, QUOTES)
    claims = tuple(each.claim() for each in _readable(chosen))
    open_ends = found_in(
        findings.passages, whole or question, tuple(said.get("explored", question).splitlines()),
        quoted={each.passage.heading for each in chosen}, named=" ".join(each.text for each in chosen),
    )  # fmt: skip
    covered = frozenset[str]().union(*(each.context for each in chosen))
    said_all = len(claims) >= SEVERAL and asked.wanted <= covered
    answered = said_all or findings.confidence >= WELL_ABOVE_NOISE
    return Answer(claims, open_ends, bool(claims) and answered)


def _asked(question: str, whole: str, sides: tuple[str, ...]) -> Asked:
    wanted = terms(question)
    of = [terms(each) for each in sides]
    shared = frozenset.intersection(*of) if of else frozenset()
    compares = bool(of) and all(each <= wanted for each in of)
    return Asked(
        question, wanted, terms(whole), tuple(_IDENTIFIER.findall(question)),
        tuple(each - shared or each for each in of) if compares else (),
        CODE if _HOW.search(question) else FORMULA,
    )  # fmt: skip


def overview(task: Task) -> Overview:
    """The few quotes that say most on the whole question."""
    findings, whole = task.findings or Findings(), dict(task.material).get("task", "")
    wanted = terms(whole)
    quotes = [
        Quote(_weight(place.of(p), p.heading, wanted) + _defines(place.of(p), whole), n, p, place)
        for n, p in enumerate(findings.passages, 1)
        for place in p.quotes
    ]
    chosen: list[Quote] = []
    room = OVERVIEW_CHARACTERS
    for each in _chosen(quotes, (), len(quotes)):
        if len(each.text) < room and len(chosen) < OVERVIEW_QUOTES:
            chosen.append(each)
            room -= len(each.text) + 1
    return Overview(tuple(each.claim() for each in _readable(chosen)))


def landscape(task: Task) -> Landscape:
    """What stands under headings such as "Limitations": the sources' own judgement, none of ours."""
    findings, whole = task.findings or Findings(), dict(task.material).get("task", "")
    about = terms(whole)
    rated: dict[str, list[Quote]] = {}
    rivals: dict[str, list[Quote]] = {}
    for number, passage in enumerate(findings.passages, 1):
        if not about & terms(f"{passage.title} {passage.heading}"):
            continue
        place = standing(passage, Slice(0, len(passage.text)), _anything, FORMULA)
        if place is None:
            continue
        quote = Quote(0.0, number, passage, place)
        if part := quadrant(passage.heading):
            rated.setdefault(part, []).append(quote)
        elif name := alternatives(passage.heading):
            rivals.setdefault(name, []).append(quote)
    said = {part: tuple(each.claim() for each in _chosen(quotes, (), RATED)) for part, quotes in rated.items()}
    named = tuple(Rival(n, tuple(q.claim() for q in _chosen(quotes, (), 1))) for n, quotes in rivals.items())
    empty: tuple[Claim, ...] = ()
    return Landscape(named[:RATED], said.get("features", empty), *(said.get(part, empty) for part in QUADRANTS))


def _candidates(passages: Sequence[Passage], asked: Asked) -> list[Quote]:
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
    example = asked.code == FORMULA and generic(leaf(heading))
    merits = _defines(quote.text, asked.question) + POINTS * points(quote.text)
    return merits + ENTRY * unnamed + EXAMPLE * example


def _on_topic(quote: Quote, asked: Asked) -> bool:
    """Whether a quote speaks of what is asked, and of the subject of the whole task."""
    heading, wanted = quote.passage.heading, asked.wanted
    words = terms(quote.text)
    said = share(wanted, words)
    left = wanted - terms(f"{quote.passage.title} {heading}")
    if left and share(left, words) < LEFT:
        return False
    if asked.names and not any(name in quote.text or name in heading for name in asked.names):
        return False
    if any(not own & words for own in asked.sides):
        return False
    near = share(wanted, terms(f"{quote.text} {leaf(heading)}"))
    if is_entry(heading) and not terms(named_by(heading)) <= wanted and (said < OF_AN_ENTRY or len(wanted) <= SHORT):
        return False
    least = 1.0 if len(wanted) <= SHORT else SAYS_SO
    on_subject = not asked.about or bool(asked.about & quote.context)
    return said > 0 and near >= least and share(wanted, quote.context) >= ON_TOPIC and on_subject


def _paragraphs(passage: Passage, whole: Slice) -> Iterable[Slice]:
    at = 0
    for paragraph in passage.text.split("\n\n"):
        if not any(each.start < at + len(paragraph) and each.end > at for each in passage.quotes):
            yield Slice(at, at + len(paragraph), whole.score)
        at += len(paragraph) + 2


def _chosen(quotes: Sequence[Quote], known: Sequence[str], most: int) -> list[Quote]:
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


def _readable(chosen: list[Quote]) -> list[Quote]:
    """The best one first, then page by page, each in its own order."""
    if not chosen:
        return []
    rank = {each.passage.source: place for place, each in reversed(list(enumerate(chosen)))}
    rest = sorted(chosen[1:], key=lambda each: (rank[each.passage.source], each.passage.start + each.place.start))
    return [chosen[0], *rest]


def _defines(text: str, question: str) -> float:
    """A bonus for a sentence that begins with what the question is about, when that is asked: twice if it says so."""
    about = terms(subject(question) or (question if len(terms(question)) <= SHORT else ""))
    opening = text.split()[: len(about) + 2]
    asked = _WHAT.match(question) or len(terms(question)) <= SHORT
    if not asked or not about or not about <= terms(" ".join(opening[: len(about) + 1])):
        return 0.0
    return DEFINES * (2 if any(_SAYS_WHAT.fullmatch(word) for word in opening) else 1)


def _bearing(wanted: frozenset[str]) -> Callable[[str], bool]:
    return lambda said: bool(wanted & terms(said))


def _anything(said: str) -> bool:
    return bool(said)


def _weight(text: str, heading: str, wanted: frozenset[str]) -> float:
    return share(wanted, terms(text)) + share(wanted, terms(heading)) / 2
