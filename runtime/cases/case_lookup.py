"""Looking up and searching decided cases, in a worker process."""

import itertools
from collections.abc import Container
from pathlib import Path

import msgspec

from actors.evidence.court_cases import CourtCase, FoundCase, FoundCases
from actors.evidence.passages import LOOKED_UP
from actors.text.tokenizer import tokens
from runtime.cases.case_reader import CASES, split_key
from runtime.knowledge.index.index_reader import IndexReader

MOST_SAID = 0.99
"""Of a case that was searched: below one that was named."""
TERMS = 64
"""Of a question, the rarest: what else it says tells no case from another."""
QUESTION_CHARACTERS = 4_000
NAME_CHARACTERS = 4
"""A shorter number may stand in a question by chance."""


def search_cases(storage: str, question: str, limit: int) -> FoundCases:
    """Cases that a question names by their numbers, looked up, and then those that its words fit best."""
    question = question[:QUESTION_CHARACTERS]
    with CASES.open(Path(storage)) as shelf:
        if shelf is None:
            return FoundCases()
        found = dict.fromkeys(_find_named(shelf, question), LOOKED_UP)
        terms = tokens(question)
        matched = shelf.match(shelf.find_telling(terms, TERMS), limit + len(found))
        parts = shelf.load_parts([place for place, _ in matched])
        for place, _ in matched:
            said = {*terms} & {*tokens(f"{parts[place].heading} {parts[place].text}")}
            found.setdefault(parts[place].document, min(MOST_SAID, len(said) / len({*terms})))
        best = list(found.items())[:limit]
        return FoundCases(tuple(FoundCase(_load(shelf, case), score) for case, score in best), shelf.passages)


def _load(shelf: IndexReader, case: int) -> CourtCase:
    return msgspec.msgpack.decode(shelf.find_about(case), type=CourtCase)


def _find_named(shelf: IndexReader, question: str) -> list[int]:
    """The cases whose numbers stand in a question, however brackets and digits are written, in its order."""
    words = split_key(question)
    text, breaks = "".join(words), set(itertools.accumulate(map(len, words)))
    places = [
        (place, -len(key), case)
        for case, key in shelf.recall("numbers", shelf.list_paths)
        if len(key) >= NAME_CHARACTERS and key in text and (place := _find_whole(text, key, breaks)) >= 0
    ]
    found: list[int] = []
    end = 0
    for place, length, case in sorted(places):
        if place >= end:  # the longest of those that begin at one place
            found.append(case)
            end = place - length
    return found


def _find_whole(text: str, key: str, breaks: Container[int]) -> int:
    """Where a number stands in a text and is no part of a longer one; -1: nowhere. A space was at each of `breaks`."""
    place = text.find(key)
    while place >= 0:
        end = place + len(key)
        begins = place in breaks or not _goes_on(text[max(0, place - 1) : place], key[0])
        if begins and (end in breaks or not _goes_on(key[-1], text[end : end + 1])):
            return place
        place = text.find(key, place + 1)
    return -1


def _goes_on(one: str, other: str) -> bool:
    """Whether two characters beside each other belong to one number or Latin word."""
    return bool(one and other) and (one + other).isascii() and (one + other).isalnum()
