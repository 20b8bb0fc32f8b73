"""Signing in with a token, for browsers, which send none by themselves."""

from urllib.parse import urlsplit

from aiohttp import web

from runtime.http.errors import ApiError
from runtime.http.gate import COOKIE, GATE, is_page
from runtime.http.pages.page_routes import Form, form_action, go_to, page, read_field, render

SIGN_IN = "/ui/sign-in"


@page("GET", SIGN_IN, access="open")
async def show_form(request: web.Request) -> web.StreamResponse:
    return render(request, "sign_in.html", to="/", failed="")


@form_action(SIGN_IN, access="open")
async def sign_in(request: web.Request, form: Form) -> web.StreamResponse:
    gate, to = request.app[GATE], read_target(read_field(form, "to"))
    try:
        key = await gate.sign_in(request, read_field(form, "token"))
    except ApiError as refused:
        response = render(request, "sign_in.html", refused.status, to=to, failed=str(refused))
        response.headers.update(refused.headers)
        return response
    response = go_to(to)
    response.set_cookie(
        COOKIE, key, httponly=True, samesite="Strict", secure=gate.is_secure(request), path="/",
    )  # fmt: skip
    return response


@form_action("/ui/sign-out", access="open")
async def sign_out(request: web.Request, _: Form) -> web.StreamResponse:
    request.app[GATE].sessions.close(request.cookies.get(COOKIE, ""))
    response = go_to(SIGN_IN)
    response.del_cookie(COOKIE, path="/")
    return response


def read_target(given: str) -> str:
    """Where to go on after signing in: a page of ours, whatever the form says."""
    parts = urlsplit(given)
    ours = not parts.scheme and not parts.netloc and is_page(parts.path) and given.isprintable() and "\\" not in given
    return given if ours else "/"
