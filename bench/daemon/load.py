"""What the daemon takes and ends a second, how late answers and events are, what open tickets and a start cost."""

import argparse
import asyncio
import contextlib
import os
import re
import signal
import sqlite3
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp

from bench.answer import clean_environ, text
from bench.daemon.client import Ends, post_all, read_events, spread
from bench.faults.daemon import ROOT, START_SECONDS, daemon
from bench.measure import Figures, NotMeasured, median
from tests.fake_openai import FakeOpenAI, Step

ENDED = 10_000
RUN = "workflow, initial, started, boot, uptime, owner, ended, status, ending, version, trace, intent, seconds"
NUMBERS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {count}) "
CLONES = (
    "INSERT INTO ticket SELECT id || i, subject, text, requester, status, note, closed_by, created FROM ticket, n",
    "INSERT INTO event SELECT run || i, event.n, at, sender, number, event FROM event, n",
    f"INSERT INTO run (id, ticket, {RUN}) SELECT id || i, ticket || i, {RUN} FROM run, n",
)
"""One ended ticket becomes as many more as are wanted."""


@contextlib.asynccontextmanager
async def bare(folder: Path) -> AsyncIterator[str]:
    """The address of the bare handler, in a process of its own."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bench.daemon.bare", str(folder), cwd=ROOT,
        env={**clean_environ(), "PYTHONPATH": str(ROOT)},
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None
    try:
        line = await asyncio.wait_for(process.stdout.readline(), START_SECONDS)
        found = re.search(rb"http://\S+", line)
        if found is None:
            raise NotMeasured("the bare handler did not start")
        yield found[0].decode()
    finally:
        process.send_signal(signal.SIGKILL)
        await process.communicate()


async def accept(folder: Path, options: argparse.Namespace) -> Figures:
    """Tickets accepted a second, ours and bare in turn, while what was accepted is worked on."""
    (folder / "ours").mkdir()
    ours, limit = list[Figures](), list[Figures]()
    async with daemon(folder / "ours") as one, bare(folder) as other:
        ends = Ends(one.storage)
        for number in range(-1, options.rounds):
            texts = [text(number * options.tickets + n) for n in range(options.tickets)]
            posted, seconds = await post_all(other, texts, options.at_once)
            limit.append({"per_second": len(posted) / seconds, **spread([each.seconds for each in posted])})
            began = time.time()
            posted, seconds = await post_all(one.address, texts, options.at_once)
            over = await ends.wait()
            whole = max(over[each.run] for each in posted) - began
            ours.append(
                {"per_second": len(posted) / seconds, "finished": len(posted) / whole,
                 **spread([each.seconds for each in posted])}
            )  # fmt: skip
    del ours[0], limit[0]  # while workers start and connections open
    ratios = [mine["per_second"] / raw["per_second"] for mine, raw in zip(ours, limit, strict=True)]
    told = {
        name: {key: round(median(each[key] for each in rows), 1) for key in rows[0]}
        for name, rows in (("ours", ours), ("bare", limit))
    }
    return {**told, "ratio": round(median(ratios), 2)}


async def delays(folder: Path, options: argparse.Namespace) -> Figures:
    """From the end of a run, as it was written down, to the answer, and to its event in both kinds of streams."""
    answered, streamed, fed = dict[str, float](), dict[str, float](), dict[str, float]()
    async with daemon(folder) as one, aiohttp.ClientSession(one.address) as client:
        await post_all(one.address, [text(-n - 1) for n in range(8)], 8)
        await Ends(one.storage).wait()
        at_once = asyncio.Semaphore(16)

        async def ask(number: int) -> None:
            async with at_once, client.post("/tickets?wait=60", json={"text": text(number)}) as response:
                answered[(await response.json())["run"]] = time.time()

        async def watch(number: int) -> None:
            async with at_once:
                async with client.post("/tickets", json={"text": text(number)}) as response:
                    told = await response.json()
                async with client.get(told["links"]["events"]) as response:
                    async for each in read_events(response):
                        if each.name == "ended":
                            streamed[told["run"]] = each.at

        async def watch_all() -> None:
            async with client.get("/events") as response:
                ready.set()
                async for each in read_events(response):
                    if each.name == "ended":
                        fed[each.id.partition(":")[0]] = each.at
                    if len(fed) == 2 * options.tickets:
                        return

        ready = asyncio.Event()
        watching = asyncio.create_task(watch_all())
        await ready.wait()
        await asyncio.gather(*(ask(n) for n in range(options.tickets)))
        await asyncio.gather(*(watch(n) for n in range(options.tickets, 2 * options.tickets)))
        await asyncio.wait_for(watching, 60.0)
        ended = await Ends(one.storage).wait()
    heard = {"answer": answered, "ticket_stream": streamed, "stream_of_all": fed}
    return {name: spread([at - ended[run] for run, at in each.items()]) for name, each in heard.items()}


def hangs() -> Step:
    """A model that thinks until it is let go of."""

    async def step(server: FakeOpenAI, _: object) -> None:
        await server.hang()

    return step  # type: ignore[return-value] # it never answers


async def memory(folder: Path, options: argparse.Namespace) -> Figures:
    """KiB of the daemon a ticket that is open, while a model thinks."""
    async with FakeOpenAI(hangs()) as model, daemon(folder, OPENAI_BASE_URL=model.url, OPENAI_API_KEY="unused") as one:
        await post_all(one.address, [text(-n - 1) for n in range(200)], 16)
        before = resident(one.pid)
        await post_all(one.address, [text(n) for n in range(options.open)], 16)
        return {"kib": round((resident(one.pid) - before) / options.open / 1024, 1), "tickets": options.open}


def resident(pid: int) -> int:
    """Bytes of memory that a process has now."""
    pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="utf-8").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


async def start(folder: Path, options: argparse.Namespace) -> Figures:
    """Seconds from starting the process to its first answer, on an empty folder and on one with many ended tickets."""
    fresh = [Path(tempfile.mkdtemp(dir=folder)) for _ in range(options.rounds)]
    empty = [await _start(each) for each in fresh]
    full = folder / "full"
    full.mkdir()
    async with daemon(full) as one:
        await post_all(one.address, [text(0)], 1)
        await Ends(one.storage).wait()
        await one.stop()
    with contextlib.closing(sqlite3.connect(full / "task-data" / "terminus.db")) as database, database:
        for statement in CLONES:
            database.execute(NUMBERS.format(count=options.ended - 1) + statement)
    found = [await _start(full) for _ in range(options.rounds)]
    return {"empty": round(median(empty), 2), "full": round(median(found), 2), "ended": options.ended}


async def _start(folder: Path) -> float:
    began = time.perf_counter()
    async with daemon(folder) as one, aiohttp.ClientSession(one.address) as client:
        async with client.get("/health/ready") as response:
            if response.status != 200:
                raise NotMeasured(f"it is not ready: {await response.text()}")
        seconds = time.perf_counter() - began
        await one.stop()
    return seconds


PARTS = {"accept": accept, "delays": delays, "memory": memory, "ready": start}
