"""
What the daemon takes and ends a second, beside a bare aiohttp handler that stores a row with the same durability.

    python -m bench.daemon [--only accept,delays,memory,ready] [--tickets 500] [--json]
    python -m bench.daemon --only crowd,listeners,kills,soak

The server is a process of its own, and so is the client. Both servers take the same tickets in turn, and a ratio is the
median of the rounds'; ours works on what it has accepted meanwhile (no model and no documents, so that it is not their
time). Delays count from the end of a run as it was written down.

The trials are only run by name: a crowd of 2,000 tickets at once with a model of 1 s a call; 500 listeners, of whom
50 go and come back all the time, beside 50 that never read; 25 times SIGKILL and a restart; 20,000 tickets in ten
waves, after each of which memory, open files and threads are read.
"""

import argparse
import functools
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bench.daemon.load import ENDED, PARTS
from bench.daemon.trials import TRIALS
from bench.measure import Figures, arguments, report, table

ALL = {**PARTS, **TRIALS}


async def measure(options: argparse.Namespace) -> Figures:
    figures: Figures = {}
    for name in options.only or PARTS:
        with tempfile.TemporaryDirectory(prefix="terminus-bench-", dir=options.folder) as folder:
            figures[name] = await ALL[name](Path(folder), options)
    return figures


def show(figures: Mapping[str, Any]) -> str:
    rows = list[list[str]]()
    if found := figures.get("accept"):
        ours, raw = found["ours"], found["bare"]
        taken = f"{ours['per_second']:.0f}", f"{raw['per_second']:.0f}"
        rows.append(["accepted a second", *taken, f"{found['ratio']:.2f} of it"])
        rows.append(["ended a second", f"{ours['finished']:.0f}", "", ""])
        for part in ("p50", "p99"):
            rows.append([f"to being accepted, {part}", f"{ours[part]:.1f} ms", f"{raw[part]:.1f} ms", ""])
    for name, each in figures.get("delays", {}).items():
        rows.append([f"end to {name.replace('_', ' ')}", f"{each['p50']:.1f} ms", "", f"p99 {each['p99']:.1f} ms"])
    if found := figures.get("memory"):
        rows.append(["memory of an open ticket", f"{found['kib']:.1f} KiB", "", f"{found['tickets']} open"])
    if found := figures.get("ready"):
        rows.append(["ready, empty folder", f"{found['empty']:.2f} s", "", "1 s"])
        rows.append([f"ready, {found['ended']} ended tickets", f"{found['full']:.2f} s", "", "2 s"])
    trials = [f"{name}: {told}" for name in TRIALS if (told := figures.get(name))]
    return "\n".join([table(("", "ours", "bare", ""), rows)] * bool(rows) + trials)


def main() -> int:
    parser = arguments(__doc__, rounds=5)
    parser.add_argument("--only", type=lambda given: given.split(","), default=[], help=f"some of {', '.join(ALL)}")
    parser.add_argument("--tickets", type=int, default=500, help="tickets of a round")
    parser.add_argument("--at-once", type=int, default=64, help="connections that post them")
    parser.add_argument("--open", type=int, default=2_000, help="tickets whose memory is measured")
    parser.add_argument("--ended", type=int, default=ENDED, help="tickets in the folder of a start")
    parser.add_argument("--crowd", type=int, default=2_000, help="tickets that come at once")
    parser.add_argument("--listeners", type=int, default=500)
    parser.add_argument("--streamed", type=int, default=200, help="tickets that they listen to")
    parser.add_argument("--soaked", type=int, default=20_000, help="tickets of a soak")
    parser.add_argument("--kills", type=int, default=25)
    parser.add_argument("--wave", type=int, default=40, help="tickets between two kills")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", default=".", help="where the files are made: use a real disk (default: here)")
    options = parser.parse_args()
    if unknown := set(options.only) - set(ALL):
        parser.error(f"there is no {', '.join(sorted(unknown))}")
    return report(options, functools.partial(measure, options), show)


if __name__ == "__main__":
    sys.exit(main())
