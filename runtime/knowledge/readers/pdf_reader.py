"""PDF files by pypdf: paragraphs put together from lines, headings from the outline, a page's number as anchor."""

import importlib.util
import io
import logging
from typing import TYPE_CHECKING, Any

from runtime.knowledge.readers.document_layout import BULLET, Layout
from runtime.knowledge.readers.parsed_document import Document, NotInstalled, Unreadable, fold
from runtime.knowledge.readers.pdf_lines import (
    LARGE,
    Block,
    Line,
    blocks,
    clean,
    is_contents,
    join_pages,
    join_words,
    key_of,
    usual_size,
    vocabulary,
    without_running,
)  # fmt: skip

if TYPE_CHECKING:
    from pypdf import PdfReader

INSTALL = "pip install pypdf"
PAGES_LIMIT = 10_000
CHARACTERS_LIMIT = 50_000_000
OUTLINE_LIMIT = 20_000
OUTLINE_DEPTH = 8
TITLE_CHARACTERS = 150
_MONO = ("courier", "mono", "consol", "typewriter", "menlo", "cmtt")
_NONE = Line("", 0.0, mono=False, y=0.0)
_NO_TITLES = ("untitled", "microsoft word", "powerpoint", "document", "(anonymous)", "unnamed")
_NO_TITLE_ENDS = (".doc", ".docx", ".dvi", ".tex", ".odt", ".indd", ".qxd", ".pdf", ".rtf", ".ppt", ".pptx", ".fm")

Heads = dict[int, list[tuple[int, str]]]
"""By page, counted from 0: level and text of the headings that the outline names."""


def read_pdf(data: bytes) -> Document:
    """
    Read a PDF file's text.

    :raises Unreadable: with the reason, and with what helps where something does.
    """
    if importlib.util.find_spec("pypdf") is None:
        raise NotInstalled(f"reading PDF needs pypdf: `{INSTALL}`")
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # it tells of each flaw of a file
    if not data.strip():
        raise Unreadable("empty")
    try:
        return _read(data)
    except Unreadable:
        raise
    except Exception as error:  # hostile files make it raise anything
        raise Unreadable(f"damaged, or no PDF ({type(error).__name__})") from error


def _read(data: bytes) -> Document:
    from pypdf import PdfReader

    reader = PdfReader(io.BytesIO(data), strict=False)
    if reader.is_encrypted and not _opens(reader):
        raise Unreadable("protected by a password: save it without one")
    if len(reader.pages) > PAGES_LIMIT:
        raise Unreadable(f"more than {PAGES_LIMIT:,} pages: split it")
    pages, size = list[list[Line]](), 0
    for page in reader.pages:
        pages.append(_lines(page))
        size += sum(len(line.text) for line in pages[-1])
        if size > CHARACTERS_LIMIT:
            raise Unreadable(f"more than {CHARACTERS_LIMIT:,} characters")
    if not size:
        raise Unreadable("its pages are pictures without text: recognise the text first (OCR)")
    pages = without_running(pages)
    return _lay_out(pages, _outline(reader) or _large_lines(pages), _title(reader) or _largest(pages))


def _opens(reader: "PdfReader") -> bool:
    """Many files are only protected from being changed: they open with an empty password."""
    try:
        return bool(reader.decrypt(""))
    except Exception:
        return False


def _lines(page: Any) -> list[Line]:
    """A page's lines in order. A page that cannot be read has none."""
    lines, longest = [_NONE], 0

    def take(text: str, current: list[float], matrix: list[float], font: Any, size: float) -> None:
        nonlocal longest
        for number, part in enumerate(text.split("\n")):
            if number:
                lines.append(_NONE)
                longest = 0
            line = lines[-1]._replace(text=lines[-1].text + clean(part))
            if (words := len(part.strip())) > longest:  # what most of a line is written in
                name = str((font or {}).get("/BaseFont", "")).casefold()
                letters = size * abs(matrix[3] or matrix[1] or 1.0) * abs(current[3] or current[1] or 1.0)
                height = line.y if longest else matrix[4] * current[1] + matrix[5] * current[3] + current[5]
                line = Line(line.text, round(letters, 1), any(each in name for each in _MONO), height)
                longest = words
            lines[-1] = line

    try:
        page.extract_text(visitor_text=take)
    except Exception:
        return []
    return [line for line in lines if line.text.strip() and not is_contents(line)]


def _outline(reader: "PdfReader") -> Heads:
    """The headings that the file lists itself."""
    heads: Heads = {}
    left = OUTLINE_LIMIT

    def take(entries: Any, level: int) -> None:
        nonlocal left
        for entry in entries:
            left -= 1
            if left < 0:
                return
            if isinstance(entry, list):
                if level < OUTLINE_DEPTH:
                    take(entry, level + 1)
                continue
            page = reader.get_destination_page_number(entry)
            if page is not None and page >= 0 and (text := fold(str(entry.title or ""))):
                heads.setdefault(page, []).append((level, text[:200]))

    try:
        take(reader.outline, 1)
    except Exception:
        return {}
    return heads


def _large_lines(pages: list[list[Line]]) -> Heads:
    """Without an outline: short lines in letters clearly larger than those of most of the text."""
    usual = usual_size(pages)
    sizes = sorted({line.size for page in pages for line in page if line.size >= LARGE * usual}, reverse=True)
    levels = {size: min(level, 6) for level, size in enumerate(sizes, 1)}
    heads: Heads = {}
    for number, page in enumerate(pages):
        found = [(levels[line.size], fold(line.text)) for line in page if line.size in levels]
        heads[number] = [(level, text) for level, text in found if 2 < len(text) <= TITLE_CHARACTERS]
    return heads


def _largest(pages: list[list[Line]]) -> str:
    """What the first page shows in the largest letters, if they are larger than the text's."""
    first = next((page for page in pages if page), [])
    size = max((line.size for line in first), default=0.0)
    lines = [line.text for line in first if line.size == size]
    title = fold(" ".join(lines))
    return title if size >= LARGE * usual_size(pages) and len(lines) <= 3 and len(title) <= TITLE_CHARACTERS else ""


def _title(reader: "PdfReader") -> str:
    try:
        said = reader.metadata
        title = fold(str(said.get("/Title") or "")) if said else ""
    except Exception:
        return ""
    low = title.casefold()
    bad = low.startswith(_NO_TITLES) or low.endswith(_NO_TITLE_ENDS) or len(title) < 3 or "\ufffd" in title
    return "" if bad else title[:TITLE_CHARACTERS]


def _lay_out(pages: list[list[Line]], heads: Heads, title: str) -> Document:
    layout, known = Layout(), vocabulary(pages)
    found = list[list[Block]]()
    for number, page in enumerate(pages):
        todo = {key_of(text): (level, text) for level, text in heads.get(number, ())}
        of_page = list(blocks(page, todo))
        missed = [Block(text, level) for level, text in todo.values()]  # the outline says it otherwise than the page
        found.append(missed + of_page)
    join_pages(found)
    for number, of_page in enumerate(found, 1):
        layout.outline.turn(f"page={number}")
        for block in of_page:
            if block.level:
                layout.head(block.level, block.text)
            elif block.code:
                layout.code(block.text)
            else:
                layout.prose(join_words(block.text, known), BULLET if block.item else "")
    return layout.document(title)
