"""Links that open one ticket without signing in: made, listed and taken away by its owner, or an administrator."""

import contextlib

from aiohttp import web

from runtime.access.shares import Share, ShareBook
from runtime.http import request_bodies
from runtime.http.endpoints.desk import DESK, find_ticket, is_owner
from runtime.http.errors import ApiError
from runtime.http.gate import GATE, find_principal, may_do
from runtime.http.middleware import answer
from runtime.http.request_bodies import JSON, ListedShare, MadeShare, NewShare, ShareList
from runtime.http.routes import BODY, Document, as_json, refer_to, route
from runtime.settings import DAY
from runtime.storage.damage import JournalDamaged
from runtime.storage.records import StoredRun
from runtime.times import iso
from runtime.user_text import display

SHARES = web.AppKey("shares", ShareBook)
SHARE: Document = {
    "name": "share", "in": "path", "required": True, "schema": {"type": "string", "minLength": 1},
    "description": "The id of a link, as the list has it",
}  # fmt: skip


@route(
    "POST", "/tickets/{id}/shares", "Make a link that opens this ticket to whoever has it, to read alone, for a while",
    {201: as_json("The link, which is told this once", MadeShare)}, refusals=(*BODY, 404, 409),
    body={JSON: {"schema": refer_to(NewShare)}}, access="submit",
)  # fmt: skip
async def make_share(request: web.Request) -> web.StreamResponse:
    stored = await find_shared(request)
    made = await create_share(request, stored, (await request_bodies.read_share(request)).days)
    return answer(made, 201)


@route(
    "GET", "/tickets/{id}/shares", "The links that open this ticket", {200: as_json("Those that are good", ShareList)},
    refusals=(404,), access="submit",
)  # fmt: skip
async def list_shares(request: web.Request) -> web.StreamResponse:
    stored = await find_shared(request)
    return answer(ShareList(await describe_shares(request, stored)))


@route(
    "DELETE", "/tickets/{id}/shares/{share}", "Take a link away: it opens nothing from then on",
    {204: {"description": "It is gone", "content": {}}}, refusals=(404,), parameters=(SHARE,), access="submit",
)  # fmt: skip
async def revoke_share(request: web.Request) -> web.StreamResponse:
    stored = await find_shared(request)
    await drop_share(request, stored, request.match_info["share"])
    return web.Response(status=204)


async def find_shared(request: web.Request) -> StoredRun:
    """
    The latest run of the ticket that a request names, which who asks may share.

    :raises ServiceError: there is none that they may read.
    :raises ApiError: they may only read it.
    """
    stored = await find_ticket(request)
    if not await may_share(request, stored):
        raise ApiError(403, f"Only who submitted {stored.ticket}, and the role admin, may share it.")
    return stored


async def may_share(request: web.Request, stored: StoredRun) -> bool:
    """Whether who asks may make links to the ticket of this run, and take them away."""
    return may_do(request, "admin") or await is_owner(request, stored)


async def create_share(request: web.Request, stored: StoredRun, days: float | None = None) -> MadeShare:
    """
    A link to the ticket of this run.

    :param days: how long it is good; nothing: as long as may be.
    :raises ApiError: that is too long, or nobody makes links here.
    """
    most, principal = request.app[DESK].node.settings.server.share_days, find_principal(request)
    if not most:
        raise ApiError(409, "Nobody makes links here: [server] share_days in config.toml is 0.")
    if not 0 < (days if days is not None else most) <= most:
        raise ApiError(400, f"days must be above 0 and at most {most:g}, which is [server] share_days.")
    by = principal.by if principal else ""
    share, code = await request.app[SHARES].create(stored, by, (days or most) * DAY)
    scheme = "https" if request.app[GATE].is_secure(request) else "http"
    link = f"{scheme}://{request.host}/ui/shared/{stored.ticket}#{code}"
    return MadeShare(share.id, share.ticket, share.by, iso(share.created), iso(share.expires), link)


async def describe_shares(request: web.Request, stored: StoredRun) -> tuple[ListedShare, ...]:
    """The links to the ticket of this run that are good."""
    found = await request.app[SHARES].read_all(stored.ticket)
    return tuple(ListedShare(each.id, each.ticket, each.by, iso(each.created), iso(each.expires)) for each in found)


async def drop_share(request: web.Request, stored: StoredRun, share: str) -> None:
    """:raises ApiError: there is no such link."""
    if not await request.app[SHARES].revoke(stored.ticket, share):
        raise ApiError(404, f"There is no link {display(share)} to {stored.ticket}. GET its shares to see which are.")


async def find_shared_run(request: web.Request, share: Share) -> StoredRun:
    """What a link shows: the run that was shared, or the one that goes on with it; not what took the ticket's place."""
    desk = request.app[DESK]
    latest = await desk.ticket(share.ticket)
    with contextlib.suppress(JournalDamaged):
        if share.run in {each.run for each in desk.node.journal.case(latest).answers}:
            return latest
    return await desk.run(share.run)
