"""Word files (DOCX): a package of XML, read within bounds for headings, lists, tables and code."""

import io
import re
import zipfile
import zlib
from collections.abc import Iterator

from lxml import etree

from runtime.knowledge.readers.document_layout import BULLET, Layout
from runtime.knowledge.readers.parsed_document import Document, Unreadable, fold

PART_MEGABYTES = 64
"""No part of the package is unpacked further: a document of 10,000 pages takes less."""
PARTS_LIMIT = 20_000
ELEMENTS_LIMIT = 4_000_000
DEPTH_LIMIT = 12
"""Tables nested deeper are passed over."""
OLD_FORMAT = b"\xd0\xcf\x11\xe0"

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_TITLE = "{http://purl.org/dc/elements/1.1/}title"
_HEADING = re.compile(r"heading ?([1-9])$", re.IGNORECASE)
_CONTENTS = re.compile(r"toc ?\d|toc ?heading|table of figures", re.IGNORECASE)
_CODE = re.compile(r"\b(?:source ?code|code|preformatted|listing|plain ?text|macro ?text)\b", re.IGNORECASE)
_LIST = re.compile(r"list (?:bullet|number|paragraph)", re.IGNORECASE)
_FRAMES = frozenset((f"{_W}sdt", f"{_W}sdtContent", f"{_W}customXml", f"{_W}ins", f"{_W}smartTag"))
_SKIP = frozenset((f"{_W}del", f"{_W}moveFrom", f"{_W}instrText", f"{_W}delText", f"{_W}rPr", f"{_W}pPr", _FALLBACK))


def read_word(data: bytes) -> Document:
    """
    Read a DOCX file's body; headers, footers, comments and what was deleted are not part of it.

    :raises Unreadable: with the reason.
    """
    if data.startswith(OLD_FORMAT):
        raise Unreadable("protected by a password, or of Word before 2007: save it as .docx without one")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as package:
            if len(package.infolist()) > PARTS_LIMIT:
                raise Unreadable(f"more than {PARTS_LIMIT:,} parts")
            body = _part(package, "word/document.xml")
            if body is None:
                raise Unreadable("no Word document in it")
            styles, about = _part(package, "word/styles.xml"), _part(package, "docProps/core.xml")
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, NotImplementedError, RuntimeError) as error:
        raise Unreadable("damaged, or no Word document") from error
    reader = _Reader(_style_names(styles) if styles is not None else {})
    found = body.find(f"{_W}body")
    reader.blocks(body if found is None else found, 0)
    reader.flush()
    named = fold(about.findtext(f".//{_TITLE}") or "") if about is not None else ""
    return reader.layout.document(reader.title or reader.layout.outline.title or named)


def _part(package: zipfile.ZipFile, name: str) -> etree._Element | None:
    """The tree of a part; None when there is no such part."""
    try:
        with package.open(name) as file:
            content = file.read(PART_MEGABYTES * 1_000_000 + 1)
    except KeyError:
        return None
    if len(content) > PART_MEGABYTES * 1_000_000:
        raise Unreadable(f"more than {PART_MEGABYTES} MB of text when unpacked")
    if content.count(b"<") > ELEMENTS_LIMIT:
        raise Unreadable(f"more than {ELEMENTS_LIMIT:,} tags")
    if b"<!DOCTYPE" in content[:4096] or b"<!ENTITY" in content[:4096]:
        raise Unreadable("it declares entities, which no Word document does")
    try:
        return etree.fromstring(content, etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False))
    except etree.XMLSyntaxError as error:
        raise Unreadable("damaged: its XML cannot be read") from error


def _style_names(styles: etree._Element) -> dict[str, list[str]]:
    """The names of each style and of those that it is based on."""
    own, above = dict[str, str](), dict[str, str]()
    for style in styles.iter(f"{_W}style"):
        key = style.get(f"{_W}styleId") or ""
        name, base = style.find(f"{_W}name"), style.find(f"{_W}basedOn")
        level = style.find(f"{_W}pPr/{_W}outlineLvl")
        said = name.get(f"{_W}val") or "" if name is not None else key
        if level is not None and (level.get(f"{_W}val") or "").isdecimal():
            said = f"heading {int(level.get(f'{_W}val') or 0) + 1}"
        own[key], above[key] = said, base.get(f"{_W}val") or "" if base is not None else ""
    names: dict[str, list[str]] = {}
    for key in own:
        chain, at = list[str](), key
        while at in own and len(chain) < 10:
            chain.append(own[at])
            at = above[at]
        names[key] = chain
    return names


