"""A ticket as somebody sees it who was sent a link to it: to be read without signing in, and nothing else."""

import time

from aiohttp import web

from runtime.access.shares import Share
from runtime.http.endpoints.desk import read_id
from runtime.http.endpoints.share_routes import SHARES, find_shared_run
from runtime.http.endpoints.ticket_routes import send_report
from runtime.http.errors import ApiError
from runtime.http.gate import GATE
from runtime.http.pages.page_routes import go_to, page, read_field, render
from runtime.http.pages.ticket_page import show_run
from runtime.http.request_bodies import read_form

PATH = "/ui/shared/{id}"
COOKIE = "terminus_share"
HEADERS = {"Referrer-Policy": "no-referrer", "X-Robots-Tag": "noindex"}


@page("GET", PATH, access="open")
async def show_shared(request: web.Request) -> web.StreamResponse:
    """The ticket to whoever has sent the code of a link, else where to send it: a link has it behind the #, so that no
    server sees it in an address, and no log keeps it."""
    code = request.cookies.get(COOKIE, "")
    share = await _find_share(request, code)
    if share is None:
        return _ask(request, refused=bool(code))
    response = await show_run(request, await find_shared_run(request, share), share=share)
    response.headers.update(HEADERS)
    return response


@page("POST", PATH, access="open")
async def open_shared(request: web.Request) -> web.StreamResponse:
    """Take the code of a link, by a form that bears no key: it changes nothing but what its sender sees."""
    code = read_field(await read_form(request), "code")
    share = await _find_share(request, code)
    if share is None:
        return _ask(request, refused=True)
    path = PATH.format(id=share.ticket)
    response = go_to(path)
    response.set_cookie(
        COOKIE, code, max_age=max(0, int(share.expires - time.time())), path=path, httponly=True, samesite="Strict",
        secure=request.app[GATE].is_secure(request),
    )  # fmt: skip
    return response


@page("GET", f"{PATH}/report", access="open")
async def read_shared_report(request: web.Request) -> web.StreamResponse:
    share = await _find_share(request, request.cookies.get(COOKIE, ""))
    if share is None:
        raise ApiError(404, "This link is good no more, or was not opened in this browser. Open it again.")
    return await send_report(request, await find_shared_run(request, share))


async def _find_share(request: web.Request, code: str) -> Share | None:
    """:raises ApiError: too many requests came from there."""
    request.app[GATE].count(request)
    return await request.app[SHARES].find(read_id(request), code) if code else None


def _ask(request: web.Request, *, refused: bool) -> web.Response:
    response = render(request, "shared.html", 403 if refused else 200, ticket=read_id(request), refused=refused)
    response.headers["X-Robots-Tag"] = HEADERS["X-Robots-Tag"]
    if refused:
        response.del_cookie(COOKIE, path=PATH.format(id=read_id(request)))
    return response
