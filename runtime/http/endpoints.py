"""What may be asked over HTTP: a function each, with its route. A new one needs no more."""

import msgspec
from aiohttp import web

from bus.supervision import counters
from runtime.answers import Answers, answer_ticket
from runtime.families import find, writes_report
from runtime.http import schemas
from runtime.http.errors import ApiError
from runtime.http.files import FORMATS, as_file, document_format, requested_format
from runtime.http.gate import find_principal
from runtime.http.middleware import answer
from runtime.http.routes import BODY, Document, as_json, refer_to, route
from runtime.http.schemas import (
    JSON,
    KEY_CHARACTERS,
    TEXTS,
    WAIT_SECONDS,
    AnswersGiven,
    Feedback,
    FeedbackReceipt,
    FoundTraces,
    Health,
    NewTicket,
    Receipt,
    RunStatus,
    links,
)  # fmt: skip
from runtime.http.stream import EVENTS, stream
from runtime.node import NoReport
from runtime.run_filter import make_wanted
from runtime.run_record import EndedRecord, join_records, make_record
from runtime.service import TicketService
from runtime.storage.journal import StoredRun
from runtime.tickets import ID
from runtime.times import iso
from runtime.trace_id import parse_traceparent
from runtime.trace_record import TraceRecord, read_trace

DESK = web.AppKey("desk", TicketService)

WAIT: Document = {
    "name": "wait", "in": "query", "schema": {"type": "number", "minimum": 0, "default": 0},
    "description": f"Seconds to wait for the outcome; at most {WAIT_SECONDS:g}, longer ones are shortened.",
}  # fmt: skip
KEY: Document = {
    "name": "Idempotency-Key", "in": "header", "schema": {"type": "string", "maxLength": KEY_CHARACTERS},
    "description": "The same again gives the same run. A ticket with an id needs none: its id is the key.",
}  # fmt: skip
TRACEPARENT: Document = {
    "name": "traceparent", "in": "header", "schema": {"type": "string"},
    "description": "W3C Trace Context: the run becomes part of that trace. One that cannot be read is passed over.",
}  # fmt: skip
FILTERS: tuple[Document, ...] = tuple(
    {"name": name, "in": "query", "schema": {"type": "boolean" if name == "failed" else "string"}, "description": said}
    for name, said in {
        "intent": "What they ask for", "workflow": "Of one kind, such as legal", "agent": "Who worked on them",
        "since": "When they began: 30m, 12h, 7d ago, or 2026-01-31", "slow": "How long they took at least: 10s, 2m",
        "failed": "Those that a limit, a failure or a person ended", "limit": "How many; 20, at most 1,000",
    }.items()
)  # fmt: skip
FORMAT: Document = {
    "name": "format", "in": "query", "schema": {"type": "string", "enum": list(FORMATS)},
    "description": "Default: HTML if the Accept header asks for it, else Markdown.",
}  # fmt: skip
STRING: Document = {"schema": {"type": "string"}}
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
    seconds, key = schemas.read_wait(request), schemas.read_key(request)
    ticket = await schemas.read_ticket(request, desk.node.settings)
    trace = parse_traceparent(request.headers.get("traceparent", ""))
    stored = await desk.submit(msgspec.structs.replace(ticket, trace=trace), key)
    return await _wait_for(desk, stored, seconds)


@route(
    "POST", "/tickets/{id}/answers", "Answer what a ticket's latest run asks; the ticket goes on in another run",
    {
        202: as_json("The answers are durable and the ticket goes on", Receipt),
        200: as_json("It has ended within the time waited", EndedRecord),
    },
    refusals=(*BODY, 404, 409, 422, 429), parameters=(WAIT, KEY), body={JSON: {"schema": refer_to(AnswersGiven)}},
    access="operate",
)  # fmt: skip
async def answers(request: web.Request) -> web.StreamResponse:
    desk, ticket = request.app[DESK], _id(request)
    seconds, key = schemas.read_wait(request), schemas.read_key(request)
    stored, said = await desk.ticket(ticket), await schemas.read_answers(request)
    asking = await desk.run(said.run) if said.run else stored
    if asking.ticket != ticket:
        raise ApiError(404, f"Run {asking.id} is not one of {ticket}.")
    given = Answers(given={name: str(value) for name, value in said.answers.items()}, text=said.text, key=key)
    follows = await answer_ticket(desk, asking, given, named=bool(said.run))
    return await _wait_for(desk, follows, seconds)


async def _wait_for(desk: TicketService, stored: StoredRun, seconds: float) -> web.Response:
    """How a run ended within some seconds, or that it goes on."""
    if seconds and (outcome := await desk.outcome(stored.id, seconds)) is not None:
        stored = await desk.run(stored.id)
        return answer(join_records(outcome, make_record(stored, await desk.read_question(stored))))
    return await _receipt(desk, await desk.run(stored.id))


@route(
    "GET", "/tickets/{id}", "Where a ticket stands: its latest run", {200: as_json("Where it stands", RunStatus)},
    refusals=(404,), access="submit",
)  # fmt: skip
async def read_ticket(request: web.Request) -> web.StreamResponse:
    desk = request.app[DESK]
    return answer(await _status(desk, await desk.ticket(_id(request))))


@route(
    "GET",
    "/runs/{id}",
    "Where a run stands",
    {200: as_json("Where it stands", RunStatus)},
    refusals=(404,),
    access="submit",
)
async def read_run(request: web.Request) -> web.StreamResponse:
    desk = request.app[DESK]
    return answer(await _status(desk, await desk.run(_id(request))))


