"""
Five pages of a query, searched and read as a research does it, from a site that takes a second for each request.

Each query has a research of its own, which reads the feeds of three hosts, judges what they list, and reads the best
five pages that are not the same again: robots.txt, page, main text in a worker process, every step durable. The site is
a process of its own; its CPU is not counted. CPU of the worker processes holds their start, shared by all queries.
"""

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import structlog

from actors.evidence.sources import FailedSource, Page, SearchResult
from bench.measure import Figures, NotMeasured, arguments, report, table
from runtime.crawl.http_client import Client
from runtime.crawl.pages import Pages
from runtime.knowledge.knowledge_index import KnowledgeIndex
from runtime.processes.pool import Workers
from runtime.resilience.limiters import ResearchBudget
from runtime.search.source import SourcePorts
from runtime.search.source_registry import Sources
from runtime.settings import FeedsSettings, FetchSettings, Settings, StorageSettings
from runtime.storage.effects import Effects
from runtime.storage.sqlite.database import Database
from runtime.storage.sqlite.effect_store import SCHEMA, SqliteEffects

ROOT = Path(__file__).resolve().parent.parent
HOSTS = ("127.0.0.1", "127.0.0.2", "127.0.0.3")
WANTED = 5
QUERIES = (
    "How do the tidal barrage, the tram, the ferry, the heat pumps and the city bees do in Marwick and Osterby?",
    "Compare the scanners for archives, heat pumps, bees on flat roofs, the tram line and the electric ferry.",
    "What changed in Marwick and Osterby: heat pumps, airport tram, ferry, bees, scanners, barrage?",
    "Electric ferry, airport tram, heat pumps, flat roofs, tidal barrage",
    "What do people in Marwick and Osterby say about the tram, the ferry, the bees, the scanners, the heat pumps?",
)
"""Each of them is answered by at least five of the site's articles."""


@contextmanager
def site(latency: float) -> Iterator[int]:
    """The port of a site that answers so late, in a process of its own."""
    command = [sys.executable, "-m", "tests.site", str(latency)]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        if not line.strip().isdigit():
            raise NotMeasured("the site did not start")
        try:
            yield int(line)
        finally:
            process.kill()


async def query(text: str, sources: Sources, pages: Pages, effects: Effects) -> tuple[float, list[Page]]:
    """Seconds from the question to its pages, and the pages."""
    budget, began, got = ResearchBudget({"pages": 0, "credits": 0}), time.perf_counter(), list[Page]()

    def done(read: Page | FailedSource) -> None:
        if isinstance(read, Page):
            got.append(read)

    found = await sources.for_run(effects, budget).search("rss", text, limit=4 * WANTED, within=15.0)
    results = [each for each in found if isinstance(each, SearchResult)]
    results.sort(key=lambda each: -each.quality)
    await pages.for_run(effects, budget).read(
        results, wanted=WANTED, query=text, within=60.0, done=done, arrived=lambda _: None
    )
    return time.perf_counter() - began, got


async def measure(latency: float) -> Figures:
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(50))
    with tempfile.TemporaryDirectory() as folder, site(latency) as port:
        settings = Settings(
            fetch=FetchSettings(allow=("127.0.0.0/8",)), storage=StorageSettings(folder=folder),
            feeds=FeedsSettings(urls=tuple(f"http://{host}:{port}/feed.rss" for host in HOSTS)),
        )  # fmt: skip
        database, workers, client = Database(Path(folder) / "t.db", SCHEMA), Workers(2), Client(settings.fetch)
        sources = Sources(SourcePorts(settings, KnowledgeIndex(folder, workers), workers, client))
        pages, cpu = Pages(sources), time.process_time()
        before = _children()
        try:
            store = SqliteEffects(database)
            taken = [await query(text, sources, pages, Effects(store, f"r{n}")) for n, text in enumerate(QUERIES)]
        finally:
            await sources.close()
            await client.close()
            workers.close()
            database.close()
        ours, theirs = time.process_time() - cpu, _children() - before
    if any(len(got) < WANTED for _, got in taken):
        raise NotMeasured(f"fewer than {WANTED} pages: {[len(got) for _, got in taken]}")
    seconds = [each for each, _ in taken]
    return {
        "latency": latency,
        "seconds": round(sum(seconds) / len(seconds), 2),
        "worst": round(max(seconds), 2),
        "cpu_ours": round(ours / len(seconds), 3),
        "cpu_workers": round(theirs / len(seconds), 3),
        "pages": sum(len(got) for _, got in taken),
    }


def _children() -> float:
    """Seconds of CPU of the child processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def show(figures: Mapping[str, Any]) -> str:
    rows = [
        ["seconds a query, on average", f"{figures['seconds']:.2f}"],
        ["seconds a query, at worst", f"{figures['worst']:.2f}"],
        ["CPU seconds a query, ours", f"{figures['cpu_ours']:.3f}"],
        ["CPU seconds a query, workers'", f"{figures['cpu_workers']:.3f}"],
        ["pages read", str(figures["pages"])],
    ]
    return table([f"{WANTED} pages of a query, {figures['latency']:g} s latency", ""], rows)


def main() -> int:
    parser: argparse.ArgumentParser = arguments(__doc__)
    parser.add_argument("--latency", type=float, default=1.0, help="seconds that the site takes for each request")
    options = parser.parse_args()
    return report(options, lambda: measure(options.latency), show)


if __name__ == "__main__":
    sys.exit(main())
