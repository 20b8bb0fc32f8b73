"""
The main text of a page as Markdown: by trafilatura where it is installed, else by our own reader of
manuals.

Hostile HTML is cut down before a parser sees it: parsers are quadratic in attributes and depth, and
hold the GIL.
"""

import json
import logging
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple, cast
from urllib.parse import urljoin, urlsplit

from lxml import html as parser
from lxml.etree import LxmlError, iterwalk
from lxml.html import HtmlElement

from actors.text.word_patterns import compile_words
from runtime.knowledge.readers.html_reader import read_html
from runtime.knowledge.readers.parsed_document import Unreadable

SHORT_SHARE = 0.5
"""A text that is less than this share of what the page shows is read again in favour of recall,"""
LONGER = 1.2
"""
and replaced when the second one is so many times as long.

Without the second reading F1 over wcxb's 221 pages falls from .872 to .866 (bench.extraction).
"""
TWICE_CHARACTERS = 500_000
"""Markup of more characters is not read twice."""


def main_text(html: str, url: str, *, shown: int, forum: bool) -> str:
    """
    Markdown without scripts, styles and what surrounds the text; empty when there is none.

    :param html: from `sanitize_html`.
    :param shown: characters that the page shows in all.
    :param forum: it is a thread, whose comments are the text.
    """
    try:
        import trafilatura
    except ImportError:
        return plain_reading(html)
    logging.getLogger("trafilatura").setLevel(logging.CRITICAL)

    def extract(*, recall: bool) -> str:
        return trafilatura.extract(
            html, url=url or None, output_format="markdown", include_comments=forum, include_tables=True,
            include_links=False, include_formatting=True, with_metadata=False, favor_recall=recall,
        ) or ""  # fmt: skip

    found = extract(recall=False)
    if found and len(html) < TWICE_CHARACTERS and len(found) < SHORT_SHARE * shown:
        more = extract(recall=True)
        found = more if len(more) > LONGER * len(found) else found
    return found or plain_reading(html)


def plain_reading(html: str) -> str:
    """A simpler reading, by the page's own structure."""
    try:
        return read_html(html).text
    except Unreadable:
        return ""


TITLE_CHARACTERS = 300
URL_CHARACTERS = 2_000

_SUFFIX = compile_words(r"\s+[—–|·»:-]{1,2}\s+[^—–|·»]{1,60}$")
_DATE = re.compile(r"\s*((?:19|20)\d\d)-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])(?!\d)")
_LANGUAGE = compile_words(r"\s*([A-Za-z]{2,3})(?:[-_][\w-]{1,20})?\s*$")
_UNSEEN = ("script", "style", "noscript", "template", "svg", "iframe", "select", "head")
_DATES = (
    "article:published_time", "datepublished", "og:article:published_time", "date", "dc.date", "dc.date.issued",
    "dcterms.created", "dcterms.date", "citation_publication_date", "pubdate", "parsely-pub-date", "sailthru.date",
)  # fmt: skip
_FORUM = re.compile(r"DiscussionForumPosting|QAPage|\bphpBB\b|Discourse|vBulletin|XenForo", re.IGNORECASE)
_DEEPEST = 12
_MOST_DATA = 20


class PageMetadata(NamedTuple):
    """What a page says of itself."""

    title: str
    canonical: str
    published: str
    language: str
    paid: bool
    """It says that it is not free to read."""
    forum: bool
    """It says that it is a thread of a forum, or questions and answers."""


def parse(html: str) -> HtmlElement | None:
    """The tree of a page that `sanitize_html` has seen; None when there is nothing in it."""
    try:
        text = re.sub(r"^\s*<\?xml[^>]{0,200}\?>", "", html)
        return parser.document_fromstring(text) if text.strip() else None
    except (LxmlError, ValueError, AssertionError):
        return None


