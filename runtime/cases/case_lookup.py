"""Looking up and searching decided cases, in a worker process."""

import itertools
import math
import sqlite3
from collections.abc import Container, Mapping
from pathlib import Path

import msgspec

from actors.evidence.court_cases import CourtCase, FoundCase, FoundCases
from actors.evidence.passages import LOOKED_UP
from actors.text.tokenizer import tokens
from runtime.cases.case_file import make_key, make_key_words, open_for_reading

MOST_SAID = 0.99
"""Of a case that was searched: below one that was named."""
TERMS = 64
"""Of a question, the rarest: what else it says tells no case from another."""
QUESTION_CHARACTERS = 4_000
NAME_CHARACTERS = 4
"""A shorter number may stand in a question by chance."""
_WEIGHED = "SELECT rowid FROM terms WHERE terms MATCH ? ORDER BY bm25(terms, 2.0, 1.0), rowid LIMIT ?"


def find_case(storage: str, number: str) -> CourtCase | None:
    """The case of a court's number, however its brackets and digits are written."""
    with open_for_reading(Path(storage)) as db:
        if db is None:
            return None
        row = db.execute("SELECT content FROM cases WHERE key = ?", (make_key(number),)).fetchone()
        return None if row is None else _decode(row[0])


def search_cases(storage: str, question: str, limit: int) -> FoundCases:
    """Cases that a question names by their numbers, looked up, and then those that say most of its words."""
    question = question[:QUESTION_CHARACTERS]
    with open_for_reading(Path(storage)) as db:
        total = int(db.execute("SELECT count(*) FROM cases").fetchone()[0]) if db else 0
        if db is None or not total:
            return FoundCases()
        named = _find_named(db, question)[:limit]
        found = [FoundCase(_read(db, number), LOOKED_UP) for number in named]
        weights = _weigh(db, question, total)
        if weights and len(found) < limit:
            asked = " OR ".join('"' + term.replace('"', '""') + '"' for term in weights)
            rows = db.execute(_WEIGHED, (asked, limit + len(named))).fetchall()
            others = [number for (number,) in rows if number not in named]
            found += [FoundCase(_read(db, number), _cover(db, number, weights)) for number in others]
        return FoundCases(tuple(found[:limit]), total)


def _find_named(db: sqlite3.Connection, question: str) -> list[int]:
    """The cases whose numbers stand in a question, in its order."""
    words = make_key_words(question)
    text, breaks = "".join(words), set(itertools.accumulate(map(len, words)))
    rows = db.execute(
        "SELECT id, key FROM cases WHERE length(key) >= ? AND instr(?, key) > 0", (NAME_CHARACTERS, text)
    ).fetchall()
    places = [(place, -len(key), number) for number, key in rows if (place := _find_whole(text, key, breaks)) >= 0]
    found: list[int] = []
    end = 0
    for place, length, number in sorted(places):
        if place >= end:  # the longest of those that begin at one place
            found.append(number)
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


def _weigh(db: sqlite3.Connection, question: str, total: int) -> dict[str, float]:
    """The terms of a question that are in the cases, with how rare each is there, in nats; the rarest first."""
    weights: dict[str, float] = {}
    for term in dict.fromkeys(tokens(question)):
        row = db.execute("SELECT doc FROM vocabulary WHERE term = ?", (term,)).fetchone()
        weights[term] = math.log1p((total - row[0] + 0.5) / (row[0] + 0.5)) if row else math.log1p(2 * total + 1)
    rarest = sorted(weights, key=lambda term: -weights[term])[:TERMS]
    return {term: weights[term] for term in rarest}


def _cover(db: sqlite3.Connection, number: int, weights: Mapping[str, float]) -> float:
    """How much of a question a case says, by the weight of its words, 0 to below 1."""
    heading, body = db.execute("SELECT heading, body FROM terms WHERE rowid = ?", (number,)).fetchone()
    its = {*heading.split(), *body.split()}
    return min(MOST_SAID, sum(weight for term, weight in weights.items() if term in its) / sum(weights.values()))


def _read(db: sqlite3.Connection, number: int) -> CourtCase:
    return _decode(db.execute("SELECT content FROM cases WHERE id = ?", (number,)).fetchone()[0])


def _decode(content: bytes) -> CourtCase:
    return msgspec.msgpack.decode(content, type=CourtCase)
