"""The attacks: each breaks something, puts it right again, and tells how what was heard agrees with what is stored."""

import asyncio
import contextlib
import os
import random
import subprocess
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import aiohttp

from bench.answer import index, text
from bench.faults import strangers
from bench.faults.callers import Callers, together
from bench.faults.daemon import ROOT, Daemon, DiedAtStart, daemon
from bench.faults.hazards import FREEZE, POISON, Probes, count_stalls, equip, presses
from bench.faults.model import HOSTILE, slow
from bench.measure import Figures, NotMeasured
from tests.fake_openai import FakeOpenAI

MOST_DEATHS = 12
"""In a row: far more than a poison may cause."""
WAIT_SECONDS = 120.0
READY_SECONDS = 60.0
DAY = 86_400.0
DISK_MEGABYTES = 12
REVOKED_SECONDS = 15.0
"""A stream ends within two heartbeats of its token."""
MOST_STREAMS = 20
QUIET_SECONDS = 20.0
"""A daemon that lives for so long has nothing left that kills it."""
CLOCK = """\
import os, time
_real = time.time
def _moved():
    with open(os.environ["CLOCK_FILE"]) as file:
        return _real() + float(file.read() or 0)
time.time = _moved
"""
"""As `sitecustomize`, it gives a process a wall clock that can be set from outside."""


class Sizes(NamedTuple):
    """How hard the attacks are."""

    kills: int = 25
    tickets: int = 40
    """Of a wave."""
    ids: int = 300
    seed: int = 1
    backlog: int = 10_000
    """Open tickets that a daemon starts on."""


Attack = Callable[[Sizes, Path], Awaitable[Figures]]


@contextlib.asynccontextmanager
async def _attacked(folder: Path, model: FakeOpenAI, **environ: str) -> AsyncIterator[Daemon]:
    await index(folder, **{name: value for name, value in environ.items() if name.startswith("TERMINUS_")})
    async with daemon(folder, OPENAI_BASE_URL=model.url, OPENAI_API_KEY="unused", **environ) as one:
        yield one


async def usage(sizes: Sizes, folder: Path) -> Figures:
    """A model server whose `usage` is no number that anybody could have used, then a kill and a restart."""
    callers = Callers()
    async with FakeOpenAI(slow((0.0, 0.05), HOSTILE)) as model, _attacked(folder, model) as one:
        posts = (callers.post(one.address, f"U-{n}", text(n), wait=WAIT_SECONDS) for n in range(sizes.tickets * 2))
        await asyncio.gather(*posts)
        await one.kill()
        await one.start()
        return await callers.compare(one.address, one.storage)


async def kills(sizes: Sizes, folder: Path) -> Figures:
    """SIGKILL again and again under load, each time somewhere else; the last start has to end all."""
    callers, dice = Callers(), random.Random(sizes.seed)
    async with FakeOpenAI(slow((0.02, 0.4))) as model, _attacked(folder, model) as one:
        for kill in range(sizes.kills):
            posts = (
                callers.post(one.address, f"K-{kill}-{n}", text(n), wait=WAIT_SECONDS if n % 2 else 0.0)
                for n in range(sizes.tickets)
            )
            async with together(*posts):
                await asyncio.sleep(dice.uniform(0.1, 4.0))
                await one.kill()
            await one.start()
        return await callers.compare(one.address, one.storage)


async def twins(sizes: Sizes, folder: Path) -> Figures:
    """Two daemons over one folder, each id posted to both at the same moment."""
    callers = Callers()
    async with FakeOpenAI(slow((0.02, 0.2))) as model, _attacked(folder, model) as one, _attacked(folder, model) as two:

        async def both(number: int) -> bool:
            wait = WAIT_SECONDS if number % 2 else 0.0
            posts = (callers.post(each.address, f"B-{number}", text(number), wait=wait) for each in (one, two))
            first, second = await asyncio.gather(*posts)
            return bool(first) and first == second

        agreed: list[bool] = []
        for begin in range(0, sizes.ids, sizes.tickets):
            wave = range(begin, min(begin + sizes.tickets, sizes.ids))
            agreed += await asyncio.gather(*(both(number) for number in wave))
        figures = await callers.compare(two.address, two.storage)
    return {**figures, "answered alike by both": sum(agreed), "ids": sizes.ids}


async def disk(sizes: Sizes, folder: Path) -> Figures:
    """A small file system that fills under load and is emptied: while it goes on, over a stop, and over a kill."""
    callers = Callers()
    with _small_disk(folder / "disk") as storage:
        environ = {"TERMINUS_STORAGE_FOLDER": str(storage), "TERMINUS_SERVER_FREE_MEGABYTES": "1"}
        async with FakeOpenAI(slow((0.1, 0.8))) as model, _attacked(folder, model, **environ) as one:
            one.storage = storage
            for number, end in enumerate((None, one.stop, one.kill)):
                await _fill_and_empty(one, callers, f"D-{number}", sizes.tickets, end)
            return await callers.compare(one.address, storage)


