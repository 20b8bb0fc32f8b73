"""A document as every reader hands it on: its text, and the sections with the offsets of their sentences and code."""

import re

import msgspec

from actors.text.sentences import sentences

PASSAGE_CHARACTERS = 900
"""A passage ends at the next paragraph after this many characters,"""
PASSAGE_LIMIT = 1200
"""at the next sentence after this many,"""
UNIT_LIMIT = 1200
"""and no sentence or piece of code is longer than this."""
PASSAGE_LEAST = 150
"""A passage that is shorter than this goes on below the next heading (`bench.truth`: as many right pages with a third
fewer vectors)."""
MARK_CHARACTERS = 40
"""A list item's mark and indentation are no longer than this."""
CODE_LINES = 12
"""Code is cut into units of this many lines."""

_MARK = re.compile(r"(?:^|\n)[ \t]*((?:[-*+•]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?)\Z")
_NUMBERING = re.compile(
    r"^(?:(?:Chapter|Appendix|Part|Section)\s+)?(?:(?:[A-Z]|[IVX]+|\d+)(?:\.\d+)*\.|\d+(?:\.\d+)+)\s+(?=\S)"
)


class Unreadable(Exception):
    """A file cannot become passages. The text says why, for the user."""


class NotInstalled(Unreadable):
    """What reads such files is missing; they are tried again."""


class TextUnit(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A sentence, a table row or a piece of code: `text[start:end]`."""

    start: int
    end: int
    code: bool = False
    opens: bool = False
    """It is the first of its paragraph, list item or row."""


class Section(msgspec.Struct, gc=False):
    """The units under one heading or term."""

    path: tuple[str, ...]
    anchor: str
    units: list[TextUnit]


class Piece(msgspec.Struct, frozen=True, gc=False):
    """A passage before it is stored: `text[start:end]` of the document."""

    path: tuple[str, ...]
    anchor: str
    start: int
    end: int


class Document(msgspec.Struct, gc=False):
    title: str
    text: str
    sections: list[Section] = []
    above: str = ""
    """The title of the chapter that it belongs to, where the document says so."""
    parts: list[Piece] = []
    """Its passages, where they are what it consists of, as the articles of a law; else it is cut by its sections."""
    about: bytes = b""
    """What else its reader knows of it, as the reader wants it back."""


def fold(text: str) -> str:
    """A text on one line, with single spaces."""
    return " ".join(text.split())


def mark_before(text: str, start: int) -> str:
    """The mark of the list item that begins there: what stands between its line's indentation and its words."""
    found = _MARK.search(text[max(0, start - MARK_CHARACTERS) : start])
    return found.group(1) if found else ""


def heading(text: str) -> str:
    """A heading without its number and line breaks."""
    return _NUMBERING.sub("", fold(text))[:200]


class Outline:
    """Keeps the heading path while a reader goes through a document, and collects the sections."""

    def __init__(self) -> None:
        self.sections: list[Section] = []
        self.title = ""
        self._headings: list[tuple[int, str, str]] = []
        self._terms: list[tuple[str, str]] = []
        self._section: Section | None = None
        self._page = ""

    def turn(self, anchor: str) -> None:
        """A page of paper begins: what follows is found there."""
        self._page = anchor
        self._section = None

    def head(self, level: int, text: str, anchor: str = "") -> None:
        """A heading: what follows stands under it."""
        self.title = self.title or text
        self._headings = [each for each in self._headings if each[0] < level] + [(level, text, anchor)]
        self._terms.clear()
        self._section = None

    def term(self, depth: int, text: str, anchor: str = "") -> None:
        """A term at a depth of nested lists: what follows explains it."""
        self._terms[depth:] = [(text[:200], anchor)]
        self._section = None

    def leave(self, depth: int) -> None:
        """The list of terms at this depth is over."""
        if len(self._terms) > depth:
            del self._terms[depth:]
            self._section = None

    @property
    def depth(self) -> int:
        return len(self._terms)

    def add(self, unit: TextUnit) -> None:
        if self._section is None:
            path = [text for _, text, _ in self._headings] + [text for text, _ in self._terms]
            anchors = [anchor for _, _, anchor in self._headings] + [anchor for _, anchor in self._terms]
            anchor = self._page or next((each for each in reversed(anchors) if each), "")
            self._section = Section(tuple(part for part in path if part), anchor, [])
            self.sections.append(self._section)
        self._section.units.append(unit)

    def prose(self, text: str, start: int, end: int, offset: int = 0) -> None:
        """A block of prose, cut into sentences. `offset` is where `text` stands in the document."""
        opens = True
        for a, b in sentences(text, start, end):
            opens = self._cut(a + offset, b + offset, opens=opens)

    def code(self, text: str, start: int, end: int, offset: int = 0) -> None:
        """A block of code, cut into groups of lines."""
        lines, begin, at, opens = 0, start, start, True
        while at < end:
            stop = text.find("\n", at, end)
            at = end if stop < 0 else stop + 1
            lines += 1
            if lines == CODE_LINES or at >= end or at - begin > UNIT_LIMIT:
                opens = self._cut(begin + offset, at - (stop >= 0) + offset, opens=opens, code=True)
                begin, lines = at, 0

    def _cut(self, start: int, end: int, *, opens: bool, code: bool = False) -> bool:
        for x in range(start, end, UNIT_LIMIT):
            self.add(TextUnit(x, min(end, x + UNIT_LIMIT), code, opens))
            opens = False
        return opens


def pieces(document: Document) -> list[Piece]:
    """
    Cut a document into passages at its headings and, where it can be, between paragraphs.

    A section with less than PASSAGE_LEAST characters goes on over the next heading, which then stands in its text.
    """
    found = list(document.parts)
    held: list[TextUnit] = []
    of: Section | None = None
    for section in document.sections:
        if of is not None and held[-1].end - held[0].start >= PASSAGE_LEAST:
            found.append(_piece(document.text, of, held))
            held = []
        for unit in section.units:
            size = unit.end - held[0].start if held else 0
            ends = (size > PASSAGE_CHARACTERS and unit.opens and not unit.code) or size > PASSAGE_LIMIT
            if of is not None and held and ends:
                found.append(_piece(document.text, of, held))
                held = []
            of = of if held and of is not None else section
            held.append(unit)
    if of is not None and held:
        found.append(_piece(document.text, of, held))
    return found


def _piece(text: str, section: Section, group: list[TextUnit]) -> Piece:
    start, end = group[0].start - (len(mark_before(text, group[0].start)) if group[0].opens else 0), group[-1].end
    return Piece(section.path, section.anchor, start, end)
