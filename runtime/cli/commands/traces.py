"""`traces`: finds runs by what they asked for, who worked on them, how they ended and how long they took."""

import argparse
import sys
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from runtime.cli import Exit, utf8
from runtime.cli.view.printing import Line, print_result, width
from runtime.program import command
from runtime.user_text import display, nearest, spell_out

if TYPE_CHECKING:
    from runtime.engine.run_record import Record
    from runtime.settings import Settings

SUMMARY = "find runs by intent, agent, end and duration"
EPILOG = """\
examples:
  %(prog)s --failed --since 7d
  %(prog)s --intent connection --slow 10s
  %(prog)s --workflow legal --agent labor_law --json

`trace ID` shows one of them.
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EPILOG
    parser.add_argument("--intent", type=utf8, default="", metavar="NAME", help="those that ask for this")
    parser.add_argument("--workflow", type=utf8, default="", metavar="NAME", help="those of one kind, such as legal")
    parser.add_argument("--since", type=utf8, metavar="TIME", help="those begun since: 30m, 12h, 7d, or 2026-01-31")
    parser.add_argument("--failed", action="store_true", help="those that a limit, a failure or a person ended")
    parser.add_argument("--slow", type=utf8, metavar="TIME", help="those that took so long or longer: 10s, 2m")
    parser.add_argument("--agent", type=utf8, default="", metavar="NAME", help="those that this agent worked on")
    parser.add_argument("--limit", type=utf8, metavar="N", help="how many of the latest (default: 20)")
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")


async def run(arguments: argparse.Namespace, settings: "Settings") -> int:
    import msgspec

    from runtime.engine.run_filter import RunFilter, make_wanted
    from runtime.engine.service import open_service

    given = {name: getattr(arguments, name) for name in RunFilter.__struct_fields__ if hasattr(arguments, name)}
    wanted = make_wanted(RunFilter(**given))
    async with open_service(settings) as service:
        found = await service.node.journal.store.search(wanted)
        intents = await service.node.journal.store.list_intents() if wanted.intent and not found.runs else []
        records = [await service.describe(each, asked) for each, asked in found.runs]
    value = {"traces": [msgspec.to_builtins(each) for each in records], "stopped": found.stopped}
    lines = _list(records, _describe_none(wanted.intent, intents), stopped=found.stopped)
    print_result(lines, value, json=arguments.json)
    return Exit.DONE


def _describe_none(intent: str, intents: list[str]) -> str:
    """That no run was found; where none asks for what was named, what runs do ask for."""
    if intent and intents and intent not in intents:
        return f"No run asks for {display(intent)}. {nearest(intent, intents)}"
    return f"No run is like that; {command('status')} lists the latest tickets."


def _list(records: "list[Record]", none: str, *, stopped: bool) -> Iterator[Line]:
    from runtime.cli.view.ticket_lines import table

    if records:
        yield from table([(each, spell_out(each.intent)) for each in records], time.time(), width(sys.stdout))
        yield Line(f"{command('trace ID')} shows what took how long, and why.", "faint")
    else:
        yield Line(none)
    if stopped:
        yield Line("Older runs were not looked through; --since or another filter narrows it.", "poor")
