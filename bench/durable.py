"""
What it costs to have every step on disk: whole helpdesk tickets with the product's database and journal.

Against asyncio alone with a thread that commits in groups (`bench/raw.py`), in the same process and in turn, both with
an fsync a commit. Ours also keeps the ticket, the run and its end. The files are made below --folder: use a real disk.
"""

import argparse
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bench import ours, raw
from bench.helpdesk import AT_ONCE, HANDOFFS, model, work
from bench.measure import Figures, arguments, compare, report, table

ALONE = 50
"""Tickets of which the commits and bytes are counted, one at a time."""


async def counted(folder: Path) -> Figures:
    """Commits and bytes of database a ticket, when no other ticket shares its commits."""
    path = folder / "alone.db"
    runner = await ours.open(llm=model, store="sqlite", path=str(path))
    assert runner.database is not None
    await work(runner, 1)(ALONE)
    runner.database.rows("PRAGMA wal_checkpoint(TRUNCATE)")
    commits, size = runner.database.commits, path.stat().st_size
    await work(runner, 1)(ALONE * 10)
    more = runner.database.commits - commits
    await runner.close()
    grown = path.stat().st_size - size
    return {"commits": round(more / ALONE / 10, 2), "bytes": round(grown / ALONE / 10)}


async def measure(options: argparse.Namespace) -> Figures:
    with tempfile.TemporaryDirectory(prefix="terminus-bench-", dir=options.folder) as name:
        folder = Path(name)
        result: Figures = {"ticket": await counted(folder)}
        mine, limit = ours.Runner(model, str(folder / "ours.db")), raw.Runner(model, str(folder / "raw.db"))
        for at_once in AT_ONCE:
            found = await compare(work(mine, at_once), work(limit, at_once), rounds=options.rounds, least=at_once)
            result[f"at_{at_once}"] = {
                "ratio": round(found.wall_ratio, 2), "cpu_ratio": round(found.cpu_ratio, 2),
                "ours_us": round(found.ours.wall / HANDOFFS * 1e6, 1),
                "raw_us": round(found.raw.wall / HANDOFFS * 1e6, 1),
                "ours_per_second": round(1 / found.ours.wall), "raw_per_second": round(1 / found.raw.wall),
            }  # fmt: skip
        await mine.close()
        await limit.close()
    return result


def show(result: Mapping[str, Any]) -> str:
    rows = [
        [
            f"{name.removeprefix('at_')} at once", f"{row['ours_us']:.1f} us", f"{row['raw_us']:.1f} us",
            f"{row['ratio']:.2f}", f"{row['cpu_ratio']:.2f}", str(row["ours_per_second"]), str(row["raw_per_second"]),
        ]
        for name, row in result.items()
        if name != "ticket"
    ]  # fmt: skip
    head = ("durable", "a handoff", "raw", "ratio", "CPU ratio", "tickets/s", "raw")
    once = result["ticket"]
    return f"{table(head, rows)}\n{once['commits']} commits and {once['bytes']} bytes a ticket that is alone"


def main() -> int:
    parser = arguments(__doc__, rounds=7)
    parser.add_argument("--folder", default=".", help="where the database files are made (default: here)")
    options = parser.parse_args()
    if not Path(options.folder).is_dir():
        print(f"could not measure: there is no folder {options.folder}", file=sys.stderr)
        return 1
    return report(options, lambda: measure(options), show)


if __name__ == "__main__":
    sys.exit(main())
