"""The list of tickets: filtered, searched, page by page."""

import contextlib
import urllib.parse
from collections.abc import Mapping
from typing import get_args

import msgspec
from aiohttp import web

from actors.workflow.outcome import Status
from actors.workflow.tables import ORCHESTRATOR
from runtime.http import request_bodies
from runtime.http.endpoints.desk import DESK
from runtime.http.endpoints.own_tickets import find_reader
from runtime.http.errors import ApiError
from runtime.http.middleware import answer
from runtime.http.routes import Document, as_json, route
from runtime.http.schemas import ListedTicket, TicketPage, links
from runtime.run_filter import make_wanted
from runtime.service import TicketService
from runtime.storage.records import Asked, StoredRun
from runtime.storage.run_agents import list_agents
from runtime.user_text import display, nearest

STATUSES = ("running", *get_args(Status))
MOST_ON_A_PAGE = 200
CURSOR_DIGITS = 18
MOST_LOOKED_THROUGH = 10_000
"""So many tickets are searched for a text or an agent before whoever asks is told to go on: 0.6 s, by bench.listing."""
RUN_FILTERS: dict[str, Document] = {
    name: {"schema": {"type": "boolean" if name == "failed" else "string"}, "description": said}
    for name, said in {
        "workflow": "Of one kind, such as legal", "intent": "What they ask for", "agent": "Who worked on them",
        "since": "When they began: 30m, 12h, 7d ago, or 2026-01-31", "slow": "How long they took at least: 10s, 2m",
        "failed": "Those that a limit, a failure or a person ended",
    }.items()
}  # fmt: skip
"""What `GET /traces` looks for among all runs, and `GET /tickets` among the latest of each ticket."""
FILTERS: dict[str, Document] = {
    "status": {"schema": {"type": "string", "enum": list(STATUSES)}, "description": "How their latest run stands"},
    **RUN_FILTERS,
    "q": {
        "schema": {"type": "string"},
        "description": "Stands in the question, the subject, the requester or an id, whatever its case",
    },
    "limit": {
        "schema": {"type": "integer", "minimum": 1, "maximum": MOST_ON_A_PAGE, "default": 20},
        "description": "How many at most",
    },
    "cursor": {"schema": {"type": "string"}, "description": "Where to go on, as the link `next` of a page has it"},
}


@route(
    "GET", "/tickets", "List tickets by their latest runs, the newest first",
    {200: as_json("One page of them", TicketPage)}, refusals=(400,),
    parameters=tuple({"name": name, "in": "query", **its} for name, its in FILTERS.items()), access="submit",
)  # fmt: skip
async def list_tickets(request: web.Request) -> web.StreamResponse:
    return answer(await find_page(request, request_bodies.read_query(request, tuple(FILTERS))))


async def find_page(request: web.Request, given: Mapping[str, str]) -> TicketPage:
    """
    One page of the tickets that who asks may read.

    :param given: the filters, by their names, as a query has them.
    :raises ApiError: one of them cannot be meant so.
    """
    desk = request.app[DESK]
    before, status, most = (
        _read_cursor(given),
        given.get("status", ""),
        request_bodies.read_limit(given, 20, MOST_ON_A_PAGE),
    )
    if status and status not in STATUSES:
        raise ApiError(400, f"There is no status {display(status)}. {nearest(status, STATUSES)}")
    asked = request_bodies.make_filter({name: given[name] for name in RUN_FILTERS if name in given})
    asked = msgspec.structs.replace(asked, search=given.get("q", ""), status=status, limit=most + 1)
    wanted = msgspec.structs.replace(
        make_wanted(asked, ""), latest=True, before=before, looks=MOST_LOOKED_THROUGH, by=find_reader(request)
    )
    found = await desk.node.journal.store.search(wanted)
    tickets = [await _describe(desk, run, question) for run, question in found.runs[:most]]
    last = found.runs[most - 1][0].seq if len(found.runs) > most else found.last if found.stopped else 0
    query = urllib.parse.urlencode({**given, "cursor": str(last)})
    return TicketPage(tuple(tickets), f"/tickets?{query}" if last else "", found.stopped)


async def _describe(desk: TicketService, stored: StoredRun, asked: Asked) -> ListedTicket:
    known = await desk.describe(stored, asked)
    its = {name: getattr(known, name) for name in known.__struct_fields__}
    return ListedTicket(**its, agents=_find_agents(stored), links=links(stored))


def _find_agents(stored: StoredRun) -> tuple[str, ...]:
    with contextlib.suppress(msgspec.MsgspecError):
        return tuple(each for each in list_agents(stored.ending or b"") if each != ORCHESTRATOR)
    return ()


def _read_cursor(given: Mapping[str, str]) -> int:
    """The `seq` before which a page begins; 0: at the newest."""
    cursor = given.get("cursor", "")
    if not cursor:
        return 0
    if not (cursor.isascii() and cursor.isdigit() and len(cursor) <= CURSOR_DIGITS and int(cursor)):
        raise ApiError(400, f"There is no page {display(cursor)}. Take the link `next` of the page before as it is.")
    return int(cursor)
