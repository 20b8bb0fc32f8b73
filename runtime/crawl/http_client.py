"""The HTTP client for addresses from outside, safe against what they may lead to: pages, feeds and robots.txt alike."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urljoin, urlsplit

import msgspec
import structlog

from actors.evidence.sources import Reason
from runtime.crawl.address_policy import Forbidden, guard_sockets, networks, objection
from runtime.crawl.responses import HEAD, KINDS, FetchError, Kind, error_of_headers, error_of_status, is_binary
from runtime.resilience.host_limiter import HostLimiter
from runtime.resilience.retry_after import retry_after
from runtime.settings import FetchSettings

if TYPE_CHECKING:
    from aiohttp import ClientResponse, ClientSession
    from aiohttp.abc import AbstractResolver

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
