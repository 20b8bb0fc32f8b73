"""The HTTP interface: a table of routes over one desk. `openapi.py` says the same for programs."""

from collections.abc import Awaitable, Callable

from aiohttp import web

from actors.ports import PortFailed
from bus.supervision import counters
from runtime.cli.ticket_input import ID
from runtime.http import schemas
from runtime.http.errors import ApiError
from runtime.http.files import as_file, requested_format
from runtime.http.middleware import answer, authorise, expect, explain, nowhere, refuse_strangers
from runtime.http.openapi import document
from runtime.http.schemas import FeedbackReceipt, Health, Receipt, RunStatus, links
from runtime.http.stream import stream
from runtime.node import NoReport
from runtime.run_record import ended, record
from runtime.service import TicketService
from runtime.storage.journal import StoredRun
from runtime.storage.tickets import asked
from runtime.times import iso

DESK = web.AppKey("desk", TicketService)
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def application(desk: TicketService) -> web.Application:
    """The interface of one node."""
    server = desk.node.settings.server
    app = web.Application(
        middlewares=[explain, refuse_strangers(server.token)], client_max_size=server.body_kilobytes * 1024
    )
    app[DESK] = desk
    for method, path, handler in ROUTES:
        app.router.add_route(method, path, handler, expect_handler=expect)
        if method == "GET" and not path.endswith("/events"):
            app.router.add_route("HEAD", path, handler, expect_handler=expect)
    app.router.add_route("*", "/{nowhere:.*}", nowhere, expect_handler=expect)
    return app


async def submit(request: web.Request) -> web.StreamResponse:
    desk = request.app[DESK]
    seconds, key = schemas.wait(request), schemas.key(request)
    run_id = await desk.submit(await schemas.ticket(request, desk.node.settings), key)
    if seconds and (outcome := await desk.outcome(run_id, seconds)) is not None:
        stored = await desk.run(run_id)
        return answer(ended(outcome, stored, asked(desk.node.database, stored)))
    return _receipt(desk, await desk.run(run_id))


async def read_ticket(request: web.Request) -> web.StreamResponse:
    desk = request.app[DESK]
    return answer(_standing(desk, await desk.ticket(_id(request))))


async def read_run(request: web.Request) -> web.StreamResponse:
    desk = request.app[DESK]
    return answer(_standing(desk, await desk.run(_id(request))))


async def cancel(request: web.Request) -> web.StreamResponse:
    desk = request.app[DESK]
    stored = await desk.ticket(_id(request))
    if not await desk.node.cancel(stored.ref):
        return _receipt(desk, await desk.run(stored.id), 200)
    return _receipt(desk, stored)


async def events(request: web.Request) -> web.StreamResponse:
    desk = request.app[DESK]
    return await stream(request, desk, (await desk.ticket(_id(request))).id)


async def report(request: web.Request) -> web.StreamResponse:
    node, stored = request.app[DESK].node, await request.app[DESK].ticket(_id(request))
    suffix = requested_format(request)
    if stored.workflow != "research":
        raise ApiError(404, f"{stored.ticket} is a ticket of the helpdesk; GET {links(stored).ticket} shows it.")
    try:
        found = node.report(stored.ref)
    except NoReport:
        why = "yet; ask again when it has ended" if stored.ended is None else "because it ended before there was one"
        raise ApiError(409, f"There is no report of {stored.ticket} {why}.") from None
    return await as_file(found, suffix, stored.ticket, node.workers)


async def feedback(request: web.Request) -> web.StreamResponse:
    desk = request.app[DESK]
    stored, given = await desk.ticket(_id(request)), await schemas.feedback(request)
    try:
        _, answers = await desk.node.feedback(stored.ref, right=given.right)
    except PortFailed as error:
        raise ApiError(409, str(error)) from None
    said = asked(desk.node.database, stored)
    return answer(FeedbackReceipt(stored.ticket, given.right, answers, said.question, said.subject, said.requester))


async def health(request: web.Request) -> web.StreamResponse:
    desk = request.app[DESK]
    seen = desk.looks.now()
    ready = desk.ready and not seen.why
    status = 200 if ready else 503
    if not authorise(request, desk.node.settings.server.token):
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


async def openapi(_: web.Request) -> web.StreamResponse:
    return answer(document())


ROUTES: tuple[tuple[str, str, Handler], ...] = (
    ("POST", "/tickets", submit),
    ("GET", "/tickets/{id}", read_ticket),
    ("POST", "/tickets/{id}/cancel", cancel),
    ("GET", "/tickets/{id}/events", events),
    ("GET", "/tickets/{id}/report", report),
    ("POST", "/tickets/{id}/feedback", feedback),
    ("GET", "/runs/{id}", read_run),
    ("GET", "/health", health),
    ("GET", "/openapi.json", openapi),
)


def _id(request: web.Request) -> str:
    """The id in the path, which is never more than letters, digits, dots, dashes and underscores."""
    given = request.match_info["id"]
    if not ID.fullmatch(given):
        raise ApiError(404, "There is no such id: ids are 1 to 100 letters, digits, dots, dashes or underscores.")
    return given


def _receipt(desk: TicketService, stored: StoredRun, status: int = 202) -> web.Response:
    where, said = links(stored), asked(desk.node.database, stored)
    receipt = Receipt(
        stored.ticket, stored.id, stored.status, said.question, said.subject, said.requester, iso(said.created), where
    )
    return answer(receipt, status, {"Location": where.run})


def _standing(desk: TicketService, stored: StoredRun) -> RunStatus:
    known = record(stored, asked(desk.node.database, stored))
    return RunStatus(
        **{name: getattr(known, name) for name in known.__struct_fields__},
        outcome=desk.node.journal.outcome(stored), links=links(stored),
    )  # fmt: skip
