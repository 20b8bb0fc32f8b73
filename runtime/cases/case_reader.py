"""
Reads decided cases from a file of JSON Lines: an object a line.

`id` (the court's number) and `summary` are needed; `title`, `court`, `date` (YYYY-MM-DD), `cause`, `key_points` and
`cited_articles` (each a text or a list of texts) may stand beside them. Other keys are left alone.
"""

from collections.abc import Iterator
from pathlib import Path

import msgspec

from actors.evidence.court_cases import CourtCase
from actors.text.unicode_forms import fold_forms
from runtime.knowledge.index.side_index import Entry, SideIndex
from runtime.knowledge.readers.parsed_document import Document, Piece
from runtime.times import is_day

LINE_BYTES = 1 << 20


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


CASES = SideIndex("cases.db", "cases", "--cases", "file", read_cases, keys_are_unique=True)
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
