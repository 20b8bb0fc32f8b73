"""Excerpts on a question: a quote with what belongs to it in its section, long enough to be understood. Pure."""

import re
from collections.abc import Sequence

from actors.evidence.facts import facts
from actors.evidence.heading_types import is_entry, nearest
from actors.evidence.passages import Meaning, SearchHits, Sentence, Span
from actors.extractive.decompose import subject
from actors.extractive.query_profile import OPENS_ON, Asked
from actors.extractive.quote_candidates import Quote, candidates
from actors.extractive.standalone import Part, fit, parts, refers, standalone_parts
from actors.text.keywords import alike, terms
from actors.text.sentences import split_sentences
from actors.text.word_patterns import compile_words

EXCERPTS, EXCERPTS_OF_SEVERAL, OF_A_SECTION = 3, 1, 2
"""So many of a question, of each of several questions, and of one section."""
SEVERAL = 2
ENOUGH, LONGEST = 420, 900
"""Characters: from so many on only what bears on the question is added, and never more than these."""
NEAR, NEAR_BY_MEANING = 0.8, 0.88
"""An excerpt with less than this share of the best one's score leads away from the question."""
SHORT = 200
"""A longer excerpt goes without the example behind it."""
MERITS, MERITS_BY_MEANING = (0.3, 0.4, 0.3), (0.1, 0.25, 0.25)
"""
What counts that a section begins there whose heading says half of the question: it says what the thing is; and what the
entry of a reference loses, unless the question names it: it speaks of itself alone. The last is for a sentence that
says what the thing is, where that is asked. Beside cosines all are less.
"""
_DEFINES = compile_words(
    r"(?:an?\s|the\s)?\s*(?P<name>[\w' -]{2,60}?)\s+(?:(?:is|are)\s+(?:an?|the|one|used)|refers?\s+to|means?|"
    r"consists?\s+of|provides?|allows?|lets?|represents?)\b",
    re.IGNORECASE,
)
_CALLED = compile_words(r"\b(?:called|known\s+as)\s+(?:an?\s|the\s)?[“\"]?(?P<name>[\w -]{2,60})", re.IGNORECASE)
TOPIC_WORDS = 4
"""A topic of so few words, such as a side of a comparison, asks what that is."""
OF_PASSAGE, OF_WORDS = 0.5, 0.3
"""What the meaning of the passage, and the words of the question, count beside the meaning of a sentence."""
LEAST_COSINE = 0.3
"""A sentence farther from the question than this is not on it."""
NEAR_COSINE = 0.5
SAME = 0.7
"""An excerpt that shares more of its terms with another one says the same."""


def excerpts(found: SearchHits, asked: Asked, known: Sequence[str] = ()) -> list[Quote]:
    """
    The best excerpts on a question, the best first, none of which says what another one or something known says.

    :param known: texts that need not be said again.
    """
    ranked = _rank(found, asked)
    near = NEAR_BY_MEANING if found.meaning and found.meaning.sentences else NEAR
    most = EXCERPTS if len(asked.about) < SEVERAL else EXCERPTS_OF_SEVERAL
    said = list(known)
    chosen: list[Quote] = []
    for quote in ranked:
        if len(chosen) == most or quote.score < near * ranked[0].score:
            break
        if sum(quote.passage.heading == each.passage.heading for each in chosen) == OF_A_SECTION:
            continue
        longer = extend(quote, asked)
        if any(_overlap(longer, each) for each in chosen):
            continue
        if not any(_same(longer.text, other) for other in said):
            chosen.append(longer)
            said.append(longer.text)
    return chosen


def is_near(found: SearchHits) -> bool:
    """Whether a sentence means so nearly what is asked that it may be taken for an answer, whatever words it has."""
    return found.meaning is not None and any(each.place.score >= NEAR_COSINE for each in found.meaning.sentences)


def _rank(found: SearchHits, asked: Asked) -> list[Quote]:
    """What could be quoted, best first: by meaning where the search knows it, else by words."""
    if found.meaning and found.meaning.sentences:
        weighed = _by_meaning(found, found.meaning, asked)
        merits = MERITS_BY_MEANING
    else:
        weighed, merits = candidates(found, asked), MERITS
    scored = (each._replace(score=each.score + _merit(each, asked, found.begins, *merits)) for each in weighed)
    return sorted(scored, key=lambda each: (-each.score, each.number, each.place.start))


def _by_meaning(found: SearchHits, meaning: Meaning, asked: Asked) -> list[Quote]:
    """Each sentence whose meaning is near enough to the question's, with what it needs to stand by itself."""
    near = dict(enumerate(meaning.passages, 1))
    weighed = {each.passage for each in meaning.sentences}
    openings = [
        Sentence(number, Span(0, len(found.passages[number - 1].text.partition("\n\n")[0]), near.get(number) or 0.0))
        for number in found.begins
        if number not in weighed  # its sentences are not, so that the whole stands for them
    ]
    best: dict[tuple[int, int], Quote] = {}
    for each in (*meaning.sentences, *openings):
        passage = found.passages[each.passage - 1]
        place = standalone_parts(passage, each.place, bool) if each.place.score >= LEAST_COSINE else None
        if place is None:
            continue
        score = each.place.score + OF_PASSAGE * (near.get(each.passage) or 0.0)
        score += OF_WORDS * asked.best(place.of(passage))
        key = (each.passage, place.start)
        if key not in best or best[key].score < score:
            best[key] = Quote(score, each.passage, passage, place)
    return list(best.values())


