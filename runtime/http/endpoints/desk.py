"""What the routes share: the service that they ask, the id in a path, how a run is told."""

import functools
import re
import time
from collections.abc import Awaitable, Callable

from aiohttp import web

from runtime.access.tokens import LOCAL
from runtime.engine.actions import find_owners
from runtime.engine.run_record import join_records, make_record
from runtime.engine.service import Sees, TicketService
from runtime.http.errors import ApiError
from runtime.http.gate import GATE, find_principal, may_do
from runtime.http.middleware import answer
from runtime.http.request_bodies import KEY_CHARACTERS, WAIT_SECONDS, Receipt, RunStatus, links
from runtime.http.routes import Document
from runtime.observe.meters import meters
from runtime.observe.run_trace import find_outermost
from runtime.service_error import ServiceError
from runtime.storage.records import Asked, NewRun, StoredRun
from runtime.tickets import ID, Ticket
from runtime.times import iso

DESK = web.AppKey("desk", TicketService)

WAIT: Document = {
    "name": "wait", "in": "query", "schema": {"type": "number", "minimum": 0, "default": 0},
    "description": f"Seconds to wait for the outcome; at most {WAIT_SECONDS:g}, longer ones are shortened.",
}  # fmt: skip
KEY: Document = {
    "name": "Idempotency-Key", "in": "header", "schema": {"type": "string", "maxLength": KEY_CHARACTERS},
    "description": "The same again gives the same run. A ticket with an id needs none: its id is the key.",
}  # fmt: skip


async def wait_for(request: web.Request, run_id: str, seconds: float) -> web.Response:
    """
    How a run ended within some seconds, or that it goes on.

    :raises ApiError: who waits may not any more.
    """
    desk, gate = request.app[DESK], request.app[GATE]
    goes_on = bool(seconds) and (desk.node.runs.here(run_id) is not None or (await desk.run(run_id)).ended is None)
    look_again = functools.partial(gate.look_again, request)
    outcome = await desk.outcome(run_id, seconds, look_again) if seconds else None
    stored, asked = await desk.read_both(run_id)
    if outcome is None:
        return tell_receipt(stored, asked, stored.status)
    if goes_on and stored.ended is not None:
        meters.answer_seconds.add(max(0.0, time.time() - stored.ended))
    return answer(join_records(outcome, make_record(stored, asked)))


def read_id(request: web.Request) -> str:
    """The id in the path, which is never more than letters, digits, dots, dashes and underscores."""
    given = request.match_info["id"]
    if not ID.fullmatch(given):
        raise ApiError(404, "There is no such id: ids are 1 to 100 letters, digits, dots, dashes or underscores.")
    return given


async def make_receipt(desk: TicketService, stored: StoredRun, status: int = 202) -> web.Response:
    """What whoever sent or cancelled a ticket is told of its run."""
    return tell_receipt(stored, await desk.read_question(stored), stored.status, status)


def tell_receipt(run: NewRun, said: Asked, status: str, code: int = 202) -> web.Response:
    """What is known of a run and of its ticket."""
    where = links(run)
    created = iso(said.created)
    known = Receipt(run.ticket, run.id, status, said.question, said.subject, said.requester, created, where)
    return answer(known, code, {"Location": where.run})


async def describe_run(desk: TicketService, stored: StoredRun) -> RunStatus:
    """Where a run stands, and how it ended if it has."""
    known = make_record(stored, await desk.read_question(stored))
    return RunStatus(
        **{name: getattr(known, name) for name in known.__struct_fields__},
        outcome=await desk.node.journal.outcome(stored), links=links(stored),
    )  # fmt: skip


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
