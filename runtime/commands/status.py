"""`status`: where a ticket stands and how it ended, or the latest tickets."""

import argparse
import sys
from typing import TYPE_CHECKING, Any

from runtime.commands import Exit, utf8

if TYPE_CHECKING:
    from collections.abc import Iterator

    from actors.outcome import Outcome
    from actors.research.records import Brief
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
    found = {
        "run": stored.id,
        "ticket": stored.ticket,
        "workflow": stored.workflow,
        "status": status,
        "started": stored.started,
        "ended": stored.ended,
    }
    if stored.workflow == "research":
        found |= _progress(node, stored)
    return found


def _progress(node: "Node", stored: "StoredRun") -> dict[str, Any]:
    """Where a research stands: the stage and the number of its deepest round."""
    from runtime.commands.rounds import below

    rounds = [stored, *below(node.journal, stored)]
    going = next((each for each in reversed(rounds) if each.ended is None), stored)
    where = node.journal.fold(going)
    brief: Brief = where.case.brief
    return {"stage": str(where.state), "round": brief.round, "rounds": brief.depth}


def _lines(node: "Node", stored: "StoredRun", row: dict[str, Any], outcome: "Outcome | None") -> "Iterator[Line]":
    from runtime.view.report import Line, handoffs, lines, researched
    from runtime.wording import safe, spoken

    if outcome is not None and "stage" in row:
        report = node.journal.fold(stored).case.report
        yield from researched(outcome, report)
        if report is not None:
            yield Line(f"`python -m runtime report {safe(stored.ticket)}` prints its report.", "faint")
        return
    if outcome is not None:
        yield from lines(outcome)
        return
    where = node.journal.fold(stored)
    yield Line(f"Ticket {stored.ticket}, run {stored.id}: {row['status']}", "strong")
    if "stage" in row:
        yield Line(f"Begun {_when(stored.started)}; {_stage(row)}")
    else:
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
        took = _stage(each) if each["ended"] is None else f"{max(0.0, each['ended'] - each['started']):7.1f}"
        row = f"{_when(each['started'])}  {each['ticket']:<{width}}  {each['run']:<14}  {status:<11}  {took}"
        yield Line(row.rstrip())
    if any(each["status"] == "interrupted" for each in runs):
        yield Line("Interrupted: the process is gone; `python -m runtime resume` goes on with them.", "poor")


def _stage(row: dict[str, Any]) -> str:
    """Where a research stands, in words; nothing of a ticket."""
    return f"{row['stage']}, round {row['round']} of {row['rounds']}" if "stage" in row else ""


def _when(seconds: float) -> str:
    import time

    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seconds))
