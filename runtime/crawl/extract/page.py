"""From what a server sent to the main text. Blocking: runs in a worker process."""

import re
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote

from actors.evidence.dedup import hash_of, sketch_of
from actors.evidence.entities import entities
from actors.evidence.sources import PAGE_CHARACTERS
from actors.evidence.summarize import essential, key_points, summary
from actors.text.truncate import cut_at_paragraph
from actors.text.urls import split
from runtime.crawl.extract.blocked_pages import find_bot_challenge, find_paywall, find_shortage
from runtime.crawl.extract.cleaning import clean, without_programs
from runtime.crawl.extract.decoding import NoText, decode
from runtime.crawl.extract.extracted import Extracted
from runtime.crawl.extract.structured import of_json, of_xml

if TYPE_CHECKING:
    from runtime.crawl.extract.metadata import PageMetadata

COMPRESSED_BYTES = 100 * 1024
"""More text than this, in UTF-8, is compressed to its essential (PR-18)."""
CHARACTERS = 300_000
"""Of the main text that are looked at; what follows is no part of it."""
TITLE_CHARACTERS = 200
_NOTICES = 1_000
_GATE_MARKUP = 200_000

_MARKDOWN_TITLE = re.compile(r"^[ \t]{0,3}#{1,2}[ \t]+(\S.{0,300})$", re.MULTILINE)
_TAG = re.compile(r"<(?:!doctype html|html|head|body|div|p|h1|article)\b", re.IGNORECASE)


def extract(body: bytes, charset: str, content_type: str, url: str, question: str) -> Extracted:
    """
    The main text of what a server sent.

    :param charset: what the header says; empty when it says nothing.
    :param question: what it is read for, which tells the essential part of a long text.
    """
    try:
        text = decode(body, charset)
    except NoText as error:
        return Extracted(_title_of(url), "", 0, hash_of(""), thin=str(error))
    kind = content_type.partition(";")[0].strip().lower()
    if kind == "text/markdown":
        return _plain(clean(without_programs(text[:CHARACTERS])), url, question)
    if _TAG.search(text[:4_000]) or kind in ("", "text/html", "application/xhtml+xml"):
        return _html(text, url, question)
    if kind.endswith(("/json", "+json")):
        return _plain(of_json(text)[:CHARACTERS], url, question)
    if kind.endswith(("/xml", "+xml")):
        return _plain(of_xml(text)[:CHARACTERS], url, question)
    return _plain(clean(text[:CHARACTERS], marked_up=False), url, question)


class Reading(NamedTuple):
    """A page of HTML before it is cut."""

    about: "PageMetadata"
    text: str
    """The whole main text."""
    shown: str
    """All that the page shows."""
    notices: str
    """What it tells browsers without JavaScript."""


def read_html(html: str, url: str) -> Reading | None:
    """The whole main text of a page and what it says of itself; None when there is no HTML in it."""
    from runtime.crawl.extract.main_text import main_text
    from runtime.crawl.extract.metadata import describe, notices, parse, visible
    from runtime.crawl.extract.sanitize_html import sanitize_html

    safe = sanitize_html(html)
    root = parse(safe)
    if root is None:
        return None
    about, shown = describe(root, safe, url), visible(root)
    text = clean(main_text(safe, url, shown=len(shown), forum=about.forum)[:CHARACTERS], about.title)
    return Reading(about, text, shown, notices(root))


def _html(html: str, url: str, question: str) -> Extracted:
    read = read_html(html, url)
    if read is None:
        return _describe(_title_of(url), "", question, shown=0)
    about = read.about
    blocked = find_bot_challenge(about.title, f"{read.shown} {read.notices[:_NOTICES]}", html[:_GATE_MARKUP])
    walled = "" if blocked else find_paywall(read.text, read.shown, paid=about.paid)
    return _describe(
        about.title or _title_of(url), read.text, question, shown=len(read.shown), blocked=blocked or walled,
        paywall=bool(walled), canonical=about.canonical, published=about.published, language=about.language,
    )  # fmt: skip


def _plain(text: str, url: str, question: str) -> Extracted:
    found = _MARKDOWN_TITLE.search(text[:4_000])
    title = found.group(1).strip(" #") if found else _title_of(url)
    blocked = find_bot_challenge(title, text, "")
    walled = "" if blocked else find_paywall(text, text, paid=False)
    return _describe(title, text, question, shown=len(text), blocked=blocked or walled, paywall=bool(walled))


def _describe(title: str, text: str, question: str, *, shown: int, **known: Any) -> Extracted:
    """What is kept of a whole text, and what is known of it."""
    large = len(text) * 4 > COMPRESSED_BYTES and len(text.encode("utf-8", "replace")) > COMPRESSED_BYTES
    return Extracted(
        title=title, text=essential(text, question) if large else cut_at_paragraph(text, PAGE_CHARACTERS),
        full_length=len(text),
        sha256=hash_of(text), sketch=sketch_of(text), summary=summary(text), key_points=key_points(text, question),
        entities=entities(text), compressed=large, thin=find_shortage(text, shown), **known,
    )  # fmt: skip


def _title_of(url: str) -> str:
    """A title for what has none: the last part of its path, else its host."""
    parts = split(url)
    if parts is None:
        return "Untitled"
    last = unquote(parts.path.rstrip("/").rpartition("/")[2])
    name = re.sub(r"\.\w{2,5}$", "", last).replace("-", " ").replace("_", " ").strip()
    return name[:TITLE_CHARACTERS] or parts.hostname or "Untitled"
