"""
The search: words find what may bear on a question, meaning puts it in order. Pure over an open index.

What was measured on questions that it was not made on stands in bench/README.md (`bench.truth`); what did not help
there, such as synonyms, rare words, column weights or parts of sentences, was left out.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from itertools import islice, zip_longest
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from actors.evidence.passages import BELOW, Meaning, Passage, Reason
from actors.text.tokenizer import list_own_terms, tokens
from runtime.embeddings.sentence_model import multiply
from runtime.knowledge import QuestionVector
from runtime.knowledge.index import Index, Place

CANDIDATES = 200
"""Passages that words find; meaning puts no other in their place."""
NEAREST = 50
"""Passages that meaning finds besides, where the model knows many languages: words of one find nothing in another. Over
English documents German and Chinese questions find a right page 20 times in 50, not 6 (`bench.truth`); English ones
nothing more."""
WORDS, WORDS_OF_LONG, LONG = 0.2, 0.5, 600
"""What words count beside meaning; of a question of more characters, of which the model reads the beginning only."""
SHOWN = 1200
"""Characters: a passage goes on down its page for so long, so that no step and no restriction is cut off."""
QUESTION_CHARACTERS = 20_000
"""So much of a question is looked at."""
TERMS = 400
"""So many of its words, each as often as it stands there."""
SAID = 0.35
"""Nothing has to do with a question where no cosine reaches the floor of its model, and the best passages do not say so
much of its own words (`bench.truth`: of 262 answerable ones none is refused over manuals, 2 of 50 over a few pages)."""
BEST = 3
ONE = 127.0 * 127.0
"""The dot product of two equal vectors."""

TITLES = 200_000
"""So many titles are known by name,"""
TITLE_CHARACTERS, NAME_LETTERS = 120, 4
"""none of them longer than this, or with fewer letters;"""
BEARERS = 3
"""a name that more documents bear tells nothing."""
READ, READ_CHARACTERS = 5, 3000
"""So many of the documents found first are looked through for names, and so much of each."""

LABEL_CHARACTERS = 60
ROW = " — "
_STOPS = (".", "!", "?", ")", "。", "！", "？", "）", ";", "；")
_BREAK = re.compile(r"\n(?=[ \t]*\n|[ \t]{0,12}(?:[-*+•]|\d{1,3}[.)])[ \t])")
"""Between paragraphs, and before a step or an item of a list."""
_WORD = re.compile(r"\w+")
_BRACKETS = re.compile(r"\s{0,20}\([^()]*\)\s{0,20}$")


class Ranked(NamedTuple):
    """A passage with its place in the order."""

    id: int
    score: float
    cosine: float | None
    """None: unknown, for there is no vector of it, or none of the question."""


class Found(NamedTuple):
    """What a search found, the best first, and whether all of it could be put in order by meaning."""

    passages: tuple[Passage, ...] = ()
    reason: Reason | None = None
    """Why there are none."""
    meaning: Meaning | None = None
    """How near they are; None: words decided alone."""
    without_vectors: int = 0
    """Candidates that were put in order by their words alone, though the question has a vector."""


def find_passages(
    shelf: Index,
    question: str,
    limit: int,
    documents: Collection[int] | None = None,
    asked: QuestionVector | None = None,
    most: int = CANDIDATES,
    linked: bool = False,
) -> Found:
    """
    The passages that come closest to a question.

    :param documents: look only into these; None: into all.
    :param asked: what the question means to the model that made the vectors of the index; None: words decide alone.
    :param most: so many passages that words find are put in order.
    :param linked: the best passage of each document, and of those that the question or the best of them name.
    """
    looked_at = question[:QUESTION_CHARACTERS]
    terms = tokens(looked_at)[:TERMS]  # as often as it says them: in a long mail that tells
    own = list_own_terms(looked_at)
    if not own:
        return Found(reason=Reason("says_too_little"))
    vector = asked.vector if asked else b""
    candidates = shelf.match(terms, most, documents)
    if asked and vector and asked.any_language:
        known = {id_ for id_, _ in candidates}
        candidates += [(id_, 0.0) for id_ in _find_nearest(shelf, vector, documents) if id_ not in known]
    if not candidates:
        return Found(reason=Reason("nothing_near"))
    vectors = shelf.find_vectors([id_ for id_, _ in candidates], len(vector)) if vector else {}
    ranked = rank(candidates, {id_: its for id_, its in vectors.items() if its}, vector, len(question))
    cosines = {each.id: each.cosine for each in ranked if each.cosine is not None}
    if linked:
        ranked = _follow(shelf, question, ranked)
    chosen = _choose(shelf, ranked, limit)
    passages = tuple(passage for _, passage in chosen)
    is_near = not (asked and cosines) or max(cosines.values()) >= asked.floor
    if not is_near and _measure_share_said(own, passages[:BEST]) < SAID:
        return Found(reason=Reason("nothing_near"))
    missing = len(candidates) - len(vectors) if vector else 0
    near = tuple(cosines.get(id_) for id_, _ in chosen)
    return Found(passages, None, Meaning(max(cosines.values()), near) if cosines else None, missing)


def rank(
    candidates: Sequence[tuple[int, float]], vectors: dict[int, bytes], vector: bytes, characters: int
) -> list[Ranked]:
    """
    Put candidates in order.

    :param candidates: number of each passage, and how well its words fit (BM25, larger is better).
    :param vectors: of those passages that have one.
    :param characters: of the question.
    """
    words = np.array([score for _, score in candidates], np.float64)
    words /= max(float(words.max()), 1e-9)
    known = np.array([id_ in vectors for id_, _ in candidates])
    if not vector or not known.any():
        order = np.argsort(-words, kind="stable")
        return [Ranked(candidates[at][0], float(words[at]), None) for at in order]
    cosines = np.zeros(len(candidates))
    cosines[known] = _measure_cosines([vectors[id_] for id_, _ in candidates if id_ in vectors], vector)
    # What has no vector yet is taken for as near as the middling one, and is told apart by its words.
    cosines[~known] = float(np.median(cosines[known]))
    share = WORDS_OF_LONG if characters > LONG else WORDS
    scores = share * words + (1 - share) * cosines / max(float(cosines.max()), 1e-9)
    order = np.argsort(-scores, kind="stable")
    return [Ranked(candidates[at][0], float(scores[at]), float(cosines[at]) if known[at] else None) for at in order]


def _find_nearest(shelf: Index, vector: bytes, documents: Collection[int] | None) -> list[int]:
    """The passages whose vectors are nearest to one, of some documents or of all."""

    def load() -> tuple[NDArray[np.int64], NDArray[np.int8]]:
        rows = shelf.list_vectors(len(vector))
        numbers = np.array([row[:2] for row in rows], np.int64).reshape(-1, 2)
        return numbers, np.frombuffer(b"".join(row[2] for row in rows), np.int8).reshape(-1, len(vector))

    numbers, vectors = shelf.recall("vectors", load)
    near = multiply(vectors, vector)
    if documents is not None:
        among = np.isin(numbers[:, 1], list(documents))
        numbers, near = numbers[among], near[among]
    return [int(number) for number in numbers[np.argsort(-near, kind="stable")[:NEAREST], 0]]


def _follow(shelf: Index, question: str, ranked: Sequence[Ranked]) -> list[Ranked]:
    """A passage of each document: the best that was found, or how it begins; the earlier, the better it scores."""
    best: dict[int, Ranked] = {}
    for each in ranked:
        best.setdefault(shelf.find_place(each.id).document, each)
    documents = _follow_titles(shelf, question, list(best))
    chosen = [best.get(each) or Ranked(shelf.find_passage(each) or 0, 0.0, None) for each in documents]
    return [each._replace(score=1.0 - place / len(chosen)) for place, each in enumerate(chosen)]


class Titles:
    """The titles of documents, to be found in texts; without what stands in brackets behind them, too."""

    def __init__(self, titles: Iterable[tuple[int, str]]) -> None:
        """:param titles: each with the number of its document."""
        self._documents: dict[tuple[str, ...], list[int]] = {}
        self._longest: dict[str, int] = {}
        """By the first word of names: the words of the longest one."""
        for document, title in titles:
            short = title[:TITLE_CHARACTERS]
            for name in {short, _BRACKETS.sub("", short)}:
                words = tuple(word.lower() for word in _WORD.findall(name))
                if sum(map(len, words)) >= NAME_LETTERS:
                    self._documents.setdefault(words, []).append(document)
                    self._longest[words[0]] = max(self._longest.get(words[0], 0), len(words))

    def find(self, text: str) -> list[int]:
        """The documents whose names stand in a text, written as names are; the longest name counts."""
        written = _WORD.findall(text)
        words = [word.lower() for word in written]
        found: dict[int, None] = {}
        at = 0
        while at < len(words):
            step = 1
            begins = written[at][0].isupper() or written[at][0].isdigit()
            for count in range(min(self._longest.get(words[at], 0), len(words) - at) if begins else 0, 0, -1):
                named = self._documents.get(tuple(words[at : at + count]), [])
                if 0 < len(named) <= BEARERS:
                    found.update(dict.fromkeys(named))
                    step = count
                    break
            at += step
        return list(found)


def _follow_titles(shelf: Index, question: str, first: Sequence[int]) -> list[int]:
    """
    Documents in the order in which they are worth reading.

    :param first: what a search found, the best first. What the question names comes before it, what the best of both
        name stands in turns with it.
    """
    titles = shelf.recall(
        "titles", lambda: Titles(islice(((each.document, each.title) for each in shelf.list_names()), TITLES))
    )
    asked = titles.find(question)
    best = list(dict.fromkeys((*asked, *first)))[:READ]
    named = (each for document in best for each in titles.find(shelf.read(document, READ_CHARACTERS)))
    turns = zip_longest((each for each in first if each not in asked), dict.fromkeys(named))
    return list(dict.fromkeys((*asked, *(each for pair in turns for each in pair if each is not None))))


def _measure_cosines(vectors: Sequence[bytes], vector: bytes) -> NDArray[np.float64]:
    rows = np.frombuffer(b"".join(vectors), np.int8).reshape(len(vectors), -1)
    return multiply(rows, vector).astype(np.float64) / ONE


def _measure_share_said(own: Collection[str], passages: Sequence[Passage]) -> float:
    """How much of a question's own terms some passages say, 0 to 1."""
    said = set(own).intersection(tokens(" ".join(f"{each.heading} {each.text}" for each in passages)))
    return len(said) / len(own)


