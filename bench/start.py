"""
How long Python needs before the product does something: imports, and `python -m runtime submit --help`.

Each is a fresh interpreter, with bytecode and files in the cache of the system. What Python itself needs, bare and with
asyncio, stands beside it and is part of every figure.
"""

import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.measure import Figures, NotMeasured, arguments, median, report, table

ROOT = Path(__file__).resolve().parent.parent
COMMANDS: dict[str, tuple[str, ...]] = {
    "bare_python": ("-c", "pass"),
    "import_asyncio": ("-c", "import asyncio"),
    "import_runtime": ("-c", "import runtime"),
    "import_node": ("-c", "import runtime.observe.logs, runtime.engine.node"),
    "submit_help": ("-m", "runtime", "submit", "--help"),
}
"""`runtime` alone holds nothing; `runtime.engine.node` runs a ticket, behind the log as every command opens it."""
WORDS = {
    "bare_python": "python -c pass", "import_asyncio": "import asyncio", "import_runtime": "import runtime",
    "import_node": "import runtime.engine.node", "submit_help": "submit --help",
}  # fmt: skip


def once(arguments: Sequence[str]) -> tuple[float, float, float]:
    """Seconds, seconds of CPU, and MiB at most."""
    began = time.perf_counter()
    with subprocess.Popen(
        [sys.executable, *arguments], cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise NotMeasured(f"python {' '.join(arguments)} ended with status {process.returncode}")
    return time.perf_counter() - began, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


async def measure(rounds: int) -> Figures:
    taken: dict[str, list[tuple[float, float, float]]] = {name: [] for name in COMMANDS}
    for command in COMMANDS.values():
        once(command)
    for _ in range(rounds):
        for name, command in COMMANDS.items():
            taken[name].append(once(command))
    return {
        name: {
            "wall_ms": round(median(row[0] for row in rows) * 1e3, 1),
            "cpu_ms": round(median(row[1] for row in rows) * 1e3, 1),
            "peak_mib": round(median(row[2] for row in rows), 1),
        }
        for name, rows in taken.items()
    }


def show(result: Mapping[str, Any]) -> str:
    rows = [
        [WORDS[name], f"{row['wall_ms']:.0f} ms", f"{row['cpu_ms']:.0f} ms", f"{row['peak_mib']:.0f} MiB"]
        for name, row in result.items()
    ]
    return table(("start", "wall", "CPU", "memory at most"), rows)


def main() -> int:
    options = arguments(__doc__, rounds=9).parse_args()
    return report(options, lambda: measure(options.rounds), show)


if __name__ == "__main__":
    sys.exit(main())
