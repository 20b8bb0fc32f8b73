"""Which sentences to quote: runs of one to three sentences of the best pages, with the code that they introduce."""

import math
import re

import msgspec

from actors.text.tokenizer import CJK, tokens
from runtime.knowledge.index.index_reader import IndexReader, Stored
from runtime.knowledge.index.index_writer import StoredUnit
from runtime.knowledge.query.analyze import Question
from runtime.knowledge.query.ranking import Page
from runtime.knowledge.readers.parsed_document import mark_before

PAGES = 4
PAGE_PASSAGES = 6
RUN = 3
KEPT = 24
WHOLE_CHARACTERS = 700
"""A quote is the whole paragraph of its best sentences, if that is no longer than this."""
SHORT_CHARACTERS = 250
"""A quote that is shorter takes in what stands beside it."""
RUN_CHARACTERS = 650

IN_PATH, IN_LEAF = 0.5, 0.65
"""How much it counts that a word of the question stands in the headings above, or in the one right above."""
ASKED_WITH_HEADING, ASKED, ASKED_DENSE, PASSAGE_STRENGTH = 0.6, 0.4, 0.3, 0.2
OPENING = 0.12
EVERY_SENTENCE = -0.04
DENSITY = 0.3
PAGE_RANK = 0.6
UNRANKED_STRENGTH = 0.4
CLEAR, FIRST = 0.6, 0.3
"""Where the next passage of a page has less than this share of the first one's score, the first is quoted first."""

_OPENS = re.compile(rf"[A-Z\"'(“`*{CJK}]")
_ITEM = re.compile(r"\n[ \t]*(?:[-*+•]|\d{1,9}[.)])[ \t]")
_ROW = re.compile(r" [|—] ")


class Snippet(msgspec.Struct, frozen=True, gc=False):
    """A run of sentences of a passage: `text[start:end]`."""

    passage: Stored
    start: int
    end: int
    score: float
    matched: dict[str, float]
    terms: frozenset[str]


def snippets(shelf: IndexReader, question: Question, pages: list[Page]) -> list[Snippet]:
    """The quotable runs of the best pages, best first; near duplicates and overlaps are left out."""
    found: list[Snippet] = []
    for page in pages[:PAGES]:
        strengths = {hit.id: hit.score / page.hits[0].score for hit in page.hits[:PAGE_PASSAGES]}
        clear = len(page.hits) > 1 and page.hits[1].score < CLEAR * page.hits[0].score
        top = shelf.load([page.hits[0].id])[0]
        ids = set(strengths) | set(shelf.neighbours(page.document, top.heading, top.id))
        bonus = PAGE_RANK * page.score / pages[0].score
        for passage in shelf.load(sorted(ids)):
            more = FIRST * (clear and passage.id == top.id)
            found += _of(shelf, question, passage, strengths.get(passage.id, UNRANKED_STRENGTH), bonus + more)
    found.sort(key=lambda w: (-w.score, w.passage.id, w.start, w.end))
    kept: list[Snippet] = []
    for best in found:
        window = _whole(best)
        if not any(_same(window, other) for other in kept):
            kept.append(window)
            if len(kept) == KEPT:
                break
    return kept


def _whole(window: Snippet) -> Snippet:
    """The window with the rest of its paragraph, and the code that this introduces, as far as there is room."""
    units, text = window.passage.units, window.passage.text
    first = next(i for i, unit in enumerate(units) if unit.start == window.start)
    last = max(i for i, unit in enumerate(units) if unit.end <= window.end)
    while first and not units[first].opens and units[last].end - units[first - 1].start <= WHOLE_CHARACTERS:
        first -= 1
    while last + 1 < len(units) and units[last + 1].end - units[first].start <= WHOLE_CHARACTERS:
        code = units[last + 1].code
        if units[last + 1].opens and not (
            code and text[: units[last].end].endswith((":", "：")) and not units[last].code
        ):
            break
        last += 1
    first, last = _grown(units, first, last)
    if window.passage.entry and units[last].end - units[0].start <= WHOLE_CHARACTERS:
        first = 0  # what an option or function is, before what else is said of it
    start, end = units[first].start, units[last].end
    if _ITEM.search(text, start, end):  # of several items the first keeps its mark too
        start -= len(mark_before(text, start))
    return msgspec.structs.replace(window, start=start, end=end)


