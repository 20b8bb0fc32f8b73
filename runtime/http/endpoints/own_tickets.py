"""Whose a ticket is: to who may only submit there are none but their own, and nobody but its owner acts for it."""

import re
from collections.abc import Awaitable, Callable

from aiohttp import web

from runtime.access.roles import LOCAL
from runtime.actions import find_owners
from runtime.http.endpoints.desk import DESK, read_id
from runtime.http.errors import ApiError
from runtime.http.gate import find_principal, may_do
from runtime.run_events import Sees
from runtime.service import TicketService
from runtime.service_error import ServiceError
from runtime.storage.journal import StoredRun
from runtime.storage.records import NewRun
from runtime.tickets import Ticket
from runtime.tracing.run_trace import find_outermost

ID_OF_KEY = re.compile(r"K-[0-9a-f]{24}")
"""As `make_id_of_key` makes one."""
MOST_KNOWN = 1_000
"""Runs of which one listener remembers whose they are."""


def make_own_key(request: web.Request, key: str) -> str:
    """An `Idempotency-Key` as one of whoever sends it, so that nobody meets another's ticket by it."""
    principal = find_principal(request)
    return f"{principal.by}\n{key}" if key and principal and principal.by != LOCAL.by else key


def find_reader(request: web.Request) -> str:
    """Whose tickets alone who asks may read; empty: everybody's."""
    principal = find_principal(request)
    return "" if principal is None or may_do(request, "read") else principal.by


async def find_ticket(request: web.Request, act: str = "") -> StoredRun:
    """
    The latest run of the ticket that a request names.

    :param act: what its owner and the role `operate` alone may do with it, for a sentence; empty: it is only read.
    :raises ServiceError: there is none that who asks may read.
    :raises ApiError: they may read it, and not do this.
    """
    desk, name = request.app[DESK], read_id(request)
    return await _check(request, await desk.ticket(name), f"There is no ticket {name}.", act)


async def find_run(request: web.Request, name: str) -> StoredRun:
    """
    A run, by its own id.

    :raises ServiceError: there is none that who asks may read.
    """
    return await _check(request, await request.app[DESK].run(name), f"There is no run {name}.")


async def _check(request: web.Request, stored: StoredRun, unknown: str, act: str = "") -> StoredRun:
    if may_do(request, "operate") or await is_owner(request, stored):
        return stored
    if not may_do(request, "read"):
        raise ServiceError(unknown, "not_found")
    if act:
        raise ApiError(
            403, f"Ticket {stored.ticket} was submitted by somebody else. Only who submitted it, and the role operate "
            f"or admin, may {act}.",
        )  # fmt: skip
    return stored


async def is_owner(request: web.Request, stored: NewRun) -> bool:
    """Whether who asks submitted what this run is about."""
    principal, run = find_principal(request), find_outermost(stored.id)
    if principal is None:
        return False
    owners = await find_owners(request.app[DESK].node.journal.store, run)
    return principal.by in owners[run]


async def may_act(request: web.Request, stored: NewRun) -> bool:
    """Whether who asks may do with this run what its owner may."""
    return may_do(request, "operate") or await is_owner(request, stored)


def find_taken(request: web.Request) -> Callable[[StoredRun], Awaitable[None]]:
    """What refuses an id that another's ticket has, and tells nothing of that, to who may not replace it."""

    async def refuse(latest: StoredRun) -> None:
        if not await may_act(request, latest):
            raise ApiError(
                409, f"The id {latest.ticket} is taken. Use another; only the role operate or admin may put another "
                "ticket in the place of somebody else's.",
            )  # fmt: skip

    return refuse


async def refuse_made_id(desk: TicketService, request: web.Request, ticket: Ticket) -> None:
    """:raises ApiError: who may only submit wants an id that somebody's `Idempotency-Key` may become."""
    if may_do(request, "operate") or not ID_OF_KEY.fullmatch(ticket.id):
        return
    if await desk.node.journal.latest_of(ticket.id) is None:
        raise ApiError(409, f"The id {ticket.id} is one of an Idempotency-Key. Use another.")


def find_sees(request: web.Request) -> Sees | None:
    """What tells which of many runs who asks may read; nothing: all."""
    reader, store = find_reader(request), request.app[DESK].node.journal.store
    if not reader:
        return None
    known: dict[str, bool] = {}

    async def sees(runs: set[str]) -> set[str]:
        if len(known) > MOST_KNOWN:
            known.clear()
        if asked := runs - known.keys():
            known.update({run: reader in owners for run, owners in (await find_owners(store, *asked)).items()})
        return {run for run in runs if known[run]}

    return sees