def describe(root: HtmlElement, html: str, url: str) -> PageMetadata:
    """Read the page's head, its data in JSON-LD, and its first heading."""
    data = list(_data(root))
    metas = _metas(root)
    heading = next((each.text_content() for each in root.iter("h1") if each.text_content().strip()), "")
    own = root.findtext(".//title") or ""
    titles = (metas.get("og:title"), _first(data, "headline"), _without_site(own, heading), heading)
    dates = (*(metas.get(name) for name in _DATES), _first(data, "datePublished"), *_times(root))
    languages = (root.get("lang"), metas.get("og:locale"), metas.get("content-language"))
    marks = cast("list[HtmlElement]", root.xpath("//*[@itemprop='isAccessibleForFree']"))
    paid = any(str(each.get("isAccessibleForFree")).lower() in ("false", "no", "0") for each in data)
    paid |= any((each.get("content") or each.get("href") or "").lower().endswith(("false", "no")) for each in marks)
    return PageMetadata(
        title=next((line(each, TITLE_CHARACTERS) for each in titles if each and each.strip()), ""),
        canonical=_canonical(root, metas, url),
        published=next((date for each in dates if (date := _date(each))), ""),
        language=next((found.group(1).lower() for each in languages if (found := _LANGUAGE.match(each or ""))), ""),
        paid=paid,
        forum=bool(_FORUM.search(html[:20_000]) or any("DiscussionForum" in str(each.get("@type")) for each in data)),
    )


def notices(root: HtmlElement) -> str:
    """What the page tells browsers without JavaScript."""
    return " ".join(" ".join(each.text_content() for each in root.iter("noscript")).split())


def visible(root: HtmlElement) -> str:
    """All text that a visitor could see, links and navigation included, on one line."""
    parts: list[str] = []
    hidden: HtmlElement | None = None
    for event, e in iterwalk(root, events=("start", "end")):
        if event == "start" and hidden is None:
            if e.tag in _UNSEEN:
                hidden = e
            elif isinstance(e.tag, str):
                parts.append(e.text or "")
        elif event == "end":
            hidden = None if e is hidden else hidden
            if hidden is None:
                parts.append(" " + (e.tail or ""))
    return " ".join("".join(parts).split())


def line(text: str, most: int) -> str:
    """A text on one line, not longer than this."""
    return " ".join(text.split())[:most].rstrip()


def _metas(root: HtmlElement) -> dict[str, str]:
    found: dict[str, str] = {}
    for each in root.iter("meta"):
        name = each.get("property") or each.get("name") or each.get("itemprop") or each.get("http-equiv") or ""
        content = each.get("content") or ""
        if name and content.strip():
            found.setdefault(name.lower()[:100], content[:URL_CHARACTERS])
    return found


def _data(root: HtmlElement) -> Iterator[dict[str, Any]]:
    """Every object of the page's JSON-LD."""
    scripts = cast("list[HtmlElement]", root.xpath("//script[contains(@type, 'ld+json')]"))
    for script in scripts[:_MOST_DATA]:
        try:
            yield from _objects(json.loads(script.text or "", strict=False), 0)
        except (ValueError, RecursionError):
            continue


def _objects(value: Any, depth: int) -> Iterator[dict[str, Any]]:
    if depth > _DEEPEST:
        return
    if isinstance(value, dict):
        yield value
        value = list(value.values())
    if isinstance(value, list):
        for each in value:
            yield from _objects(each, depth + 1)


def _first(data: list[dict[str, Any]], name: str) -> str:
    return next((each[name] for each in data if isinstance(each.get(name), str)), "")


def _times(root: HtmlElement) -> Iterator[str | None]:
    for each in cast("list[HtmlElement]", root.xpath("//*[@itemprop='datePublished']"))[:3]:
        yield each.get("datetime") or each.get("content")
    for each in cast("list[HtmlElement]", root.xpath("//article//time[@datetime] | //time[@pubdate]"))[:3]:
        yield each.get("datetime")


def _date(text: object) -> str:
    found = _DATE.match(text) if isinstance(text, str) else None
    return "-".join(found.groups()) if found else ""


def _without_site(title: str, heading: str) -> str:
    """A title without the name of its site, where the first heading says that it is none of the title."""
    title = line(title, 2 * TITLE_CHARACTERS)
    head = line(heading, TITLE_CHARACTERS)
    return head if head and head in title and len(head) > 10 else _SUFFIX.sub("", title)


