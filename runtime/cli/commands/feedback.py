"""`feedback`: a person says whether a resolution was right; memory never repeats one that was wrong."""

import argparse
from typing import TYPE_CHECKING

from runtime.cli import Exit, utf8
from runtime.cli.view.printing import Line, print_result
from runtime.user_text import pluralize

if TYPE_CHECKING:
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


async def run(arguments: argparse.Namespace, settings: "Settings") -> int:
    import msgspec

    from runtime.cli.view.ticket_lines import question
    from runtime.service import open_service

    async with open_service(settings) as service:
        asked = await service.find(arguments.id)
        stored, ticket, count = await service.feedback(asked, right=arguments.right)
        record = await service.describe(stored)
    said, then = ("right", RIGHT) if arguments.right else ("wrong", WRONG)
    noted = f"Noted as {said}: {pluralize(count, 'remembered answer')} of {ticket}."
    value = {**msgspec.to_builtins(record), "ticket": ticket, "right": arguments.right, "answers": count}
    print_result([Line(noted), question(record), Line(then)], value, json=arguments.json)
    return Exit.DONE
