"""
CPU of a whole helpdesk ticket with a model that answers at once: 12 handoffs, one at a time and 64 at once.

The product's own table, Orchestrator and bus, against asyncio alone doing the same turns (`bench/raw.py`), in the same
process and in turn; the collector is tuned as in a process of ours, unless the environment says `GC=default`. `engine`
has agents that only answer: what the engine costs; `agents` has the product's own: what a ticket costs.
`log` writes the lines of every handoff into a file as JSON; `cited` has the worker verify a quote in a passage: work
that is beside the heart.
"""

import asyncio
import contextlib
import itertools
import logging
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import structlog

from bench import ours, raw
from bench.measure import Compared, Figures, NotMeasured, Work, arguments, compare, report, table
from runtime.observe import logs
from runtime.settings import LogSettings, Settings, StorageSettings

REPLY = "The spooler on floor 13 was restarted; its queue drained and a test page came out. " * 2
HANDOFFS = len(raw.TURNS)
AT_ONCE = (1, 64)
NUMBERS = itertools.count(1)
"""Of the tickets of this process; no two of a database may have the same."""


async def model(agent: str, prompt: str) -> str:  # noqa: ARG001
    return REPLY


def work(runner: ours.Lane, at_once: int) -> Work:
    """So many tickets, each checked for the order of its turns."""

    async def lane(count: int) -> None:
        for _ in range(count):
            if await runner.run(f"T-{next(NUMBERS)}") != raw.TURNS:
                raise NotMeasured("a ticket did not take its twelve turns in order")

    async def lanes(count: int) -> None:
        if at_once == 1:
            await lane(count)
        else:
            await asyncio.gather(*(lane(max(1, count // at_once)) for _ in range(at_once)))

    return lanes


def figures(compared: Compared) -> Figures:
    """Microseconds of CPU of one handoff, and milliseconds of a whole ticket."""
    return {
        "ratio": round(compared.cpu_ratio, 2),
        "ours_us": round(compared.ours.cpu / HANDOFFS * 1e6, 2),
        "raw_us": round(compared.raw.cpu / HANDOFFS * 1e6, 2),
        "ticket_ms": round(compared.ours.cpu * 1e3, 3),
    }


@contextlib.contextmanager
def write_lines() -> Iterator[None]:
    """Log as the product does when nothing is configured: INFO lines into a file, as JSON."""
    before = structlog.get_config()
    with tempfile.TemporaryDirectory(prefix="terminus-bench-") as folder:
        settings = Settings(storage=StorageSettings(folder), log=LogSettings(format="json"))
        with logs.to_file(settings) as path:
            yield
            if not Path(path).stat().st_size:
                raise NotMeasured("nothing was logged")
    structlog.configure(**before)


async def measure(rounds: int) -> Figures:
    plain, cited, limit = await ours.open(llm=model), ours.Runner(model, None, REPLY), raw.Runner(model)
    engine, result = ours.Runner(model, None, plain=True), Figures()
    for name, runner in (("engine", engine), ("agents", plain)):
        for at_once in AT_ONCE:
            one = compare(work(runner, at_once), work(limit, at_once), rounds=rounds, least=at_once)
            result[f"{name}_at_{at_once}"] = figures(await one)
    most = AT_ONCE[-1]
    result[f"cited_at_{most}"] = figures(
        await compare(work(cited, most), work(limit, most), rounds=max(1, rounds // 3), least=most)
    )
    with write_lines():
        told = ours.Runner(model, None)
        result[f"log_at_{most}"] = figures(
            await compare(work(told, most), work(limit, most), rounds=max(1, rounds // 3), least=most)
        )
    await limit.close()
    return result


def show(result: Mapping[str, Any]) -> str:
    rows = [
        [name.replace("_", " "), f"{row['ours_us']:.2f} us", f"{row['raw_us']:.2f} us", f"{row['ratio']:.2f}"]
        for name, row in result.items()
    ]
    return table(("CPU of a handoff", "ours", "raw asyncio", "ratio"), rows)


def main() -> int:
    options = arguments(__doc__, rounds=9).parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    return report(options, lambda: measure(options.rounds), show)


if __name__ == "__main__":
    sys.exit(main())
