"""Reads a feed's entries. Runs in a worker process: what is read may be made to harm."""

import re
from typing import Any
from urllib.parse import urljoin

import msgspec

from runtime.search.results import TEXT_CHARACTERS, TITLE_CHARACTERS, day, line

MOST_ENTRIES = 500
HTML_CHARACTERS = 50_000
KEPT_CHARACTERS = 2_000
"""Of an entry's text: a feed is no place to read an article."""

_TAG = re.compile(r"</?[A-Za-z!][^<>]{0,2000}>")
_UNREADABLE = ("script", "style", "noscript", "template", "iframe")


class Entry(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """One entry of a feed, as text."""

    title: str
    url: str
    text: str = ""
    published: str = ""


def read(body: bytes, charset: str, url: str) -> tuple[Entry, ...]:
    """
    The entries in the order of the feed, as plain text.

    :param url: where it was read, for relative links.
    :raises ValueError: it is no feed.
    """
    import fastfeedparser  # type: ignore[import-untyped]

    feed: Any = fastfeedparser.parse(
        _decode(body, charset), include_tags=False, include_media=False, include_enclosures=False
    )
    entries = (_entry(each, url) for each in (feed.get("entries") or [])[:MOST_ENTRIES])
    return tuple(each for each in entries if each is not None)


def _decode(body: bytes, charset: str) -> bytes | str:
    """A text given as one is never taken for an address: the parser would fetch that."""
    if not charset or body.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")):
        return body
    try:
        text = body.decode(charset)
    except (LookupError, UnicodeDecodeError):
        return body  # the header lies; the feed's own declaration decides
    return text if text.lstrip().startswith("<") else body


def _entry(each: Any, base: str) -> Entry | None:
    link = each.get("link")
    if not isinstance(link, str) or not link.strip():
        return None
    try:
        link = urljoin(base, link.strip())
    except ValueError:
        return None
    text = each.get("description") or _content(each.get("content")) or ""
    return Entry(
        line(plain(each.get("title") or ""), 4 * TITLE_CHARACTERS), link,
        line(plain(text), TEXT_CHARACTERS)[:KEPT_CHARACTERS], day(each.get("published") or each.get("updated") or ""),
    )  # fmt: skip


def _content(parts: Any) -> object:
    first = parts[0] if isinstance(parts, list) and parts else None
    return first.get("value") if isinstance(first, dict) else ""


def plain(text: object) -> str:
    """The words of a piece of HTML; a text without tags stays as it is."""
    if not isinstance(text, str):
        return ""
    text = text[:HTML_CHARACTERS]
    if not _TAG.search(text):
        return text
    from lxml import etree, html

    try:
        tree = html.fromstring(f"<div>{text}</div>")
    except (etree.LxmlError, ValueError):
        return _TAG.sub(" ", text)
    etree.strip_elements(tree, *_UNREADABLE, etree.Comment, with_tail=False)
    return " ".join(str(each) for each in tree.itertext()) or _TAG.sub(" ", text)
