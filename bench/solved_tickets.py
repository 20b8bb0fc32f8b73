"""Many solved tickets put into a memory at once, as if its store had grown for months: for measuring and testing it."""

from collections.abc import Iterable
from typing import NamedTuple

from actors.evidence.claims import Resolution
from runtime.memory.ticket_memory import TicketMemory, to_row

ROWS = 500
"""Tickets a transaction."""


class SolvedTicket(NamedTuple):
    """A ticket with what solved it."""

    ticket_id: str
    text: str
    resolution: Resolution
    confirmed: bool = True


async def remember_all(memory: TicketMemory, tickets: Iterable[SolvedTicket]) -> None:
    """Store tickets in the order in which they come; the memory learns from them if enough is new."""
    waiting = list(tickets)
    for first in range(0, len(waiting), ROWS):
        batch = waiting[first : first + ROWS]
        rows = (to_row(f"import:{id_}", id_, text, resolution) for id_, text, resolution, _ in batch)
        states = ("confirmed" if ticket.confirmed else "unconfirmed" for ticket in batch)
        await memory._store.remember(*(row._replace(state=state) for row, state in zip(rows, states, strict=True)))
    await memory.recount()
