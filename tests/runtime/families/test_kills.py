"""Kill -9 at any moment of a research, then resume: no page that was read is fetched again, the report is the same."""

import asyncio
import contextlib
import json
import random
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import urlsplit

import msgspec
import pytest

from actors.evidence.sources import FailedSource, Page
from actors.workflow.outcome import EndReason, Outcome
from runtime.engine.node import Node
from runtime.processes.pool import ROOT
from tests.runtime.families.digging import node_on
from tests.site import Site, site

KILLS = 50
KILLS_A_RUN = 5
"""A run is given up after five deaths of its process."""
LATENCY_SECONDS = 0.05


class Digs:
    """Researches in a process that can be killed."""

    def __init__(self, process: asyncio.subprocess.Process, feed: str) -> None:
        self._process, self.feed = process, feed

    async def __call__(self, folder: Path, *, what: str = "submit", seconds: float = 0.0) -> int:
        """Returns 0 when it came to its end, and -9 when it was killed after some seconds."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        order = {"folder": str(folder), "feed": self.feed, "what": what, "seconds": seconds}
        self._process.stdin.write(json.dumps(order).encode() + b"\n")
        return int(await self._process.stdout.readline())


@contextlib.asynccontextmanager
async def digging(web: Site) -> AsyncIterator[Digs]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.runtime.families.digging",
        cwd=ROOT, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        yield Digs(process, web.url("/feed.rss"))
    finally:
        assert process.stdin is not None
        process.stdin.close()
        await process.wait()


@contextlib.asynccontextmanager
async def opened(folder: Path, feed: str) -> AsyncIterator[Node]:
    node = node_on(str(folder), feed)
    try:
        yield node
    finally:
        await node.close()


async def resumed(folder: Path, feed: str) -> Outcome | None:
    """The end of the one research in a folder, gone on with if need be; nothing if it never was accepted."""
    async with opened(folder, feed) as node:
        for handle in await node.resume():
            await handle.outcome()
        assert await node.journal.list_open() == []
        rows = await node.journal.latest(2)
        return await node.journal.outcome(rows[0]) if rows else None


async def done(folder: Path, feed: str) -> set[str]:
    """The paths of the pages that are durable by now."""
    async with opened(folder, feed) as node:
        rows = node.database.rows("SELECT value FROM effect WHERE kind = 'page'")
        read: list[Page | FailedSource] = [msgspec.msgpack.decode(value, type=Page | FailedSource) for (value,) in rows]
        return {urlsplit(each.url if isinstance(each, Page) else each.place).path for each in read}


@pytest.mark.req("PR-10", "PR-22")
async def test_killed_at_any_moment_a_research_fetches_nothing_twice_and_reports_the_same(tmp_path: Path) -> None:
    dice = random.Random(11)
    async with site(latency=LATENCY_SECONDS) as web, digging(web) as dig:
        # given
        began = time.monotonic()
        assert await dig(tmp_path / "whole") == 0
        whole_seconds = time.monotonic() - began
        whole = await resumed(tmp_path / "whole", dig.feed)
        assert whole is not None
        assert whole.why is EndReason.COMPLETED
        assert whole.resolution is not None
        assert len(whole.resolution.citations) >= 3
        kills, runs = 0, 0
        while kills < KILLS:
            folder = tmp_path / str(runs)
            runs += 1

            # when
            for n in range(KILLS_A_RUN):
                known = await done(folder, dig.feed) if n else set()
                before = {path: web.hits(path) for path in known}
                code = await dig(folder, what="resume" if n else "submit", seconds=dice.uniform(0.02, whole_seconds))
                again = {path for path in known if web.hits(path) != before[path]}
                assert again == set(), "a page that was durable is not fetched again"
                kills += code == -9
                if code == 0:
                    break
            known = await done(folder, dig.feed)
            before = {path: web.hits(path) for path in known}
            outcome = await resumed(folder, dig.feed)

            # then
            assert {path for path in known if web.hits(path) != before[path]} == set()
            if outcome is None:
                continue  # killed before it was accepted
            assert outcome.resolution is not None
            assert outcome.resolution.text.splitlines() == whole.resolution.text.splitlines()
            assert outcome.resolution == whole.resolution, "the report is the same, byte for byte"
            assert (outcome.status, outcome.why) == (whole.status, whole.why)
        assert kills >= KILLS