@route(
    "POST", "/tickets/{id}/cancel", "End a ticket's run gently; a second time, at once",
    {202: as_json("It was asked to end", Receipt), 200: as_json("It had ended already", Receipt)}, refusals=(404,),
    access="operate",
)  # fmt: skip
async def cancel(request: web.Request) -> web.StreamResponse:
    desk = request.app[DESK]
    stored = await desk.ticket(_id(request))
    if not await desk.node.cancel(stored.ref):
        return await _receipt(desk, await desk.run(stored.id), 200)
    return await _receipt(desk, stored)


@route(
    "GET", "/tickets/{id}/trace", "Why the answer of a ticket's latest run is as it is",
    {200: as_json("What it searched, claimed and asked of models", TraceRecord)}, refusals=(404,), access="submit",
)  # fmt: skip
async def read_why(request: web.Request) -> web.StreamResponse:
    desk = request.app[DESK]
    return answer(await read_trace(desk.node, await desk.ticket(_id(request))))


@route("GET", "/tickets/{id}/events", "Watch a ticket's latest run", {200: EVENTS}, refusals=(404,), access="submit")
async def events(request: web.Request) -> web.StreamResponse:
    desk = request.app[DESK]
    return await stream(request, desk, (await desk.ticket(_id(request))).id)


@route(
    "GET", "/tickets/{id}/report", "The report of a research, or the document that a ticket asked for",
    {200: {"description": "The report", "content": dict.fromkeys(FORMATS.values(), STRING)}},
    refusals=(400, 404, 409), parameters=(FORMAT,), access="submit",
)  # fmt: skip
async def report(request: web.Request) -> web.StreamResponse:
    node, stored = request.app[DESK].node, await request.app[DESK].ticket(_id(request))
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
    "GET", "/traces", "Find runs by intent, agent, end and duration, the newest first",
    {200: as_json("Those that are so", FoundTraces)}, refusals=(400,), parameters=FILTERS, access="submit",
)  # fmt: skip
async def find_traces(request: web.Request) -> web.StreamResponse:
    desk = request.app[DESK]
    found = await desk.node.journal.store.search(make_wanted(schemas.read_filter(request), ""))
    records = [await desk.describe(run, asked) for run, asked in found.runs]
    return answer(FoundTraces(tuple(records), found.stopped))


@route(
    "POST", "/tickets/{id}/feedback",
    "Say whether a ticket's resolution was right, or what is; memory never repeats one that was wrong",
    {200: as_json("It is noted", FeedbackReceipt)}, refusals=(404, 409, *BODY),
    body={JSON: {"schema": refer_to(Feedback)}}, access="operate",
)  # fmt: skip
async def feedback(request: web.Request) -> web.StreamResponse:
    desk = request.app[DESK]
    stored, given = await desk.ticket(_id(request)), await schemas.read_feedback(request)
    said = await desk.read_question(stored)
    if given.right is None:
        right, count, about = True, 1, await desk.node.teach(stored.ref, given.answer, given.person)
    else:
        right, (_, _, count) = given.right, await desk.feedback(stored, right=given.right, places=given.places)
        about = await desk.read_answer(stored)
    judged = FeedbackReceipt(stored.ticket, right, count, said.question, said.subject, said.requester, about)
    return answer(msgspec.structs.replace(judged, places=given.places))


@route(
    "GET", "/health", "Whether the server lives and takes tickets; counts only for who may use the rest",
    {200: as_json("It takes tickets", Health), 503: as_json("It does not take tickets now", Health)}, access="open",
)  # fmt: skip
async def health(request: web.Request) -> web.StreamResponse:
    desk = request.app[DESK]
    seen = await desk.looks.now()
    ready = desk.ready and not seen.why
    status = 200 if ready else 503
    if find_principal(request) is None:
        return answer(Health(live=True, ready=ready), status)
    node = desk.node
    why = seen.why if desk.ready or seen.why else "It is stopping, or goes on with what was running; ask again soon."
    since = None if seen.commit_seconds is None else round(seen.commit_seconds, 1)
    counts = Health(
        live=True, ready=ready, why=why, runs=node.live, unattended=seen.unattended,
        dead_letters=counters.dead_letters, abandoned=counters.abandoned, workers_killed=node.workers.killed,
        commits=node.database.commits, last_commit_seconds=since, last_write_failed=seen.write_failed,
        free_megabytes=seen.free_megabytes, streams=desk.streams,
    )  # fmt: skip
    return answer(counts, status)


def _id(request: web.Request) -> str:
    """The id in the path, which is never more than letters, digits, dots, dashes and underscores."""
    given = request.match_info["id"]
    if not ID.fullmatch(given):
        raise ApiError(404, "There is no such id: ids are 1 to 100 letters, digits, dots, dashes or underscores.")
    return given


async def _receipt(desk: TicketService, stored: StoredRun, status: int = 202) -> web.Response:
    where, said = links(stored), await desk.read_question(stored)
    receipt = Receipt(
        stored.ticket, stored.id, stored.status, said.question, said.subject, said.requester, iso(said.created), where
    )
    return answer(receipt, status, {"Location": where.run})


async def _status(desk: TicketService, stored: StoredRun) -> RunStatus:
    known = make_record(stored, await desk.read_question(stored))
    return RunStatus(
        **{name: getattr(known, name) for name in known.__struct_fields__},
        outcome=await desk.node.journal.outcome(stored), links=links(stored),
    )  # fmt: skip
