"""
A process that researches until it is killed: `python -m tests.runtime.families.digging`.

Reads one JSON object a line, {"folder", "feed", "what": "submit" or "resume", "seconds"}, forks a child for it, kills
that after so many seconds (0: never), and writes how it ended: 0, or -9.
"""

import asyncio
import json
import os
import signal
import sys
import time
from typing import Any, cast

import aiohttp  # noqa: F401 - what a research loads is loaded before the fork, so that each child begins at once
import frontmatter  # noqa: F401

from actors.research.models import ResearchOptions
from runtime.families.research_runs import ResearchRuns
from runtime.node import Node
from runtime.settings import FeedsSettings, FetchSettings, LogSettings, Settings, StorageSettings, WorkerSettings
from runtime.storage.journal import Ticket

NOW = 1_700_000_000.0
"""Seconds since 1970 at which every page is read."""
QUESTIONS = (
    "How many bee colonies live on flat roofs in Marwick? How long does tram line 7 take to the airport? "
    "What went wrong with heat pumps in Osterby?"
)
ORDER = Ticket(
    id="T-1", text=QUESTIONS, workflow="research", options=ResearchOptions(breadth=4, depth=2, sources=("rss",))
)


def node_on(folder: str, feed: str) -> Node:
    """A node whose only source is one feed, and whose clock for reading stands still."""
    node = Node(
        Settings(
            storage=StorageSettings(folder=folder),
            feeds=FeedsSettings(urls=(feed,)),
            fetch=FetchSettings(allow=("127.0.0.0/8",), robots=False),
            log=LogSettings(level="error"),
            workers=WorkerSettings(processes=1),
        )
    )
    cast("ResearchRuns", node.wiring.runs_of("research")).pages.crawler._now = lambda: NOW
    return node


async def play(order: dict[str, Any]) -> None:
    node = node_on(order["folder"], order["feed"])
    try:
        handles = [await node.submit(ORDER)] if order["what"] == "submit" else await node.resume()
        for handle in handles:
            await handle.outcome()
    finally:
        await node.close()


def main() -> None:
    for line in sys.stdin:
        order = json.loads(line)
        child = os.fork()
        if child == 0:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            asyncio.run(play(order))
            os._exit(0)
        print(_ended(child, order["seconds"]), flush=True)


def _ended(child: int, seconds: float) -> int:
    """Wait for a child, and kill it when its time is over."""
    if seconds:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                return os.waitstatus_to_exitcode(status)
            time.sleep(0.001)
        os.kill(child, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


if __name__ == "__main__":
    main()