class _Reader:
    """Goes through the body's paragraphs and tables in order."""

    def __init__(self, styles: dict[str, list[str]]) -> None:
        self.layout = Layout()
        self.title = ""
        self._styles = styles
        self._code: list[str] = []

    def blocks(self, parent: etree._Element, depth: int) -> None:
        for child in parent:
            if child.tag == f"{_W}p":
                self._paragraph(child)
            elif child.tag == f"{_W}tbl" and depth < DEPTH_LIMIT:
                self.flush()
                self._table(child, depth)
            elif child.tag in _FRAMES and depth < DEPTH_LIMIT:
                self.blocks(child, depth + 1)

    def flush(self) -> None:
        """End the code that was gathered line by line."""
        if self._code:
            self.layout.code("\n".join(self._code))
            self._code.clear()

    def _paragraph(self, paragraph: etree._Element) -> None:
        text = "".join(_texts(paragraph))
        names = self._names(paragraph)
        if any(_CONTENTS.match(name) for name in names):
            return
        if any(_CODE.search(name) for name in names):
            self._code.append(text)
            return
        self.flush()
        level = self._level(paragraph, names)
        if level:
            self.layout.head(level, text)
        elif names[:1] and names[0].casefold() == "title" and text.strip():
            self.title = self.title or fold(text)
            self.layout.head(1, text)
        else:
            listed = paragraph.find(f"{_W}pPr/{_W}numPr") is not None or any(_LIST.match(name) for name in names)
            self.layout.prose(text, BULLET if listed else "")

    def _names(self, paragraph: etree._Element) -> list[str]:
        style = paragraph.find(f"{_W}pPr/{_W}pStyle")
        key = style.get(f"{_W}val") or "" if style is not None else ""
        return self._styles.get(key, [key] if key else [])

    def _level(self, paragraph: etree._Element, names: list[str]) -> int:
        """1 to 9 for a heading, one below the title where there is one; else 0."""
        outline = paragraph.find(f"{_W}pPr/{_W}outlineLvl")
        said = (outline.get(f"{_W}val") or "") if outline is not None else ""
        level = int(said) + 1 if said.isdecimal() and int(said) < 9 else 0
        level = level or next((int(m.group(1)) for name in names if (m := _HEADING.match(name))), 0)
        return min(9, level + bool(self.title)) if level else 0

    def _table(self, table: etree._Element, depth: int) -> None:
        for row in table.iter(f"{_W}tr"):
            if next(row.iterancestors(f"{_W}tbl"), None) is not table:
                continue
            cells = [cell for cell in row.iter(f"{_W}tc") if next(cell.iterancestors(f"{_W}tr"), None) is row]
            if len(cells) == 1:  # a frame round something
                self.blocks(cells[0], depth + 1)
                self.flush()
            else:
                self.layout.row([" ".join("".join(_texts(p)) for p in cell.iter(f"{_W}p")) for cell in cells])


def _texts(element: etree._Element) -> Iterator[str]:
    """The words of a paragraph as it stands now: without what was deleted or is hidden."""
    todo = [element]
    while todo:
        each = todo.pop()
        if each.tag in _SKIP or not isinstance(each.tag, str):
            continue
        if each.tag == f"{_W}t":
            yield each.text or ""
        elif each.tag in (f"{_W}tab", f"{_W}ptab"):
            yield "\t"
        elif each.tag in (f"{_W}br", f"{_W}cr"):
            yield "\n"
        elif each.tag == f"{_W}noBreakHyphen":
            yield "-"
        elif each.tag == f"{_W}r" and _hidden(each):
            continue
        else:
            todo.extend(reversed(each))


def _hidden(run: etree._Element) -> bool:
    mark = run.find(f"{_W}rPr/{_W}vanish")
    return mark is not None and mark.get(f"{_W}val") not in ("0", "false", "off")
