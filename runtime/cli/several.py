"""Tickets side by side, as `submit` runs them: what came of each is said in the order in which they were named."""

import asyncio
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from actors.workflow.outcome import Outcome
from runtime.cli import EXITS, Exit
from runtime.cli.index_renewal import renew_index
from runtime.cli.ticket_input import Read
from runtime.cli.view.result import exit_status
from runtime.cli.view.run_display import Display, open_display
from runtime.daemon.daemon_client import submit
from runtime.engine.run_record import Ended
from runtime.engine.service import TicketService, open_service
from runtime.families import find
from runtime.service_error import ServiceError
from runtime.settings import Settings
from runtime.user_text import pluralize, safe, spell_out

Tell = Callable[[Ended, str], None]


class NotBegun(NamedTuple):
    """A ticket that was not accepted."""

    why: str
    status: Exit


async def submit_all(tickets: Sequence[Read], settings: Settings, tell: Tell, *, quiet: bool = False) -> list[Exit]:
    """
    Run tickets side by side, as many at once as configured, in a daemon on the same folder if there is one.

    :param tell: says how one ended, before anything is put away; the last argument names its file if they are several.
    """
    several = len(tickets) > 1
    names = [each.place for each in tickets] if several else [""]
    await renew_index(settings, quiet=quiet)
    flow = find(tickets[0].ticket.workflow).flow
    async with (
        open_display(settings.run, flow, names, quiet=quiet) as display,
        open_service(settings) as service,
    ):
        turns = asyncio.Semaphore(min(settings.run.side_by_side, settings.server.max_runs))
        runs = [asyncio.ensure_future(_run(service, display, turns, n, each)) for n, each in enumerate(tickets)]
        try:
            if sys.stdout.isatty():  # where the board is drawn, too
                await asyncio.wait(runs)
                await display.close()
            statuses = [await _tell(service, name, await run, tell) for name, run in zip(names, runs, strict=True)]
            if several and not quiet:
                print(_tally(run.result() for run in runs), file=sys.stderr, flush=True)
            return statuses
        finally:
            for run in runs:
                run.cancel()
            await asyncio.wait(runs)


async def _run(
    service: TicketService, display: Display, turns: asyncio.Semaphore, number: int, read: Read
) -> Outcome | NotBegun:
    """How a ticket ended, once it is its turn."""
    async with turns:
        if display.cancelled and number:
            return NotBegun("it was not begun, for all was cancelled before.", Exit.CANCELLED)
        try:
            run = await submit(service, read.ticket)
        except ServiceError as error:
            return NotBegun(str(error), EXITS[error.kind])
        return await display.watch(run, number)


async def _tell(service: TicketService, name: str, came: Outcome | NotBegun, tell: Tell) -> Exit:
    """Say what came of one, and return its exit status."""
    if isinstance(came, NotBegun):
        print(safe(f"{name}: {came.why}" if name else came.why), file=sys.stderr, flush=True)
        return came.status
    tell(await service.conclude(came), name)
    return exit_status(came)


def _tally(came: Iterable[Outcome | NotBegun]) -> str:
    """`3 tickets: 2 suggested, 1 not found.`"""
    statuses = [each.status if isinstance(each, Outcome) else "not_begun" for each in came]
    counts = ", ".join(f"{count} {spell_out(status)}" for status, count in Counter(statuses).most_common())
    return f"{pluralize(len(statuses), 'ticket')}: {counts}."
