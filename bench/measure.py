"""How the benchmarks measure: two systems in turn in one process, medians of ratios, and tables beside JSON."""

import argparse
import asyncio
import gc
import json
import os
import statistics
import sys
import time
import tracemalloc
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self

Figures = dict[str, Any]
"""What a benchmark prints with `--json`: plain names, numbers, and objects of them."""


class NotMeasured(Exception):
    """The benchmark could not do its work. The text says why."""


class Cost(NamedTuple):
    """Seconds of one piece of work."""

    wall: float
    cpu: float


class Compared(NamedTuple):
    """Medians over rounds. A ratio is the median of the rounds' ratios, so that noise of neighbours cancels out."""

    ours: Cost
    raw: Cost
    wall_ratio: float
    cpu_ratio: float


Work = Callable[[int], Awaitable[object]]
"""Do this many pieces of work."""


async def cost(work: Work, count: int) -> Cost:
    """Of one piece, on average over `count`. All threads of the process count."""
    wall, cpu = time.perf_counter(), time.process_time()
    await work(count)
    return Cost((time.perf_counter() - wall) / count, (time.process_time() - cpu) / count)


async def sized(work: Work, seconds: float, least: int = 1, most: int = 200_000) -> int:
    """How many pieces take about this long; warms up on the way."""
    count = least
    for _ in range(3):
        once = await cost(work, count)
        count = max(least, min(most, int(seconds / max(once.wall, 1e-9))))
    return count


async def compare(ours: Work, raw: Work, *, rounds: int, seconds: float = 0.3, least: int = 1) -> Compared:
    """Alternate slices of both, each about `seconds` long, the other one first in every second round."""
    counts = {work: await sized(work, seconds, least) for work in (raw, ours)}
    pairs: list[tuple[Cost, Cost]] = []
    for number in range(rounds):
        order = (raw, ours) if number % 2 else (ours, raw)
        gc.collect()
        spent = {work: await cost(work, counts[work]) for work in order}
        pairs.append((spent[ours], spent[raw]))
    return Compared(
        Cost(median(mine.wall for mine, _ in pairs), median(mine.cpu for mine, _ in pairs)),
        Cost(median(limit.wall for _, limit in pairs), median(limit.cpu for _, limit in pairs)),
        median(mine.wall / limit.wall for mine, limit in pairs),
        median(mine.cpu / limit.cpu for mine, limit in pairs),
    )


def median(values: Iterable[float]) -> float:
    return statistics.median(list(values))


def resident() -> int:
    """Bytes of memory that this process has now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def peak_resident() -> int:
    """Bytes of memory that this process had at most."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    raise NotMeasured("this system does not tell the peak of memory (VmHWM in /proc/self/status)")


class Traced:
    """Bytes that the objects made in a `with` block still hold at its end, as Python counts them."""

    bytes = 0

    def __enter__(self) -> Self:
        gc.collect()
        tracemalloc.start()
        return self

    def __exit__(self, *_: object) -> None:
        gc.collect()
        self.bytes = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns as wide as their widest cell, the first to the left, the others to the right."""
    widths = [max(len(row[n]) for row in (head, *rows)) for n in range(len(head))]
    lines = []
    for row in (head, *rows):
        cells = [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def arguments(doc: str | None, rounds: int = 0) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    if rounds:
        parser.add_argument("--rounds", type=_positive, default=rounds, help="rounds of which the median is taken")
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
    return parser


def _positive(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no number above 0")
    return int(text)


def report(
    options: argparse.Namespace,
    measure: Callable[[], Coroutine[Any, Any, Figures]],
    show: Callable[[Mapping[str, Any]], str],
) -> int:
    """Measure, print, and return the exit status."""
    try:
        figures = asyncio.run(measure())
    except (NotMeasured, OSError) as error:
        print(f"could not measure: {error}", file=sys.stderr)
        return 1
    print(json.dumps(figures) if options.json else show(figures))
    return 0
