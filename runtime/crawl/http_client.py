"""
The HTTP client for addresses from outside, safe against what they may lead to: pages, feeds and
robots.txt alike.

A name is checked where it becomes an address, and at each of its addresses: what a name meant a
moment ago proves nothing, and an address has more spellings than anybody thinks of.
"""

import asyncio
import re
import socket
import time
from collections.abc import Awaitable, Callable, Iterable
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urljoin, urlsplit

import msgspec
import structlog

from actors.evidence.sources import Reason
from actors.text.urls import split
from runtime.resilience.limiters import HostLimiter, retry_after
from runtime.settings import FetchSettings

if TYPE_CHECKING:
    from aiohttp import ClientResponse, ClientSession
    from aiohttp.abc import AbstractResolver


Network = IPv4Network | IPv6Network
AddressInfo = tuple[int, int, int, str, tuple[str, int] | tuple[str, int, int, int]]

PORTS = frozenset({80, 443, 8080, 8443})
"""Where web servers listen; on any other port of a public address something else may."""
URL_CHARACTERS = 4096


def networks(texts: Iterable[str]) -> tuple[Network, ...]:
    """:raises ValueError: one of them is no network."""
    return tuple(ip_network(each, strict=False) for each in texts)


# Python's `is_global` differs between patch releases, so the tables are our own. 168.63.129.16 is Azure's host agent.
_NOT_PUBLIC = networks(
    [
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
        "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
        "224.0.0.0/4", "240.0.0.0/4", "168.63.129.16/32",
    ]
)  # fmt: skip
_PUBLIC_6 = networks(["2000::/3"])[0]
# Teredo and 6to4 carry an IPv4 address, which may be anybody's; the others are for documentation and protocols.
_NOT_PUBLIC_6 = networks(["2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"])
_LOCAL_NAMES = (".localhost", ".local", ".internal", ".home.arpa")


class Forbidden(OSError):
    """An address that must not be connected to. An OSError, so that the next address of the name is tried."""

    MARK = "is not a public address of the web"


def is_permitted(address: str, port: int, allow: Iterable[Network]) -> bool:
    """Whether an address may be connected to: a public one at a port of the web, or one of an allowed network."""
    ip = ip_address(address.partition("%")[0])
    if ip.version == 6 and ip.ipv4_mapped is not None:
        ip = ip.ipv4_mapped
    if any(ip in network for network in allow if network.version == ip.version):
        return True
    if ip.version == 4:
        return port in PORTS and not any(ip in network for network in _NOT_PUBLIC)
    return port in PORTS and ip in _PUBLIC_6 and not any(ip in network for network in _NOT_PUBLIC_6)


def guard_sockets(allow: tuple[Network, ...]) -> Callable[[AddressInfo], socket.socket]:
    """A factory of sockets, which gets the very address of each attempt, whatever it was called before."""

    def make(info: AddressInfo) -> socket.socket:
        family, kind, protocol, _, address = info
        if not is_permitted(address[0], address[1], allow):
            raise Forbidden(f"{address[0]} port {address[1]} {Forbidden.MARK}")
        return socket.socket(family, kind, protocol)

    return make


def objection(url: str, allow: tuple[Network, ...]) -> str:
    """What speaks against a URL before anybody asks for its address, in a sentence; empty when nothing does."""
    if (parts := split(url)) is None:
        return "This is not a web address."
    host = (parts.hostname or "").rstrip(".").lower()
    if parts.scheme not in {"http", "https"}:
        return "Only addresses that begin with http:// or https:// are read."
    if not host or any(each.isspace() or not each.isprintable() for each in url):
        return "This is not a web address."
    if parts.username is not None or parts.password is not None:
        return "Addresses with a user name or password in them are not read."
    if len(url) > URL_CHARACTERS:
        return f"Addresses longer than {URL_CHARACTERS} characters are not read."
    if not allow and (host == "localhost" or host.endswith(_LOCAL_NAMES)):
        return "Addresses of the local network are not read: list the network in [fetch] allow if it should be."
    return ""


def is_public(url: str) -> bool:
    """Whether a URL, by the looks of it, leads to the public web, so that an outside service may hear of it."""
    if objection(url, ()):
        return False
    parts = urlsplit(url)
    host, port = (parts.hostname or "").rstrip("."), parts.port or (80 if parts.scheme == "http" else 443)
    try:
        return is_permitted(host, port, ())
    except ValueError:  # a name, or another spelling of a number
        last = host.rpartition(".")[2]
        return "." in host and not last[:1].isdecimal()


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


