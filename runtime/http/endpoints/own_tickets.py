"""Whose a ticket is: who may only submit changes none but their own."""

import contextlib

from aiohttp import web

from runtime.access.roles import LOCAL, may
from runtime.http.errors import ApiError
from runtime.http.gate import find_principal
from runtime.service import TicketService
from runtime.storage.journal import JournalDamaged, StoredRun
from runtime.tickets import Ticket


def make_own_key(request: web.Request, key: str) -> str:
    """An `Idempotency-Key` as one of whoever sends it, so that nobody meets another's ticket by it."""
    principal = find_principal(request)
    return f"{principal.by}\n{key}" if key and principal and principal.by != LOCAL.by else key


async def refuse_to_replace(desk: TicketService, request: web.Request, ticket: Ticket) -> None:
    """:raises ApiError: another's ticket has this id and says something else, and who asks may only submit."""
    latest = await desk.node.journal.latest_of(ticket.id) if ticket.id else None
    if latest is None or _is_same(desk, latest, ticket):
        return
    await refuse_others(
        desk, request, latest, f"Ticket {ticket.id} was submitted by somebody else, with another text or order. "
        "Use another id; only the role operate or admin may put another ticket in its place.",
    )  # fmt: skip


async def refuse_others(desk: TicketService, request: web.Request, latest: StoredRun, sentence: str) -> None:
    """:raises ApiError: who asks may only submit, and did not submit the ticket of this run; it says this sentence."""
    if not await owns_ticket(desk, request, latest):
        raise ApiError(403, sentence)


async def refuse_to_answer(desk: TicketService, request: web.Request, latest: StoredRun) -> None:
    """:raises ApiError: who asks may not answer what the ticket of this run asks."""
    await refuse_others(
        desk, request, latest, f"Ticket {latest.ticket} was submitted by somebody else. "
        "Only who submitted it, and the role operate or admin, may answer what it asks.",
    )  # fmt: skip


async def owns_ticket(desk: TicketService, request: web.Request, latest: StoredRun) -> bool:
    """Whether the ticket of this run is who asks's own, or they have a role to which all are."""
    principal = find_principal(request)
    if principal is None or may(principal.role, "operate"):
        return True
    return principal.by in await _find_submitters(desk, latest)


async def _find_submitters(desk: TicketService, latest: StoredRun) -> set[str]:
    """Who submitted the ticket whose latest run this is: its first run has them, where answers led to more."""
    first = latest
    with contextlib.suppress(JournalDamaged):  # what cannot be read is nobody's but who began this run
        if rounds := desk.node.journal.case(latest).answers:
            first = await desk.node.journal.run(rounds[0].run)
    return {each.by for each in (await desk.read_question(first)).actions if each.what == "submitted"}


def _is_same(desk: TicketService, stored: StoredRun, ticket: Ticket) -> bool:
    try:
        return desk.node.is_same(stored, ticket)
    except JournalDamaged:
        return False
