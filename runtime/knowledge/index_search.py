"""The index as worker processes ask it, which keep it open between questions."""

import re
from collections.abc import Collection
from hashlib import blake2b
from pathlib import Path
from typing import Any

import msgspec

from actors.evidence.passages import BELOW, NamedDocument, SearchHits
from actors.evidence.shortfalls import Shortfall
from actors.text.catalogue import ENGLISH
from actors.text.normalize import find_span
from runtime.knowledge import NO_INDEX, QuestionVector
from runtime.knowledge.find_passages import CANDIDATES, find_passages
from runtime.knowledge.index.index_reader import IndexReader

DIGEST_BYTES = 12
NO_VECTORS = "Some documents are found by their words only, until a daemon or `index` has made their vectors."

_shelves: dict[str, tuple[tuple[int, int], IndexReader]] = {}


def find(
    database: str, question: str, limit: int, sources: list[str] | None = None, vector: list[Any] | None = None,
    linked: bool = False,
) -> SearchHits:  # fmt: skip
    """
    Search an index, or some documents of it. Blocking; keeps it open for the next call.

    :param vector: a `QuestionVector` as it was sent here.
    """
    shelf = open_shelf(Path(database))
    if shelf is None:
        return SearchHits(abstain=NO_INDEX)
    try:
        shelf.begin()
        if not shelf.passages:
            return SearchHits(abstain=NO_INDEX)
        documents = None if sources is None else shelf.documents(sources)
        asked = msgspec.convert(vector, QuestionVector | None)
        return search(shelf, question, limit, documents, vector=asked, linked=linked)
    finally:
        shelf.end()


def read(database: str, source: str) -> str:
    """The text of an indexed document as it was read, which offsets of its passages refer to."""
    shelf = open_shelf(Path(database))
    text = shelf.text(source) if shelf else None
    if text is None:
        raise LookupError(f"{source} is not in the index any more")
    return text


def find_named(database: str, text: str) -> NamedDocument | None:
    """The document of whose path a text names most, the name of its file at least; None where several are named so."""
    shelf = open_shelf(Path(database))
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
    shelf = open_shelf(Path(database))
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
    shelf = open_shelf(Path(database))
    return shelf.file(source) if shelf else ""


def search(
    shelf: IndexReader, text: str, limit: int, documents: Collection[int] | None = None, *,
    vector: QuestionVector | None = None, candidates: int = CANDIDATES, linked: bool = False,
) -> SearchHits:  # fmt: skip
    """
    What comes closest, whether or not it answers: nobody can tell that without reading it.

    By words, and by meaning where the vectors of the index are by the question's model.

    :param shelf: between its `begin` and `end`.
    """
    own = vector if vector and shelf.vector_model() == vector.model else None
    found = find_passages(shelf, text, limit, documents, own, candidates, linked)
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
        return (
            Shortfall(
                "no_vectors",
                "Some documents are found by their words only yet: the daemon, or `index`, prepares their meaning.",
            ),
        )
    return ()


def open_shelf(path: Path) -> IndexReader | None:
    """The index that this process keeps open, opened again when the file is another one; None when there is none."""
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
