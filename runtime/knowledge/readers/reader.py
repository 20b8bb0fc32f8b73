"""From a file to a document: which reader, which encoding, and what is no text at all."""

import re
from pathlib import PurePath

from runtime.knowledge.readers.asciidoc_reader import is_asciidoc, read_asciidoc
from runtime.knowledge.readers.markdown_reader import read_markdown, without_hidden
from runtime.knowledge.readers.parsed_document import Document, Unreadable
from runtime.knowledge.readers.plain_text_reader import read_plain
from runtime.knowledge.readers.restructured_reader import is_restructured, read_restructured

MARKDOWN = frozenset((".md", ".markdown", ".mdx"))
PLAIN = frozenset((".txt", ".text"))
ASCIIDOC = frozenset((".adoc", ".asciidoc"))
RESTRUCTURED = frozenset((".rst", ".rest"))
HTML = frozenset((".html", ".htm", ".xhtml"))
WORD = frozenset((".docx",))
PDF = frozenset((".pdf",))
SUFFIXES = MARKDOWN | PLAIN | ASCIIDOC | RESTRUCTURED | HTML | WORD | PDF

_CONTROL = re.compile(r"[\x01-\x08\x0e-\x1a\x1c-\x1f\x7f\ufffd]")
_CONTROL_SHARE = 0.02
_DECLARED = re.compile(rb"(?:charset|encoding)\s{0,9}=\s{0,9}[\"']?\s{0,9}([\w.:-]{2,40})", re.IGNORECASE)
_HANGUL = re.compile("[\uac00-\ud7a3]")
_HAN = re.compile("[\u4e00-\u9fff\u3000-\u303f\uff00-\uffef]")
_FOREIGN = re.compile(r"[^\x00-\x7f]")
_LEGACY_SHARE = 0.9


def read(name: str, data: bytes) -> Document:
    """
    Read a file's bytes by the reader for its name.

    :raises Unreadable: with the reason.
    """
    suffix = PurePath(name).suffix.lower()
    document = _read_packed(suffix, data) if suffix in WORD | PDF else _read_text(suffix, data)
    if not document.title:
        document.title = PurePath(name).stem.replace("-", " ").replace("_", " ")
    if not document.sections:
        raise Unreadable("no text in it")
    return document


def _read_packed(suffix: str, data: bytes) -> Document:
    """Formats that are no text themselves. What reads them is only loaded where they are."""
    if suffix in PDF:
        from runtime.knowledge.readers.pdf_reader import read_pdf

        return read_pdf(data)
    from runtime.knowledge.readers.word_reader import read_word

    return read_word(data)


def _read_text(suffix: str, data: bytes) -> Document:
    text = decode(data, html=suffix in HTML)
    if not text.strip():
        raise Unreadable("empty")
    if suffix in HTML:
        from runtime.knowledge.readers.html_reader import (
            read_html,  # lxml costs 60 ms to load, and not every index holds HTML
        )

        return read_html(text)
    if suffix in MARKDOWN:
        return read_markdown(without_hidden(text))
    if suffix in ASCIIDOC or (suffix in PLAIN and is_asciidoc(text)):
        return read_asciidoc(text)
    if suffix in RESTRUCTURED or (suffix in PLAIN and is_restructured(text)):
        return read_restructured(text)
    return read_plain(text)


def decode(data: bytes, *, html: bool = False) -> str:
    """
    Bytes as text: byte order mark, UTF-8, what an HTML page declares, the usual Korean and Chinese ones, Latin 1.

    :raises Unreadable: when it is no text.
    """
    for mark, encoding in ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be")):
        if data.startswith(mark):
            return _check(data[len(mark) :].decode(encoding, "replace"))
    if b"\0" in data[:65_536]:
        raise Unreadable("binary content")
    declared = _DECLARED.search(data[:2048]) if html else None
    text = _strictly(data, "utf-8")
    if text is None and declared:
        text = _strictly(data, declared.group(1).decode("ascii"))
    if text is None:
        text = _legacy(data) or data.decode("cp1252", "replace")
    return _check(text)


def _strictly(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except (UnicodeDecodeError, LookupError):
        return None


def _legacy(data: bytes) -> str | None:
    """CP949 or GB18030, if nearly all letters beyond ASCII then are Korean or Chinese."""
    for encoding, script in (("cp949", _HANGUL), ("gb18030", _HAN)):
        text = _strictly(data, encoding)
        if text is not None and len(script.findall(text)) >= _LEGACY_SHARE * max(1, len(_FOREIGN.findall(text))):
            return text
    return None


def _check(text: str) -> str:
    if len(_CONTROL.findall(text)) > _CONTROL_SHARE * len(text):
        raise Unreadable("binary content")
    return text
