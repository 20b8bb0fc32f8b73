"""Words of a question that mean one thing and nothing near it: error codes, names of options, proper names."""

import re
from collections.abc import Sequence

from actors.text.tokenizer import tokens
from runtime.knowledge.index.index_reader import IndexReader
from runtime.knowledge.query.analyze import CODE_NUMBER, Question
from runtime.knowledge.query.ranking import Page

FEW, FEW_OF = 5, 200
"""An identifier stands in few passages: in so many, or in one of so many."""
_WRITTEN = re.compile(r"\b(?:(?=[^\W\d]*\d)(?=\d*[^\W\d])\w{3,}|[^\W_]+(?:_[^\W_]+)+)\b")
"""Letters and digits in one word, or words joined by underscores."""


def find_codes(shelf: IndexReader, question: Question) -> list[frozenset[str]]:
    """The codes in a question that the documents have, each as the terms that a passage with it has."""
    return _few(shelf, [*_WRITTEN.findall(question.text), *CODE_NUMBER.findall(question.text)])


def find_names(shelf: IndexReader, question: Question) -> list[frozenset[str]]:
    """The words written like names of which few passages speak."""
    return _few(shelf, question.names)


def _few(shelf: IndexReader, written: Sequence[str]) -> list[frozenset[str]]:
    groups = dict.fromkeys(frozenset(tokens(each)) for each in written)
    few = max(FEW, shelf.passages // FEW_OF)
    return [group for group in groups if group and 0 < min(map(shelf.frequency, group)) <= few]


def find_pages_with(identifiers: Sequence[frozenset[str]], pages: Sequence[Page]) -> set[int]:
    """The documents of which a passage has one of these."""
    return {page.document for page in pages for each in identifiers if any(each <= hit.terms for hit in page.hits)}
