"""How the process is: whether it lives, whether it takes tickets, and why not."""

from aiohttp import web

from bus.supervision import counters
from runtime.engine.service import TicketService
from runtime.http import exposition
from runtime.http.endpoints.desk import DESK
from runtime.http.gate import may_do
from runtime.http.middleware import answer
from runtime.http.request_bodies import Health
from runtime.http.routes import as_json, route
from runtime.storage.condition import Condition


@route(
    "GET", "/health", "Whether the server lives and takes tickets; counts only for who may read all",
    {200: as_json("It takes tickets", Health), 503: as_json("It does not take tickets now", Health)}, access="open",
)  # fmt: skip
async def health(request: web.Request) -> web.StreamResponse:
    counts = await look_at(request.app[DESK])
    if not may_do(request, "read"):
        counts = Health(live=True, ready=counts.ready)
    return answer(counts, 200 if counts.ready else 503)


async def look_at(desk: TicketService) -> Health:
    """How the process is, with counts."""
    node, seen = desk.node, await desk.looks.now()
    since = None if seen.commit_seconds is None else round(seen.commit_seconds, 1)
    return Health(
        live=True, ready=desk.ready and not seen.why, why=_explain(desk, seen), runs=node.live,
        unattended=seen.unattended, dead_letters=counters.dead_letters, abandoned=counters.abandoned,
        workers_killed=node.workers.killed,
        commits=node.database.commits, last_commit_seconds=since, last_write_failed=seen.write_failed,
        free_megabytes=seen.free_megabytes, streams=desk.streams,
        mute_models=node.models.mute,
    )  # fmt: skip


@route("GET", "/health/live", "Whether the process answers", {200: as_json("It does", Health)}, access="open")
async def live(request: web.Request) -> web.StreamResponse:
    return answer(Health(live=True, ready=request.app[DESK].ready))


@route(
    "GET", "/health/ready", "Whether it takes tickets; why not is said only to who may read all",
    {200: as_json("It does", Health), 503: as_json("It does not take tickets now", Health)}, access="open",
)  # fmt: skip
async def ready(request: web.Request) -> web.StreamResponse:
    desk = request.app[DESK]
    seen = await desk.looks.now()
    is_ready, why = desk.ready and not seen.why, _explain(desk, seen)
    if not may_do(request, "read"):
        why = ""
    return answer(Health(live=True, ready=is_ready, why=why), 200 if is_ready else 503)


@route(
    "GET", "/metrics", "Figures for Prometheus",
    {200: {"description": "In its text format", "content": {"text/plain": {"schema": {"type": "string"}}}}},
    access="read",
)  # fmt: skip
async def metrics(request: web.Request) -> web.StreamResponse:
    desk = request.app[DESK]
    body = exposition.render(desk, await desk.looks.now())
    return web.Response(body=body, headers={"Content-Type": exposition.CONTENT_TYPE})


def _explain(desk: TicketService, seen: Condition) -> str:
    """Why it takes no tickets; empty when it does."""
    if desk.ready or seen.why:
        return seen.why
    if desk.stopping:
        return "It is stopping, and lets what runs come to its end: send new tickets after the next start."
    return "It is starting, and takes up what was running: ask again soon."
