"""The knowledge search: runs in a worker process, which keeps the index open between questions."""

import re
from collections.abc import Collection, Iterator, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

import msgspec

from actors.evidence.passages import Meaning, NamedDocument, Passage, Reason, SearchHits, Sentence, Span
from actors.evidence.shortfalls import Shortfall
from actors.text.catalogue import ENGLISH
from actors.text.normalize import find_span
from runtime.knowledge import NO_INDEX
from runtime.knowledge.find_passages import find_passages
from runtime.knowledge.index.index_reader import IndexReader, Stored
from runtime.knowledge.query.abstention import abstain, confidence, missing_pair
from runtime.knowledge.query.analyze import Question, understand
from runtime.knowledge.query.multi_hop import Quoted, follow, sentences
from runtime.knowledge.query.openings import openings
from runtime.knowledge.query.question_vector import QuestionVector
from runtime.knowledge.query.ranking import MANY_CANDIDATES, Page, rank
from runtime.knowledge.query.reciprocal_rank import Near, Nearness, fuse
from runtime.knowledge.query.snippets import Snippet, snippets

BELOW = " > "
"""Between the headings that lead to a passage."""
DIGEST_BYTES = 12
QUOTES_OF_A_PASSAGE = 3
QUOTED = 4
"""So many quotes are likely to be shown."""
BEST_PASSAGES = 2
"""So many of a page's are given out, whatever the quotes are."""
SENTENCES = 8
"""So many sentences of a search with hops are given out."""
NEAR = 400
"""So many of the passages nearest in meaning are looked at."""
WEIGHED = 20
"""So many sentences may have their meaning weighed,"""
WEIGHED_CHARACTERS = 20
"""none of them shorter than this."""
SHARES, SHARES_WITH_HOPS = 3, 5
"""A page has at most such a part of the passages, so that there are others beside it."""

_shelves: dict[str, tuple[tuple[int, int], IndexReader]] = {}


def find(
    database: str, question: str, limit: int, sources: list[str] | None = None, hops: bool = False,
    vector: list[Any] | None = None,
) -> SearchHits:  # fmt: skip
    """
    Search an index, or some documents of it. Blocking; keeps it open for the next call.

    :param vector: a `QuestionVector` as it was sent here.
    """
    shelf = _shelf(Path(database))
    if shelf is None:
        return SearchHits(abstain=NO_INDEX)
    try:
        shelf.begin()
        if not shelf.passages:
            return SearchHits(abstain=NO_INDEX)
        documents = None if sources is None else shelf.documents(sources)
        asked = msgspec.convert(vector, QuestionVector | None)
        return search(shelf, question, limit, documents, hops=hops, reads=hops and sources is not None, vector=asked)
    finally:
        shelf.end()


def read(database: str, source: str) -> str:
    """The text of an indexed document as it was read, which offsets of its passages refer to."""
    shelf = _shelf(Path(database))
    text = shelf.text(source) if shelf else None
    if text is None:
        raise LookupError(f"{source} is not in the index any more")
    return text


def find_named(database: str, text: str) -> NamedDocument | None:
    """The document of whose path a text names most, the name of its file at least; None where several are named so."""
    shelf = _shelf(Path(database))
    if shelf is None:
        return None
    try:
        shelf.begin()
        named = [(_count_named(source, text), source, title) for source, title in shelf.sources()]
        most = max((count for count, _, _ in named), default=0)
        best = [(source, title) for count, source, title in named if count == most]
        if not most or len(best) > 1:
            return None
        ((source, title),) = best
        return NamedDocument(source, title, shelf.text(source) or "")
    finally:
        shelf.end()


def _count_named(source: str, text: str) -> int:
    """How many of the last parts of a path stand together in a text; 0: not even the name of the file."""
    parts = source.split("/")
    if parts[-1] not in text:
        return 0
    ends = ("/".join(parts[-count:]) for count in range(len(parts), 0, -1))
    found = (bool(re.search(rf"(?<![A-Za-z0-9_.-]){re.escape(end)}(?![A-Za-z0-9_-])", text)) for end in ends)
    return next((len(parts) - place for place, stands in enumerate(found) if stands), 0)


def digest_sections(database: str, quotes: list[tuple[str, str]]) -> list[str]:
    """
    For each quote a digest of the section that it stands in now; empty where its document does not say it any more.

    Another heading, a word more or less or another beginning of the document is another digest; white space is not.

    :param quotes: each a document's source and words of it; where in the document they stand does not matter.
    :raises LookupError: there is no index.
    """
    shelf = _shelf(Path(database))
    if shelf is None:
        raise LookupError(NO_INDEX)
    try:
        shelf.begin()
        sources = dict.fromkeys(source for source, _ in quotes)
        read = {source: (shelf.text(source) or "", shelf.sections(source)) for source in sources}
    finally:
        shelf.end()
    return [_digest_section(quote, *read[source]) for source, quote in quotes]


