"""HTML manuals (DocBook, Sphinx, any other) read by their structure in one pass. The text is laid out like Markdown."""

import re
from typing import cast

from lxml import html as parser
from lxml.etree import LxmlError
from lxml.html import HtmlElement

from actors.text.stop_words import word_set
from runtime.knowledge.readers.parsed_document import Document, Outline, TextUnit, Unreadable, fold, heading

TAGS_LIMIT = 400_000
TAG_CHARACTERS = 16_384
DEPTH_LIMIT = 180
"""Below this depth only the text is taken. libxml2 itself stops at 256."""
LINKS_SHARE = 0.6
"""A page with a larger share of its text in links is a list of links: it leads to answers and holds none."""
ENTRY_CHARACTERS = 150
"""A table row longer than this is an entry of its own, under its first cell."""

_SKIP = word_set(
    """
    script style nav noscript svg form button template iframe object select textarea head footer math canvas
    audio video
    """
)
_SKIP_CLASS = re.compile(
    r"\b(?:nav(?:header|footer|bar|igation)?|toc|toctree-wrapper|sidebar|sphinxsidebar\w*|breadcrumbs?|menu|footer|"
    r"related|headerlink|linenos|titlepage-sep|skip-link|admonition-title)\b|\bcontents\b.*\btopic\b"
)
_ADMONITION = re.compile(r"\b(?:note|tip|caution|warning|important|admonition|seealso)\b")
_BLOCK = word_set(
    """
    p div section article main header aside li ul ol dd dt dl td th table tbody thead tfoot tr caption
    blockquote figure figcaption details summary body center address fieldset hr h1 h2 h3 h4 h5 h6 pre
    """
)
_HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
_FOOTNOTE_MARK = re.compile(r"\s*\[\w{1,3}\]\s*")
_LONG_TAG = re.compile(rf"<[^<>]{{{TAG_CHARACTERS},}}")
_TITLE_SUFFIX = re.compile(r"\s+[—–|·-]\s+[^—–|·]+$")
_MAIN = (
    ("role=", "//*[@role='main']"),
    ("<main", "//main"),
    ("<article", "//article"),
    ("ontent", "//*[@id='content' or @id='docContent']"),
)
_MAIN_SHARE = 0.5


def read_html(text: str) -> Document:
    """
    Read a page by its headings, terms, tables and code.

    :raises Unreadable: with the reason.
    """
    if text.count("<") > TAGS_LIMIT:
        raise Unreadable(f"more than {TAGS_LIMIT:,} tags")
    if _LONG_TAG.search(text):
        raise Unreadable(f"a tag of more than {TAG_CHARACTERS:,} characters")
    text = re.sub(r"^\s*<\?xml[^>]*\?>", "", text).replace("\0", "")
    try:
        root = parser.document_fromstring(text) if text.strip() else None
    except (LxmlError, ValueError, AssertionError):
        root = None
    if root is None:
        raise Unreadable("no HTML in it")
    main = _main(root, text)
    for each in main.iter("br"):
        each.tail = "\n" + (each.tail or "")
    if _link_share(main) > LINKS_SHARE:
        raise Unreadable("nothing but links")
    walker = _Walker()
    walker.walk(main, 0)
    walker.flush()
    name = root.findtext(".//title") or ""
    title = walker.outline.title or heading(_TITLE_SUFFIX.sub("", fold(name)))
    return Document(title, "".join(walker.parts), walker.outline.sections, above=_above(root))


def _main(root: HtmlElement, text: str) -> HtmlElement:
    """The element with the page's own text, where the page says which one it is."""
    body = root.find("body")
    whole = root if body is None else body
    size = len(whole.text_content())
    for sign, path in _MAIN:
        if sign not in text:  # looking through the tree costs more
            continue
        found = cast("list[HtmlElement]", root.xpath(path))
        if len(found) == 1 and len(found[0].text_content()) > _MAIN_SHARE * size:
            return found[0]
    return whole


def _above(root: HtmlElement) -> str:
    """The title of the chapter above: `<link rel="up">`, or DocBook's navigation."""
    links = cast("list[str]", root.xpath("//link[@rel='up']/@title"))
    cells = cast("list[HtmlElement]", root.xpath("//div[@class='navheader']//tr[2]/th"))
    text = cells[0].text_content() if cells else links[0] if links else ""
    return heading(text)


def _link_share(main: HtmlElement) -> float:
    total = len(fold(main.text_content())) or 1
    return sum(len(fold(a.text_content())) for a in main.iter("a") if a.get("href")) / total


