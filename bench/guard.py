"""
Whether anything got slower: the figures that matter most, in under 30 seconds, each beside its target.

Targets stand in `bench/targets.toml`. All are ratios, bytes or counts, so a slow machine changes none of them; the exit
status is 1 where one is missed, and the line says which.
"""

import sys
import tempfile
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bench import messaging, ours, raw, start
from bench.durable import counted
from bench.helpdesk import model, work
from bench.measure import Compared, Figures, NotMeasured, arguments, compare, median, report, table

TARGETS = Path(__file__).with_name("targets.toml")
AT_ONCE = 64
IMPORTS = 3
"""How often each import is timed."""
IDLE = 10_000
"""Actors that wait, of which the bytes are counted."""


async def measure(rounds: int) -> Figures:
    """Every figure of `targets.toml`, by its name there."""
    found = Figures()
    limit, engine = raw.Runner(model), ours.Runner(model, None, plain=True)

    async def against(runner: ours.Lane, at_once: int, other: raw.Runner) -> Compared:
        return await compare(work(runner, at_once), work(other, at_once), rounds=rounds, least=at_once)

    found["engine_at_1"] = (await against(engine, 1, limit)).cpu_ratio
    found["engine_at_64"] = (await against(engine, AT_ONCE, limit)).cpu_ratio
    found["agents_at_64"] = (await against(await ours.open(llm=model), AT_ONCE, limit)).cpu_ratio
    await limit.close()
    with tempfile.TemporaryDirectory(prefix="terminus-bench-", dir=".") as folder:
        written = ours.Runner(model, f"{folder}/ours.db"), raw.Runner(model, f"{folder}/raw.db")
        found["durable_cpu_at_64"] = (await against(written[0], AT_ONCE, written[1])).cpu_ratio
        for each in written:
            await each.close()
        found["commits_a_ticket"] = (await counted(Path(folder)))["commits"]
    found["import_of_all"] = _import_all()
    found["idle_actor_bytes"], _ = await messaging.Ours().idle(IDLE)
    return {name: round(value, 2) for name, value in found.items()}


def _import_all() -> float:
    """CPU of importing all that runs a ticket, as a multiple of importing asyncio."""
    names = ("import_asyncio", "import_node")
    for name in names:
        start.once(start.COMMANDS[name])  # bytecode and files are in the caches then
    taken = [{name: start.once(start.COMMANDS[name])[1] for name in names} for _ in range(IMPORTS)]
    return median(each["import_node"] / each["import_asyncio"] for each in taken)


def compare_with_targets(found: Mapping[str, float], targets: Mapping[str, float]) -> list[str]:
    """
    The names of the figures that missed their target.

    :raises NotMeasured: a figure has no target, or a target no figure.
    """
    if alone := sorted(set(found) ^ set(targets)):
        raise NotMeasured(f"{', '.join(alone)}: each figure needs a target in {TARGETS.name}, and each target a figure")
    return [name for name in targets if found[name] > targets[name]]


def show(found: Mapping[str, Any]) -> str:
    targets = read_targets()
    missed = compare_with_targets(found, targets)
    rows = [
        [name.replace("_", " "), f"{found[name]:g}", f"{targets[name]:g}", "MISSED" if name in missed else ""]
        for name in targets
    ]
    return table(("figure", "is", "at most", ""), rows)


def read_targets() -> dict[str, float]:
    return {name: float(value) for name, value in tomllib.loads(TARGETS.read_text(encoding="utf-8")).items()}


def main() -> int:
    options = arguments(__doc__, rounds=3).parse_args()
    missed: list[str] = []

    async def measure_all() -> Figures:
        found = await measure(options.rounds)
        missed.extend(compare_with_targets(found, read_targets()))
        return found

    status = report(options, measure_all, show)
    return status or int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