def _choose(shelf: Index, ranked: Sequence[Ranked], limit: int) -> list[tuple[int, Passage]]:
    """The best passages, each going on down its section; none that stands in one above it, or says the very same."""
    pages: dict[int, _Page] = {}
    chosen: list[tuple[int, Passage]] = []
    said: set[str] = set()
    for each in ranked:
        if len(chosen) == limit:
            break
        place = shelf.find_place(each.id)
        if place.document not in pages:
            pages[place.document] = _Page(shelf.find_text(place.source) or "", shelf.list_sections(place.source))
        shown = [(other.start, other.end) for _, other in chosen if other.source == place.source]
        if any(start <= place.start < end for start, end in shown):
            continue
        passage = _show(place, each.score, pages[place.document], [start for start, _ in shown])
        own = " ".join(passage.text.split())
        if own not in said:
            chosen.append((each.id, passage))
            said.add(own)
    return chosen


def _leads_on(line: str, *, cut: bool) -> bool:
    """Whether a line only announces what follows it and is not shown: a heading, a label, "as follows:"."""
    said = line.strip()
    if said.startswith("#"):
        return True
    if not cut or line.startswith("    ") or _BREAK.match(f"\n{line}") or ROW in said:
        return False
    return said.endswith((":", "：")) or (len(said) < LABEL_CHARACTERS and not said.endswith(_STOPS))


