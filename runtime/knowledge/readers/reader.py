"""From a file to a document: which reader, which encoding, and what is no text at all."""

import re
from collections.abc import Callable
from pathlib import PurePath

from runtime.knowledge.readers.parsed_document import Document, Unreadable
from runtime.plugins import Plugin, find_plugins

GROUP = "terminus.readers"
"""Of entry points, at which packages offer a `Reader`."""
HTML = frozenset((".html", ".htm", ".xhtml"))
MARKDOWN = frozenset((".md", ".markdown", ".mdx"))
PLAIN = frozenset((".txt", ".text"))
PACKED = frozenset((".docx", ".pdf"))
"""Formats that are no text themselves."""
SIGNS = 2
"""So many directives, roles or labels make a text file reStructuredText."""

_SIGNS = re.compile(r"^[ \t]*\.\. (?:_[\w -]+:|[\w:-]+::)|(?<!\w):[a-z][\w:]{0,60}:`[^`\n]+`", re.MULTILINE)
_LOOKED_AT = 30_000
_CONTROL = re.compile(r"[\x01-\x08\x0e-\x1a\x1c-\x1f\x7f\ufffd]")
_CONTROL_SHARE = 0.02
_DECLARED = re.compile(rb"(?:charset|encoding)\s{0,9}=\s{0,9}[\"']?\s{0,9}([\w.:-]{2,40})", re.IGNORECASE)
_HANGUL = re.compile("[\uac00-\ud7a3]")
_HAN = re.compile("[\u4e00-\u9fff\u3000-\u303f\uff00-\uffef]")
_FOREIGN = re.compile(r"[^\x00-\x7f]")
_LEGACY_SHARE = 0.9


class Reader(Plugin, frozen=True):
    """What reads files of a format."""

    format: str
    """Its name, as `doctor` says it."""
    suffixes: tuple[str, ...]
    """Of its files, in lower case, such as `.adoc`."""
    read: Callable[[bytes], Document]
    """Raises `Unreadable` with the reason, and nothing else. One of text begins with `decode`."""
    recognizes: Callable[[str], bool] | None = None
    """Whether the text of a file with the suffix `.txt` is of this format, too; None: none is."""

    def __post_init__(self) -> None:
        if not all(re.fullmatch(r"\.[^.A-Z/]+", each) for each in self.suffixes):
            raise ValueError('`suffixes` must be texts in lower case with a dot in front, such as (".adoc",)')


def _read_markdown(data: bytes) -> Document:
    from runtime.knowledge.readers.markdown_reader import read_markdown, without_hidden

    return read_markdown(without_hidden(decode(data)))


def _read_plain(data: bytes) -> Document:
    from runtime.knowledge.readers.plain_text_reader import read_plain

    return read_plain(decode(data))


def _read_html(data: bytes) -> Document:
    from runtime.knowledge.readers.html_reader import read_html  # lxml costs 60 ms to load, and not all is HTML

    return read_html(decode(data, html=True))


def _read_restructured(data: bytes) -> Document:
    from runtime.knowledge.readers.restructured_reader import read_restructured

    return read_restructured(decode(data))


def _read_word(data: bytes) -> Document:
    from runtime.knowledge.readers.word_reader import read_word

    return read_word(data)


def _read_pdf(data: bytes) -> Document:
    from runtime.knowledge.readers.pdf_reader import read_pdf

    return read_pdf(data)


def is_restructured(text: str) -> bool:
    """Whether a text file is written in reStructuredText."""
    return len(_SIGNS.findall(text[:_LOOKED_AT])) >= SIGNS


READERS = (
    Reader("plain text", tuple(PLAIN), _read_plain),
    Reader("Markdown", tuple(MARKDOWN), _read_markdown),
    Reader("HTML", tuple(HTML), _read_html),
    Reader("reStructuredText", (".rst", ".rest"), _read_restructured, is_restructured),
    Reader("Word", (".docx",), _read_word),
    Reader("PDF", (".pdf",), _read_pdf),
)
"""Those that ship. One that is added goes before them, also for a format of theirs."""


def list_readers() -> tuple[Reader, ...]:
    """Every reader; of two for a suffix the first is asked."""
    return (*(reader for _, reader in find_plugins(Reader, GROUP).plugins), *READERS)


def suffixes() -> frozenset[str]:
    """Of all files that can be read."""
    return frozenset(suffix for reader in list_readers() for suffix in reader.suffixes)


def read(name: str, data: bytes) -> Document:
    """
    Read a file's bytes by the reader for its name.

    :raises Unreadable: with the reason.
    """
    if not data.strip():
        raise Unreadable("empty")
    suffix = PurePath(name).suffix.lower()
    readers = list_readers()
    reader = next(each for each in readers if suffix in each.suffixes)
    if suffix in PLAIN:
        text = decode(data)
        reader = next((each for each in readers if each.recognizes and each.recognizes(text)), reader)
    document = reader.read(data)
    if not document.title:
        document.title = PurePath(name).stem.replace("-", " ").replace("_", " ")
    if not document.sections:
        raise Unreadable("no text in it")
    return document


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
