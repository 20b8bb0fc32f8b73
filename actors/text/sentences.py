"""Where sentences begin and end, in English, German, Chinese, Korean and their mixtures."""

import re
from collections.abc import Iterator

LOOK_BACK = 16
"""How many characters before a full stop show whether it ends an abbreviation."""
SENTENCE_LIMIT = 2000
"""From here on any full stop will do."""

_END = re.compile(
    r"(?<![.!?])[.!?]+[\"')\]”’*_]*"
    r"(?=\s+[\"'(\[“‘]?[A-Z0-9`*“_\u00c0-\u00de\u0400-\u042f\uac00-\ud7a3\u3040-\u9fff])|[。！？]+[”’」』）\"]*"
)
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|Dr|Mr|Mrs|Ms|Inc|Ltd|No|Fig|Sec|approx|al|cf|St|Jr|U\.S)|\b[A-Z]|^\s*\d{1,3})\.$"
)
_DAY = re.compile(r"\b\d{1,2}\.$")
_MONTH = re.compile(
    r"\s+(?:Jan(?:uar)?|Jän(?:ner)?|Feb(?:ruar)?|März|Apr(?:il)?|Mai|Juni?|Juli?|Aug(?:ust)?|Sept?(?:ember)?|Okt(?:ober)?"
    r"|Nov(?:ember)?|Dez(?:ember)?|Jahrhundert\w*)\b"
)
"""Before one of these a German "31." is a day."""
_MAY_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n\s*\n")
_MAY_END_LINES = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")
_REQUEST_END = re.compile(r"(?<=[?？;；。！])\s*|(?<=[.!])(?<![Vv]s\.)\s+(?=[A-Z\"'(])|\n+")


def sentences(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The sentences of `text[start:end]`, which is one block of prose: line breaks are spaces in it."""
    begin = start
    for match in _END.finditer(text, start, end):
        before = text[max(begin, match.end() - LOOK_BACK) : match.end()].rstrip("\"')]”’*_")
        dot = match.group()[0] == "." and match.end() - begin < SENTENCE_LIMIT
        if dot and (_ABBREVIATION.search(before) or (_DAY.search(before) and _MONTH.match(text, match.end()))):
            continue
        yield from _trim(text, begin, match.end())
        begin = match.end()
    yield from _trim(text, begin, end)


def split_sentences(text: str, *, lines: bool = False) -> list[str]:
    """
    A text at each mark that may end a sentence: for comparing, where an abbreviation taken for an end does no harm.

    :param lines: a line's end is a sentence's end, not only an empty line.
    """
    return [part.strip() for part in (_MAY_END_LINES if lines else _MAY_END).split(text) if part.strip()]


def split_requests(text: str) -> list[str]:
    """What somebody writes, request by request: each question mark, semicolon and line ends one."""
    return [part.strip() for part in _REQUEST_END.split(text) if part.strip()]


def _trim(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    if end > start:
        yield start, end
