"""`feedback`: a person says whether a resolution was right; memory never repeats one that was wrong."""

import argparse
from typing import TYPE_CHECKING

from runtime.commands import Exit, UserError, utf8

if TYPE_CHECKING:
    from runtime.settings import Settings

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


def run(arguments: argparse.Namespace, settings: "Settings") -> int:
    import asyncio

    from runtime.view.report import counted
    from runtime.wording import safe

    ticket, count = asyncio.run(_feedback(arguments.id, settings, right=arguments.right))
    said, then = ("right", RIGHT) if arguments.right else ("wrong", WRONG)
    print(f"Noted as {said}: {counted(count, 'remembered answer')} of {safe(ticket)}. {then}")
    return Exit.DONE


async def _feedback(some_id: str, settings: "Settings", *, right: bool) -> tuple[str, int]:
    """The ticket that memory has the answer of, which an answer from memory only repeats, and how many it touched."""
    from runtime.commands.opening import opened
    from runtime.memory.store import NotRemembered

    async with opened(settings) as node:
        try:
            return await node.feedback(some_id, right=right)
        except NotRemembered as error:
            raise UserError(str(error), Exit.NOT_FOUND) from None
