"""
The page at /: where a question is asked and the tickets with how they stand; and signing in with a
token, for browsers.
"""

import secrets
import urllib.parse
from urllib.parse import urlsplit

import msgspec
from aiohttp import web

from runtime import families
from runtime.http.endpoints.agent_routes import describe_agents
from runtime.http.endpoints.desk import DESK, find_reader, find_taken, make_own_key
from runtime.http.endpoints.ticket_routes import RUN_FILTERS, STATUSES, find_page
from runtime.http.errors import ApiError
from runtime.http.gate import COOKIE, GATE, find_person, is_page
from runtime.http.pages.page_routes import Form, accepts_page, form_action, go_to, page, read_field, render
from runtime.service_error import ServiceError
from runtime.tickets import HELPDESK, Ticket, validate

FILTERS = ("q", "status", *RUN_FILTERS, "cursor")
MORE = frozenset(RUN_FILTERS) - {"workflow"}
"""Filters that stand behind a word as long as none of them is used."""
ON_A_PAGE = 25
QUESTION_CHARACTERS = 120
AGENTS_SHOWN = 6


@page("GET", "/", access="submit", nav="tickets")
async def show_home(request: web.Request) -> web.StreamResponse:
    if not accepts_page(request):
        raise web.HTTPNotFound  # as it was before there was a page: programs have their addresses
    given = {name: text for name in FILTERS if (text := request.query.get(name, "").strip())}
    found, failed = None, ""
    try:
        found = await find_page(request, {**given, "limit": str(ON_A_PAGE)})
    except (ApiError, ServiceError) as refused:  # a filter in the address that cannot be meant so
        failed = str(refused)
    agents = dict.fromkeys(each.name for each in describe_agents(request.app[DESK].node))
    older = urllib.parse.urlsplit(found.next).query if found else ""
    cursor = urllib.parse.parse_qs(older).get("cursor", [""])[0]
    return render(
        request, "home.html", given=given, found=found, failed=failed, statuses=STATUSES,
        workflows=[each.name for each in families.FAMILIES], key=secrets.token_urlsafe(16),
        intents=await _list_intents(request), agents=agents,
        more=not MORE.isdisjoint(given), most_agents=AGENTS_SHOWN,
        older=urllib.parse.urlencode({**given, "cursor": cursor}) if cursor else "", shown=QUESTION_CHARACTERS,
    )  # fmt: skip


async def _list_intents(request: web.Request) -> list[str]:
    """What tickets ask for; to who reads their own alone it is not told of others'."""
    return [] if find_reader(request) else await request.app[DESK].node.journal.store.list_intents()


@form_action("/ui/tickets", access="submit")
async def ask(request: web.Request, form: Form) -> web.StreamResponse:
    desk = request.app[DESK]
    workflow = read_field(form, "workflow") or HELPDESK
    ticket = Ticket(text=read_field(form, "text"), requester=find_person(request), workflow=workflow)
    ticket = validate(ticket, "The ticket", desk.node.settings.run.ticket_kilobytes)
    options = families.read_options(workflow, {}, desk.node.settings, "")
    ticket = msgspec.structs.replace(ticket, options=options)
    key = make_own_key(request, read_field(form, "key"))
    submitted = await desk.submit(ticket, key, check=find_taken(request))
    return go_to(f"/ui/tickets/{submitted.run.ticket}")


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
