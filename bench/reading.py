"""
Five pages of a query, searched and read as a research does it, from a site that takes a second for each request.

Each query has a research of its own, which reads the feeds of three hosts, judges what they list, and reads the best
five pages that are not the same again: robots.txt, page, main text in a worker process, every step durable. The site is
a process of its own; its CPU is not counted. CPU of the worker processes holds their start, shared by all queries.

    python -m bench.reading --data DIR [--latency 1] [--json]

does the same with the real pages of `DIR/pages/*.jsonl.gz` (as in `bench.extraction`), five a query, until each was
searched for and read once: which share of them is obtained, how much of its main text, and what else stands in it.
"""

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import structlog

from actors.evidence.sources import PAGE_CHARACTERS, FailedSource, Page, SearchResult
from bench.extraction import ARTICLE_NOISE, PageLine, compare_counts, count_words, read_pages
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
from tests.site import Reply, Site
from tests.site import site as loopback

ROOT = Path(__file__).resolve().parent.parent
HOSTS = ("127.0.0.1", "127.0.0.2", "127.0.0.3")
WANTED = 5
MAIN_TEXT = 0.7
"""A page whose main text is kept to this share of its words counts as read."""
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


async def query(
    text: str, sources: Sources, pages: Pages, effects: Effects, missed: dict[str, str] | None = None
) -> tuple[float, list[Page]]:
    """
    Seconds from the question to its pages, and the pages.

    :param missed: gets the reason for each page that was found and not obtained.
    """
    budget, began, got = ResearchBudget({"pages": 0, "credits": 0}), time.perf_counter(), list[Page]()

    def done(read: Page | FailedSource) -> None:
        if isinstance(read, Page):
            got.append(read)
        elif missed is not None:
            missed[read.place] = read.reason

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


class Obtained(NamedTuple):
    """What became of a page that the site serves."""

    kind: str
    recall: float
    """Share of the words of its main text, of its first 20,000 characters, that was kept; 0 if it was not obtained."""
    noise: float
    """Share of the words that were kept that are none of its main text."""
    missed: str
    """Why it was not obtained."""


async def measure_pages(folder: Path, latency: float) -> Figures:
    """Five pages a round, each found by a query in a feed of its own."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(50))
    lines = [each for file in sorted((folder / "pages").glob("*.jsonl.gz")) for each in read_pages(file)]
    if not lines:
        raise NotMeasured(f"{folder} has no pages/*.jsonl.gz")
    rounds = [lines[n : n + WANTED] for n in range(0, len(lines), WANTED)]
    obtained, seconds = list[Obtained](), list[float]()
    async with loopback(latency) as web:
        with tempfile.TemporaryDirectory() as storage:
            database, workers = Database(Path(storage) / "t.db", SCHEMA), Workers(2)
            fetch = FetchSettings(allow=("127.0.0.0/8",))
            client = Client(fetch)
            try:
                for number, each in enumerate(rounds):
                    took, said = await _read_round(number, each, web, fetch, storage, workers, client, database)
                    seconds.append(took)
                    obtained += said
            finally:
                await client.close()
                workers.close()
                database.close()
    articles = [each.noise for each in obtained if each.kind == "article" and not each.missed]
    count = len(obtained)
    return {
        "latency": latency,
        "pages": count,
        "obtained": round(sum(not each.missed for each in obtained) / count, 4),
        "main_text": round(sum(each.recall >= MAIN_TEXT for each in obtained) / count, 4),
        "article_noise": round(sum(articles) / len(articles), 4),
        "articles_above_15_percent_noise": round(sum(each > ARTICLE_NOISE for each in articles) / len(articles), 4),
        "rounds": len(seconds),
        "seconds": round(sum(seconds) / len(seconds), 2),
        "worst": round(max(seconds), 2),
        "missed": dict(Counter(each.missed for each in obtained if each.missed)),
    }


async def _read_round(
    number: int, lines: Sequence[PageLine], web: Site, fetch: FetchSettings, storage: str, workers: Workers,
    client: Client, database: Database,
) -> tuple[float, list[Obtained]]:  # fmt: skip
    """Seconds of a query and its pages, and what became of each."""
    topic = f"almanac volume {number}"
    urls = {web.url(f"/page/{number}/{n}", n % len(HOSTS)): line for n, line in enumerate(lines)}
    web.pages |= {f"/page/{number}/{n}": Reply(line.html, "text/html") for n, line in enumerate(lines)}
    items = "".join(f"<item><title>{topic}, part {url[-1]}</title><link>{url}</link></item>" for url in urls)
    feed = f'<?xml version="1.0"?><rss version="2.0"><channel><title>{topic}</title>{items}</channel></rss>'
    web.pages[f"/feeds/{number}"] = Reply(feed.encode(), "application/rss+xml")
    feeds = FeedsSettings(urls=(web.url(f"/feeds/{number}"),))
    settings = Settings(fetch=fetch, storage=StorageSettings(folder=storage), feeds=feeds)
    sources = Sources(SourcePorts(settings, KnowledgeIndex(storage, workers), workers, client))
    missed = dict.fromkeys(urls, "not_found")
    try:
        effects = Effects(SqliteEffects(database), f"r{number}")
        took, got = await query(topic, sources, Pages(sources), effects, missed)
    finally:
        await sources.close()
    held = {page.url: page.text for page in got}
    return took, [_judge(line, held.get(url), missed[url]) for url, line in urls.items()]


def _judge(line: PageLine, text: str | None, missed: str) -> Obtained:
    if text is None:
        return Obtained(line.type, 0.0, 0.0, missed)
    found = count_words(text, shingles=False)
    precision, _ = compare_counts(count_words(line.text, shingles=False), found)
    _, recall = compare_counts(count_words(line.text[:PAGE_CHARACTERS], shingles=False), found)
    return Obtained(line.type, recall, 1 - precision, "")


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


def show_pages(figures: Mapping[str, Any]) -> str:
    percents = [
        ("pages obtained", "obtained"), (f"at least {MAIN_TEXT:.0%} of the main text", "main_text"),
        ("noise, mean of the articles", "article_noise"),
        ("articles above 15 % noise", "articles_above_15_percent_noise"),
    ]  # fmt: skip
    rows = [
        *([said, f"{figures[name]:.1%}"] for said, name in percents),
        ["seconds a round, on average", f"{figures['seconds']:.2f}"],
        ["seconds a round, at worst", f"{figures['worst']:.2f}"],
        ["not obtained", ", ".join(f"{why}: {count}" for why, count in figures["missed"].items()) or "none"],
    ]
    head = f"{figures['pages']} real pages, {figures['rounds']} rounds, {figures['latency']:g} s latency"
    return table([head, ""], rows)


def main() -> int:
    parser: argparse.ArgumentParser = arguments(__doc__)
    parser.add_argument("--latency", type=float, default=1.0, help="seconds that the site takes for each request")
    parser.add_argument("--data", type=Path, help="folder with pages/*.jsonl.gz; default: the site's own articles")
    options = parser.parse_args()
    if options.data:
        return report(options, lambda: measure_pages(options.data, options.latency), show_pages)
    return report(options, lambda: measure(options.latency), show)


if __name__ == "__main__":
    sys.exit(main())
