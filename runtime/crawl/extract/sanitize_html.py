"""Cuts hostile HTML down before a parser sees it: parsers are quadratic in attributes and depth, and hold the GIL."""

import re
from collections import Counter

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
