"""`submit` with several files: several tickets side by side, and what came of each in the order of their names."""

import asyncio
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from actors.reporting.report import Report
from actors.workflow.outcome import Outcome
from runtime.cli import Exit
from runtime.cli.session import came_of
from runtime.cli.ticket_input import Read
from runtime.cli.view.result import exit_status
from runtime.cli.view.run_display import Watching, watched_together
from runtime.messages import pluralize, safe, spell_out
from runtime.node import Busy, Node
from runtime.run_record import EndedRecord
from runtime.service import open_node
from runtime.settings import Settings

Tell = Callable[[EndedRecord, Report | None, str], None]


class NotBegun(NamedTuple):
    """A ticket that was not accepted."""

    why: str
    status: Exit


async def submit_all(tickets: Sequence[Read], settings: Settings, tell: Tell, *, quiet: bool = False) -> list[Exit]:
    """
    Run tickets side by side, as many at once as configured.

    :param tell: says how one ended, whose file is the last argument.
    """
    names = [each.place for each in tickets]
    async with watched_together(settings, names, quiet=quiet) as watching, open_node(settings) as node:
        turns = asyncio.Semaphore(min(settings.run.side_by_side, settings.server.max_runs))
        runs = [asyncio.ensure_future(_run(node, watching, turns, n, each)) for n, each in enumerate(tickets)]
        try:
            if sys.stdout.isatty():  # where the board is drawn, too
                await asyncio.wait(runs)
                await watching.close()
            statuses = [_told(node, name, await run, tell) for name, run in zip(names, runs, strict=True)]
            if not quiet:
                print(_tally(run.result() for run in runs), file=sys.stderr, flush=True)
            return statuses
        finally:
            for run in runs:
                run.cancel()
            await asyncio.wait(runs)


async def _run(node: Node, watching: Watching, turns: asyncio.Semaphore, number: int, read: Read) -> Outcome | NotBegun:
    """How a ticket ended, once it is its turn."""
    async with turns:
        if watching.cancelled:
            return NotBegun("it was not begun, for all was cancelled before.", Exit.CANCELLED)
        try:
            handle = await node.submit(read.draft.ticket())
        except Busy as error:
            return NotBegun(str(error), Exit.FAILED)
        return await watching.watch(number, handle)


def _told(node: Node, name: str, came: Outcome | NotBegun, tell: Tell) -> Exit:
    """Say what came of one, and return its exit status."""
    if isinstance(came, NotBegun):
        print(safe(f"{name}: {came.why}"), file=sys.stderr, flush=True)
        return came.status
    tell(*came_of(node, came), name)
    return exit_status(came)


def _tally(came: Iterable[Outcome | NotBegun]) -> str:
    """`3 tickets: 2 suggested, 1 not found.`"""
    statuses = [each.status if isinstance(each, Outcome) else "not_begun" for each in came]
    counts = ", ".join(f"{count} {spell_out(status)}" for status, count in Counter(statuses).most_common())
    return f"{pluralize(len(statuses), 'ticket')}: {counts}."