def _canonical(root: HtmlElement, metas: dict[str, str], url: str) -> str:
    """The page's own URL, if it is of the same site: nobody may speak for another's pages."""
    links = cast("list[str]", root.xpath("//link[translate(@rel, 'CANOIL', 'canoil')='canonical']/@href"))
    for each in (*links[:1], metas.get("og:url", "")):
        try:
            there, here = urlsplit(urljoin(url, each.strip()[:URL_CHARACTERS])), urlsplit(url)
            same = _site(there.hostname) == _site(here.hostname)
        except ValueError:
            continue
        home = there.path in ("", "/") and not there.query and here.path not in ("", "/")
        if each.strip() and there.scheme in ("http", "https") and same and not home:
            return there.geturl()
    return ""


def _site(host: str | None) -> str:
    return re.sub(r"^(?:www|m|amp|mobile)\.", "", (host or "").lower())


TAGS = 30_000
DEPTH = 200
"""libxml2 drops what is nested deeper than 256; here it stays, without its tags."""
TABLES = 5
"""Tables within each other: extraction is quadratic in them."""
TAG_CHARACTERS = 16_384
CHARACTERS = 1_500_000
"""Of markup, once scripts and styles are gone."""

_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9:-]{0,40})((?:[^<>\"']|\"[^\"<]{0,16384}\"|'[^'<]{0,16384}')*)>")
_LONG = re.compile(rf"<[a-zA-Z/!?][^<>]{{{TAG_CHARACTERS},}}>?")
_RAW = re.compile(r"<(script|style|svg|template|iframe|canvas|object|noembed)\b", re.IGNORECASE)
_DATA = re.compile(r"<script[^<>]{0,300}application/ld\+json", re.IGNORECASE)
_DATA_CHARACTERS = 200_000
_VOID = frozenset("area base br col embed hr img input link meta param source track wbr".split())  # noqa: SIM905
_CLOSES_ITSELF = frozenset("p li td th tr dt dd option".split())  # noqa: SIM905
_LONE = re.compile(r"<{2,}|<(?=[\s<\d=])")
"""A sign that opens no tag; libraries are slow to find that out."""
_CONTROL = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f\ufffe\uffff\ud800-\udfff]")


def sanitize_html(html: str) -> str:
    """A page that every parser reads in a time that grows with its length, and that shows what it showed before."""
    html = _without_raw(_CONTROL.sub("", html))
    return _flat(_LONE.sub("&lt;", _LONG.sub(" ", html)[:CHARACTERS]))


def _without_raw(html: str) -> str:
    """Without scripts, styles and drawings; what the page says of itself as data stays."""
    parts: list[str] = []
    at = 0
    while (found := _RAW.search(html, at)) is not None:
        name = found.group(1).lower()
        close = _closing(html, name, found.end())
        parts.append(html[at : found.start()])
        if name == "script" and close - found.start() < _DATA_CHARACTERS and _DATA.match(html, found.start()):
            parts.append(html[found.start() : close])
        at = close
    parts.append(html[at:])
    return "".join(parts)


def _closing(html: str, name: str, start: int) -> int:
    """Where an element ends; one that never ends has the rest of the page, as in browsers."""
    found = re.compile(rf"</{name}\b[^>]{{0,100}}>", re.IGNORECASE).search(html, start)
    return found.end() if found else len(html)


def _flat(html: str) -> str:
    """No more tags and no deeper ones than a parser can bear: those beyond are left out, their text stays."""
    if html.count("<") <= DEPTH:
        return html
    open_: list[str] = []
    dropped: Counter[str] = Counter()
    parts: list[str] = []
    at = count = 0
    for found in _TAG.finditer(html):
        if count == TAGS:
            return "".join(parts) + html[at : found.start()]
        name = found.group(2).lower()
        keep = name in _VOID or (_close(open_, dropped, name) if found.group(1) else _open(open_, dropped, name))
        count += keep
        if not keep:
            parts += (html[at : found.start()], " ")
            at = found.end()
    parts.append(html[at:])
    return "".join(parts)


def _open(open_: list[str], dropped: Counter[str], name: str) -> bool:
    if name in _CLOSES_ITSELF and open_ and open_[-1] == name:
        return True
    if len(open_) >= DEPTH or (name == "table" and open_.count(name) >= TABLES):
        dropped[name] += 1
        return False
    open_.append(name)
    return True


def _close(open_: list[str], dropped: Counter[str], name: str) -> bool:
    if dropped[name]:
        dropped[name] -= 1
        return False
    for back in range(len(open_) - 1, -1, -1):
        if open_[back] == name:
            del open_[back:]
            break
    return True
