"""Where sentences begin and end, as offsets into a text, in English, Chinese, Korean and their mixtures."""

import re
from collections.abc import Iterator

LOOK_BACK = 16
"""Characters before a full stop that tell whether it ends an abbreviation."""
SENTENCE_LIMIT = 2000
"""From here on any full stop will do."""

_END = re.compile(
    r"(?<![.!?])[.!?]+[\"')\]”’*_]*(?=\s+[\"'(\[“‘]?[A-Z0-9`*“_\uac00-\ud7a3\u3040-\u9fff])|[。！？]+[”’」』）\"]*"
)
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|Dr|Mr|Mrs|Ms|Inc|Ltd|No|Fig|Sec|approx|al|cf|St|Jr|U\.S)|\b[A-Z]|^\s*\d{1,3})\.$"
)


def sentences(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The sentences of `text[start:end]`, which is one block of prose: line breaks are spaces in it."""
    begin = start
    for match in _END.finditer(text, start, end):
        before = text[max(begin, match.end() - LOOK_BACK) : match.end()].rstrip("\"')]”’*_")
        if match.group()[0] == "." and match.end() - begin < SENTENCE_LIMIT and _ABBREVIATION.search(before):
            continue
        yield from _trimmed(text, begin, match.end())
        begin = match.end()
    yield from _trimmed(text, begin, end)


def _trimmed(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    if end > start:
        yield start, end
