"""An index made for the pages of one research, in memory; runs in a worker process, which keeps the last ones."""

import hashlib
import sqlite3
from collections import OrderedDict
from typing import Any, NamedTuple

import msgspec

from actors.evidence.passages import Passage, Reason, SearchHits
from actors.evidence.shortfalls import Shortfall
from actors.text.tokenizer import tokens
from runtime.knowledge import QuestionVector
from runtime.knowledge.find_passages import QUESTION_CHARACTERS, TERMS
from runtime.knowledge.index import index_writer, vector_store
from runtime.knowledge.index.index_reader import IndexReader
from runtime.knowledge.index_search import search
from runtime.knowledge.readers.markdown_reader import read_markdown

FOLDER = "pages"
KEPT = 2
"""So many indexes a process keeps: a round's pages are asked again when its table repeats the step."""
PAGES = 1000
"""More pages than this are not looked at."""
CANDIDATES = 30
"""So many passages of a question that its words find are put in order by meaning: each vector is made for it alone."""
NOTHING = Reason("no_text")


class Text(msgspec.Struct, frozen=True, gc=False):
    """A page as it is indexed."""

    key: str
    title: str
    text: str
    """Markdown or plain text, which offsets of passages refer to."""


class _Index(NamedTuple):
    shelf: IndexReader
    keys: tuple[str, ...]
    """The pages' keys by number."""


_kept: OrderedDict[str, _Index] = OrderedDict()


def list_candidates(pages: list[Text], questions: list[str]) -> list[vector_store.Unseen]:
    """The texts whose vectors put in order what the words of some questions find. Blocking."""
    shelf = _index(pages).shelf
    shelf.begin()
    try:
        found = dict[bytes, vector_store.Unseen]()
        for each in questions:
            matched = shelf.match(tokens(each[:QUESTION_CHARACTERS])[:TERMS], CANDIDATES)
            found |= {text.digest: text for text in shelf.list_texts([id_ for id_, _ in matched])}
        return list(found.values())
    finally:
        shelf.end()


def find(
    pages: list[Text], questions: list[str], limit: int, asked: list[Any], vectors: list[tuple[bytes, bytes]]
) -> list[SearchHits]:
    """
    For each question what the pages say on it. Blocking; the order of the pages does not matter.

    :param asked: of each question its `QuestionVector` as it was sent here, or None.
    :param vectors: of what `list_candidates` named, as (digest, vector).
    """
    index = _index(pages)
    means = msgspec.convert(asked, list[QuestionVector | None])
    cut = () if len(pages) <= PAGES else (Shortfall("cut_short", f"Of {len(pages)} pages {PAGES} were looked at."),)
    if model := next((each.model for each in means if each and each.vector), ""):
        index.shelf.learn_vectors(model, vectors)
    index.shelf.begin()
    try:
        found = [_find(index, question, limit, vector) for question, vector in zip(questions, means, strict=True)]
        return [msgspec.structs.replace(each, incomplete=(*each.incomplete, *cut)) for each in found]
    finally:
        index.shelf.end()


def _find(index: _Index, question: str, limit: int, vector: QuestionVector | None) -> SearchHits:
    if not index.shelf.passages:
        return SearchHits.refuse(NOTHING)
    found = search(index.shelf, question, limit, vector=vector, candidates=CANDIDATES)
    return msgspec.structs.replace(found, passages=tuple(_name(index, passage) for passage in found.passages))


def _name(index: _Index, passage: Passage) -> Passage:
    """A passage with its page's key instead of the number that the index knows the page by."""
    key = index.keys[int(passage.source.removeprefix(f"{FOLDER}/"))]
    return msgspec.structs.replace(passage, source=key, id=f"{key}#{passage.id.rpartition('#')[2]}")


def _index(pages: list[Text]) -> _Index:
    pages = sorted(pages, key=lambda page: (page.key, page.text))[:PAGES]
    digest = hashlib.sha256(msgspec.msgpack.encode(pages)).hexdigest()
    if digest in _kept:
        _kept.move_to_end(digest)
        return _kept[digest]
    _kept[digest] = index = _make(pages)
    while len(_kept) > KEPT:
        _kept.popitem(last=False)[1].shelf.close()
    return index


def _make(pages: list[Text]) -> _Index:
    db = sqlite3.connect(":memory:", isolation_level=None)
    index_writer.create(db)
    folder = index_writer.add_folder(db, FOLDER)
    keys = dict[str, None]()
    for page in pages:
        if page.key in keys:
            continue
        document = read_markdown(page.text)
        document.title = page.title or document.title or page.key
        index_writer.replace(db, folder, str(len(keys)), "", document)
        keys[page.key] = None
    return _Index(IndexReader(db), tuple(keys))


def close() -> None:
    """Close this process's indexes. A worker process need not: it ends with them."""
    for index in _kept.values():
        index.shelf.close()
    _kept.clear()
