"""Addresses as a report shows them: which of them may be a link, and whose page it is. Pure."""

import re
from urllib.parse import quote

from actors.reporting.report import SourceEntry
from actors.text.catalogue import say
from actors.text.truncate import shorten
from actors.text.urls import host_of, split

HOST_CHARACTERS = 100
LINK_CHARACTERS = 2000

_KEPT = "!#$%&'()*+,-./:;=?@_~"
"""Brackets are not: some viewers find a link of their own within ours."""
_PATH = "/-._~"
_ANCHOR = "/-._~:="
_HOST = re.compile(r"[\w.-]{1,253}$|\[[0-9a-f:.]{2,45}\]$", re.IGNORECASE)


def link(url: str) -> str:
    """The address as a link that cannot leave its place in a document; empty when it should be none."""
    parts = split(url.strip())
    if parts is None:
        return ""
    host, port = parts.hostname or "", parts.port
    named = f"[{host}]" if ":" in host else host
    if (
        parts.scheme not in {"http", "https"}
        or not _HOST.match(named)
        or "@" in parts.netloc
        or len(url) > LINK_CHARACTERS
    ):
        return ""  # a name and a password before the host only serve to deceive
    try:
        ascii_host = named if ":" in host else host.encode("idna").decode("ascii")
    except UnicodeError:
        return ""
    rest = parts._replace(scheme="", netloc="").geturl()
    quoted = quote(rest, safe=_KEPT, errors="replace")
    return f"{parts.scheme}://{ascii_host}{f':{port}' if port else ''}{_whole(quoted)}"


def source_link(listed: SourceEntry) -> str:
    """Where a source can be opened: a page of the web, or an own document on this machine; empty when it is neither."""
    if not listed.file:
        return link(listed.url)
    path = listed.file
    if not path.startswith("/") or len(path) > LINK_CHARACTERS:
        return ""
    section = f"#{quote(listed.anchor, safe=_ANCHOR)}" if 0 < len(listed.anchor) <= LINK_CHARACTERS else ""
    return f"file://{quote(path, safe=_PATH)}{section}"


def display_url(url: str) -> str:
    """The address for reading: on one line, and of an own document its path."""
    return shorten(url.removeprefix("knowledge:"), LINK_CHARACTERS)


def publisher(url: str, language: str) -> str:
    """The host whose page it is, or that it is a document of one's own: no page of the web passes for one."""
    if url.startswith("knowledge:"):
        return say("own_documents", language)
    said = shorten(host_of(link(url) or url), HOST_CHARACTERS)
    return said if said and " " not in said else say("unlinkable", language)


def _whole(rest: str) -> str:
    """A percent sign that begins no escape is one itself."""
    return re.sub(r"%(?![0-9A-Fa-f]{2})", "%25", rest)
