"""Tickets and their runs: submitted, answered, read, cancelled. A new route needs no more than a function here."""

import msgspec
from aiohttp import web

from runtime.answers import Answers, answer_ticket
from runtime.http import request_bodies
from runtime.http.endpoints.desk import DESK, KEY, WAIT, describe_run, make_receipt, read_id, tell_receipt, wait_for
from runtime.http.endpoints.own_tickets import find_run, find_taken, find_ticket, make_own_key, refuse_made_id
from runtime.http.errors import ApiError
from runtime.http.middleware import answer
from runtime.http.routes import BODY, Document, as_json, refer_to, route
from runtime.http.schemas import JSON, TEXTS, AnswersGiven, NewTicket, Receipt, RunStatus
from runtime.run_record import EndedRecord
from runtime.tracing.trace_id import parse_traceparent

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
