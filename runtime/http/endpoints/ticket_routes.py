"""
Tickets and their runs: submitted, listed, answered, read, cancelled, judged, followed as streams of
events, explained by traces.

A new route needs no more than a function here.
"""

import contextlib
import re
import urllib.parse
from collections.abc import Mapping
from typing import get_args

import msgspec
from aiohttp import web

from actors.workflow.outcome import Status
from actors.workflow.tables import ORCHESTRATOR
from runtime.engine.node import NoReport
from runtime.engine.run_filter import make_wanted
from runtime.engine.run_record import EndedRecord
from runtime.engine.service import Answers, Cursor, TicketService, answer_ticket, has_heard_all
from runtime.families import find, writes_report
from runtime.http import request_bodies
from runtime.http.endpoints.desk import (
    DESK,
    KEY,
    WAIT,
    describe_run,
    find_reader,
    find_run,
    find_sees,
    find_taken,
    find_ticket,
    make_own_key,
    make_receipt,
    read_id,
    refuse_made_id,
    tell_receipt,
    wait_for,
)
from runtime.http.errors import ApiError
from runtime.http.files import FORMATS, as_file, document_format, requested_format
from runtime.http.gate import may_do
from runtime.http.middleware import answer
from runtime.http.request_bodies import (
    JSON,
    TEXTS,
    AnswersGiven,
    Feedback,
    FeedbackReceipt,
    FoundTraces,
    ListedTicket,
    NewTicket,
    Receipt,
    RunStatus,
    TicketPage,
    links,
)
from runtime.http.routes import BODY, Document, as_json, refer_to, route
from runtime.http.stream import OF_A_RUN, OF_ALL, describe_events, stream, stream_all
from runtime.observe.trace_id import parse_traceparent
from runtime.observe.trace_record import TraceRecord, read_trace
from runtime.storage.damage import JournalDamaged
from runtime.storage.errors import UnknownRun
from runtime.storage.records import Asked, StoredRun, list_agents
from runtime.tickets import ID
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


TRACEPARENT: Document = {
    "name": "traceparent", "in": "header", "schema": {"type": "string"},
    "description": "W3C Trace Context: the run becomes part of that trace. One that cannot be read is passed over.",
}  # fmt: skip
TICKET_TEXT: Document = {"schema": {"type": "string", "description": "The ticket's text"}}


@route(
    "POST", "/tickets", "Submit a ticket",
    {
        202: as_json("The ticket is durable and its run goes on", Receipt),
        200: as_json("It has ended within the time waited", EndedRecord),
    },
    refusals=(*BODY, 409, 422, 429), parameters=(WAIT, KEY, TRACEPARENT),
    body={JSON: {"schema": refer_to(NewTicket)}, **dict.fromkeys(TEXTS, TICKET_TEXT)}, access="submit",
)  # fmt: skip
async def submit(request: web.Request) -> web.StreamResponse:
    desk = request.app[DESK]
    seconds, key = request_bodies.read_wait(request), request_bodies.read_key(request)
    ticket = await request_bodies.read_ticket(request, desk.node.settings)
    await refuse_made_id(desk, request, ticket)
    trace = parse_traceparent(request.headers.get("traceparent", ""))
    ticket = msgspec.structs.replace(ticket, trace=trace)
    taken = await desk.submit(ticket, make_own_key(request, key), check=find_taken(request))
    if taken.asked and not seconds:
        return tell_receipt(taken.run, taken.asked, "running")
    return await wait_for(request, taken.run.id, seconds)


@route(
    "POST", "/tickets/{id}/answers", "Answer what a ticket's latest run asks; the ticket goes on in another run",
    {
        202: as_json("The answers are durable and the ticket goes on", Receipt),
        200: as_json("It has ended within the time waited", EndedRecord),
    },
    refusals=(*BODY, 404, 409, 422, 429), parameters=(WAIT, KEY), body={JSON: {"schema": refer_to(AnswersGiven)}},
    access="submit",
)  # fmt: skip
async def answers(request: web.Request) -> web.StreamResponse:
    desk, ticket = request.app[DESK], read_id(request)
    seconds, key = request_bodies.read_wait(request), make_own_key(request, request_bodies.read_key(request))
    stored = await find_ticket(request, "answer what it asks")
    said = await request_bodies.read_answers(request)
    asking = await find_run(request, said.run) if said.run else stored
    if asking.ticket != ticket:
        raise ApiError(404, f"Run {asking.id} is not one of {ticket}.")
    given = Answers(given={name: str(value) for name, value in said.answers.items()}, text=said.text, key=key)
    follows = await answer_ticket(desk, asking, given, named=bool(said.run))
    return await wait_for(request, follows.id, seconds)


@route(
    "GET", "/tickets/{id}", "Where a ticket stands: its latest run", {200: as_json("Where it stands", RunStatus)},
    refusals=(404,), access="submit",
)  # fmt: skip
async def read_ticket(request: web.Request) -> web.StreamResponse:
    desk = request.app[DESK]
    return answer(await describe_run(desk, await find_ticket(request)))


@route(
    "GET", "/runs/{id}", "Where a run stands", {200: as_json("Where it stands", RunStatus)}, refusals=(404,),
    access="submit",
)  # fmt: skip
async def read_run(request: web.Request) -> web.StreamResponse:
    desk = request.app[DESK]
    return answer(await describe_run(desk, await find_run(request, read_id(request))))


