"""
A loopback site with all that the web does to a reader: articles on three hosts, and every way to fail.

`async with site() as web: web.url("/article")`. It speaks HTTP by hand, because no server library floods with headers.
As a program (`python -m tests.site`) it prints its port and serves until its input ends.
"""

import asyncio
import contextlib
import gzip
import sys
import zlib
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import NamedTuple
from urllib.parse import unquote

from tests import site_pages as texts

HOSTS = ("127.0.0.1", "127.0.0.2", "127.0.0.3")
HTML = "text/html; charset=utf-8"
REQUEST_BYTES = 16_384


class Reply(NamedTuple):
    body: bytes = b""
    type: str = HTML
    status: str = "200 OK"
    headers: tuple[str, ...] = ()

    @property
    def raw(self) -> bytes:
        lines = [f"HTTP/1.1 {self.status}", "Connection: close", *([f"Content-Type: {self.type}"] if self.type else [])]
        if not any(each.startswith(("Content-Length", "Content-Encoding")) for each in self.headers):
            lines.append(f"Content-Length: {len(self.body)}")
        return "\r\n".join([*lines, *self.headers, "", ""]).encode() + self.body


def _html(kind: str, status: str = "200 OK", *headers: str) -> Reply:
    return Reply(texts.SENTENCES[kind].encode(), HTML, status, headers)


def _article(text: str, type_: str = HTML, encoding: str = "utf-8", head: str = "") -> Reply:
    return Reply(texts.of(text).is_whole_answer(head).encode(encoding), type_)


_TRAM = texts.ARTICLES["/articles/tram"].replace("airport", "café")
_TRAM_HTML = texts.article("/articles/tram").html.encode()
_COPY = texts.ARTICLES["/articles/bees"]
_PDF = b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj << /Type /Catalog >> endobj\n" * 20
_PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + bytes(range(256)) * 8


def _bomb() -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    return b"".join([*(packer.compress(b"a" * 1_000_000) for _ in range(60)), packer.flush()])


