"""Traces: why an answer is as it is, and the runs that were so."""

import msgspec
from aiohttp import web

from runtime.http import request_bodies
from runtime.http.endpoints.desk import DESK
from runtime.http.endpoints.list_routes import RUN_FILTERS
from runtime.http.endpoints.own_tickets import find_reader, find_ticket
from runtime.http.middleware import answer
from runtime.http.routes import Document, as_json, route
from runtime.http.schemas import FoundTraces
from runtime.run_filter import make_wanted
from runtime.tracing.trace_record import TraceRecord, read_trace

FILTERS: tuple[Document, ...] = tuple(
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
    {200: as_json("Those that are so", FoundTraces)}, refusals=(400,), parameters=FILTERS, access="submit",
)  # fmt: skip
async def find_traces(request: web.Request) -> web.StreamResponse:
    desk = request.app[DESK]
    wanted = make_wanted(request_bodies.read_filter(request), "")
    found = await desk.node.journal.store.search(msgspec.structs.replace(wanted, by=find_reader(request)))
    records = [await desk.describe(run, asked) for run, asked in found.runs]
    return answer(FoundTraces(tuple(records), found.stopped))
