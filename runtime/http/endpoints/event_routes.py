"""Streams of events: of one ticket and of all, which go on where a client was cut off."""

import re

from aiohttp import web

from runtime.http import request_bodies
from runtime.http.endpoints.desk import DESK
from runtime.http.endpoints.own_tickets import find_run, find_sees, find_ticket
from runtime.http.errors import ApiError
from runtime.http.routes import Document, route
from runtime.http.stream import OF_A_RUN, OF_ALL, describe_events, stream, stream_all
from runtime.run_events import Cursor, has_heard_all
from runtime.storage.damage import JournalDamaged
from runtime.storage.errors import UnknownRun
from runtime.storage.journal import StoredRun
from runtime.tickets import ID
from runtime.user_text import display

LAST_ID: Document = {
    "name": "Last-Event-ID", "in": "header", "schema": {"type": "string"},
    "description": "The id of the event that was heard last: the stream goes on behind it. Browsers send it.",
}  # fmt: skip
AFTER: Document = {
    "name": "after", "in": "query", "schema": {"type": "string"},
    "description": "The same, for who cannot send headers; where both come, the header counts.",
}  # fmt: skip
SPANS: Document = {
    "name": "spans", "in": "query", "schema": {"type": "string", "enum": ["0", "1"]},
    "description": "1: its spans, too (searches, calls of models and tools, agents), each when it is over.",
}  # fmt: skip
CURSOR = re.compile(rf"({ID.pattern}):([0-9]{{1,10}})")
UNKNOWN_PLACE = (
    "What came after this event is not known in its order any more. Listen without Last-Event-ID, and GET /tickets "
    "tells what there is."
)
HEARD = {"description": "The run has ended, and its end was heard: there is nothing to come again for", "content": {}}


@route(
    "GET", "/tickets/{id}/events", "Watch a ticket's latest run", {200: describe_events(OF_A_RUN), 204: HEARD},
    refusals=(400, 404), parameters=(LAST_ID, AFTER, SPANS), access="submit",
)  # fmt: skip
async def events(request: web.Request) -> web.StreamResponse:
    desk = request.app[DESK]
    spans = _read_spans(request)
    cursor, stored = _read_cursor(request, "spans"), await find_ticket(request)
    if cursor is None:
        return await stream(request, desk, stored.id, -1, spans=spans)
    heard = await _find_heard(request, cursor, stored)
    if not await has_heard_all(desk, heard, cursor):
        return await stream(request, desk, heard.id, cursor.number, spans=spans)
    if heard.id != stored.id:  # the ticket went on in another run
        return await stream(request, desk, stored.id, -1, spans=spans)
    return web.Response(status=204)


@route(
    "GET", "/events", "Watch all tickets", {200: describe_events(OF_ALL)}, refusals=(400, 410),
    parameters=(LAST_ID, AFTER), access="submit",
)  # fmt: skip
async def all_events(request: web.Request) -> web.StreamResponse:
    desk, cursor, place = request.app[DESK], _read_cursor(request), None
    sees = find_sees(request)
    if cursor is None:
        return await stream_all(request, desk, await desk.feed.end(), None, sees)
    if sees is not None and not await sees({cursor.run}):
        raise ApiError(410, UNKNOWN_PLACE)
    try:
        place = await desk.feed.find_place(*cursor)
    except (UnknownRun, JournalDamaged):
        """Nobody knows any more what came after it."""
    if place is None:
        raise ApiError(410, UNKNOWN_PLACE)
    return await stream_all(request, desk, place, cursor, sees)


def _read_spans(request: web.Request) -> bool:
    given = request.query.get("spans", "0")
    if given not in {"0", "1"}:
        raise ApiError(400, f"spans is 1 or 0, not {display(given)}.")
    return given == "1"


def _read_cursor(request: web.Request, *others: str) -> Cursor | None:
    """What was heard last; nothing when that is not said. `others`: what may be asked for besides."""
    asked = request_bodies.read_query(request, ("after", *others)).get("after", "")
    given = request.headers.get("Last-Event-ID", "") or asked
    if not given:
        return None
    found = CURSOR.fullmatch(given)
    if found is None:
        raise ApiError(400, f"There is no event {display(given)}. Send the id of an event as it came: RUN:n.")
    return Cursor(found[1], int(found[2]))


async def _find_heard(request: web.Request, cursor: Cursor, latest: StoredRun) -> StoredRun:
    """The run whose event was heard last: this one, or an earlier one of its ticket."""
    heard = latest if cursor.run == latest.id else await find_run(request, cursor.run)
    if heard.ticket == latest.ticket:
        return heard
    raise ApiError(400, f"{cursor.run} is no run of {latest.ticket}. Send the id of an event of this ticket, or none.")