PAGES: dict[str, Reply] = {
    "/": _html("thin"),
    # ---- texts in other clothes
    "/plain.txt": Reply(texts.ARTICLES["/articles/ferry"].encode(), "text/plain; charset=utf-8"),
    "/notes.md": Reply(texts.ARTICLES["/articles/ferry"].encode(), "text/markdown"),
    "/injected": _article(texts.INJECTED),
    "/frontmatter.md": Reply(texts.FRONTMATTER.encode(), "text/markdown; charset=utf-8"),
    "/no-type": Reply(_TRAM_HTML, ""),
    "/gzip": Reply(gzip.compress(_TRAM_HTML), headers=("Content-Encoding: gzip",)),
    # ---- charsets
    "/meta-charset": _article(_TRAM, "text/html", "windows-1252", '<meta charset="windows-1252">'),
    "/wrong-charset": _article(_TRAM, "text/html; charset=utf-8", "windows-1252"),
    "/unknown-charset": _article(_TRAM, "text/html; charset=klingon"),
    "/no-charset": _article(_TRAM, "text/html"),
    "/utf-16": _article(_TRAM, "text/html", "utf-16"),
    # ---- the same again
    "/copy": _article(_COPY),
    "/copy-that-says-so": _article(_COPY + "\nPrinted on paper.", head='<link rel="canonical" href="/articles/bees">'),
    "/near": _article(texts.near(_COPY)),
    # ---- not there, not allowed, not now
    "/gone": _html("dead", "404 Not Found"),
    "/gone-forever": _html("dead", "410 Gone"),
    "/forbidden": _html("dead", "403 Forbidden"),
    "/unauthorized": _html("login", "401 Unauthorized"),
    "/pay": _html("paywall", "402 Payment Required"),
    "/legal-reasons": _html("dead", "451 Unavailable For Legal Reasons"),
    "/teapot": _html("dead", "418 I'm a teapot"),
    "/broken": _html("dead", "500 Internal Server Error"),
    "/bad-gateway": _html("dead", "502 Bad Gateway"),
    "/busy": _html("dead", "429 Too Many Requests", "Retry-After: 3600"),
    "/overloaded": _html("dead", "503 Service Unavailable", "Retry-After: Wed, 01 Jan 2098 00:00:00 GMT"),
    "/blocked": _html("blocked"),
    "/blocked-403": _html("blocked", "403 Forbidden"),
    "/paywall": _html("paywall"),
    "/login": _html("login"),
    "/thin": _html("thin"),
    "/empty": Reply(b""),
    # ---- no text at all
    "/pdf": Reply(_PDF, "application/pdf"),
    "/pdf-as-html": Reply(_PDF),
    "/image-as-html": Reply(_PNG),
    "/binary": Reply(bytes(range(256)) * 100),
    "/attachment": Reply(b"<p>x</p>", headers=('Content-Disposition: attachment; filename="../../etc/passwd"',)),
    # ---- too much
    "/big": Reply(_TRAM_HTML + b"<p>and more</p>\n" * 400_000),
    "/big-declared": Reply(b"<p>x</p>", headers=("Content-Length: 50000000",)),
    "/gzip-bomb": Reply(_bomb(), headers=("Content-Encoding: gzip",)),
    "/gzip-many": Reply(gzip.compress(b"a" * 1_000_000) * 100, headers=("Content-Encoding: gzip",)),
    "/gzip-bad": Reply(b"not packed at all" * 100, headers=("Content-Encoding: gzip",)),
    "/gzip-twice": Reply(gzip.compress(_bomb()), headers=("Content-Encoding: gzip, gzip",)),
    "/zstd": Reply(b"\x28\xb5\x2f\xfd" + b"\0" * 100, headers=("Content-Encoding: zstd",)),
    "/header-long": Reply(b"x", headers=(f"X-A: {'a' * 100_000}",)),
    "/header-flood": Reply(b"x", headers=tuple(f"X-{n}: {'b' * 100}" for n in range(20_000))),
    "/deep": Reply(b"<html><body>" + b"<div>" * 100_000 + b"deep"),
    "/cookie": Reply(_TRAM_HTML, headers=("Set-Cookie: seen=1; Path=/",)),
    "/short": Reply(b"short", headers=("Content-Length: 1000",)),
    # ---- elsewhere
    "/loop": Reply(status="302 Found", headers=("Location: /loop2",)),
    "/loop2": Reply(status="302 Found", headers=("Location: /loop",)),
    "/moved": Reply(status="301 Moved Permanently", headers=("Location: /articles/ferry",)),
    "/to-private": Reply(status="302 Found", headers=("Location: http://169.254.169.254/latest/meta-data/",)),
    "/to-file": Reply(status="302 Found", headers=("Location: file:///etc/passwd",)),
    "/to-nowhere": Reply(status="302 Found"),
    # ---- forbidden to robots
    "/private/accounts": _article(texts.ARTICLES["/articles/ferry"]),
    "/robots.txt": Reply(b"User-agent: *\nDisallow: /private/\n", "text/plain"),
}  # fmt: skip


async def _endless(write: "Write") -> None:
    await write(Reply(headers=("Content-Encoding: identity",)).raw)
    while True:
        await write(b"<p>and on it goes</p>" * 4096)


async def _endless_headers(write: "Write") -> None:
    await write(b"HTTP/1.1 200 OK\r\n")
    while True:
        await write(b"X-A: bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\r\n" * 1000)


async def _endless_chunks(write: "Write") -> None:
    await write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n")
    while True:
        await write(b"1;" + b"e" * 60_000 + b"\r\nx\r\n")


def _drip(opening: bytes) -> "Behaviour":
    async def drip(write: "Write") -> None:
        await write(opening)
        while True:
            await write(b"a")
            await asyncio.sleep(0.02)

    return drip


TRICKLE_SECONDS = 24.0


async def _trickle(write: "Write") -> None:
    """An article that is silent for 12 seconds, twice: before its headers, and when a little of it was sent."""
    page = Reply(_TRAM_HTML).raw
    beginning = len(page) - len(_TRAM_HTML) + 10
    for part in (page[:beginning], page[beginning:]):
        await asyncio.sleep(TRICKLE_SECONDS / 2)
        await write(part)


async def _silent(write: "Write") -> None:
    await asyncio.Event().wait()


async def _not_http(write: "Write") -> None:
    await write(b"SSH-2.0-OpenSSH_9.9\r\n\r\n")


async def _hang_up(write: "Write") -> None:
    """Says nothing and goes."""


