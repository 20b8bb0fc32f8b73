"""HTML manuals (DocBook, Sphinx, any other) read by their structure in one pass. The text is laid out like Markdown."""

import re
from typing import cast

from lxml import html as parser
from lxml.etree import LxmlError
from lxml.html import HtmlElement

from actors.text.stop_words import word_set
from actors.text.word_patterns import compile_words
from runtime.knowledge.readers.document_layout import BULLET, Layout
from runtime.knowledge.readers.parsed_document import Document, Unreadable, fold, heading

TAGS_LIMIT = 400_000
TAG_CHARACTERS = 16_384
DEPTH_LIMIT = 180
"""Below this depth only the text is taken. libxml2 itself stops at 256."""
LINKS_SHARE = 0.6
"""A page with a larger share of its text in links is a list of links: it leads to answers and holds none."""

WAYS_SHARE = 0.95

_SKIP = word_set(
    """
    script style nav noscript svg form button template iframe object select textarea head footer math canvas
    audio video
    """
)
_SKIP_CLASS = re.compile(
    r"\b(?:\w*nav(?:header|footer|bar|igation)?|toc|toctree-wrapper|sphinxsidebar\w*|breadcrumbs?|menu|footer|"
    r"related|headerlink|linenos|titlepage-sep|skip-link)\b|\bcontents\b.{0,100}\btopic\b"
)
_SIDEBAR = re.compile(r"\bsidebar\b")
"""Of a site, where it is mostly links; in a text, a box of it."""
_TO_TOP = re.compile(r"\W{0,9}(?:back to (?:the )?)?top\W{0,9}", re.IGNORECASE)
_TITLE_CLASS = re.compile(r"\badmonition-title\b")
_ADMONITION = re.compile(r"\b(?:note|tip|caution|warning|important|admonition|seealso)\b")
_BLOCK = word_set(
    """
    p div section article main header aside li ul ol dd dt dl td th table tbody thead tfoot tr caption
    blockquote figure figcaption details summary body center address fieldset hr h1 h2 h3 h4 h5 h6 pre
    """
)
ABOVE = 3
"""Elements above a row that are looked at: its body, its table, what holds that."""
_OF_TABLES = frozenset(("table", "tbody", "thead", "tfoot"))
_LISTS = frozenset(("ol", "ul"))
_HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
_FOOTNOTE_MARK = re.compile(r"\s*\[\w{1,3}\]\s*")
_LONG_TAG = re.compile(rf"<[^<>]{{{TAG_CHARACTERS},}}")
_TITLE_SUFFIX = compile_words(r"\s+[—–|·-]\s+[^—–|·]{1,200}$")
_MANUAL_PAGE = re.compile(r" Manual Page$")
"""What AsciiDoc adds to the title of a manual page."""
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
    for part in (*_heads(root, main), main):
        walker.walk(part, 0)
        walker.flush()
    name = root.findtext(".//title") or ""
    title = walker.layout.outline.title or heading(_TITLE_SUFFIX.sub("", fold(name)))
    return walker.layout.document(title, _above(root))


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