async def _fill_and_empty(
    one: Daemon, callers: Callers, name: str, count: int, end: Callable[[], Awaitable[None]] | None
) -> None:
    """A wave of tickets, the disk full in the middle of it, another wave that finds it full; then room again."""
    wave = (callers.post(one.address, f"{name}-{n}", text(n), wait=WAIT_SECONDS) for n in range(count))
    ballast = one.storage / "ballast"
    async with together(*wave):
        await asyncio.sleep(1.0)
        _fill(ballast)
        await asyncio.gather(*(callers.post(one.address, f"{name}-full-{n}", text(n)) for n in range(count // 4)))
    if end is not None:
        await end()
    ballast.unlink()
    if end is not None:
        await one.start()
    await _ready(one.address)
    await asyncio.gather(*(callers.post(one.address, f"{name}-full-{n}", text(n)) for n in range(count // 4)))


def _fill(ballast: Path) -> None:
    with ballast.open("ab", buffering=0) as file, contextlib.suppress(OSError):
        for size in (65_536, 512):
            with contextlib.suppress(OSError):
                while True:
                    file.write(b"x" * size)


@contextlib.contextmanager
def _small_disk(at: Path) -> Iterator[Path]:
    at.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={DISK_MEGABYTES}m", "tmpfs", str(at)]
    if os.geteuid() != 0 or subprocess.run(command, check=False).returncode:
        raise NotMeasured("a small file system can only be mounted by root; leave `disk` out")
    try:
        yield at
    finally:
        subprocess.run(["umount", "--lazy", str(at)], check=True)


async def _ready(address: str) -> None:
    until = time.monotonic() + READY_SECONDS
    async with aiohttp.ClientSession(address) as client:
        while time.monotonic() < until:
            async with client.get("/health") as answer:
                if answer.status == 200:
                    return
            await asyncio.sleep(0.2)
    raise NotMeasured("the daemon was not ready again after the disk had room")


async def clock(sizes: Sizes, folder: Path) -> Figures:
    """A wall clock that jumps both ways, live and over kills, while tickets are repeated and come with another text."""
    callers, stale, file = Callers(), 0, folder / "clock"
    (folder / "sitecustomize.py").write_text(CLOCK, encoding="utf-8")
    file.write_text("0", encoding="utf-8")
    path = os.pathsep.join([str(folder), str(ROOT)])
    async with (
        FakeOpenAI(slow((0.01, 0.2))) as model,
        _attacked(folder, model, PYTHONPATH=path, CLOCK_FILE=str(file)) as one,
    ):
        for version, jump in enumerate((0.0, -2 * DAY, 3 * DAY, -1.0, -400 * DAY, 3600.0)):
            file.write_text(str(jump), encoding="utf-8")
            ids = [f"C-{n}" for n in range(sizes.tickets)]
            said = [f"{text(n)} Version {version}." for n in range(sizes.tickets)]
            wait = 0.0 if version == 4 else WAIT_SECONDS
            ran = await asyncio.gather(
                *(callers.post(one.address, *each, wait=wait) for each in zip(ids, said, strict=True))
            )
            if version % 2 == 0:
                await one.kill()
                file.write_text(str(-jump), encoding="utf-8")
                await one.start()
            again = await asyncio.gather(
                *(callers.post(one.address, *each, wait=WAIT_SECONDS) for each in zip(ids, said, strict=True))
            )
            stale += sum(first != second for first, second in zip(ran, again, strict=True))
            stale += sum(await asyncio.gather(*(_other(one.address, *each) for each in zip(ids, ran, strict=True))))
        figures = await callers.compare(one.address, one.storage)
    return {**figures, "an older run shown as the latest": stale}


async def _other(address: str, ticket: str, run: str) -> bool:
    """Whether another run than this is shown as the latest of a ticket."""
    async with aiohttp.ClientSession(address) as client, client.get(f"/tickets/{ticket}") as answer:
        return bool((await answer.json())["run"] != run)


async def revoked(sizes: Sizes, folder: Path) -> Figures:
    """The only token is revoked while streams and waits of it are open: they end, and no program gets in without."""
    callers = Callers()
    async with FakeOpenAI(slow((REVOKED_SECONDS, 2 * REVOKED_SECONDS))) as model, _attacked(folder, model) as one:
        for number in range(sizes.tickets):
            await callers.post(one.address, f"V-{number}", text(number))
        token = {"Authorization": f"Bearer {(await one.command('tokens', 'create', 'ann', '--role', 'admin')).strip()}"}
        await asyncio.sleep(REVOKED_SECONDS / 10)  # by then the daemon knows of it
        timeout = aiohttp.ClientTimeout(total=WAIT_SECONDS)
        async with aiohttp.ClientSession(one.address, headers=token, timeout=timeout) as client:
            paths = ["/events", *(f"/tickets/V-{number}/events" for number in range(min(sizes.tickets, MOST_STREAMS)))]
            streams = [await client.get(path) for path in paths]
            await one.command("tokens", "revoke", "ann")
            rest = await asyncio.gather(*(_hear_until(each, REVOKED_SECONDS) for each in streams))
        async with aiohttp.ClientSession(one.address) as client, client.get("/tickets") as answer:
            let_in = answer.status != 401
        await one.command("tokens", "off", "--yes")
        await asyncio.sleep(REVOKED_SECONDS / 10)
        figures = await callers.compare(one.address, one.storage)
    went_on = sum(not each.rstrip().rpartition(b"event: ")[2].startswith(b"failed") for each in rest)
    return {**figures, "heard by nobody who may": went_on + let_in, "streams": len(paths)}


async def _hear_until(stream: aiohttp.ClientResponse, seconds: float) -> bytes:
    """What a stream tells until its end, or for so long; then nothing."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds), stream:
            return await stream.read()
    return b""


async def poison(sizes: Sizes, folder: Path) -> Figures:
    """A ticket whose tool ends the daemon, among others that do no harm, and kills from outside besides."""
    callers, dice = Callers(), random.Random(sizes.seed)
    async with FakeOpenAI(presses((0.1, 0.8))) as model, _attacked(folder, model, **equip(folder)) as one:
        await asyncio.gather(*(callers.post(one.address, f"P-{n}", text(n)) for n in range(sizes.tickets)))
        await callers.post(one.address, "P-poison", f"Please look: {POISON}.")
        deaths = 0
        for _ in range(sizes.kills):
            deaths += await one.dies(within=dice.uniform(0.1, 1.5))
            await one.kill()
            deaths += await _start_poisoned(one)
        while await one.dies(within=QUIET_SECONDS):
            deaths += 1 + await _start_poisoned(one)
        figures = await callers.compare(one.address, one.storage)
    crashed = figures["statuses"].get("error (crashed_repeatedly)", 0)
    return {**figures, "deaths by the poison": deaths, "innocent tickets closed": max(0, crashed - 1),
            "poison left open": int(not crashed)}  # fmt: skip


async def _start_poisoned(one: Daemon) -> int:
    """Start it as often as the poison ends it before it takes tickets; how often that was."""
    for deaths in range(MOST_DEATHS):
        with contextlib.suppress(DiedAtStart):
            await one.start()
            return deaths
    raise NotMeasured(f"the daemon died {MOST_DEATHS} times in a row before it took tickets")


async def frozen(sizes: Sizes, folder: Path) -> Figures:
    """A tool that holds the event loop of the daemon for seconds, while somebody asks whether it lives."""
    callers, probes = Callers(), Probes()
    async with FakeOpenAI(presses((0.0, 0.1))) as model, _attacked(folder, model, **equip(folder)) as one:
        probing = asyncio.create_task(probes.make(one.address))
        posts = [callers.post(one.address, "F-frozen", f"Please look: {FREEZE}.", wait=WAIT_SECONDS)]
        posts += [callers.post(one.address, f"F-{n}", text(n), wait=WAIT_SECONDS) for n in range(sizes.tickets)]
        await asyncio.gather(*posts)
        probes.stop = True
        await probing
        stalls, longest = await count_stalls(one.address)
        figures = await callers.compare(one.address, one.storage)
    # A connection that was taken in right before the loop stood still is answered by nobody meanwhile.
    return {
        **figures, "probes": probes.made, "longest stall, seconds": longest,
        "probes without an answer": max(0, probes.silent - stalls), "stalls that nobody counted": int(not stalls),
    }  # fmt: skip


ATTACKS: dict[str, Attack] = {
    "usage": usage, "disk": disk, "twins": twins, "clock": clock, "kills": kills, "revoked": revoked,
    "poison": poison, "frozen": frozen,
    "dashes": lambda _, folder: strangers.dashes(folder),
    "blanks": lambda _, folder: strangers.blanks(folder),
    "leftover-tag": lambda _, folder: strangers.leftover_tag(folder),
    "follow-up": lambda _, folder: strangers.follow_up(folder),
    "backlog": lambda sizes, folder: strangers.backlog(folder, sizes.backlog),
}  # fmt: skip


async def carry_out(name: str, sizes: Sizes) -> Figures:
    """One attack in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix=f"faults-{name}-") as folder:
        return await ATTACKS[name](sizes, Path(folder))