class _Walker:
    """One pass over the tree: lays out the text, and tells the outline where everything stands."""

    def __init__(self) -> None:
        self.outline = Outline()
        self.parts: list[str] = []
        self._size = 0
        self._inline: list[str] = []
        self._id = ""
        self._prefix = ""

    def walk(self, e: HtmlElement, depth: int) -> None:
        tag = e.tag
        if not isinstance(tag, str) or tag in _SKIP or _skip(e):
            return
        if tag == "sup" and _FOOTNOTE_MARK.fullmatch(e.text_content()):
            return
        if depth > DEPTH_LIMIT:
            self._inline.append(" " + e.text_content() + " ")
            return
        name = e.get("id") or (e.get("name") if tag == "a" else None)
        if name and e.get("class") != "indexterm":
            self._id = name
        if tag in _HEADINGS:
            self._heading(e)
        elif tag == "pre":
            self._code(e)
        elif tag == "dl":
            self._terms(e, depth)
        elif tag == "tr":
            self._row(e, depth)
        elif tag in _BLOCK:
            self._block(e, depth)
        else:
            self._children(e, depth)

    def flush(self) -> None:
        """End the paragraph that was gathered from inline elements."""
        text = fold("".join(self._inline))
        self._inline.clear()
        if text:
            self.outline.prose(text, 0, len(text), self._write(self._prefix, text))
        self._prefix = ""

    def _write(self, prefix: str, text: str) -> int:
        """Put a block into the document's text; returns where it begins behind its prefix."""
        self.parts += (prefix, text, "\n\n")
        start = self._size + len(prefix)
        self._size = start + len(text) + 2
        return start

    def _children(self, e: HtmlElement, depth: int) -> None:
        self._inline.append(e.text or "")
        for child in e:
            self.walk(child, depth + 1)
            self._inline.append(child.tail or "")

    def _block(self, e: HtmlElement, depth: int) -> None:
        self.flush()
        if e.tag == "li":
            self._prefix = "- "
        self._children(e, depth)
        self.flush()

    def _heading(self, e: HtmlElement) -> None:
        self.flush()
        parent = e.getparent()
        if parent is not None and _ADMONITION.search(parent.get("class") or ""):
            return
        anchor = _anchor(e) or self._id
        text = heading(_visible(e))
        if text:
            self._write("#" * int(e.tag[1]) + " ", text)
            self.outline.head(int(e.tag[1]), text, anchor)

    def _code(self, e: HtmlElement) -> None:
        self.flush()
        lines = e.text_content().strip("\n").rstrip().split("\n")
        text = "\n".join("    " + line.rstrip() for line in lines)
        if text.strip():
            self.outline.code(text, 0, len(text), self._write("", text))

    def _terms(self, e: HtmlElement, depth: int) -> None:
        self.flush()
        level, names = self.outline.depth, list[str]()
        for child in e:
            if child.tag == "dt":
                names.append(fold(_visible(child)))
                self._write("", names[-1])
                self.outline.term(level, ", ".join(n for n in names if n), _anchor(child))
            elif isinstance(child.tag, str):
                self.walk(child, depth + 1)
                names.clear()
        self.flush()
        self.outline.leave(level)

    def _row(self, e: HtmlElement, depth: int) -> None:
        self.flush()
        cells = [child for child in e if child.tag in ("td", "th") and not _skip(child)]
        if not any(child.tag == "td" for child in cells):
            return
        if next(e.iter("table", "dl", "pre"), None) is not None:  # a table for the layout
            self._block(e, depth)
            return
        texts = [text for text in (fold(_space(cell)) for cell in cells) if text]
        row = " — ".join(texts)
        blocks = len(cells) == 1 and any(child.tag in _BLOCK for child in cells[0])
        if len(row) < ENTRY_CHARACTERS and not blocks:
            if row:
                self.outline.add(TextUnit(start := self._write("", row), start + len(row), opens=True))
            return
        level, code = self.outline.depth, next(e.iter("code"), None)
        name = (
            texts[0] if len(texts) > 1 and len(texts[0]) < 60 else fold(code.text_content()) if code is not None else ""
        )
        if name:
            self.outline.term(level, name, _anchor(e))
        if len(texts) == 1:
            self._block(cells[0], depth)
        else:
            self.outline.prose(row, 0, len(row), self._write("", row))
        self.outline.leave(level)


def _anchor(e: HtmlElement) -> str:
    """An id of the element or in it."""
    for inner in e.iter("a", "span", "code", "h1", "h2", "h3", "h4", "h5", "h6", "dt", "tr", "td"):
        name = inner.get("id") or (inner.get("name") if inner.tag == "a" else None)
        if name and inner.get("class") != "indexterm":
            return str(name)
    return ""


def _skip(e: HtmlElement) -> bool:
    if e.get("role") in ("navigation", "search", "contentinfo") or e.get("hidden") is not None:
        return True
    name = e.get("class")
    return bool(name and _SKIP_CLASS.search(name))


def _visible(e: HtmlElement) -> str:
    """The text without the signs that themes add for linking to a heading."""
    text = _space(e)
    return text.replace("¶", "") if e.tag == "dt" else text.rstrip("¶# \n\uf0c1")


def _space(e: HtmlElement) -> str:
    """The text of a cell, with spaces between its paragraphs."""
    parts = [e.text or ""]
    for child in e:
        between = " " if child.tag in _BLOCK else ""
        parts += (between, child.text_content() if isinstance(child.tag, str) else "", between, child.tail or "")
    return "".join(parts)