def _heads(root: HtmlElement, main: HtmlElement) -> list[HtmlElement]:
    """What AsciiDoc puts before the main part: the page's title, and a manual page's name with what it is for."""
    found = cast("list[HtmlElement]", root.xpath("//body/*[@id='header'][h1]"))
    return [
        each
        for each in found
        if each is not main and main not in each.iterancestors() and each not in main.iterancestors()
    ]


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
    """One pass over the tree."""

    def __init__(self) -> None:
        self.layout = Layout()
        self._inline: list[str] = []
        self._id = ("", 0)
        """The latest id, and where in the text it was met: it names the heading that stands right there."""
        self._prefix = ""
        """What stands before the next paragraph: the mark of its list item,"""
        self._label = ""
        """and what it begins with: `Warning`."""
        self._counts: list[int] = []
        """Of each list around: the number of its next item; 0: its items have none."""

    def walk(self, e: HtmlElement, depth: int) -> None:
        tag = e.tag
        if not isinstance(tag, str) or tag in _SKIP or _skip(e):
            return
        if tag == "sup" and _FOOTNOTE_MARK.fullmatch(e.text_content()):
            return
        if depth > DEPTH_LIMIT:
            self._inline.append(" " + e.text_content() + " ")
            return
        if _TITLE_CLASS.search(e.get("class") or ""):
            self.flush()
            self._label = _make_label(_visible(e))
            return
        name = e.get("id") or (e.get("name") if tag == "a" else None)
        if name and e.get("class") != "indexterm":
            self._id = (name, self.layout.size)
        if tag in _HEADINGS:
            self._heading(e)
        elif tag == "pre":
            self._code(e)
        elif tag == "dl":
            self._terms(e, depth)
        elif tag == "tr":
            self._row(e, depth)
        elif tag in _BLOCK:
            if (
                self.layout.size or _link_share(e) < WAYS_SHARE
            ):  # else a way through the site, above the page's own text
                self._block(e, depth)
        else:
            self._children(e, depth)

    def flush(self) -> None:
        """End the paragraph that was gathered from inline elements."""
        text = "".join(self._inline)
        self._inline.clear()
        if text.strip():
            self.layout.prose(f"{self._label}{text}", self._prefix)
            self._prefix = self._label = ""

    def _children(self, e: HtmlElement, depth: int) -> None:
        self._inline.append(e.text or "")
        for child in e:
            self.walk(child, depth + 1)
            self._inline.append(child.tail or "")

    def _block(self, e: HtmlElement, depth: int) -> None:
        self.flush()
        if e.tag in _LISTS:
            self._counts.append(int(e.tag == "ol"))
        elif e.tag == "li":
            self._prefix = self._count_item()
        self._children(e, depth)
        self.flush()
        if e.tag in _LISTS:
            self._counts.pop()
        elif e.tag == "li":
            self._prefix = ""

    def _count_item(self) -> str:
        """What stands before an item: a number where its list has numbers."""
        if not (self._counts and self._counts[-1]):
            return BULLET
        self._counts[-1] += 1
        return f"{self._counts[-1] - 1}. "

    def _heading(self, e: HtmlElement) -> None:
        self.flush()
        if _is_in_admonition(e):
            self._label = _make_label(_visible(e))
            return
        self._prefix = self._label = ""
        name, met = self._id
        around = name if met == self.layout.size else ""
        self.layout.head(int(e.tag[1]), _MANUAL_PAGE.sub("", fold(_visible(e))), _anchor(e) or around)

    def _code(self, e: HtmlElement) -> None:
        self.flush()
        self.layout.code(e.text_content())

    def _terms(self, e: HtmlElement, depth: int) -> None:
        self.flush()
        level, names = self.layout.outline.depth, list[str]()
        for child in e:
            if child.tag == "dt":
                names.append(fold(_visible(child)))
                self.layout.term(level, names, _anchor(child))
            elif isinstance(child.tag, str):
                self.walk(child, depth + 1)
                names.clear()
        self.flush()
        self.layout.outline.leave(level)

    def _row(self, e: HtmlElement, depth: int) -> None:
        self.flush()
        cells = [child for child in e if child.tag in ("td", "th") and not _skip(child)]
        if next(e.iter("table", "dl", "pre"), None) is not None:  # a table for the layout
            self._block(e, depth)
            return
        texts = [text for text in (fold(_space(cell)) for cell in cells) if text]
        if len(texts) == 1 and _is_in_admonition(e) and any(child.tag == "th" for child in cells):
            self._label = _make_label(texts[0])  # the next row says of what
            return
        code = next(e.iter("code"), None)
        name = fold(code.text_content()) if code is not None else ""
        if not " ".join(texts).startswith(name):
            name = ""  # it is spoken of, and is not what the row is about
        if len(cells) == 1 and any(child.tag in _BLOCK for child in cells[0]):
            level = self.layout.outline.depth
            if name:
                self.layout.outline.term(level, name, _anchor(e))
            self._block(cells[0], depth)
            self.layout.outline.leave(level)
        else:
            self.layout.row(texts, name, _anchor(e))


def _make_label(title: str) -> str:
    return f"{fold(title).rstrip(':')}: " if title.strip() else ""


def _is_in_admonition(e: HtmlElement) -> bool:
    """A note or a warning that stands right above, or of which this is a row."""
    above = (each for each, _ in zip(e.iterancestors(), range(ABOVE), strict=False) if each.tag not in _OF_TABLES)
    holder = next(above, None)
    return holder is not None and bool(_ADMONITION.search(holder.get("class") or ""))


def _anchor(e: HtmlElement) -> str:
    """An id of the element or in it."""
    for inner in e.iter("a", "span", "code", "h1", "h2", "h3", "h4", "h5", "h6", "dt", "tr", "td"):
        name = inner.get("id") or (inner.get("name") if inner.tag == "a" else None)
        if name and inner.get("class") != "indexterm":
            return str(name)
    return ""


def _skip(e: HtmlElement) -> bool:
    if e.get("role") in ("navigation", "search", "contentinfo") or e.get("hidden") is not None or e.get("id") == "toc":
        return True
    if e.tag in ("header", "aside") and e.getparent() is not None and e.getparent().tag == "body":
        return next(e.iter("h1", "h2", "h3", "h4"), None) is None  # of the site, beside the page
    name = e.get("class")
    if e.tag == "a" and (e.get("href") or "").startswith("#") and _TO_TOP.fullmatch(e.text_content()):
        return True
    if name and _SIDEBAR.search(name):
        return _link_share(e) > LINKS_SHARE
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