def _grown(units: list[StoredUnit], first: int, last: int) -> tuple[int, int]:
    """A short quote, such as a step of a list, with its neighbours: those behind it first."""
    while last + 1 < len(units) and units[last].end - units[first].start < SHORT_CHARACTERS:
        if units[last + 1].end - units[first].start > WHOLE_CHARACTERS:
            break
        last += 1
    while first and units[last].end - units[first].start < SHORT_CHARACTERS:
        if units[first - 1].code or units[last].end - units[first - 1].start > WHOLE_CHARACTERS:
            break
        first -= 1
    return first, last


def _same(a: Snippet, b: Snippet) -> bool:
    if a.passage.id == b.passage.id and a.start < b.end and b.start < a.end:
        return True
    return len(a.terms & b.terms) > 0.5 * min(len(a.terms), len(b.terms))


class _Sentence(msgspec.Struct, frozen=True, gc=False):
    start: int
    prose_end: int
    end: int
    """With the code that follows it."""
    terms: frozenset[str]
    matched: dict[str, float]
    opens: bool


def _sentences(passage: Stored, question: Question) -> list[_Sentence]:
    """The sentences of a passage, each with the first piece of code behind it."""
    words = passage.body_terms.split()
    found: list[_Sentence] = []
    at = 0
    previous: StoredUnit | None = None
    for unit in passage.units:
        terms = words[at : at + unit.terms]
        at += unit.terms
        if not unit.code:
            have = frozenset(terms)
            found.append(_Sentence(unit.start, unit.end, unit.end, have, question.matches(have), unit.opens))
        elif found and unit.opens and previous is not None and not previous.code:
            last = found[-1]
            have = last.terms.union(terms)
            found[-1] = msgspec.structs.replace(last, end=unit.end, terms=have, matched=question.matches(have))
        previous = unit
    return found


def _of(shelf: IndexReader, question: Question, passage: Stored, strength: float, bonus: float) -> list[Snippet]:
    heading = {t: v * IN_PATH for t, v in question.matches(set(passage.path_terms.split())).items()}
    heading |= {t: v * IN_LEAF for t, v in question.matches(set(tokens(passage.leaf))).items()}
    variants = {v for each in question.terms.values() for v in each.variants}
    sentences = _sentences(passage, question)
    # in a fixed order, so that sums are the same in every process
    weights = [[(term, shelf.rarity(term)) for term in sorted(each.terms)] for each in sentences]
    asked = [question.coverage(each.matched) for each in sentences]
    text, found = passage.text, list[Snippet]()
    for i, first in enumerate(sentences):
        if not fit(text[first.start : first.prose_end], opens=first.opens):
            continue
        prose, matched, terms = 0, dict[str, float](), frozenset[str]()
        dense = mass = answering = 0.0
        for n, sentence in enumerate(sentences[i : i + RUN]):
            words = text[sentence.start : sentence.prose_end]
            prose += len(words)
            if n and prose > RUN_CHARACTERS:
                break
            for term, value in sentence.matched.items():
                matched[term] = max(matched.get(term, 0.0), value)
            for term, weight in weights[i + n]:
                if term not in terms:
                    mass += weight
                    answering += weight * (term in variants)
            terms |= sentence.terms
            dense += asked[i + n]
            score = bonus + PASSAGE_STRENGTH * strength + OPENING * (i == 0)
            score += ASKED_DENSE * dense / (n + 1) + EVERY_SENTENCE * n
            score += _relevance(question, heading, matched) + DENSITY * math.sqrt(answering / (mass or 1.0))
            found.append(Snippet(passage, first.start, sentence.end, score, dict(matched), terms))
    return found


def _relevance(question: Question, heading: dict[str, float], matched: dict[str, float]) -> float:
    full = {term: max(matched.get(term, 0.0), heading.get(term, 0.0)) for term in {**matched, **heading}}
    return ASKED_WITH_HEADING * question.coverage(full) + ASKED * question.coverage(matched)


def fit(sentence: str, *, opens: bool) -> bool:
    """Whether a quote may begin with this sentence: a whole one, not a fragment."""
    letters = sum(map(str.isalpha, sentence)) + sentence.count(" ")
    if letters < 0.7 * len(sentence) or sentence.count("(") < sentence.count(")"):
        return False
    words = sentence.split()
    enough = len(words) >= 5 or len(re.findall(f"[{CJK}]", sentence)) >= 8
    return enough and bool(_OPENS.match(sentence) or "_" in words[0] or (opens and _ROW.search(sentence)))
