"""
What worker processes are asked of an index, which they keep open between questions, and of the pages of a research,
for which they make one in memory.
"""

import re
from collections import OrderedDict
from collections.abc import Collection
from hashlib import blake2b, sha256
from pathlib import Path
from typing import Any

import msgspec

from actors.evidence.passages import BELOW, NamedDocument, Passage, Reason, SearchHits
from actors.evidence.shortfalls import Shortfall
from actors.text.catalogue import ENGLISH
from actors.text.normalize import find_span
from actors.text.tokenizer import tokens
from runtime.knowledge import NO_INDEX, QuestionVector
from runtime.knowledge.find_passages import CANDIDATES, QUESTION_CHARACTERS, TERMS, find_passages
from runtime.knowledge.index import Index, Unseen, open_index
from runtime.knowledge.readers.markdown_reader import read_markdown

DIGEST_BYTES = 12
PAGES_FOLDER = "pages"
KEPT = 2
"""So many indexes of pages a process keeps: a round's pages are asked again when its table repeats the step."""
PAGES = 1000
"""More pages than this are not looked at."""
PAGE_CANDIDATES = 30
"""So many passages of pages that words find are put in order by meaning: each vector is made for it alone."""
NO_TEXT = Reason("no_text")


class Text(msgspec.Struct, frozen=True, gc=False):
    """A page as it is indexed."""

    key: str
    title: str
    text: str
    """Markdown or plain text, which offsets of passages refer to."""


def search(
    shelf: Index, text: str, limit: int, documents: Collection[int] | None = None, *,
    vector: QuestionVector | None = None, candidates: int = CANDIDATES, linked: bool = False,
) -> SearchHits:  # fmt: skip
    """
    What comes closest, whether or not it answers: nobody can tell that without reading it.

    By words, and by meaning where the vectors of the index are by the question's model.

    :param shelf: within its `reading`.
    """
    model = shelf.find_vector_model()
    own = vector if vector and model == vector.model else None
    found = find_passages(shelf, text, limit, documents, own, candidates, linked)
    incomplete: tuple[Shortfall, ...] = ()
    if vector and not vector.vector:
        incomplete = (Shortfall("no_meaning", vector.failure),)
    elif vector and (found.without_vectors or not own):
        said = "Some documents are found by their words only yet: the daemon, or `index`, prepares their meaning."
        incomplete = (Shortfall("no_vectors", said),)
    abstain = found.reason.say(ENGLISH) if found.reason else ""
    return SearchHits(
        found.passages, abstain, reason=found.reason, meaning=found.meaning, incomplete=incomplete
    )  # fmt: skip


def find(
    database: str, question: str, limit: int, sources: list[str] | None = None, vector: list[Any] | None = None,
    linked: bool = False,
) -> SearchHits:  # fmt: skip
    """
    Search an index, or some documents of it.

    :param vector: a `QuestionVector` as it was sent here.
    """
    shelf = open_index(Path(database))
    if shelf is None:
        return SearchHits(abstain=NO_INDEX)
    with shelf.reading():
        if not shelf.passages:
            return SearchHits(abstain=NO_INDEX)
        documents = None if sources is None else shelf.find_documents(sources)
        asked = msgspec.convert(vector, QuestionVector | None)
        return search(shelf, question, limit, documents, vector=asked, linked=linked)


def read(database: str, source: str) -> tuple[str, str]:
    """The text of an indexed document as it was read, which offsets of its passages refer to, and its file's path."""
    shelf = open_index(Path(database))
    text = shelf.find_text(source) if shelf else None
    if shelf is None or text is None:
        raise LookupError(f"{source} is not in the index any more")
    return text, shelf.find_file(source)


def find_named(database: str, text: str) -> NamedDocument | None:
    """The document of whose path a text names most, the name of its file at least; None where several are named so."""
    shelf = open_index(Path(database))
    if shelf is None:
        return None
    with shelf.reading():
        named = [(_count_named(each.source, text), each) for each in shelf.list_names()]
        most = max((count for count, _ in named), default=0)
        best = [each for count, each in named if count == most]
        if not most or len(best) > 1:
            return None
        return NamedDocument(best[0].source, best[0].title, shelf.find_text(best[0].source) or "")


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
    shelf = open_index(Path(database))
    if shelf is None:
        raise LookupError(NO_INDEX)
    with shelf.reading():
        sources = dict.fromkeys(source for source, _ in quotes)
        known = {source: (shelf.find_text(source) or "", shelf.list_sections(source)) for source in sources}
    return [_digest_section(quote, *known[source]) for source, quote in quotes]


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


def list_candidates(pages: list[Text], questions: list[str]) -> list[Unseen]:
    """The texts of pages whose vectors put in order what the words of some questions find."""
    shelf = index_pages(pages)
    found = dict[bytes, Unseen]()
    with shelf.reading():
        for each in questions:
            matched = shelf.match(tokens(each[:QUESTION_CHARACTERS])[:TERMS], PAGE_CANDIDATES)
            found |= {text.digest: text for text in shelf.list_texts([id_ for id_, _ in matched])}
    return list(found.values())


def find_in_pages(
    pages: list[Text], questions: list[str], limit: int, asked: list[Any], vectors: list[tuple[bytes, bytes]]
) -> list[SearchHits]:
    """
    For each question what the pages say on it. The order of the pages does not matter.

    :param asked: of each question its `QuestionVector` as it was sent here, or None.
    :param vectors: of what `list_candidates` named, as (digest, vector).
    """
    shelf = index_pages(pages)
    means = msgspec.convert(asked, list[QuestionVector | None])
    cut = () if len(pages) <= PAGES else (Shortfall("cut_short", f"Of {len(pages)} pages {PAGES} were looked at."),)
    if model := next((each.model for each in means if each and each.vector), ""):
        shelf.begin_vectors(model, anew=True)
        shelf.keep_vectors(model, vectors)
    hits = []
    with shelf.reading():
        for question, vector in zip(questions, means, strict=True):
            found = SearchHits.refuse(NO_TEXT)
            if shelf.passages:
                found = search(shelf, question, limit, vector=vector, candidates=PAGE_CANDIDATES)
            passages, incomplete = tuple(map(_name, found.passages)), (*found.incomplete, *cut)
            hits.append(msgspec.structs.replace(found, passages=passages, incomplete=incomplete))
    return hits


def _name(passage: Passage) -> Passage:
    """A passage of a page, without the folder that the index has all pages in."""
    source, id_ = (each.removeprefix(f"{PAGES_FOLDER}/") for each in (passage.source, passage.id))
    return msgspec.structs.replace(passage, source=source, id=id_)


_kept: OrderedDict[str, Index] = OrderedDict()


def index_pages(pages: list[Text]) -> Index:
    """The index of some pages, which this process keeps until it has made some others."""
    pages = sorted(pages, key=lambda page: (page.key, page.text))[:PAGES]
    digest = sha256(msgspec.msgpack.encode(pages)).hexdigest()
    if digest in _kept:
        _kept.move_to_end(digest)
        return _kept[digest]
    _kept[digest] = index = Index.in_memory()
    folder, _ = index.add_folder(Path(PAGES_FOLDER))
    first = dict[str, Text]()
    for page in pages:
        first.setdefault(page.key, page)
    for page in first.values():
        document = read_markdown(page.text)
        document.title = page.title or document.title or page.key
        index.add(folder, page.key, "", document)
    if len(_kept) > KEPT:
        _kept.popitem(last=False)[1].close()
    return index


def close_pages() -> None:
    """Close this process's indexes of pages. A worker process need not: it ends with them."""
    while _kept:
        _kept.popitem()[1].close()