@route(
    "POST", "/tickets/{id}/resume", "Go on with a ticket whose process died; none that goes on is disturbed",
    {202: as_json("It goes on", Receipt), 200: as_json("It had ended already", Receipt)}, refusals=(404,),
    access="operate",
)  # fmt: skip
async def resume(request: web.Request) -> web.StreamResponse:
    desk, ticket = request.app[DESK], read_id(request)
    desk.require_ready()
    stored = await desk.ticket(ticket)
    return await make_receipt(desk, stored, 202 if stored.ended is None else 200)


@route(
    "POST", "/tickets/{id}/cancel", "End a ticket's run gently; a second time, at once",
    {202: as_json("It was asked to end", Receipt), 200: as_json("It had ended already", Receipt)}, refusals=(404,),
    access="operate",
)  # fmt: skip
async def cancel(request: web.Request) -> web.StreamResponse:
    desk = request.app[DESK]
    stored = await desk.ticket(read_id(request))
    if not await desk.node.cancel(stored.ref):
        return await make_receipt(desk, await desk.run(stored.id), 200)
    return await make_receipt(desk, stored)


FORMAT: Document = {
    "name": "format", "in": "query", "schema": {"type": "string", "enum": list(FORMATS)},
    "description": "Default: HTML if the Accept header asks for it, else Markdown.",
}  # fmt: skip
STRING: Document = {"schema": {"type": "string"}}
JUDGE = "say whether its answer was right"


@route(
    "GET", "/tickets/{id}/report", "The report of a research, or the document that a ticket asked for",
    {200: {"description": "The report", "content": dict.fromkeys(FORMATS.values(), STRING)}},
    refusals=(400, 404, 409), parameters=(FORMAT,), access="submit",
)  # fmt: skip
async def report(request: web.Request) -> web.StreamResponse:
    return await send_report(request, await find_ticket(request))


async def send_report(request: web.Request, stored: StoredRun) -> web.StreamResponse:
    """
    The report or the document of a run, as the file that a request asks for.

    :raises ApiError: it has none, or none yet.
    """
    node = request.app[DESK].node
    if (document := await node.document(stored)) is not None:
        return await as_file(document, document_format(request), stored.ticket, node.workers)
    suffix = requested_format(request)
    if not writes_report(stored.workflow):
        kind = find(stored.workflow).label
        raise ApiError(404, f"{stored.ticket} is a {kind}; GET {links(stored).ticket} shows it.")
    try:
        found = await node.report(stored.ref)
    except NoReport:
        why = "yet; ask again when it has ended" if stored.ended is None else "because it ended before there was one"
        raise ApiError(409, f"There is no report of {stored.ticket} {why}.") from None
    return await as_file(found, suffix, stored.ticket, node.workers)


@route(
    "POST", "/tickets/{id}/feedback",
    "Say whether a ticket's resolution was right, or what is; memory never repeats one that was wrong",
    {200: as_json("It is noted", FeedbackReceipt)}, refusals=(404, 409, *BODY),
    body={JSON: {"schema": refer_to(Feedback)}}, access="submit",
)  # fmt: skip
async def feedback(request: web.Request) -> web.StreamResponse:
    desk = request.app[DESK]
    stored, given = await find_ticket(request, JUDGE), await request_bodies.read_feedback(request)
    said = await desk.read_question(stored)
    if given.right is None:
        if not may_do(request, "operate"):  # it is given word for word from then on, to customers, too
            raise ApiError(403, "Only the roles operate and admin give memory an answer. Say `right`: true or false.")
        right, count, about = True, 1, await desk.node.teach(stored.ref, given.answer, given.person)
    else:
        right, may_all = given.right, may_do(request, "operate")
        _, _, count = await desk.feedback(stored, right=right, places=given.places, for_all=may_all)
        about = await desk.read_answer(stored)
    judged = FeedbackReceipt(stored.ticket, right, count, said.question, said.subject, said.requester, about)
    return answer(msgspec.structs.replace(judged, places=given.places))


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
    cursor, stored = _read_event_cursor(request, "spans"), await find_ticket(request)
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
    desk, cursor, place = request.app[DESK], _read_event_cursor(request), None
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


def _read_event_cursor(request: web.Request, *others: str) -> Cursor | None:
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


TRACE_FILTERS: tuple[Document, ...] = tuple(
    {"name": name, "in": "query", **its}
    for name, its in {
        **RUN_FILTERS, "limit": {"schema": {"type": "string"}, "description": "How many; 20, at most 1,000"},
    }.items()
)  # fmt: skip


@route(
    "GET", "/tickets/{id}/trace", "Why the answer of a ticket's latest run is as it is",
    {200: as_json("What it searched, claimed and asked of models", TraceRecord)}, refusals=(404,), access="submit",
)  # fmt: skip
async def read_why(request: web.Request) -> web.StreamResponse:
    desk = request.app[DESK]
    return answer(await read_trace(desk.node, await find_ticket(request)))


@route(
    "GET", "/traces", "Find runs by intent, agent, end and duration, the newest first",
    {200: as_json("Those that are so", FoundTraces)}, refusals=(400,), parameters=TRACE_FILTERS, access="submit",
)  # fmt: skip
async def find_traces(request: web.Request) -> web.StreamResponse:
    desk = request.app[DESK]
    wanted = make_wanted(request_bodies.read_filter(request), "")
    found = await desk.node.journal.store.search(msgspec.structs.replace(wanted, by=find_reader(request)))
    records = [await desk.describe(run, asked) for run, asked in found.runs]
    return answer(FoundTraces(tuple(records), found.stopped))
