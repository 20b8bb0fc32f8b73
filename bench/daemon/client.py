"""The other side of the line: tickets posted as fast as connections take them, and what the database says of them."""

import asyncio
import contextlib
import json
import sqlite3
import statistics
import time
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import aiohttp

from bench.measure import Figures, NotMeasured

END_SECONDS = 600.0
LOOK_SECONDS = 0.02


class Posted(NamedTuple):
    """A ticket that was accepted."""

    run: str
    seconds: float
    """From sending it to having the answer."""


class Line:
    """A connection that is kept open: the least that a client can do, so that it is not the client that is measured."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    async def post(self, text: str, *, wait: float = 0.0) -> Posted:
        body = json.dumps({"text": text}).encode()
        head = f"POST /tickets?wait={wait:g} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        began = time.perf_counter()
        self._writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        answered = await self._reader.readuntil(b"\r\n\r\n")
        length = next(int(each[15:]) for each in answered.split(b"\r\n") if each.lower().startswith(b"content-length:"))
        told = json.loads(await self._reader.readexactly(length))
        seconds = time.perf_counter() - began
        if answered[9:12] not in (b"202", b"200"):
            raise NotMeasured(f"a ticket was not accepted: {told}")
        return Posted(told.get("run", ""), seconds)


@contextlib.asynccontextmanager
async def lines(address: str, count: int) -> AsyncIterator[list[Line]]:
    """So many connections to a server."""
    host, _, port = address.removeprefix("http://").rpartition(":")
    opened = [await asyncio.open_connection(host, int(port)) for _ in range(count)]
    try:
        yield [Line(*each) for each in opened]
    finally:
        for _, writer in opened:
            writer.close()


async def post_all(address: str, texts: Sequence[str], at_once: int) -> tuple[list[Posted], float]:
    """All of these tickets over so many connections, and the seconds until the last was accepted."""
    left, posted = list(reversed(texts)), list[Posted]()
    async with lines(address, at_once) as open_lines:

        async def work(line: Line) -> None:
            while left:
                posted.append(await line.post(left.pop()))

        began = time.perf_counter()
        await asyncio.gather(*map(work, open_lines))
        return posted, time.perf_counter() - began


class Ends:
    """What a daemon's database says of its runs, read beside it."""

    def __init__(self, storage: Path) -> None:
        self._path = storage / "terminus.db"

    def read(self, sql: str) -> list[Any]:
        with contextlib.closing(sqlite3.connect(f"file:{self._path}?mode=ro", uri=True)) as database:
            return database.execute(sql).fetchall()

    async def wait(self) -> dict[str, float]:
        """When each run ended, in seconds since 1970, once all have."""
        until = time.monotonic() + END_SECONDS
        while open_runs := self.read("SELECT count(*) FROM run WHERE ended IS NULL")[0][0]:
            if time.monotonic() > until:
                raise NotMeasured(f"{open_runs} runs have not ended")
            await asyncio.sleep(LOOK_SECONDS)
        return dict(self.read("SELECT id, ended FROM run"))


class Streamed(NamedTuple):
    """One event of a stream."""

    name: str
    id: str
    at: float
    """Seconds since 1970, when it was read."""


async def read_events(response: aiohttp.ClientResponse) -> AsyncIterator[Streamed]:
    """The events of a stream, without comments."""
    name = number = ""
    async for raw in response.content:
        if raw.startswith(b"event: "):
            name = raw[7:-1].decode()
        elif raw.startswith(b"id: "):
            number = raw[4:-1].decode()
        elif raw == b"\n":
            if name:
                yield Streamed(name, number, time.time())
            name = number = ""


def spread(seconds: Sequence[float]) -> Figures:
    """Milliseconds: the middle, and what one in a hundred exceeds."""
    cuts = statistics.quantiles(seconds, n=100, method="inclusive")
    return {"p50": round(cuts[49] * 1e3, 2), "p99": round(cuts[98] * 1e3, 2), "max": round(max(seconds) * 1e3, 2)}
