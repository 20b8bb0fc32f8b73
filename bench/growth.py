"""
What a ticket leaves in the storage folder: bytes by table, with all that belongs to each, and of the whole folder.

Tickets of the helpdesk without a model, over a folder of documents: half of them ask what the documents say, by their
headings and words; the other half ask what no document says. No two have the same text. What was there before the first
ticket is not counted.
"""

import argparse
import asyncio
import itertools
import logging
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import structlog

from bench.measure import Figures, NotMeasured, arguments, report, table
from runtime.engine.node import Node
from runtime.knowledge.readers.parsed_document import Unreadable
from runtime.knowledge.readers.reader import read
from runtime.settings import Settings, StorageSettings, TraceSettings
from runtime.storage.private import DATABASE
from runtime.storage.sqlite.database import Database
from runtime.tickets import Ticket

DOCUMENTS = Path(__file__).resolve().parent.parent / "examples" / "knowledge"
AT_ONCE = 8
UNKNOWN = (
    "How do I reserve the tennis court on the roof?",
    "Which wine does the canteen serve with the fish on Fridays?",
    "May I bring my parrot to the office, and does it need a badge?",
    "Who waters the ficus on the fourth floor during August?",
    "The chess club wants to borrow the auditorium; whom do we ask?",
)
SIZES = "SELECT name, sum(pgsize), sum(payload) FROM dbstat GROUP BY name"
EVENTS = "SELECT count(*), sum(length(event)), max(length(event)) FROM event"


def known(documents: Path) -> Iterator[str]:
    """Questions that the documents answer, over and over: a heading, and the words that follow it."""
    found = []
    for path in sorted(documents.rglob("*.md")):
        try:
            document = read(path.name, path.read_bytes())
        except Unreadable:
            continue
        lines = [line.strip("# ").strip() for line in document.text.splitlines() if line.strip()]
        found += [f"{head}: {after[:200]}" for head, after in itertools.pairwise(lines) if len(after) > len(head)]
    if not found:
        raise NotMeasured(f"{documents} holds no Markdown with paragraphs")
    return itertools.cycle(found)


async def tickets(node: Node, count: int, documents: Path) -> dict[str, int]:
    """Run so many; returns how they ended."""
    ended: dict[str, int] = {}
    numbers, answerable = iter(range(count)), known(documents)

    async def lane() -> None:
        for number in numbers:
            text = UNKNOWN[number // 2 % len(UNKNOWN)] if number % 2 else next(answerable)
            ticket = Ticket(text=f"Hello, this is desk {number}.\n\n{text}\n\nKind regards, desk {number}")
            outcome = await (await node.submit(ticket)).outcome()
            ended[outcome.status] = ended.get(outcome.status, 0) + 1

    await asyncio.gather(*(lane() for _ in range(AT_ONCE)))
    return ended


def sizes(database: Database) -> dict[str, tuple[int, int]]:
    """Bytes of pages, and of what stands in them, by table, with those of its indexes."""
    tables = dict(database.rows("SELECT name, tbl_name FROM sqlite_schema"))
    found: dict[str, tuple[int, int]] = {}
    for name, pages, payload in database.rows(SIZES):
        owner = tables.get(name, name)
        before = found.get(owner, (0, 0))
        found[owner] = (before[0] + pages, before[1] + payload)
    return found


async def measure(options: argparse.Namespace) -> Figures:
    with tempfile.TemporaryDirectory(prefix="terminus-bench-", dir=options.folder) as name:
        settings = Settings(storage=StorageSettings(name), trace=TraceSettings(replay=not options.no_recording))
        async with Node.open(settings) as node:
            await node.index([str(options.documents)], lambda _: None)
            before = _folder(Path(name))
            empty = sizes(node.database)
            ended = await tickets(node, options.tickets, options.documents)
            await node.database.run()
            node.database.rows("PRAGMA wal_checkpoint(TRUNCATE)")
            full, events = sizes(node.database), node.database.rows(EVENTS)[0]
            grown = _folder(Path(name)) - before
        count = options.tickets
        by_table = {
            name: {
                "pages": round((full[name][0] - empty.get(name, (0, 0))[0]) / count),
                "content": round((full[name][1] - empty.get(name, (0, 0))[1]) / count),
            }
            for name in sorted(full, key=lambda name: -full[name][0])
        }
        return {
            "tickets": count, "ended": ended, "bytes": round(grown / count), "tables": by_table,
            "events": {"each": round(events[0] / count, 1), "bytes": round(events[1] / count), "most": events[2]},
        }  # fmt: skip


def _folder(folder: Path) -> int:
    """Bytes of all files; the journal of the database is its own size by then."""
    kept = (path for path in folder.rglob("*") if path.is_file() and not path.name.startswith(f"{DATABASE}-"))
    return sum(path.stat().st_size for path in kept)


def show(result: Mapping[str, Any]) -> str:
    rows = [
        [name, f"{row['pages']:,}", f"{row['content']:,}"]
        for name, row in result["tables"].items()
        if row["pages"] or row["content"]
    ]
    ended, events = ", ".join(f"{n} {how}" for how, n in sorted(result["ended"].items())), result["events"]
    return (
        f"{table(('bytes a ticket', 'pages', 'content'), rows)}\n"
        f"{result['bytes']:,} bytes a ticket in the whole folder\n"
        f"{events['each']:g} events a ticket of {events['bytes']:,} bytes; the largest has {events['most']:,}\n"
        f"{result['tickets']} tickets: {ended}"
    )


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--tickets", type=int, default=400, help="how many (default: 400)")
    parser.add_argument("--documents", type=Path, default=DOCUMENTS, help="folder of Markdown (default: the examples)")
    parser.add_argument("--no-recording", action="store_true", help="as with [trace] replay = false")
    parser.add_argument("--folder", default=None, help="where the files are made (default: the system's)")
    options = parser.parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    return report(options, lambda: measure(options), show)


if __name__ == "__main__":
    sys.exit(main())
