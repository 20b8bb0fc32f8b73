"""What the routes share: the service that they ask, the id in a path, how a run is told."""

import functools
import time

from aiohttp import web

from runtime.http.errors import ApiError
from runtime.http.gate import GATE
from runtime.http.middleware import answer
from runtime.http.routes import Document
from runtime.http.schemas import KEY_CHARACTERS, WAIT_SECONDS, Receipt, RunStatus, links
from runtime.meters import meters
from runtime.run_record import join_records, make_record
from runtime.service import TicketService
from runtime.storage.journal import StoredRun
from runtime.storage.records import Asked, NewRun
from runtime.tickets import ID
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
