"""Hard trials of a daemon: a crowd of tickets, a crowd of listeners some of whom are bad ones, and kills."""

import argparse
import asyncio
import contextlib
import random
import socket
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import aiohttp

from bench.answer import index, text
from bench.daemon.client import Ends, post_all, read_events, spread
from bench.daemon.load import resident
from bench.faults.attacks import Sizes, kills
from bench.faults.daemon import Daemon, daemon
from bench.faults.model import slow
from bench.measure import Figures, NotMeasured
from tests.fake_openai import FakeOpenAI

WAIT_SECONDS = 600.0
WAVES = 10
HANG_UPS = 100
"""Listeners of a wave."""
TOO_FEW_BYTES = 4096
"""What the system keeps for a listener that never reads."""


@contextlib.asynccontextmanager
async def _thinking(folder: Path, seconds: tuple[float, float]) -> AsyncIterator[Daemon]:
    """A daemon with a few documents and a model that takes so long for each call."""
    await index(folder)
    async with (
        FakeOpenAI(slow(seconds)) as model,
        daemon(folder, OPENAI_BASE_URL=model.url, OPENAI_API_KEY="unused", TERMINUS_MODEL_CONCURRENCY="4096") as one,
    ):
        yield one


def _client(address: str) -> aiohttp.ClientSession:
    timeout = aiohttp.ClientTimeout(total=None)
    return aiohttp.ClientSession(address, connector=aiohttp.TCPConnector(limit=0), timeout=timeout)


async def crowd(folder: Path, options: argparse.Namespace) -> Figures:
    """Tickets that all come at once, with a model of 1 s a call: all end, and each caller soon has the answer."""
    heard, statuses = dict[str, float](), Counter[str]()
    async with _thinking(folder, (1.0, 1.0)) as one, _client(one.address) as client:
        began = time.time()

        async def ask(number: int) -> None:
            async with client.post(f"/tickets?wait={WAIT_SECONDS:g}", json={"text": text(number)}) as response:
                told = await response.json()
            if response.status == 200:
                heard[told["run"]] = time.time()
            statuses[f"{told['status']} ({told['why']})" if response.status == 200 else str(response.status)] += 1

        await asyncio.gather(*map(ask, range(options.crowd)))
        ended = await Ends(one.storage).wait()
    late = spread([at - ended[run] for run, at in heard.items()])
    seconds = round(max(ended.values()) - began, 1)
    return {"accepted": options.crowd, "ended": len(ended), "statuses": dict(statuses), "seconds": seconds,
            "end_to_answer_ms": late}  # fmt: skip


class Listener:
    """Somebody who listens to a stream, cut off now and then, and counts what comes."""

    def __init__(self, client: aiohttp.ClientSession, path: str, cuts: random.Random | None) -> None:
        self.heard: Counter[str] = Counter()
        self.order: dict[str, int] = {}
        self.disordered = 0
        self.connections = 0
        self.listens = asyncio.Event()
        self._heard_more = asyncio.Event()
        self._client, self._path, self._cuts = client, path, cuts

    async def listen(self) -> None:
        """Until it is cancelled, or the run that it listens to has ended."""
        last = ""
        while True:
            self.connections += 1
            left = self._cuts.randint(1, 20) if self._cuts else 1_000_000_000
            headers = {"Last-Event-ID": last} if last else {}
            async with self._client.get(self._path, headers=headers) as response:
                if response.status == 204:
                    return
                if response.status != 200:
                    raise NotMeasured(f"a listener was refused: {response.status} {await response.text()}")
                self.listens.set()
                async for each in read_events(response):
                    last = each.id or last
                    self._count(each.id)
                    left -= 1
                    if not left:
                        break

    def _count(self, number: str) -> None:
        run, _, n = number.partition(":")
        if n:
            self.heard[number] += 1
            self.disordered += int(n) != self.order.get(run, -1) + 1
            self.order[run] = int(n)
            self._heard_more.set()

    async def wait(self, count: int) -> None:
        """Until it has heard so many events."""
        while len(self.heard) < count:
            self._heard_more.clear()
            await self._heard_more.wait()


@contextlib.contextmanager
def _stuck(address: str, path: str) -> Iterator[None]:
    """A listener that never reads."""
    to = urlsplit(address)
    with socket.socket() as line:
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, TOO_FEW_BYTES)
        line.connect((to.hostname, to.port))
        line.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        yield