ERROR_CHARACTERS = 300
RATIO, PACKED = 60, 1_000_000
"""How many times its packed size a body of more than so many bytes may have."""
PAUSE_SECONDS = 0.5
"""Before the second try."""
REDIRECTS = frozenset({301, 302, 303, 307, 308})
BINARY = FetchError("binary", "This is not text, whatever the server says.")
Hop = Callable[[str], Awaitable[str]]
"""Says of a URL why it must not be asked for, in a sentence; empty when it may."""

log = structlog.get_logger()


class FetchResult(msgspec.Struct, frozen=True):
    """What a server sent, or why nothing of it can be used."""

    url: str
    """The last address, redirects followed."""
    status: int = 0
    content_type: str = ""
    charset: str = ""
    body: bytes = b""
    truncated: bool = False
    reason: Reason | None = None
    """Why it cannot be used."""
    detail: str = ""
    """One sentence on that, for the user."""
    retry_after: float = 0.0
    """Seconds that the server asked for."""


class _Answer(NamedTuple):
    """Of one request: something to use, trouble, or where to go on."""

    got: FetchResult
    again: bool = False
    location: str = ""


class Client:
    """One a process. Opens no connection before it is needed."""

    def __init__(
        self, settings: FetchSettings, pause: float = PAUSE_SECONDS, resolver: "AbstractResolver | None" = None
    ) -> None:
        """
        :param pause: seconds before the second try.
        :param resolver: turns names into addresses; the system's own unless given. None is trusted.
        """
        self.settings = settings
        self._pause = pause
        self._resolver = resolver
        self._allow = networks(settings.allow)
        self._turns = HostLimiter(settings.concurrency, settings.per_host)
        self._session: ClientSession | None = None

    async def get(self, url: str, *, within: float, types: str = "text", hop: Hop | None = None) -> FetchResult:
        """
        Fetch one URL, redirects followed, each hop checked. Never raises for what a server does.

        :param within: seconds, the waiting for a turn and a second try included.
        :param types: "text" for pages, "feed" for RSS and Atom, "robots" for robots.txt.
        :param hop: asked before each request, robots.txt for one.
        """
        url, kind, loop = url.strip(), KINDS[types], asyncio.get_running_loop()
        end = loop.time() + within
        answer = _Answer(_fail(url, FetchError("timed_out", f"The page did not arrive within {within:g} seconds.")))
        try:
            async with asyncio.timeout_at(end):
                answer = await self._follow(url, kind, hop)
                pause = max(answer.got.retry_after, self._pause)
                if answer.again and loop.time() + pause < end:
                    await asyncio.sleep(pause)
                    answer = await self._follow(url, kind, hop)
        except TimeoutError:
            pass  # what the first try said, if there was one, says more than that the second took too long
        return answer.got

    async def close(self) -> None:
        """Close all connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def _follow(self, url: str, kind: Kind, hop: Hop | None) -> _Answer:
        asked: set[str] = set()
        while True:
            if said := objection(url, self._allow):
                return _Answer(_fail(url, FetchError("refused", said)))
            if url in asked:
                return _Answer(_fail(url, FetchError("unreachable", "The page redirects in a circle.")))
            if len(asked) > self.settings.redirects:
                return _Answer(_fail(url, FetchError("unreachable", "Too many redirects.")))
            if hop is not None and (said := await hop(url)):
                return _Answer(_fail(url, FetchError("robots", said)))
            asked.add(url)
            answer = await self._ask(url, kind)
            if not answer.location:
                return answer
            try:
                url = urljoin(url, answer.location.strip().replace(" ", "%20")).partition("#")[0]
            except ValueError:
                said = "The page redirects to something that is not a web address."
                return _Answer(_fail(url, FetchError("refused", said)))

    async def _ask(self, url: str, kind: Kind) -> _Answer:
        """One request, within its host's limits."""
        host = (urlsplit(url).hostname or "").rstrip(".")
        async with self._turns.of(host):
            try:
                return await self._request(url, kind)
            except Exception as error:  # what a server can do to a client has no end
                trouble = _error_of(error)
                log.debug("request.failed", url=url, error=f"{type(error).__name__}: {error}"[:ERROR_CHARACTERS])
                return _Answer(_fail(url, trouble), again=trouble.again)

    async def _request(self, url: str, kind: Kind) -> _Answer:
        headers = {"Accept": kind.accept}
        async with self._connect().get(url, allow_redirects=False, headers=headers) as response:
            status, location = response.status, response.headers.get("Location", "")
            if status in REDIRECTS and location:
                return _Answer(FetchResult(url, status), location=location)
            wait = retry_after(response.headers, time.time())
            if (trouble := error_of_status(status, wait)) is not None:
                return _Answer(_fail(url, trouble, status, wait or 0.0), again=trouble.again)
            return _Answer(await self._receive(url, kind, response))

    async def _receive(self, url: str, kind: Kind, response: "ClientResponse") -> FetchResult:
        most = kind.most_bytes or int(self.settings.page_megabytes * 1e6)
        type_ = response.headers.get("Content-Type", "").partition(";")[0].strip().lower()
        disposition = response.headers.get("Content-Disposition", "")
        trouble = error_of_headers(kind, type_, disposition, response.content_length or 0, most)
        if trouble is None:
            body = await self._body(response, most)
            if isinstance(body, bytes):
                return FetchResult(
                    url, response.status, type_, response.charset or "", body[:most], truncated=len(body) > most
                )  # fmt: skip
            trouble = body
        return _fail(url, trouble, response.status)

    async def _body(self, response: "ClientResponse", most: int) -> bytes | FetchError:
        """As much of a body as is read, unpacked: a little more than `most` when there is more."""
        body, unseen = bytearray(), True
        async for chunk in response.content.iter_any():
            body += chunk
            if unseen and len(body) >= HEAD:
                unseen = False
                if is_binary(bytes(body[:HEAD])):
                    return BINARY
            packed = response.content.total_compressed_bytes or len(body)
            if len(body) > max(PACKED, packed * RATIO):
                return FetchError("too_large", "The page unpacks to many times its size.")
            if len(body) > most:
                break
        return BINARY if is_binary(bytes(body[:HEAD])) else bytes(body)

    def _connect(self) -> "ClientSession":
        if self._session is None:
            import aiohttp  # a third of a second, which only who reads the web should wait for

            # Limits on connections are the turns'; addresses of names are kept so briefly that they follow the name.
            connector = aiohttp.TCPConnector(
                socket_factory=guard_sockets(self._allow), resolver=self._resolver, limit=0, ttl_dns_cache=10,
            )  # fmt: skip
            self._session = aiohttp.ClientSession(
                connector=connector, cookie_jar=aiohttp.DummyCookieJar(), trust_env=False,
                timeout=aiohttp.ClientTimeout(),  # none of its own: the caller's time ends it
                headers={"User-Agent": self.settings.agent, "Accept-Encoding": "gzip"},
            )  # fmt: skip
        return self._session


