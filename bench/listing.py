"""
How long `GET /tickets` and its page take over many tickets that have ended: the first, the filters, a text search.

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
from runtime.engine.node import Node
from runtime.engine.service import TicketService
from runtime.http.server import address, bound, listening
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
    "intent, rare": "/tickets?limit=50&intent=printer",
    "intent, common": "/tickets?limit=50&intent=connection",
    "slow, rare": "/tickets?limit=50&slow=10s",
    "slow, all": "/tickets?limit=50&slow=1s",
    "slow that none is": "/tickets?limit=50&slow=1h",
    "failed": "/tickets?limit=50&failed=true",
    "agent that all have": "/tickets?limit=50&agent=summarizer",
    "agent that none has": "/tickets?limit=50&agent=nobody",
    "agent that none has, slow, all": "/tickets?limit=50&agent=nobody&slow=1s",
    "agent that none has, since": "/tickets?limit=50&agent=nobody&since=7d",
    "common intent, rarely slow": "/tickets?limit=50&intent=connection&slow=10s&since=7d",
    "common intent, failed": "/tickets?limit=50&intent=connection&failed=true",
    "the page": "/",
    "common intent and status": "/tickets?limit=50&intent=connection&status=error",
    "the page, agent that none has": "/?agent=nobody",
    "text that many have": "/tickets?limit=50&q=VPN",
    "text that none has": "/tickets?limit=50&q=nowhere-at-all",
}
PAGES = ("/", "/?agent=nobody")
"""Asked for as a browser does."""
HANDOFFS = [
    {"number": n + 1, "source": source, "target": target, "reason": "TriageTicket", "at": 0.1 * n}
    for n, (source, target) in enumerate(
        pair for agent in ("memory", "ticketing", "connection", "memory", "summarizer")
        for pair in (("orchestrator", agent), (agent, "orchestrator"))
    )
]  # fmt: skip
INSERT_RUN = """
INSERT INTO run (id, ticket, workflow, initial, started, owner, ended, status, ending, seconds, intent)
VALUES (?, ?, 'helpdesk', ?, ?, 'gone', ?, ?, ?, ?, ?)
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
    took = 1.0 if number % RARE else 20.0
    intent = "connection" if number % RARE else "printer"
    ending = msgspec.msgpack.encode(
        {"status": status, "seconds": took, "note": "It was answered. " * 60, "handoffs": HANDOFFS}
    )
    yield INSERT_TICKET, (ticket, text, f"user{number % 500}@example.org", status, at)
    yield INSERT_RUN, (f"R-{number}", ticket, case, at, at + 1.0, status, ending, took, intent)


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
    taken, body = [], b""
    for _ in range(rounds):
        began = time.perf_counter()
        async with client.get(path, headers={"Accept": "text/html" if path in PAGES else "*/*"}) as response:
            body = await response.read()
            response.raise_for_status()
        taken.append((time.perf_counter() - began) * 1e3)
    page = {"tickets": body.split(b'class="title"')[1:]} if path in PAGES else msgspec.json.decode(body)
    return {"ms": round(median(taken), 1), "slowest_ms": round(max(taken), 1), "found": len(page["tickets"]),
            "stopped": page.get("stopped", False)}  # fmt: skip


def show(figures: Mapping[str, Any]) -> str:
    rows = [
        (name, f"{row['ms']:.1f}", f"{row['slowest_ms']:.1f}", f"{row['found']:,}", "yes" if row["stopped"] else "")
        for name, row in figures.items()
        if name in QUERIES
    ]
    head = ("GET", "ms", "slowest", "found", "stopped")
    return f"{figures['tickets']:,} tickets\n\n{table(head, rows)}"


def main() -> int:
    parser = arguments(__doc__, rounds=9)
    parser.add_argument("--tickets", type=int, default=TICKETS, help="how many there are (default: %(default)s)")
    options = parser.parse_args()
    return report(options, lambda: measure(options.tickets, options.rounds), show)


if __name__ == "__main__":
    sys.exit(main())