Write = Callable[[bytes], Awaitable[None]]
Behaviour = Callable[[Write], Awaitable[None]]
BEHAVIOURS: dict[str, Behaviour] = {
    "/endless": _endless,
    "/endless-headers": _endless_headers,
    "/endless-chunks": _endless_chunks,
    "/drip": _drip(Reply(headers=("Content-Encoding: identity",)).raw + b"<html>"),
    "/drip-headers": _drip(b"HTTP/1.1 200 OK\r\nX: "),
    "/silent": _silent,
    "/trickle": _trickle,
    "/not-http": _not_http,
    "/hang-up": _hang_up,
}

FLAKY: dict[str, Reply] = {
    "/busy-once": _html("dead", "429 Too Many Requests", "Retry-After: 0"),
    "/flaky": _html("dead", "503 Service Unavailable"),
}
"""Answered like this once, with the ferry from then on."""


class Site:
    """What is served, and what was asked for."""

    def __init__(self, latency: float) -> None:
        self.latency = latency
        """Seconds before each answer."""
        self.slow: dict[str, float] = {}
        """Seconds more, by path."""
        self.pages = dict(PAGES)
        """Replies by path, for a test to change."""
        self.asked: list[tuple[str, str]] = []
        """(host, path with query) of each request, in order."""
        self.requests: list[str] = []
        """Each request's head as it came."""
        self.port = 0
        self.at_once: Counter[str] = Counter()
        """Requests of a host that are being answered."""
        self.most_at_once: Counter[str] = Counter()
        """The most that there were; "" is all hosts together."""
        self._tasks: set[asyncio.Task[None]] = set()

    def url(self, path: str, host: int = 0) -> str:
        return f"http://{HOSTS[host]}:{self.port}{path}"

    def hits(self, path: str, host: int | None = None) -> int:
        """How often a path was asked for, of one host or of all."""
        return sum(path == each and (host is None or where == HOSTS[host]) for where, each in self.asked)

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            await self._serve(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async def write(data: bytes) -> None:
            writer.write(data)
            await writer.drain()

        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        host, path = writer.get_extra_info("sockname")[0], head.split(" ")[1]
        self.requests.append(head)
        self.asked.append((host, path))
        for name in ("", host):
            self.at_once[name] += 1
            self.most_at_once[name] = max(self.most_at_once[name], self.at_once[name])
        try:
            await asyncio.sleep(self.latency + self.slow.get(path, 0.0))
            if behaviour := BEHAVIOURS.get(path):
                await behaviour(write)
            else:
                await write(self._reply(host, path).raw)
        finally:
            self.at_once.subtract(("", host))

    def _reply(self, host: str, path: str) -> Reply:
        bare, _, query = path.partition("?")
        number = HOSTS.index(host)
        if bare in FLAKY:
            return FLAKY[bare] if self.hits(path) == 1 else Reply(texts.article("/articles/ferry").html.encode())
        if bare in texts.ARTICLES:
            return Reply(texts.article(bare, number).html.encode())
        if bare in {"/feed.rss", "/feed.atom"}:
            write, kind = (texts.rss, "rss") if bare.endswith("rss") else (texts.atom, "atom")
            listed = [(each, texts.article(each, number)) for each in texts.ARTICLES if each != "/article"]
            return Reply(write(self.url("", number), listed).encode(), f"application/{kind}+xml")
        if bare == "/to":
            return Reply(status="302 Found", headers=(f"Location: {unquote(query)}",))
        if bare.startswith("/chain/"):
            return Reply(status="302 Found", headers=(f"Location: /chain/{int(bare[7:]) + 1}",))
        return self.pages.get(bare, PAGES["/gone"])

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)


@contextlib.asynccontextmanager
async def site(latency: float = 0.0) -> AsyncIterator[Site]:
    """:param latency: seconds before each answer."""
    made = Site(latency)
    servers: list[asyncio.Server] = []
    try:
        for host in HOSTS:
            servers.append(await asyncio.start_server(made, host, made.port, limit=REQUEST_BYTES))
            made.port = servers[0].sockets[0].getsockname()[1]
        yield made
    finally:
        for server in servers:
            server.close()
        await made.close()


async def _main() -> None:
    async with site(float(sys.argv[1]) if len(sys.argv) > 1 else 0.0) as made:
        print(made.port, flush=True)
        await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(_main())
