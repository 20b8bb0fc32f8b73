"""Markdown or plain text as paragraphs, headings and code, each a slice of it, and their sentences. Pure."""

import re
from collections.abc import Iterator

import msgspec

from actors.text.sentences import sentences

LONGEST = 2_000
"""A paragraph of more characters is cut into several, at a sentence where there is one."""

_HEADING = re.compile(r"(#{1,6})[ \t]+(?=\S)")
_FENCE = re.compile(r"[ \t]*(```|~~~)")
_MARKS = re.compile(r"^[ \t]*(?:[-*+•][ \t]+|\d{1,3}[.)][ \t]+|>[ \t]?)+", re.MULTILINE)
_EMPHASIS = re.compile(r"(\*{1,3}|`|~~)(?=\S)([^*`~\n]{1,500}?)(?<=\S)\1")
_LINK = re.compile(r"!?\[([^\[\]\n]{0,300})\]\([^()\s]{0,2000}\)")
_TAG = re.compile(r"</?[a-z]{1,10}>")
_ESCAPE = re.compile(r"\\([\\`*_{}\[\]()#+.!|<>~-])")


class Segment(msgspec.Struct, frozen=True, gc=False):
    """`text[start:end]` of a document: one paragraph, list, table, heading or piece of code."""

    start: int
    end: int
    text: str
    heading: int = 0
    """Its level; 0: it is none."""
    code: bool = False
    above: tuple[int, ...] = ()
    """The numbers of the headings that it stands under, the outermost first."""

    def of(self, text: str) -> str:
        return text[self.start : self.end]


def segments(text: str, longest: int = LONGEST) -> Iterator[Segment]:
    """All of a text that is not white space, in order."""
    path: list[tuple[int, int]] = []
    number = 0
    for start, end, code in _blocks(text):
        mark = None if code else _HEADING.match(text, start, end)
        level = len(mark.group(1)) if mark else 0
        if level:
            path = [each for each in path if each[0] < level]
        above = tuple(each for _, each in path)
        for a, b in _cut(text, start, end, longest):
            yield Segment(a, b, text[a:b], level, code, above)
            if level:
                path.append((level, number))
                level = 0
            number += 1


def whole_sentences(line: str) -> Iterator[str]:
    """The sentences of one paragraph of prose that end as sentences do."""
    for start, end in sentences(line, 0, len(line)):
        if line[start:end].rstrip("\"')]”’」』）")[-1:] in ".!?。！？":
            yield line[start:end]


def prose(text: str) -> str:
    """A paragraph as one line of plain text: no marks of lists, emphasis or links. A table has none."""
    lines = [line for line in text.split("\n") if not line.lstrip().startswith("|")]
    bare = _LINK.sub(r"\1", _MARKS.sub("", "\n".join(lines)))
    for _ in range(2):
        bare = _EMPHASIS.sub(r"\2", bare)
    return " ".join(_ESCAPE.sub(r"\1", _TAG.sub("", bare)).split())


def _blocks(text: str) -> Iterator[tuple[int, int, bool]]:
    """(start, end, is code) between empty lines; a heading stands alone; a fence lasts to its end."""
    start = at = 0
    fence = ""
    open_ = False
    for line in text.splitlines(keepends=True):
        here, at = at, at + len(line)
        mark = _FENCE.match(line)
        if fence:
            if mark and mark.group(1) == fence:
                yield start, at, True
                fence = ""
            continue
        blank, alone = not line.strip(), bool(_HEADING.match(line))
        if open_ and (blank or alone or mark):
            yield start, here, False
            open_ = False
        if mark:
            start, fence = here, mark.group(1)
        elif alone:
            yield here, at, False
        elif not blank and not open_:
            start, open_ = here, True
    if fence or open_:
        yield start, at, bool(fence)


def _cut(text: str, start: int, end: int, longest: int) -> Iterator[tuple[int, int]]:
    """One block, without the white space around it, in pieces of at most so many characters."""
    while end > start and text[end - 1].isspace():
        end -= 1
    while end - start > longest:
        at = max(text.rfind(mark, start + longest // 2, start + longest) for mark in ("\n", ". ", "。"))
        stop = at + 1 if at > 0 else start + longest
        yield start, stop
        start = stop
        while start < end and text[start].isspace():
            start += 1
    if end > start:
        yield start, end
