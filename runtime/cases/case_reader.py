"""
Reads decided cases from a file of JSON Lines: an object a line.

`id` (the court's number) and `summary` are needed; `title`, `court`, `date` (YYYY-MM-DD), `cause`, `key_points` and
`cited_articles` (each a text or a list of texts) may stand beside them. Other keys are left alone.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec

from actors.evidence.court_cases import CourtCase
from runtime.times import is_day

LINE_BYTES = 1 << 20


class InvalidCase(NamedTuple):
    """A line that holds no case."""

    line: int
    """From 1."""
    reason: str


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


def read_cases(file: Path) -> Iterator[tuple[CourtCase | InvalidCase, int]]:
    """
    Every case of a file, and what keeps a line from being one, each with the byte behind it; empty lines are none.

    :raises OSError: the file cannot be read.
    """
    with file.open("rb") as stream:
        line, end = 0, 0
        while content := stream.readline(LINE_BYTES + 1):
            line, end = line + 1, end + len(content)
            if len(content) > LINE_BYTES:
                while content and not content.endswith(b"\n"):
                    content = stream.readline(LINE_BYTES)
                    end += len(content)
                yield InvalidCase(line, f"it is longer than {LINE_BYTES >> 20} MB"), end
            elif bare := content.removeprefix(b"\xef\xbb\xbf").strip():
                yield _read(bare, line), end


def _read(content: bytes, line: int) -> CourtCase | InvalidCase:
    try:
        found = _DECODER.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        return InvalidCase(line, f"it is no case: {error}")
    for name, text in (("id", found.id), ("summary", found.summary)):
        if not text.strip():
            return InvalidCase(line, f"its {name} is empty")
    date = found.date.strip()
    if date and not is_day(date):
        return InvalidCase(line, "its date is no day: write it as YYYY-MM-DD")
    return CourtCase(
        id=found.id.strip(), summary=found.summary.strip(), title=found.title.strip(), court=found.court.strip(),
        date=date, cause=found.cause.strip(), key_points=_list(found.key_points),
        cited_articles=_list(found.cited_articles),
    )  # fmt: skip


def _list(given: str | list[str]) -> tuple[str, ...]:
    lines = given.splitlines() if isinstance(given, str) else given
    return tuple(filter(None, (line.strip() for line in lines)))
