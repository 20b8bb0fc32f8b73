"""`cancel`: asks a run to end, in whatever process it is, and waits until it has."""

import argparse
import sys
from typing import TYPE_CHECKING

from runtime.cli import Exit, utf8
from runtime.cli.view.printing import Line, print_result, write
from runtime.service_error import ServiceError
from runtime.user_text import safe, spell_out

if TYPE_CHECKING:
    from runtime.engine.node import Node
    from runtime.settings import Settings
    from runtime.storage.records import StoredRun

SUMMARY = "stop a ticket gently"
MARGIN_SECONDS = 5.0
"""How much longer than its grace a run is waited for."""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = "exit status: 0 it has ended, 1 it has not within its time, 3 there is no such ticket or run."
    parser.add_argument("id", type=utf8, help="a ticket or a run")
    parser.add_argument("--now", action="store_true", help="do not let agents hand in what they have")
    parser.add_argument("--no-wait", action="store_true", help="return as soon as it is asked")
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")


async def run(arguments: argparse.Namespace, settings: "Settings") -> int:
    import msgspec

    from runtime.cli.view.ticket_lines import question
    from runtime.engine.service import open_service

    async with open_service(settings) as service:
        stored = await service.find(arguments.id)
        if not arguments.json:
            write([question(await service.describe(stored))], sys.stdout)
            sys.stdout.flush()
        sentence = await _end(service.node, stored, settings, now=arguments.now, wait=not arguments.no_wait)
        now = await service.describe(await service.node.journal.run(stored.id))
        print_result([Line(sentence)], {**msgspec.to_builtins(now), "said": sentence}, json=arguments.json)
    return Exit.DONE


async def _end(node: "Node", stored: "StoredRun", settings: "Settings", *, now: bool, wait: bool) -> str:
    """
    What came of asking a run to end, in a sentence.

    :raises ServiceError: it has not ended within its time.
    """
    import asyncio

    name = safe(f"{stored.id} of the ticket {stored.ticket}")
    for _ in range(1 + now):
        if not await node.cancel(stored.ref):
            return f"The run {name} has ended already: {spell_out((await node.journal.run(stored.id)).status)}."
    handle = await node.runs.attend(await node.journal.run(stored.id))
    if not wait and not node.runs.is_own(await node.journal.run(stored.id)):  # what this process has ends with it
        return f"The run {name} was asked to end."
    try:
        outcome = await asyncio.wait_for(handle.outcome(), settings.run.cancel_seconds + MARGIN_SECONDS)
    except TimeoutError:
        raise ServiceError(
            f"The run {name} was asked to end and has not yet; ask again with --now.", "failed"
        ) from None
    return f"The run {name} has ended: {spell_out(outcome.status)}."
