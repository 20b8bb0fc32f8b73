"""
Runs every benchmark of the heart, each in a process of its own, and puts the ratios beside what they should be.

Each figure is explained by the program that takes it: `python -m bench.messaging --help`, and so on.
"""

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from bench.measure import Figures, NotMeasured, arguments, report, table

ROOT = Path(__file__).resolve().parent.parent
PROGRAM_SECONDS = 900.0


class Goal(NamedTuple):
    """One figure, and how small it should be."""

    title: str
    figure: tuple[str, ...]
    """Program, group and name."""
    unit: str
    reach: float
    stretch: float
    raw: tuple[str, ...] = ()


ASYNCIO = ("start", "import_asyncio", "cpu_ms")
IDLE = ("messaging", "idle_actor")
GOALS = (
    Goal("tell, against a deque", ("messaging", "tell", "ratio"), "x", 4.0, 3.0),
    Goal("ask", ("messaging", "ask", "ratio"), "x", 1.7, 1.5),
    Goal("hop in a ring of 10,000 actors", ("messaging", "hop", "ratio"), "x", 0.5, 0.35),
    Goal("idle actor", (*IDLE, "bytes"), "bytes", 250, 180, (*IDLE, "raw_bytes")),
    Goal("idle actors hold", (*IDLE, "tasks"), "tasks", 0, 0),
    Goal("handoff of the engine, one at a time, CPU", ("helpdesk", "engine_at_1", "ratio"), "x", 1.9, 1.7),
    Goal("handoff of the engine, 64 at once, CPU", ("helpdesk", "engine_at_64", "ratio"), "x", 3.2, 2.6),
    Goal("handoff with the agents, one at a time, CPU", ("helpdesk", "agents_at_1", "ratio"), "x", 3.2, 2.2),
    Goal("ticket with the agents, 64 at once, CPU", ("helpdesk", "agents_at_64", "ticket_ms"), "ms", 0.25, 0.15),
    *(
        Goal(title, ("inflight", f"at_{at_once}_tuned", "ours", key), unit, reach, stretch,
             ("inflight", f"at_{at_once}_tuned", "raw", key))
        for at_once, title, key, unit, reach, stretch in (
            (2_000, "2,000 in flight", "seconds", "s", 6.15, 6.15),
            (2_000, "CPU a ticket", "cpu_ms", "ms", 0.2, 0.12),
            (2_000, "memory a ticket", "kib", "KiB", 8.0, 5.0),
            (2_000, "worst stall", "stall_ms", "ms", 30.0, 30.0),
            (10_000, "10,000 in flight", "seconds", "s", 6.7, 6.5),
            (10_000, "worst stall", "stall_ms", "ms", 200.0, 100.0),
        )
    ),
    Goal("durable, 64 at once", ("durable", "at_64", "ratio"), "x", 0.8, 0.6),
    Goal("commits a ticket", ("durable", "ticket", "commits"), "", 7, 7),
    Goal("database a ticket", ("durable", "ticket", "bytes"), "bytes", 2_000, 2_000),
    Goal("import runtime, CPU", ("start", "import_runtime", "cpu_ms"), "ms", 120, 80),
    Goal("import of all that runs a ticket, CPU", ("start", "import_node", "cpu_ms"), "ms", 120, 80, ASYNCIO),
    Goal("submit --help", ("start", "submit_help", "wall_ms"), "ms", 300, 150, ("start", "bare_python", "wall_ms")),
)  # fmt: skip
PROGRAMS = tuple(dict.fromkeys(goal.figure[0] for goal in GOALS))


def run(program: str, *more: str) -> Figures:
    """What one program measured."""
    command = [sys.executable, "-m", f"bench.{program}", "--json", *more]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=PROGRAM_SECONDS, check=False)
    except subprocess.TimeoutExpired as error:
        raise NotMeasured(f"bench.{program} took more than {PROGRAM_SECONDS:.0f} s") from error
    if done.returncode:
        raise NotMeasured(f"bench.{program}: {done.stderr.strip().rpartition(chr(10))[2]}")
    figures: Figures = json.loads(done.stdout)
    return figures


async def measure(folder: str) -> Figures:
    result: Figures = {}
    for program in PROGRAMS:
        print(f"bench.{program} ...", file=sys.stderr, flush=True)
        result[program] = run(program, *(("--folder", folder) if program == "durable" else ()))
    result["goals"] = [
        {
            "title": goal.title, "figure": ".".join(goal.figure), "value": pick(result, goal.figure),
            "raw": pick(result, goal.raw) if goal.raw else None, "unit": goal.unit, "reach": goal.reach,
            "stretch": goal.stretch, "reached": pick(result, goal.figure) <= goal.reach,
        }
        for goal in GOALS
    ]  # fmt: skip
    return result


def pick(result: Mapping[str, Any], path: tuple[str, ...]) -> float:
    found: Any = result
    for key in path:
        found = found[key]
    return float(found)


def show(result: Mapping[str, Any]) -> str:
    rows = []
    for goal in result["goals"]:
        unit, raw = goal["unit"], goal["raw"]
        mark = "stretch" if goal["value"] <= goal["stretch"] else "reached" if goal["reached"] else "MISSED"
        limit = "1 x" if unit == "x" else "" if raw is None else f"{raw:g} {unit}"
        cells = f"{goal['value']:g} {unit}", limit, f"{goal['reach']:g}", f"{goal['stretch']:g}", mark
        rows.append([goal["title"], *(cell.strip() for cell in cells)])
    return table(("", "ours", "raw asyncio", "reach", "stretch", ""), rows)


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--folder", default=".", help="where database files are made: use a real disk (default: here)")
    options = parser.parse_args()
    return report(options, lambda: measure(options.folder), show)


if __name__ == "__main__":
    sys.exit(main())