class _Page(NamedTuple):
    text: str
    sections: list[tuple[str, int, int]]
    """Heading, start and end of each of its passages."""


def _show(place: Place, score: float, page: _Page, others: Iterable[int]) -> Passage:
    """:param others: where what is shown of the page already begins."""
    text, start = page.text, place.start
    line = text.rfind("\n", 0, start) + 1
    if text[line:start].isspace():
        start = line  # of code the first line keeps its place below the others
    beyond = [each for each in page.sections if each[1] >= place.end and not _is_below(each[0], place)]
    last = min((len(text), *(begin for _, begin, _ in beyond), *(each for each in others if each >= place.end)))
    end = go_on(text, start, place.end, last, beyond[0][0] if beyond else "")
    return Passage(
        id=f"{place.source}#{place.ordinal}", source=place.source, title=place.title, heading=place.heading,
        text=text[start:end], start=start, end=end, anchor=place.anchor, score=round(score, 4),
    )  # fmt: skip


def _is_below(heading: str, place: Place) -> bool:
    return f"{heading}{BELOW}".startswith(f"{place.heading}{BELOW}")


def go_on(text: str, start: int, end: int, beyond: int, called: str = "") -> int:
    """
    Where a passage of a document ends that goes on for SHOWN characters, between paragraphs or steps.

    :param beyond: where something else begins.
    :param called: the headings of that; a term stands above what explains it like any line.
    """
    names = {name.strip() for part in called.split(BELOW) for name in (part, *part.split(","))}
    last = max(end, min(start + SHOWN, beyond))
    more = text[end:last]
    if last < beyond:
        breaks = [each.start() for each in _BREAK.finditer(more)]
        more = more[: breaks[-1]] if breaks else ""
    lines = f"{text[start:end]}{more}".split("\n")
    while len(lines) > 1 and (lines[-1].strip() in {"", *names} or _leads_on(lines[-1], cut=last < beyond)):
        lines.pop()
    return start + len("\n".join(lines))
