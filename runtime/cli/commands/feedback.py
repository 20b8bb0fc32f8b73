"""`feedback`: a person says whether a resolution was right; memory never repeats one that was wrong."""

import argparse
import sys
from typing import TYPE_CHECKING

from runtime.cli import Exit, utf8

if TYPE_CHECKING:
    from runtime.run_record import Record
    from runtime.settings import Settings

SUMMARY = "say whether a resolution was right"
RIGHT = "The same ticket gets it at once; similar ones do as soon as memory has learned from enough tickets."
WRONG = "Memory never gives it again. If your documents say it, mend them and index them again."


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = "exit status: 0 it is noted, 3 there is no such ticket, or memory holds no answer of it."
    parser.add_argument("id", type=utf8, help="a ticket or a run")
    said = parser.add_mutually_exclusive_group(required=True)
    said.add_argument(
        "--right", action="store_true", help="it solved the ticket: the same ticket, later similar ones, get it"
    )
    said.add_argument("--wrong", action="store_true", help="it did not: memory never gives it again")
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")


def run(arguments: argparse.Namespace, settings: "Settings") -> int:
    import asyncio

    import msgspec

    from runtime.cli.view.result import Line
    from runtime.cli.view.run_display import write
    from runtime.cli.view.ticket_lines import question
    from runtime.messages import as_json, pluralize, safe

    ticket, count, asked = asyncio.run(_feedback(arguments.id, settings, right=arguments.right))
    if arguments.json:
        print(as_json({**msgspec.to_builtins(asked), "ticket": ticket, "right": arguments.right, "answers": count}))
        return Exit.DONE
    said, then = ("right", RIGHT) if arguments.right else ("wrong", WRONG)
    noted = f"Noted as {said}: {pluralize(count, 'remembered answer')} of {safe(ticket)}."
    write([Line(noted), question(asked), Line(then)], sys.stdout)
    return Exit.DONE


async def _feedback(some_id: str, settings: "Settings", *, right: bool) -> "tuple[str, int, Record]":
    """The ticket that memory has the answer of, how many answers it touched, and the run that was asked that."""
    from runtime.service import open_service

    async with open_service(settings) as service:
        stored, ticket, count = await service.feedback(await service.find(some_id), right=right)
        return ticket, count, await service.describe(stored)
