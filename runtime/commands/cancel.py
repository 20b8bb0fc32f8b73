"""`cancel`: asks a run to end, in whatever process it is, and waits until it has."""

import argparse
from typing import TYPE_CHECKING

from runtime.commands import Exit, UserError, utf8

if TYPE_CHECKING:
    from runtime.node import Node
    from runtime.settings import Settings

LOOK_SECONDS = 0.1
MARGIN_SECONDS = 5.0
"""How much longer than its grace a run is waited for."""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = "exit status: 0 it has ended, 1 it has not within its time, 3 there is no such ticket or run."
    parser.add_argument("id", type=utf8, help="a ticket or a run")
    parser.add_argument("--now", action="store_true", help="do not let agents hand in what they have")
    parser.add_argument("--no-wait", action="store_true", help="return as soon as it is asked")


def run(arguments: argparse.Namespace, settings: "Settings") -> int:
    import asyncio

    return asyncio.run(_cancel(arguments, settings))


async def _cancel(arguments: argparse.Namespace, settings: "Settings") -> int:
    import asyncio
    import time

    from runtime.commands.opening import opened
    from runtime.wording import safe, spoken

    async with opened(settings) as node:
        stored, _ = node.status(arguments.id)
        name = safe(f"{stored.id} of the ticket {stored.ticket}")
        for _ in range(1 + arguments.now):
            if not await node.cancel(stored.id):
                print(f"The run {name} has ended already: {spoken(stored.status)}.")
                return Exit.DONE
        if not node.owner.lives(stored.owner):
            print(f"The process of the run {name} is gone; it is cancelled when `python -m runtime resume` finds it.")
            return Exit.DONE
        until = time.monotonic() + settings.run.cancel_seconds + MARGIN_SECONDS
        while not arguments.no_wait:
            if status := _ended(node, stored.id):
                print(f"The run {name} has ended: {spoken(status)}.")
                return Exit.DONE
            if time.monotonic() > until:
                raise UserError(f"The run {name} was asked to end and has not yet; ask again with --now.", Exit.FAILED)
            await asyncio.sleep(LOOK_SECONDS)
        print(f"The run {name} was asked to end.")
    return Exit.DONE


def _ended(node: "Node", run_id: str) -> str:
    """How a run ended, or nothing."""
    stored, outcome = node.status(run_id)
    return outcome.status if outcome is not None and stored.ended is not None else ""
