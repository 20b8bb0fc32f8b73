"""
Decided cases: read from a file of JSON Lines, an object a line, looked up by their numbers and searched by words.

`id` (the court's number) and `summary` are needed; `title`, `court`, `date` (YYYY-MM-DD), `cause`, `key_points` and
`cited_articles` (each a text or a list of texts) may stand beside them. Other keys are left alone.
"""

import itertools
from collections.abc import Container, Iterator
from pathlib import Path

import msgspec

from actors.evidence.court_cases import CourtCase, FoundCase, FoundCases
from actors.evidence.passages import LOOKED_UP
from actors.text.tokenizer import tokens
from actors.text.unicode_forms import fold_forms
from runtime.knowledge import CASES_FILE
from runtime.knowledge.index import Index
from runtime.knowledge.readers.parsed_document import Document, Piece
from runtime.knowledge.side_index import Entry, SideIndex
from runtime.times import is_day

LINE_BYTES = 1 << 20
MOST_SAID = 0.99
"""Of a case that was searched: below one that was named."""
TERMS = 64
"""Of a question, the rarest: what else it says tells no case from another."""
QUESTION_CHARACTERS = 4_000
NAME_CHARACTERS = 4
"""A shorter number may stand in a question by chance."""


def split_key(text: str) -> list[str]:
    """A text as courts' numbers are compared, whatever the width of brackets and digits, parted where spaces are."""
    return fold_forms(text).casefold().split()


def read_cases(file: Path) -> Iterator[Entry]:
    """
    Every case of a file, and what keeps a line from being one; empty lines are none.

    :raises OSError: the file cannot be read.
    """
    line, end, total = 0, 0, file.stat().st_size
    with file.open("rb") as stream:
        while content := stream.readline(LINE_BYTES + 1):
            line, end = line + 1, end + len(content)
            found: CourtCase | str = f"it is longer than {LINE_BYTES >> 20} MB"
            if len(content) > LINE_BYTES:
                while content and not content.endswith(b"\n"):
                    content = stream.readline(LINE_BYTES)
                    end += len(content)
            elif bare := content.removeprefix(b"\xef\xbb\xbf").strip():
                found = _read(bare)
            else:
                continue
            if isinstance(found, str):
                yield Entry(f"line {line}", found, end, total)
            else:
                yield Entry(f"line {line}", _make_document(found), end, total, "".join(split_key(found.id)))


CASES = SideIndex(CASES_FILE, "cases", "--cases", "file", read_cases, keys_are_unique=True)
"""Of cases: the path of each is the key of its number, and what is kept about it is the case."""


def _make_document(case: CourtCase) -> Document:
    text = "\n".join((case.summary, *case.key_points, *case.cited_articles))
    path = tuple(filter(None, (case.title, case.cause, case.court)))
    return Document(case.id, text, parts=[Piece(path, "", 0, len(text))], about=msgspec.msgpack.encode(case))


class _Written(msgspec.Struct, frozen=True):
    """A case as people write it down."""

    id: str
    summary: str
    title: str = ""
    court: str = ""
    date: str = ""
    cause: str = ""
    key_points: str | list[str] = []
    cited_articles: str | list[str] = []


_DECODER = msgspec.json.Decoder(_Written)


def _read(content: bytes) -> CourtCase | str:
    """A case of its line, or why it is none."""
    try:
        found = _DECODER.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        return f"it is no case: {error}"
    for name, text in (("id", found.id), ("summary", found.summary)):
        if not text.strip():
            return f"its {name} is empty"
    date = found.date.strip()
    if date and not is_day(date):
        return "its date is no day: write it as YYYY-MM-DD"
    return CourtCase(
        id=found.id.strip(), summary=found.summary.strip(), title=found.title.strip(), court=found.court.strip(),
        date=date, cause=found.cause.strip(), key_points=_list(found.key_points),
        cited_articles=_list(found.cited_articles),
    )  # fmt: skip


def _list(given: str | list[str]) -> tuple[str, ...]:
    lines = given.splitlines() if isinstance(given, str) else given
    return tuple(filter(None, (line.strip() for line in lines)))


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


def _load(shelf: Index, case: int) -> CourtCase:
    return msgspec.msgpack.decode(shelf.find_about(case), type=CourtCase)


def _find_named(shelf: Index, question: str) -> list[int]:
    """The cases whose numbers stand in a question, however brackets and digits are written, in its order."""
    words = split_key(question)
    text, breaks = "".join(words), set(itertools.accumulate(map(len, words)))
    places = [
        (place, -len(key), case)
        for case, key in shelf.recall("numbers", lambda: [(each.document, each.path) for each in shelf.list_names()])
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
