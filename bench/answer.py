"""
From a run's end, as the server wrote it down, to the answer in its HTTP client's hands: many tickets side by side
against a real server process. The target is 2 s (HD-1.4); it should be milliseconds.
"""

import argparse
import asyncio
import contextlib
import datetime
import functools
import os
import re
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import aiohttp

from bench.measure import Figures, NotMeasured, arguments, report, table

ROOT = Path(__file__).resolve().parent.parent
START_SECONDS, STOP_SECONDS = 60.0, 30.0
WAIT_SECONDS = 300.0
TARGET_MS = 2000.0
SYMPTOMS = ("drops every {n} minutes", "is slow since {n} o'clock", "asks for code {n}", "shows error {n}")
THINGS = ("VPN", "printer", "mailbox", "laptop", "projector", "badge reader", "calendar", "phone")
ARTICLE = """\
# The {thing}

## The {thing} drops every few minutes

When the {thing} drops every few minutes, restart the access point in the corridor and wait for the green light.

## The {thing} is slow

When the {thing} is slow, close what you do not need and install the pending updates over night.

## The {thing} asks for a code

The code that the {thing} asks for is on the back of your badge; it changes on the first of the month.
"""


class Answered(NamedTuple):
    run: str
    status: str
    at: float
    """Seconds since 1970, when the whole answer was there."""


@contextlib.asynccontextmanager
async def server() -> AsyncIterator[str]:
    """A server process of its own, on a folder with a few documents and no tickets; gives its address."""
    with tempfile.TemporaryDirectory() as folder:
        await index(Path(folder))
        process = await _program(folder, "serve", "--port", "0")
        try:
            if process.stdout is None:
                raise NotMeasured("the server has no output")
            line = await asyncio.wait_for(process.stdout.readline(), START_SECONDS)
            found = re.search(rb"http://\S+", line)
            if found is None:
                raise NotMeasured("the server did not start; its log is above")
            yield found[0].decode()
        finally:
            if process.returncode is None:
                process.terminate()
            await asyncio.wait_for(process.wait(), STOP_SECONDS)


async def index(folder: Path, **environ: str) -> None:
    """Have a product in this folder know a few documents."""
    (folder / "faq").mkdir(exist_ok=True)
    for thing in THINGS:
        (folder / "faq" / f"{thing}.md").write_text(ARTICLE.format(thing=thing), encoding="utf-8")
    indexing = await _program(folder, "index", "faq", stderr=asyncio.subprocess.PIPE, **environ)
    _, said = await asyncio.wait_for(indexing.communicate(), START_SECONDS)
    if indexing.returncode:
        raise NotMeasured(f"the documents could not be indexed: {said.decode()}")


async def _program(
    folder: str | Path, *words: str, stderr: int | None = None, **environ: str
) -> asyncio.subprocess.Process:
    """The product as its user runs it."""
    clean = {**clean_environ(), "PYTHONPATH": str(ROOT), "TERMINUS_LOG_LEVEL": "warning", **environ}
    command = (sys.executable, "-m", "runtime", *words)
    pipe = asyncio.subprocess.PIPE
    return await asyncio.create_subprocess_exec(*command, cwd=folder, env=clean, stdout=pipe, stderr=stderr)


def clean_environ() -> dict[str, str]:
    """The environment without settings that would lead the server elsewhere."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("TERMINUS_", "OPENAI_"))}


def text(number: int) -> str:
    thing, symptom = THINGS[number % len(THINGS)], SYMPTOMS[number // len(THINGS) % len(SYMPTOMS)]
    return f"My {thing} {symptom.format(n=number)}. What can I do?"


async def submitted(client: aiohttp.ClientSession, number: int) -> Answered:
    async with client.post("/tickets", params={"wait": str(WAIT_SECONDS)}, json={"text": text(number)}) as response:
        outcome = await response.json()
        at = time.time()
    if response.status != 200:
        raise NotMeasured(f"a ticket was answered with {response.status}: {outcome}")
    return Answered(outcome["run"], outcome["status"], at)


async def ended(client: aiohttp.ClientSession, run: str) -> float:
    async with client.get(f"/runs/{run}") as response:
        return datetime.datetime.fromisoformat((await response.json())["ended"]).timestamp()


async def measure(options: argparse.Namespace) -> Figures:
    async with server() as address:
        connector = aiohttp.TCPConnector(limit=0)
        timeout = aiohttp.ClientTimeout(total=WAIT_SECONDS + 30)
        async with aiohttp.ClientSession(address, connector=connector, timeout=timeout) as client:
            for number in range(-8, 0):  # workers start, connections open
                await submitted(client, number)
            began = time.perf_counter()
            answers = await asyncio.gather(*(submitted(client, number) for number in range(options.tickets)))
            seconds = time.perf_counter() - began
            late = [(each.at - await ended(client, each.run)) * 1000 for each in answers]
    cuts = statistics.quantiles(late, n=100, method="inclusive")
    spread = {"p50": cuts[49], "p99": cuts[98], "max": max(late)}
    return {
        "end_to_answer_ms": {name: round(value, 2) for name, value in spread.items()},
        "tickets": len(late),
        "tickets_per_second": round(len(late) / seconds, 1),
        "statuses": dict(Counter(each.status for each in answers)),
        "below_2_s": spread["max"] < TARGET_MS,
    }


def show(figures: Mapping[str, Any]) -> str:
    row = [f"{figures['end_to_answer_ms'][name]:.2f} ms" for name in ("p50", "p99", "max")]
    rows = [["end to answer", *row, f"{TARGET_MS:.0f} ms"]]
    ended = ", ".join(f"{count} {status}" for status, count in figures["statuses"].items())
    more = f"{figures['tickets']} tickets side by side, {figures['tickets_per_second']:.0f} answered a second: {ended}"
    return f"{table(['', 'p50', 'p99', 'max', 'target'], rows)}\n{more}"


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--tickets", type=int, default=500, help="tickets side by side")
    options = parser.parse_args()
    if options.tickets < 2:
        parser.error("--tickets must be 2 or more")
    return report(options, functools.partial(measure, options), show)


if __name__ == "__main__":
    sys.exit(main())