def _digest_section(quote: str, text: str, pieces: list[tuple[str, int, int]]) -> str:
    """
    :param pieces: heading, start and end of the passages of a document, in their order.
    """
    place = find_span(quote, text)
    if place is None:
        return ""
    at = next((n for n, (_, _, end) in enumerate(pieces) if place[0] < end), None)
    heading, start, end = pieces[at] if at is not None else ("", 0, len(text))
    below = f"{heading}{BELOW}" if BELOW in heading else None  # below a title stands the whole document
    for step in (1, -1):
        n = (at or 0) + step
        while at is not None and 0 <= n < len(pieces):
            if pieces[n][0] != heading and not (below and pieces[n][0].startswith(below)):
                break
            start, end = min(start, pieces[n][1]), max(end, pieces[n][2])
            n += step
    opening = next((begin for title, begin, _ in pieces if BELOW in title), 0)
    said = "\0".join(" ".join(each.split()) for each in (heading, text[:opening], text[start:end]))
    return blake2b(said.encode("utf-8", "replace"), digest_size=DIGEST_BYTES).hexdigest()


def locate(database: str, source: str) -> str:
    """Where a document of the index lies on this machine; empty if nobody knows."""
    shelf = _shelf(Path(database))
    return shelf.file(source) if shelf else ""


def search(
    shelf: IndexReader, text: str, limit: int, documents: Collection[int] | None = None, *, hops: bool = False,
    reads: bool = False, vector: QuestionVector | None = None,
) -> SearchHits:  # fmt: skip
    """
    Search an open index, between its `begin` and `end`: by words, and by meaning where its vectors are the question's.

    :param reads: find also how the sections begin that the question names.
    """
    if not hops:
        return _find_places(shelf, text, limit, documents, vector)
    question = understand(text, shelf)
    pages = rank(shelf, question, documents, most=MANY_CANDIDATES)
    why = abstain(shelf, question, pages)
    near = _near(shelf, vector, documents) if vector and vector.vector else Nearness()
    if near.passages:
        pages = fuse(shelf, question, pages, near)
    trail = follow(shelf, question, pages, documents)
    pages = trail.pages
    why = why and abstain(shelf, question, pages, trail.chain)
    quotable = snippets(shelf, question, pages) if pages else []
    if not why:
        why = missing_pair(shelf, question, quotable[:QUOTED], names=True) or (
            None if quotable else Reason("no_sentence")
        )
    sure = 0.0 if why else confidence(question, pages, quotable)
    telling = sentences(shelf, question, pages)[:SENTENCES]
    chosen = _chosen(shelf, pages, quotable, telling, limit)
    opening = openings(shelf, question, pages) if reads else []
    chosen += {each.passage.id: each.passage for each in opening if each.passage not in chosen}.values()
    numbers = {passage.id: number for number, passage in enumerate(chosen, 1)}
    spoken = (Sentence(numbers[q.passage.id], _slice(q)) for q in telling if q.passage.id in numbers)
    found = tuple(_passages(pages, chosen, [*quotable, *opening], telling))
    begins = tuple(sorted({numbers[each.passage.id] for each in opening}))
    weights = _weights(shelf, question) if reads else ()
    meaning, incomplete = _meaning(chosen, near.passages), _find_shortfalls(shelf, vector, lacks_some=near.lacks_some)
    return SearchHits(
        found, why.say(ENGLISH) if why else "", sure, tuple(spoken), begins, weights, meaning, incomplete,
        reason=why, words=_measure_words(pages, chosen),
    )  # fmt: skip


def _find_places(
    shelf: IndexReader, text: str, limit: int, documents: Collection[int] | None, vector: QuestionVector | None
) -> SearchHits:
    """What comes closest, whether or not it answers: nobody can tell that without reading it."""
    own = vector.vector if vector and shelf.vector_model() == vector.model else b""
    found = find_passages(shelf, text, limit, documents, own)
    return SearchHits(
        found.passages,
        found.reason.say(ENGLISH) if found.reason else "",
        reason=found.reason,
        meaning=found.meaning,
        incomplete=_find_shortfalls(shelf, vector, lacks_some=found.without_vectors > 0),
    )


def _find_shortfalls(shelf: IndexReader, question: QuestionVector | None, *, lacks_some: bool) -> tuple[Shortfall, ...]:
    """What went by words alone; a question that no model was asked about lacks nothing."""
    if question is None:
        return ()
    if not question.vector:
        return (Shortfall("no_meaning", question.failure),)
    if lacks_some or shelf.vector_model() != question.model:
        return (Shortfall("no_vectors", "Some documents have no vectors yet: `index` makes them."),)
    return ()


