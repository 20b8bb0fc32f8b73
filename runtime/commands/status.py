"""`status`: where a ticket stands and how it ended, or the latest tickets."""

import argparse
import sys
from typing import TYPE_CHECKING, Any

from runtime.commands import Exit, utf8

if TYPE_CHECKING:
    from collections.abc import Iterator

    from actors.outcome import Outcome
    from runtime.node import Node
    from runtime.settings import Settings
    from runtime.storage.journal import StoredRun
    from runtime.view.report import Line


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = "exit status: 0 it is known, 3 there is no such ticket or run."
    parser.add_argument("id", nargs="?", type=utf8, help="a ticket or a run (default: the latest tickets)")
    parser.add_argument("--count", type=int, default=20, metavar="N", help="how many of the latest (default: 20)")
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")


def run(arguments: argparse.Namespace, settings: "Settings") -> int:
    import asyncio

    return asyncio.run(_status(arguments, settings))


async def _status(arguments: argparse.Namespace, settings: "Settings") -> int:
    from runtime.commands.opening import opened
    from runtime.view.follow import write
    from runtime.view.report import as_json

    async with opened(settings) as node:
        if arguments.id is None:
            runs = [_row(node, stored) for stored in node.journal.latest(min(max(arguments.count, 1), 1000))]
            print(as_json({"runs": runs})) if arguments.json else write(_table(runs), sys.stdout)
            return Exit.DONE
        stored, outcome = node.status(arguments.id)
        row = _row(node, stored)
        if arguments.json:
            print(as_json({**row, "handoffs": node.journal.fold(stored).handoffs, "outcome": outcome}))
        else:
            write(_lines(node, stored, row, outcome), sys.stdout)
    return Exit.DONE


def _row(node: "Node", stored: "StoredRun") -> dict[str, Any]:
    """What is said of one run, under the names that `--json` prints."""
    status = stored.status
    if stored.ended is None and not node.owner.lives(stored.owner):
        status = "interrupted"
    return {
        "run": stored.id,
        "ticket": stored.ticket,
        "workflow": stored.workflow,
        "status": status,
        "started": stored.started,
        "ended": stored.ended,
    }


def _lines(node: "Node", stored: "StoredRun", row: dict[str, Any], outcome: "Outcome | None") -> "Iterator[Line]":
    from runtime.view.report import Line, handoffs, lines
    from runtime.wording import spoken

    if outcome is not None:
        yield from lines(outcome)
        return
    where = node.journal.fold(stored)
    yield Line(f"Ticket {stored.ticket}, run {stored.id}: {row['status']}", "strong")
    yield Line(f"Begun {_when(stored.started)}; so far: {spoken(where.state)}")
    if row["status"] == "interrupted":
        yield Line("Its process is gone; `python -m runtime resume` goes on with it.", "poor")
    yield from handoffs(where.handoffs)


def _table(runs: list[dict[str, Any]]) -> "Iterator[Line]":
    from runtime.view.report import Line
    from runtime.wording import safe, spoken

    if not runs:
        yield Line('No tickets yet: `python -m runtime submit "..."` runs one.')
        return
    width = max(6, *(len(safe(each["ticket"])) for each in runs))
    yield Line(f"{'begun':<19}  {'ticket':<{width}}  {'run':<14}  {'status':<11}  seconds", "strong")
    for each in runs:
        status = spoken(each["status"])
        took = "" if each["ended"] is None else f"{max(0.0, each['ended'] - each['started']):7.1f}"
        yield Line(f"{_when(each['started'])}  {each['ticket']:<{width}}  {each['run']:<14}  {status:<11}  {took}")
    if any(each["status"] == "interrupted" for each in runs):
        yield Line("Interrupted: the process is gone; `python -m runtime resume` goes on with them.", "poor")


def _when(seconds: float) -> str:
    import time

    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seconds))