def extend(quote: Quote, asked: Asked) -> Quote:
    """A quote from the beginning of its paragraph on, with the paragraphs below it that go on with it."""
    text, every = quote.passage.text, parts(quote.passage.text)
    inside = [n for n, part in enumerate(every) if part.end > quote.place.start and part.start < quote.place.end]
    if not inside:
        return quote
    first = _first(text, every, inside[0], quote.place.end)
    start = min(every[first].start, quote.place.start) if first == inside[0] else every[first].start
    named = len(asked.telling & terms(nearest(quote.passage))) > 0
    end, last = quote.place.end, inside[-1]
    for n in range(last + 1, len(every)):
        part = every[n]
        stop = _block_end(every, n)
        if part.kind == "other" or every[stop].end - start > LONGEST:
            break
        begins_block = part.block != every[n - 1].block
        introduced = text[:end].rstrip().endswith((":", "："))
        if part.kind == "code" and not introduced:
            break
        if begins_block and not introduced:
            illustrates = stop + 1 < len(every) and every[stop + 1].kind == "code" and end - start >= SHORT
            if illustrates or not _goes_on(text, every[n : stop + 1], asked, end - start, named=named):
                break
        end, last = part.end, n
    return quote._replace(
        place=Span(start, _without_introduction(text, every, last, quote.place.end), quote.place.score)
    )


def _same(text: str, other: str) -> bool:
    """Whether a text says what another one says, its figures included."""
    return alike(terms(text), terms(other)) > SAME and facts(text).quantities <= facts(other).quantities


def _overlap(one: Quote, other: Quote) -> bool:
    same = one.passage.id == other.passage.id
    return same and one.place.start < other.place.end and other.place.start < one.place.end


def _first(text: str, every: Sequence[Part], at: int, end: int) -> int:
    """Where the paragraph of a sentence begins, if it can be understood from there."""
    first = at
    while first and every[first - 1].block == every[at].block and every[first - 1].kind == every[at].kind == "prose":
        first -= 1
    said = text[every[first].start : every[first].end]
    whole = fit(said) and not refers(said) and end - every[first].start <= LONGEST
    return first if whole else at


def _block_end(every: Sequence[Part], at: int) -> int:
    """The last part of the paragraph that this one begins; a list is taken item by item."""
    if every[at].kind == "item":
        return at
    last = at
    while last + 1 < len(every) and every[last + 1].block == every[at].block and every[last + 1].kind == every[at].kind:
        last += 1
    return last


def _goes_on(text: str, block: Sequence[Part], asked: Asked, length: int, *, named: bool) -> bool:
    """Whether a paragraph belongs to what was quoted: under a heading of the question, or with words of it."""
    first = text[block[0].start : block[0].end]
    if block[0].kind == "prose" and not fit(first):
        return False
    bears = bool(asked.telling & terms(text[block[0].start : block[-1].end]))
    return bears if length >= ENOUGH else bears or named


def _without_introduction(text: str, every: Sequence[Part], last: int, least: int) -> int:
    """The end of an excerpt, before a last sentence that is none or only introduces what is not quoted."""
    while every[last].end > least and every[last].kind != "code":
        said = text[every[last].start : every[last].end].rstrip()
        if not said.endswith((":", "：")) and (every[last].kind == "item" or fit(said)):
            break
        last -= 1
    return max(every[last].end, least)


def _merit(quote: Quote, asked: Asked, begins: Sequence[int], opening: float, entry: float, defining: float) -> float:
    """What counts beside what a quote says: that a section of the question begins there, that it is a strange entry."""
    heading = nearest(quote.passage)
    opens = quote.number in begins and quote.place.start == 0 and asked.share(terms(heading)) >= OPENS_ON
    strange = is_entry(quote.passage.heading) and not terms(heading) <= frozenset(asked.wanted)
    return opening * opens - entry * strange + defining * _defines(quote.text, asked.question)


def _defines(text: str, question: str) -> bool:
    """Whether a text begins with what the thing is that a question, or a topic, asks for."""
    topic = question if not question.endswith(("?", "？")) and len(question.split()) <= TOPIC_WORDS else ""
    wanted = terms(subject(question) or topic)
    if not wanted:
        return False
    first = next(iter(split_sentences(text)), "")
    named, called = _DEFINES.match(first), _CALLED.search(first)
    return bool((named and terms(named["name"]) == wanted) or (called and wanted <= terms(called["name"])))
