"""
Breaks what can break and counts: does every accepted ticket end once, and as its caller heard?

    python -m bench.faults [--only usage,disk,poison,...] [--kills 25] [--ids 300] [--json]

Each attack runs real daemons in a folder of its own, with a model server on loopback. `disk` mounts a small file system
and so needs root. Those that count no tickets say what broke, if anything: `dashes`, a mail that is slow to read (it
needs dovecot); `blanks`, a question that is; `leftover-tag`, an approval of before; `follow-up`, a second question in a
ticket; `backlog`, ten thousand open tickets at the start; `revoked-stream`, who listens on with a token that is gone.
"""

import functools
import sys
from collections.abc import Mapping
from typing import Any

from bench.faults.attacks import ATTACKS, Sizes, carry_out
from bench.measure import Figures, arguments, report, table

COLUMNS = ("accepted", "ended", "heard", "heard otherwise", "extra runs", "unreadable", "unheard")
FAULTS = (
    "heard otherwise", "extra runs", "unreadable", "an older run shown as the latest", "innocent tickets closed",
    "heard by nobody who may", "poison left open", "probes without an answer", "stalls that nobody counted",
)  # fmt: skip


async def measure(names: list[str], sizes: Sizes) -> Figures:
    return {name: await carry_out(name, sizes) for name in names}


def broken(figures: Mapping[str, Any]) -> bool:
    """Whether an attack broke the promise."""
    return any(
        each.get("broken") or each.get("ended", 0) < each.get("accepted", 0)
        or any(each.get(fault) for fault in FAULTS) or each.get("answered alike by both") != each.get("ids")
        for each in figures.values()
    )  # fmt: skip


def show(figures: Mapping[str, Any]) -> str:
    rows = [[name, *(str(each.get(column, "-")) for column in COLUMNS)] for name, each in figures.items()]
    more = [
        f"{name}: {key} {value}" for name, each in figures.items() for key, value in each.items() if _says(key, value)
    ]
    return "\n".join([table(("attack", *COLUMNS), rows), *more, "BROKEN" if broken(figures) else "The promise held."])


def _says(key: str, value: object) -> bool:
    return key not in COLUMNS and bool(value)


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--only", default=",".join(ATTACKS), help="some of them, with commas between")
    parser.add_argument("--kills", type=int, default=Sizes().kills)
    parser.add_argument("--ids", type=int, default=Sizes().ids, help="tickets posted to two daemons at once")
    parser.add_argument("--tickets", type=int, default=Sizes().tickets, help="tickets of a wave")
    parser.add_argument("--backlog", type=int, default=Sizes().backlog, help="open tickets that a daemon starts on")
    parser.add_argument("--seed", type=int, default=Sizes().seed)
    options = parser.parse_args()
    names = options.only.split(",")
    if unknown := set(names) - set(ATTACKS):
        parser.error(f"no such attack: {', '.join(sorted(unknown))}")
    sizes = Sizes(options.kills, options.tickets, options.ids, options.seed, options.backlog)
    return report(options, functools.partial(measure, names, sizes), show)


if __name__ == "__main__":
    sys.exit(main())
