"""A day of a daemon in virtual time: what it does by itself is done, all tickets end, and nothing is left behind."""

import asyncio
import contextlib
import datetime
import functools
import gc
import signal
import threading
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any, NamedTuple, cast

import aiohttp
import pytest

from runtime.engine import runs
from runtime.engine.service import TicketService
from runtime.http import server
from runtime.http.server import address, bound, serve
from runtime.intake import intake, sender
from runtime.intake.helpdesk_watcher import HelpdeskWatcher
from runtime.intake.sender import Sender
from runtime.observe import loop_watch
from runtime.settings import DAY
from runtime.storage.sqlite.effect_store import SqliteEffects
from runtime.times import HOUR, MINUTE
from tests.patience import HANGS_SECONDS
from tests.runtime.http.kit import settings
from tests.runtime.intake.fake_helpdesk import FakeHelpdesk, fake_helpdesk

COMPLAINT = "请帮我起草一份起诉状,公司拖欠我的工资。"
QUIET_SECONDS = 0.001
"""Nothing has happened for so long, and nobody works: then the next timer is due at once."""


class Usage(NamedTuple):
    """What a process holds."""

    tasks: int
    files: int
    threads: int
    objects: int


class Clock:
    """Lets time jump to the next timer while nothing else is to be waited for; `time.time` goes with it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        loop = cast("Any", asyncio.get_running_loop())
        self.is_idle: Callable[[], bool] = lambda: False
        self.skipped = 0.0
        self._select, real_loop, real_time = loop._selector.select, loop.time, time.time
        monkeypatch.setattr(loop._selector, "select", self._jump)
        monkeypatch.setattr(loop, "time", lambda: real_loop() + self.skipped)
        monkeypatch.setattr(time, "time", lambda: real_time() + self.skipped)

    def _jump(self, timeout: float | None = None) -> Any:
        if timeout is None or timeout <= QUIET_SECONDS or not self.is_idle():
            return self._select(timeout if timeout is None else min(timeout, 0.05))
        ready = self._select(QUIET_SECONDS)
        if not ready and self.is_idle():
            self.skipped += timeout - QUIET_SECONDS
        return ready


@contextlib.asynccontextmanager
async def daemon(
    folder: Path, desk: FakeHelpdesk, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[tuple[TicketService, aiohttp.ClientSession]]:
    """The daemon as `serve` runs it, and a client."""
    opened: list[TicketService] = []
    known = server.listening

    def listening(service: TicketService, *others: Any) -> Any:
        opened.append(service)
        return known(service, *others)

    monkeypatch.setattr(server, "listening", listening)
    ready, chosen = asyncio.Event(), settings(folder)
    desk.connect(folder, poll_seconds=MINUTE)
    with bound(chosen.server) as sock:
        serving = asyncio.create_task(serve(chosen, sock, lambda _: ready.set(), lambda: chosen))
        try:
            await asyncio.wait_for(ready.wait(), HANGS_SECONDS)
            async with aiohttp.ClientSession(address(sock)) as client:
                yield opened[0], client
        finally:
            signal.raise_signal(signal.SIGTERM)
            await asyncio.wait_for(serving, HANGS_SECONDS)
            gc.unfreeze()


@pytest.fixture
def sparse(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """What is looked at every few seconds is so less often, or a day has too many moments; counts the daily work."""
    done = {"sweeps": 0}
    sweep = SqliteEffects.sweep

    async def count(self: SqliteEffects, most: int) -> None:
        done["sweeps"] += 1
        await sweep(self, most)

    monkeypatch.setattr(SqliteEffects, "sweep", count)
    monkeypatch.setattr(loop_watch, "BEAT_SECONDS", 2 * MINUTE)
    monkeypatch.setattr(runs, "ORPHAN_SECONDS", 2 * MINUTE)
    monkeypatch.setattr(intake, "TICK_SECONDS", 2 * MINUTE)
    monkeypatch.setattr(sender, "WORD_SECONDS", 10 * MINUTE)
    for each in (HelpdeskWatcher, Sender):  # they have taken the real clock by now
        monkeypatch.setattr(intake, each.__name__, functools.partial(each, clock=lambda: time.time()))
    return done


@pytest.mark.req("SY-4")
async def test_a_day_leaves_nothing_behind(
    sparse: dict[str, int], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    clock = Clock(monkeypatch)
    async with fake_helpdesk() as desk, daemon(tmp_path, desk, monkeypatch) as (service, client):
        node, asked = service.node, 0

        async def work(hours: int) -> None:
            nonlocal asked
            clock.is_idle = lambda: False
            for _ in range(hours * 6):
                asked += 1
                await _ask(client, desk, asked)
                clock.is_idle = lambda: node.live == 0 and node.journal.store.pulse().waited == 0
                await asyncio.sleep(10 * MINUTE)
                clock.is_idle = lambda: False
            async with asyncio.timeout(HANGS_SECONDS):
                while await node.journal.list_open():  # noqa: ASYNC110
                    await asyncio.sleep(0.01)

        began = time.time()
        await work(2)
        before = measure()
        await work(24)
        after = measure()

        assert time.time() - began > DAY + HOUR
        assert sparse["sweeps"] >= 2, "once a day, from the start on"
        assert len(await node.journal.latest(1_000)) == asked
        assert all(each.ended for each in await node.journal.latest(1_000))
        assert (service.streams, node.live) == (0, 0)
        assert (after.tasks, after.threads) == (before.tasks, before.threads)
        assert after.files <= before.files + 2
        assert after.objects - before.objects < 20 * 24 * 6, "a ticket leaves little"


async def _ask(client: aiohttp.ClientSession, desk: FakeHelpdesk, number: int) -> None:
    """Something comes in, in one of the ways in which it does."""
    text = f"My printer {number} smokes."
    match number % 6:
        case 0:  # a helpdesk's customer writes, and the poll finds it
            desk.write(str(number), "ann", text, at=datetime.datetime.now(datetime.UTC).isoformat())
        case 1:
            async with client.post("/tickets?wait=30", json={"text": text}) as response:
                told = await response.json()
                assert told.get("status") == "not_found", told
        case 2:
            async with client.post("/tickets", json={"text": text}) as response:
                told = await response.json()
            async with client.get(told["links"]["events"]) as response:
                await asyncio.wait_for(response.content.readline(), HANGS_SECONDS)  # and goes away
        case 3:
            async with client.post("/tickets", json={"text": text}) as response:
                told = await response.json()
            async with client.post(f"/tickets/{told['ticket']}/cancel") as response:
                assert response.status in {200, 202}
        case 4:
            complaint = {"id": f"C-{number}", "text": COMPLAINT, "workflow": "legal"}
            async with client.post("/tickets?wait=30", json=complaint) as response:
                told = await response.json()
                assert told.get("status") == "needs_input", told
        case 5:  # ten minutes later
            said = {"text": "My name is Ann Miller."}
            async with client.post(f"/tickets/C-{number - 1}/answers?wait=30", json=said) as response:
                told = await response.json()
                assert told.get("ended"), told


def measure() -> Usage:
    gc.collect()
    return Usage(
        len(asyncio.all_tasks()),
        len(list(Path("/proc/self/fd").iterdir())),
        threading.active_count(),
        len(gc.get_objects()),
    )
