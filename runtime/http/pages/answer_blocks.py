"""An answer as blocks for its page: statements with their sources, places, lists, tables and code. Pure."""

import re
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from actors.evidence.claims import Citation, Resolution
from actors.evidence.places import name_place
from actors.text.normalize import unescape_markdown
from actors.text.source_text import Span, spans

Kind = Literal["statement", "heading", "item", "code", "table", "place", "rule", "given"]

_MARKS = re.compile(r"\s?((?:\[\d{1,3}\])+)")
_NUMBER = re.compile(r"\[(\d{1,3})\]")
_HEADING = re.compile(r"#{1,6}\s+(?=\S)")
_ITEM = re.compile(r"\s*(?:[-*•]|(?P<number>\d{1,3}[.)、]))\s+(?=\S)")
_TABLE_RULE = "| ---"
RULE = "---"
"""Above what is said of an answer as a whole, such as that no lawyer gave it."""


class Mark(NamedTuple):
    """A number in the text that leads to a source."""

    number: int


Part = Span | Mark


class Block(NamedTuple):
    """One block of an answer, with what stands beside it."""

    kind: Kind
    parts: tuple[Part, ...] = ()
    citations: tuple[Citation, ...] = ()
    """What its statements rest on, each where it is named first."""
    rows: tuple[tuple[tuple[Part, ...], ...], ...] = ()
    """Of a table: the first has the headings."""
    mark: str = ""
    """The number of a list's item."""


class Group(NamedTuple):
    """Blocks that stand beside the same sources."""

    blocks: tuple[Block, ...]
    citations: tuple[Citation, ...]
    is_quoted: bool
    """The blocks are the words of the source, so that they need not be shown again."""


def read_groups(resolution: Resolution, *, is_document: bool = False) -> tuple[Group, ...]:
    """
    The blocks of an answer in their order, each group with the sources that it rests on.

    An answer that cites nothing was given by a person, whose words are left as they are.

    :param is_document: it is one of ours, which cites nothing either.
    """
    if not resolution.citations and not is_document:
        return (Group((Block("given", (Span(resolution.text),)),), (), is_quoted=False),)
    groups: list[list[Block]] = []
    for block in _Reader(resolution.citations).read(unescape_markdown(resolution.text)):
        follows = any(each.citations for each in groups[-1]) if groups else True
        if block.kind == "place" or (follows and (block.citations or block.kind == "heading")) or not groups:
            groups.append([])
        groups[-1].append(block)
    return tuple(map(_make_group, groups))


def _make_group(blocks: Sequence[Block]) -> Group:
    cited = tuple(citation for each in blocks for citation in each.citations)
    return Group(tuple(blocks), cited, any(each.kind == "place" for each in blocks))


class _Reader:
    def __init__(self, citations: Sequence[Citation]) -> None:
        self._known = {each.number: each for each in citations}
        self._places = {unescape_markdown(name_place(each)): each for each in citations}
        self._named: set[int] = set()

    def read(self, text: str) -> Iterator[Block]:
        lines = text.split("\n")
        at = 0
        while at < len(lines):
            line = lines[at]
            taken = 1
            if line.startswith("    ") and line.strip():
                taken = _count(lines[at:], "    ")
                yield Block("code", (Span("\n".join(each[4:] for each in lines[at : at + taken])),))
            elif line.startswith("| ") and at + 1 < len(lines) and lines[at + 1].startswith(_TABLE_RULE):
                taken = _count(lines[at:], "|")
                yield self._read_table(lines[at : at + taken])
            elif line.strip():
                yield self._read_line(line)
            at += taken

    def _read_line(self, line: str) -> Block:
        place = self._places.get(line)
        if place is not None:
            self._named.add(place.number)
            name = line.partition("] ")[2]
            return Block("place", (Span(name),), (place,))
        if line == RULE:
            return Block("rule")
        item = _ITEM.match(line)
        bare = line[item.end() :] if item else line.strip()
        heading = _HEADING.match(bare)
        bare = bare[heading.end() :] if heading else bare
        parts, cited = self._read_parts(bare)
        ends = bare.endswith((":", "：")) and not cited
        kind: Kind = "item" if item else "heading" if heading or ends else "statement"
        return Block(kind, parts, cited, mark=(item["number"] or "") if item else "")

    def _read_table(self, lines: Sequence[str]) -> Block:
        rows, cited = [], list[Citation]()
        for line in lines:
            if line.startswith(_TABLE_RULE):
                continue
            cells = [self._read_parts(each.strip()) for each in line.strip().strip("|").split(" | ")]
            rows.append(tuple(parts for parts, _ in cells))
            cited += [each for _, its in cells for each in its]
        return Block("table", citations=tuple(cited), rows=tuple(rows))

    def _read_parts(self, text: str) -> tuple[tuple[Part, ...], tuple[Citation, ...]]:
        parts, cited, end = list[Part](), list[Citation](), 0
        for found in _MARKS.finditer(text):
            numbers = [int(each) for each in _NUMBER.findall(found[1])]
            if not all(number in self._known for number in numbers):
                continue
            parts += spans(text[end : found.start()])
            parts += map(Mark, numbers)
            cited += [self._known[number] for number in numbers if number not in self._named]
            self._named.update(numbers)
            end = found.end()
        parts += spans(text[end:])
        return tuple(parts), tuple(cited)


def _count(lines: Sequence[str], start: str) -> int:
    """How many of these lines begin so."""
    return next((number for number, line in enumerate(lines) if not line.startswith(start)), len(lines))
