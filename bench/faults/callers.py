"""People who submit tickets, write down what they hear, and compare it in the end with what is stored."""

import asyncio
import contextlib
import sqlite3
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterable
from pathlib import Path
from typing import Any

import aiohttp

from actors.workflow.outcome import Outcome
from bench.measure import Figures

LOOK_SECONDS = 0.2
END_SECONDS = 180.0
"""How long an accepted ticket may take to its end once nothing is broken any more."""


class Callers:
    """All that was heard of the tickets of one attack."""

    def __init__(self) -> None:
        self.runs: dict[str, list[str]] = {}
        """Ticket to the runs that a caller was told of, each once, in the order of the hearing."""
        self.outcomes: dict[str, dict[str, Any]] = {}
        """Run to the outcome that a caller was told first."""
        self.contradictions: list[str] = []
        """Runs of which callers were told two ends."""
        self.refusals: Counter[int] = Counter()
        self.unheard = 0
        """Posts whose connection broke: nobody was told anything."""

    async def post(self, address: str, ticket: str, text: str, *, wait: float = 0.0) -> str:
        """Submit a ticket and write down the answer; returns its run, or nothing."""
        timeout = aiohttp.ClientTimeout(total=wait + 60)
        try:
            async with (
                aiohttp.ClientSession(address, timeout=timeout) as client,
                client.post("/tickets", params={"wait": str(wait)}, json={"id": ticket, "text": text}) as answer,
            ):
                said = await answer.json()
        except (aiohttp.ClientError, TimeoutError, OSError):
            self.unheard += 1
            return ""
        if answer.status not in {200, 202}:
            self.refusals[answer.status] += 1
            return ""
        known = self.runs.setdefault(ticket, [])
        if said["run"] not in known:
            known.append(said["run"])
        if "handoffs" in said:
            self.hear(said)
        return str(said["run"])

    def hear(self, said: dict[str, Any]) -> None:
        outcome = {name: said[name] for name in said if name in Outcome.__struct_fields__}
        first = self.outcomes.setdefault(outcome["run"], outcome)
        if first != outcome:
            self.contradictions.append(outcome["run"])

    async def compare(self, address: str, storage: Path) -> Figures:
        """Wait for the ends, and count how they agree with what was heard."""
        stored = await self._stored(address, [run for runs in self.runs.values() for run in runs])
        ended = {run: each["outcome"] for run, each in stored.items() if each and each["outcome"] is not None}
        differ = [run for run, outcome in self.outcomes.items() if run in ended and ended[run] != outcome]
        return {
            "accepted": sum(map(len, self.runs.values())),
            "ended": len(ended),
            "unreadable": sum(each is None for each in stored.values()),
            "heard": len(self.outcomes),
            "heard otherwise": len(differ) + len(self.contradictions),
            "extra runs": self._extra_runs(storage),
            "refused": dict(self.refusals),
            "unheard": self.unheard,
            "statuses": dict(Counter(f"{each['status']} ({each['why']})" for each in ended.values())),
            "examples": differ[:3] + self.contradictions[:3],
        }

    def _extra_runs(self, storage: Path) -> int:
        """Runs in the database beyond one for each that some caller was told of, of the tickets that were answered."""
        with contextlib.closing(sqlite3.connect(f"file:{storage / 'terminus.db'}?mode=ro", uri=True)) as database:
            rows = database.execute("SELECT ticket, count(*) FROM run WHERE instr(id, '.') = 0 GROUP BY ticket")
            return sum(max(0, count - len(self.runs[ticket])) for ticket, count in rows if ticket in self.runs)

    async def _stored(self, address: str, runs: Iterable[str]) -> dict[str, dict[str, Any] | None]:
        """Each run as the daemon shows it once it has ended, or as it stands when the time is over."""
        found: dict[str, dict[str, Any] | None] = {}
        left, until = list(runs), time.monotonic() + END_SECONDS
        async with aiohttp.ClientSession(address) as client:
            while left:
                for run in left:
                    async with client.get(f"/runs/{run}") as answer:
                        found[run] = await answer.json() if answer.status == 200 else None
                left = [run for run in left if (each := found[run]) is not None and each["outcome"] is None]
                if time.monotonic() > until:
                    break
                if left:
                    await asyncio.sleep(LOOK_SECONDS)
        return found


@contextlib.asynccontextmanager
async def together(*calls: Any) -> AsyncIterator[None]:
    """Calls that go on while the block does something to the daemon; the block's end waits for them."""
    tasks = [asyncio.ensure_future(call) for call in calls]
    try:
        yield
        await asyncio.wait(tasks)
    finally:
        for task in tasks:
            task.cancel()