def _fail(url: str, trouble: FetchError, status: int = 0, wait: float = 0.0) -> FetchResult:
    return FetchResult(url, status, reason=trouble.reason, detail=trouble.detail, retry_after=wait)


def _error_of(error: Exception) -> FetchError:
    """What a failed request means."""
    import aiohttp

    kinds: dict[type[Exception], FetchError] = {
        TimeoutError: FetchError("timed_out", "The server did not answer in time."),
        aiohttp.ClientSSLError: FetchError("unreachable", "The server's certificate or encryption is not valid."),
        aiohttp.ClientConnectorDNSError: FetchError("unreachable", "No server has this name.", again=True),
        aiohttp.ClientConnectorError: FetchError("unreachable", "The server cannot be reached.", again=True),
        aiohttp.ServerConnectionError: FetchError("unreachable", "The server closed the connection.", again=True),
        aiohttp.ClientPayloadError: FetchError("unreachable", "The page arrived damaged or incomplete."),
        aiohttp.InvalidURL: FetchError("refused", "This is not a web address."),
        ValueError: FetchError("refused", "This is not a web address."),
        OSError: FetchError("unreachable", "The connection to the server was lost.", again=True),
    }
    if Forbidden.MARK in str(getattr(error, "os_error", error)):  # of several addresses it is one text
        return FetchError("refused", "The address leads into a network that is not public: see [fetch] allow.")
    found = next((trouble for kind, trouble in kinds.items() if isinstance(error, kind)), None)
    return found or FetchError("unreachable", "The server's answer cannot be understood.")
