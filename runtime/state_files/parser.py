"""Reads Markdown as the state file has it: sections, list items and blocks, each with its line."""

import re
from collections.abc import Iterator, Sequence

import msgspec

from runtime.state_files.markdown_escape import outline, unfence

DEEPEST = 12
"""Items within items; the records of a research need half of that."""

_ITEM = re.compile(r"( *)-(?: \*\*([^*]+):\*\*)?(?: (.*))?")
_FENCE = re.compile(r"( *)(`{3,})text")
Numbered = tuple[int, str]
"""A line and its number in the file, from 1."""


class Unreadable(Exception):
    """A state file is not as Terminus writes it. The text begins with the line and says what is wrong there."""

    def __init__(self, line: int, what: str) -> None:
        super().__init__(f"line {line}: {what}")


class Part(msgspec.Struct, frozen=True):
    """What stands below one heading."""

    title: str
    line: int
    lines: tuple[Numbered, ...]


class Item(msgspec.Struct):
    """An item of a list: its label, its text as it is written, what is indented below it."""

    line: int
    label: str
    markdown: str
    block: str | None = None
    """The text that stands in a block of its own."""
    items: list["Item"] = []

    @property
    def text(self) -> str:
        return "\n".join(map(outline, self.markdown.split("\n"))) if self.block is None else self.block


def parts(lines: Sequence[Numbered], mark: str) -> tuple[tuple[Numbered, ...], list[Part]]:
    """What stands before the first heading of this mark, such as "## ", and what stands below each."""
    before: list[Numbered] = []
    found: list[tuple[str, int, list[Numbered]]] = []
    fence = ""
    for number, line in lines:
        if fence:
            fence = "" if line == fence else fence
        elif opening := _FENCE.fullmatch(line):
            fence = opening[1] + opening[2]
        elif line.startswith(mark) or line == mark.rstrip():
            found.append((outline(line[len(mark) :]), number, []))
            continue
        (found[-1][2] if found else before).append((number, line))
    return tuple(before), [Part(title, number, tuple(its)) for title, number, its in found]


def items(lines: Sequence[Numbered]) -> tuple[list[Item], str | None]:
    """
    The items of a list, and the text of the block that stands beside it, if there is one.

    :raises Unreadable: something else stands there.
    """
    top = Item(0, "", "")
    above = [top]
    rest = iter(lines)
    for number, line in rest:
        if not line.strip(" "):
            continue
        if opening := _FENCE.fullmatch(line):
            owner = above[min(len(opening[1]) // 2, len(above) - 1)]
            owner.block = _block(rest, number, opening[1], opening[2])
            continue
        found = _ITEM.fullmatch(line)
        if found is None and len(above) > 1 and _continues(line, above[-1], len(above) - 1):
            above[-1].markdown += "\n" + line.strip(" ")
            continue
        if found is None:
            raise Unreadable(number, "this is neither an item of a list nor a block. Remove it, or indent it as text.")
        depth = len(found[1]) // 2
        if depth >= min(len(above), DEEPEST):
            raise Unreadable(number, "this item is indented too far. Indent it by two spaces more than the one above.")
        item = Item(number, found[2] or "", (found[3] or "").rstrip(" "))
        above[depth].items.append(item)
        above[depth + 1 :] = [item]
    return top.items, top.block


def _continues(line: str, item: Item, depth: int) -> bool:
    """Whether a line goes on with the paragraph that an item begins."""
    goes_on = bool(item.markdown) and not item.items and item.block is None
    return goes_on and line.startswith("  " * depth) and not line.startswith("  " * depth + " ")


def _block(rest: Iterator[Numbered], opened: int, indent: str, fence: str) -> str:
    found: list[str] = []
    for _, line in rest:
        if line == indent + fence:
            return unfence("\n".join(found))
        found.append(line.removeprefix(indent))
    raise Unreadable(opened, f"the block that begins here has no end. Put {fence} below it.")
