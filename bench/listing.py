"""
How long `GET /tickets` takes over many tickets that have ended: the first page, the filters, a text search.

The rows are made up: helpdesk tickets of two sentences, an end of about the size of a real one, ten of them waiting for
an answer. Each request goes through the whole interface on a socket; the median and the slowest of the rounds count.
"""

import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from typing import Any

import aiohttp
import msgspec

from bench.measure import Figures, arguments, median, report, table
from runtime.http.server import address, bound, listening
from runtime.node import Node
from runtime.service import TicketService
from runtime.settings import ServerSettings, Settings, StorageSettings

TICKETS = 100_000
BATCH = 2_000
RARE = 10_000
"""One ticket in so many waits for an answer."""
QUERIES = {
    "first page": "/tickets?limit=50",
    "page of 200": "/tickets?limit=200",
    "in the middle": "/tickets?limit=50&cursor=50000",
    "status, rare": "/tickets?limit=50&status=needs_input",
    "status, common": "/tickets?limit=50&status=resolved",
    "status that none has": "/tickets?limit=50&status=error",
    "workflow": "/tickets?limit=50&workflow=helpdesk",
    "since": "/tickets?limit=50&since=1h",
    "text that many have": "/tickets?limit=50&q=VPN",
    "text that none has": "/tickets?limit=50&q=nowhere-at-all",
}
INSERT_RUN = """
INSERT INTO run (id, ticket, workflow, initial, started, owner, ended, status, ending, seconds)
VALUES (?, ?, 'helpdesk', ?, ?, 'gone', ?, ?, ?, 1.0)
"""
INSERT_TICKET = "INSERT INTO ticket (id, subject, text, requester, status, created) VALUES (?, '', ?, ?, ?, ?)"


async def fill(node: Node, count: int) -> None:
    """Write so many tickets with their ended runs, the last of them begun now."""
    began = time.time() - count
    for start in range(0, count, BATCH):
        await node.database.run(
            *(each for n in range(start, min(start + BATCH, count)) for each in _rows(n, began + n))
        )


def _rows(number: int, at: float) -> Iterator[tuple[str, tuple[object, ...]]]:
    ticket, text = f"HD-{number}", f"My VPN drops every hour since Monday. It is laptop number {number}, on floor 3."
    status = "resolved" if number % RARE else "needs_input"
    case = msgspec.msgpack.encode({"ticket_id": ticket, "text": text})
    ending = msgspec.msgpack.encode({"status": status, "seconds": 1.0, "note": "It was answered. " * 60})
    yield INSERT_TICKET, (ticket, text, f"user{number % 500}@example.org", status, at)
    yield INSERT_RUN, (f"R-{number}", ticket, case, at, at + 1.0, status, ending)


async def measure(count: int, rounds: int) -> Figures:
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(storage=StorageSettings(folder=folder), server=ServerSettings(port=0))
        async with Node.open(settings) as node:
            await fill(node, count)
            with bound(settings.server) as sock:
                async with listening(TicketService(node), sock), aiohttp.ClientSession(address(sock)) as client:
                    return {
                        "tickets": count,
                        **{name: await _time(client, path, rounds) for name, path in QUERIES.items()},
                    }


async def _time(client: aiohttp.ClientSession, path: str, rounds: int) -> dict[str, Any]:
    taken, page = [], dict[str, Any]()
    for _ in range(rounds):
        began = time.perf_counter()
        async with client.get(path) as response:
            page = await response.json()
            response.raise_for_status()
        taken.append((time.perf_counter() - began) * 1e3)
    return {"ms": round(median(taken), 1), "slowest_ms": round(max(taken), 1), "found": len(page["tickets"]),
            "stopped": page["stopped"]}  # fmt: skip


def show(figures: Mapping[str, Any]) -> str:
    rows = [
        (name, f"{row['ms']:.1f}", f"{row['slowest_ms']:.1f}", f"{row['found']:,}", "yes" if row["stopped"] else "")
        for name, row in figures.items()
        if name in QUERIES
    ]
    head = ("GET /tickets", "ms", "slowest", "found", "stopped")
    return f"{figures['tickets']:,} tickets\n\n{table(head, rows)}"


def main() -> int:
    parser = arguments(__doc__, rounds=9)
    parser.add_argument("--tickets", type=int, default=TICKETS, help="how many there are (default: %(default)s)")
    options = parser.parse_args()
    return report(options, lambda: measure(options.tickets, options.rounds), show)


if __name__ == "__main__":
    sys.exit(main())
