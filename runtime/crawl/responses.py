"""What a server's answer means: pure rules over status, headers and first bytes."""

import re
from typing import NamedTuple

from actors.evidence.sources import Reason

DECLARED = 4
"""Of something up to so many times what is read of it, the beginning is read; more is no page."""


class FetchError(NamedTuple):
    """Why something cannot be used."""

    reason: Reason
    detail: str
    """One sentence for the user."""
    again: bool = False
    """A second try may help."""


class Kind(NamedTuple):
    """What is asked for."""

    accept: str
    types: re.Pattern[str] | None
    """Content types that are taken; None: all that look like text."""
    most_bytes: int | None = None
    """None: as set."""


_DATA = r"application/(?:[\w.-]+\+)?(?:xml|json)"
KINDS = {
    "text": Kind(
        "text/html,application/xhtml+xml,application/xml;q=0.9,text/plain;q=0.8,*/*;q=0.1",
        re.compile(rf"text/(?:html|plain|(?:x-)?markdown|xml|x-rst|asciidoc)|{_DATA}"),
    ),
    "feed": Kind(
        "application/rss+xml,application/atom+xml,application/xml;q=0.9,text/xml;q=0.9,*/*;q=0.1",
        re.compile(rf"text/(?:html|plain|xml|rss|atom)|{_DATA}"),
        2_000_000,
    ),
    "robots": Kind("text/plain,*/*;q=0.1", None, 512_000),
}

_MAGIC = re.compile(
    rb"%PDF-|PK\x03\x04|\x89PNG|GIF8[79]a|\xff\xd8\xff|\x1f\x8b|BZh[1-9]1AY|Rar!\x1a|7z\xbc\xaf|\x7fELF"
    rb"|MZ[\x00-\x1f\x80-\xff]|RIFF.{4}(?:WAVE|WEBP|AVI )|\x00\x00.{2}ftyp|ID3[\x02-\x04]|OggS\x00|wOF[F2]"
    rb"|\xd0\xcf\x11\xe0|\x00asm|\x28\xb5\x2f\xfd|\xfd7zXZ",
    re.DOTALL,
)
_PRINTED = bytes(code for code in range(256) if code >= 32 or code in b"\t\n\r\f\x1b")
HEAD = 4096
"""Bytes that show whether something is text."""
_CONTROLS = 0.02
"""Share of control characters above which something is no text."""


def error_of_status(status: int, wait: float | None) -> FetchError | None:
    """
    What a status says against the answer.

    :param wait: seconds that the server asks to be left alone.
    """
    if 200 <= status < 300:
        return None
    if status in {404, 410}:
        return FetchError("dead", f"The server says that the page is not there ({status}).")
    if status in {401, 402, 407}:
        return FetchError("paywall", f"The server asks for a log-in or for money ({status}).")
    if status == 429 or (status == 503 and wait is not None):
        asks = f" and asks to wait {wait:.0f} seconds" if wait else ""
        return FetchError("rate_limited", f"The server refuses more requests{asks} ({status}).", again=wait is not None)
    if status in {502, 503, 504}:
        return FetchError("unreachable", f"The server has a fault ({status}).", again=True)
    if status >= 500 or status < 400:
        return FetchError("unreachable", f"The server gave no page ({status}).")
    return FetchError("blocked", f"The server refuses to send the page ({status}).")


def error_of_headers(kind: Kind, content_type: str, disposition: str, size: int, most: int) -> FetchError | None:
    """What the headers say against the body. `size` is what they declare, in bytes."""
    if content_type and kind.types is not None and not kind.types.fullmatch(content_type):
        return FetchError("binary", f"This is {_plain(content_type)}, not text.")
    if disposition.strip().lower().startswith("attachment"):
        return FetchError("binary", "This is a file to download, not a page.")
    if size > most * DECLARED:
        return FetchError("too_large", f"The page has {size / 1e6:.0f} MB, far more than is read of one.")
    return None


def is_binary(head: bytes) -> bool:
    """Whether something begins like no text, whatever its headers say. UTF-16 with its mark is text."""
    head = head[:HEAD]
    if _MAGIC.match(head):
        return True
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return False
    return len(head.translate(None, _PRINTED)) > max(1.0, len(head) * _CONTROLS)


def _plain(content_type: str) -> str:
    """A content type as it may be shown; a server can write anything there."""
    return content_type if re.fullmatch(r"[\w.+-]{1,40}/[\w.+-]{1,60}", content_type) else "of an unknown type"
