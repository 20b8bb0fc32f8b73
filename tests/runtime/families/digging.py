"""
A process that researches until it is killed: `python -m tests.runtime.families.digging`.

Reads one JSON object a line, {"folder", "feed", "what": "submit" or "resume", "seconds"}, forks a child for it, kills
that after so many seconds (0: never), and writes how it ended: 0, or -9.
"""

from typing import Any, cast

import aiohttp  # noqa: F401 - what a research loads is loaded before the fork, so that each child begins at once
import frontmatter  # noqa: F401

from actors.research.models import ResearchOptions
from runtime.engine.node import Node
from runtime.families.research_runs import ResearchRuns
from runtime.settings import FeedsSettings, FetchSettings, LogSettings, Settings, StorageSettings, WorkerSettings
from runtime.tickets import Ticket
from tests.runtime.forking import see_through, serve

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
        await see_through(node, order["what"], ORDER)
    finally:
        await node.close()


if __name__ == "__main__":
    serve(play)
