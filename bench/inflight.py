"""
Thousands of tickets in flight at once, with a model of one second and six questions a ticket: six seconds at best.

Each row is a process of its own, since a peak of memory belongs to a process. A stall is how late a timer of 50 ms was
at worst. Rows differ in the number of tickets and in the collector's thresholds: Python's, or those that a process of
ours sets. The raw limit (`bench/raw.py`) stands beside each.
"""

import argparse
import asyncio
import gc
import json
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bench import ours, raw
from bench.measure import Figures, NotMeasured, arguments, median, peak_resident, report, resident, table

ROOT = Path(__file__).resolve().parent.parent
SYSTEMS = ("ours", "raw")
COLLECTORS = ("tuned", "default")
BEAT = 0.05
"""Seconds between two looks at how late the loop is."""
CHILD_SECONDS = 300.0


class Model:
    """Answers after a while."""

    def __init__(self) -> None:
        self.delay = 0.0
        self.calls = 0

    async def __call__(self, agent: str, prompt: str) -> str:  # noqa: ARG002
        self.calls += 1
        if self.delay:
            await asyncio.sleep(self.delay)
        return "The spooler was restarted, and a test page came out."


class Heart:
    """Beats, and remembers how late it was at worst."""

    def __init__(self) -> None:
        self.worst = 0.0
        self._loop = asyncio.get_running_loop()
        self._due = self._loop.time() + BEAT
        self._timer = self._loop.call_at(self._due, self._beat)

    def _beat(self) -> None:
        now = self._loop.time()
        self.worst = max(self.worst, now - self._due)
        self._due = now + BEAT
        self._timer = self._loop.call_at(self._due, self._beat)

    def stop(self) -> None:
        self._timer.cancel()


async def fly(system: str, tickets: int, delay: float) -> Figures:
    """All tickets at once, in this process."""
    model = Model()
    runner: ours.Lane = ours.Runner(model, None) if system == "ours" else raw.Runner(model)
    for number in range(3):
        await runner.run(f"warm-{number}")
    model.delay, model.calls = delay, 0
    gc.collect()
    before = resident()
    heart, wall, cpu = Heart(), time.perf_counter(), time.process_time()
    turns = await asyncio.gather(*(runner.run(f"T-{number}") for number in range(tickets)))
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    heart.stop()
    if model.calls != tickets * len(raw.PLAN) or any(each != raw.TURNS for each in turns):
        raise NotMeasured("not every ticket took its twelve turns in order")
    await runner.close()
    return {
        "seconds": round(wall, 3), "cpu_ms": round(cpu / tickets * 1e3, 4),
        "kib": round((peak_resident() - before) / tickets / 1024, 2), "stall_ms": round(heart.worst * 1e3, 1),
    }  # fmt: skip


def child(system: str, tickets: int, collector: str, delay: float) -> Figures:
    """The same, in a process of its own."""
    command = [
        sys.executable, "-m", "bench.inflight", "--only", system, "--tickets", str(tickets), "--collector", collector,
        "--delay", str(delay), "--json",
    ]  # fmt: skip
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=CHILD_SECONDS, check=False)
    except subprocess.TimeoutExpired as error:
        raise NotMeasured(f"{tickets} tickets of {system} took more than {CHILD_SECONDS:.0f} s") from error
    if done.returncode:
        raise NotMeasured(done.stderr.strip().rpartition("\n")[2])
    found: Figures = json.loads(done.stdout)
    return found


async def compare(options: argparse.Namespace) -> Figures:
    """Every row, the systems in turn; medians over rounds."""
    result: Figures = {}
    for tickets in options.tickets or (2_000, 10_000):
        for collector in COLLECTORS:
            taken: dict[str, list[Figures]] = {system: [] for system in SYSTEMS}
            for number in range(options.rounds):
                for system in SYSTEMS if number % 2 else SYSTEMS[::-1]:
                    taken[system].append(child(system, tickets, collector, options.delay))
            result[f"at_{tickets}_{collector}"] = {
                system: {key: median(each[key] for each in rows) for key in rows[0]} for system, rows in taken.items()
            }
    return result


def show(result: Mapping[str, Any]) -> str:
    rows = []
    for name, systems in result.items():
        for system, row in systems.items():
            _, tickets, collector = name.split("_")
            cells = f"{row['seconds']:.2f} s", f"{row['cpu_ms']:.3f} ms", f"{row['kib']:.1f} KiB"
            rows.append([f"{system} {tickets}, collector {collector}", *cells, f"{row['stall_ms']:.0f} ms"])
    return table(("in flight", "wall", "CPU a ticket", "memory a ticket", "worst stall"), rows)


def main() -> int:
    parser = arguments(__doc__, rounds=1)
    parser.add_argument("--tickets", type=int, action="append", help="how many at once (default: 2000, and 10000)")
    parser.add_argument("--delay", type=float, default=1.0, help="seconds that the model takes")
    parser.add_argument("--only", choices=SYSTEMS, help="one row in this process")
    parser.add_argument("--collector", choices=COLLECTORS, default=COLLECTORS[0], help="with --only")
    options = parser.parse_args()
    if not options.only:
        return report(options, lambda: compare(options), show)
    if options.collector == "tuned":
        gc.set_threshold(*ours.TUNED)
    return report(options, lambda: fly(options.only, (options.tickets or [2_000])[0], options.delay), json.dumps)


if __name__ == "__main__":
    sys.exit(main())