def _near(shelf: IndexReader, question: QuestionVector, documents: Collection[int] | None) -> Nearness:
    """The passages nearest to a question, where the index has vectors that can be compared with its own."""
    if shelf.vector_model() != question.model:
        return Nearness()
    from runtime.knowledge.query.nearness import find_near  # numpy: only where there are vectors

    return find_near(shelf, question.vector, NEAR, documents)


def _meaning(chosen: list[Stored], near: Sequence[Near]) -> Meaning | None:
    """The cosines that are known already, and the sentences whose cosines are to be found: of the nearest passages."""
    if not near:
        return None
    cosines = {each.id: round(each.cosine, 4) for each in near}
    nearest = sorted(enumerate(chosen, 1), key=lambda each: -cosines.get(each[1].id, 0.0))
    sentences = [
        Sentence(number, Span(unit.start, unit.end))
        for number, passage in nearest
        for unit in passage.units
        if not unit.code and unit.end - unit.start >= WEIGHED_CHARACTERS
    ]
    return Meaning(near[0].cosine, tuple(cosines.get(each.id) for each in chosen), tuple(sentences[:WEIGHED]))


def _measure_words(pages: list[Page], chosen: list[Stored]) -> tuple[float, ...]:
    """How much of the question each passage says; one that stands beside what was found says none of it."""
    said = {hit.id: hit.evidence for page in pages for hit in page.hits}
    return tuple(round(said.get(each.id, 0.0), 2) for each in chosen)


def _weights(shelf: IndexReader, question: Question) -> tuple[tuple[str, float], ...]:
    """The words of a question as they were written, each with what it tells; one that no document has tells nothing."""
    return tuple(
        (question.words.get(term, term), round(each.weight, 2) if shelf.frequency(term) else 0.0)
        for term, each in question.terms.items()
    )


def _chosen(
    shelf: IndexReader, pages: list[Page], quotable: list[Snippet], telling: list[Quoted], limit: int
) -> list[Stored]:  # fmt: skip
    """Page by page: the passages of its best sentences, those with the best quotes, else its best one."""
    quoted: dict[int, dict[int, Stored]] = {}
    for passage in [*(each.passage for each in telling), *(each.passage for each in quotable)]:
        quoted.setdefault(passage.document, {}).setdefault(passage.id, passage)
    share = max(1, -(-limit // (SHARES_WITH_HOPS if telling else SHARES)))
    chosen: dict[int, Stored] = {}
    for page in pages[:limit]:
        found, most = quoted.get(page.document, {}), 0 if telling else BEST_PASSAGES
        found |= {hit.id: shelf.load([hit.id])[0] for hit in page.hits[: most or not found]}
        chosen |= list(found.items())[:share]
    if telling:  # of a few pages all that is quoted
        for each in quoted.values():
            chosen |= each
    return list(chosen.values())[:limit]


def _passages(
    pages: list[Page], chosen: list[Stored], quotable: list[Snippet], telling: list[Quoted]
) -> Iterator[Passage]:  # fmt: skip
    """The passages with their quotes; what has none is quoted with its telling sentences."""
    ranks = {page.document: page.score for page in pages}
    for stored in chosen:
        slices = [Span(w.start, w.end, round(w.score, 4)) for w in quotable if w.passage.id == stored.id]
        slices = slices or [_slice(q) for q in telling if q.passage.id == stored.id]
        yield _passage(stored, slices[:QUOTES_OF_A_PASSAGE], ranks[stored.document])


def _slice(quoted: Quoted) -> Span:
    return Span(quoted.unit.start, quoted.unit.end, round(quoted.score, 4))


def _passage(stored: Stored, slices: list[Span], score: float) -> Passage:
    return Passage(
        id=f"{stored.source}#{stored.ordinal}",
        source=stored.source,
        title=stored.title,
        heading=stored.heading,
        text=stored.text,
        start=stored.start,
        end=stored.end,
        anchor=stored.anchor,
        score=round(score, 4),
        quotes=tuple(slices),
    )


def _shelf(path: Path) -> IndexReader | None:
    """The open index, opened again when the file is another one; None when there is none."""
    known = _shelves.get(str(path))
    try:
        found = path.stat()
    except OSError:
        found = None
    identity = (found.st_dev, found.st_ino) if found else None
    if known is not None:
        if known[0] == identity:
            return known[1]
        known[1].close()
        del _shelves[str(path)]
    if identity is None:
        return None
    shelf = IndexReader.at(path)
    _shelves[str(path)] = (identity, shelf)
    return shelf


def close() -> None:
    """Close this process's indexes. A worker process need not: it ends with them."""
    for _, shelf in _shelves.values():
        shelf.close()
    _shelves.clear()