async def listeners(folder: Path, options: argparse.Namespace) -> Figures:
    """Many listen, some never read, some go and come back all the time: each hears each event once, in order."""
    count, bad = options.listeners, options.listeners // 10
    dice = random.Random(options.seed)
    async with _thinking(folder, (0.2, 1.0)) as one, _client(one.address) as client:
        every = [Listener(client, "/events", random.Random(n) if n < bad else None) for n in range(count // 2)]
        tasks = [asyncio.create_task(each.listen()) for each in every]
        with contextlib.ExitStack() as stack:
            for _ in range(bad // 2):
                stack.enter_context(_stuck(one.address, "/events"))
            await asyncio.gather(*(each.listens.wait() for each in every))
            posted, _ = await post_all(one.address, [text(n) for n in range(options.streamed)], 16)
            runs = [each.run for each in posted]
            paths = await _paths(client, runs)
            for _ in range(bad - bad // 2):
                stack.enter_context(_stuck(one.address, dice.choice(paths)))
            single = [
                Listener(client, paths[n % len(paths)], random.Random(n) if n < bad // 2 else None)
                for n in range(count // 2)
            ]
            following = [asyncio.create_task(each.listen()) for each in single]
            ended = await Ends(one.storage).wait()
            await asyncio.wait_for(asyncio.gather(*following), WAIT_SECONDS)
            whole = sum([await _count_events(client, run) for run in runs])
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(asyncio.gather(*(each.wait(whole) for each in every)), WAIT_SECONDS)
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
    return {
        "listeners": len(every) + len(single), "stuck": bad, "tickets": len(ended), "events": whole,
        "connections": sum(each.connections for each in [*every, *single]),
        "lost": sum(whole - len(each.heard) for each in every),
        "doubled": sum(sum(each.heard.values()) - len(each.heard) for each in [*every, *single]),
        "out of order": sum(each.disordered for each in [*every, *single]),
    }  # fmt: skip


async def _paths(client: aiohttp.ClientSession, runs: list[str]) -> list[str]:
    paths = list[str]()
    for run in runs:
        async with client.get(f"/runs/{run}") as response:
            paths.append(f"/tickets/{(await response.json())['ticket']}/events")
    return paths


async def _count_events(client: aiohttp.ClientSession, run: str) -> int:
    """How many numbered events a run had: its beginning, its handoffs, its end."""
    async with client.get(f"/runs/{run}") as response:
        return len((await response.json())["outcome"]["handoffs"]) + 2


async def killed(folder: Path, options: argparse.Namespace) -> Figures:
    """SIGKILL in the middle, again and again: every accepted ticket ends, and none twice."""
    return await kills(Sizes(kills=options.kills, tickets=options.wave, seed=options.seed), folder)


async def soak(folder: Path, options: argparse.Namespace) -> Figures:
    """Tickets wave after wave, and listeners who hang up in the middle: what of each stays in the daemon."""
    wave = options.soaked // WAVES
    seen = list[tuple[int, int, int]]()
    async with daemon(folder) as one, _client(one.address) as client:
        for number in range(WAVES):
            posted, _ = await post_all(one.address, [text(number * wave + n) for n in range(wave)], 16)
            await asyncio.gather(*(_hang_up(client, each.run) for each in posted[:: wave // min(wave, HANG_UPS)]))
            await Ends(one.storage).wait()
            at = Path(f"/proc/{one.pid}")
            seen.append((resident(one.pid), len(list((at / "fd").iterdir())), len(list((at / "task").iterdir()))))
    half = WAVES // 2
    grown = (seen[-1][0] - seen[half - 1][0]) / (wave * (WAVES - half))
    return {
        "tickets": wave * WAVES, "resident_mib": [round(each[0] / (1 << 20)) for each in seen],
        "bytes_a_ticket_in_the_second_half": round(grown), "open_files": [each[1] for each in seen],
        "threads": [each[2] for each in seen],
    }  # fmt: skip


async def _hang_up(client: aiohttp.ClientSession, run: str) -> None:
    """Listen to a run, and go away after the first event."""
    async with client.get(f"/tickets/{run}/events") as response:
        async for _ in read_events(response):
            break


TRIALS = {"soak": soak, "crowd": crowd, "listeners": listeners, "kills": killed}
