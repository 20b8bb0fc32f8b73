"""A page: its route, its template, and what each template knows. A new page is a file like `home_page.py`."""

import functools
import hmac
import secrets
import urllib.parse
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from aiohttp import web
from aiohttp.typedefs import Handler

from runtime.access.roles import LOCAL, Access, may
from runtime.http.errors import ApiError
from runtime.http.gate import COOKIE, find_principal
from runtime.http.pages.page_language import LANGUAGES, Texts, choose_language, remember_language
from runtime.http.request_bodies import read_form
from runtime.http.routes import Route

if TYPE_CHECKING:
    from jinja2 import Environment, Template

Form = Mapping[str, list[str]]
FORM_FIELD = "form_key"
"""The hidden field that shows that a form is one of ours."""
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
"""A page runs our one script and no other, whatever stands in it."""
PAGE_ROUTES: list[Route] = []
_SECRET = secrets.token_bytes(32)
_TEMPLATES = Path(__file__).parent / "templates"


class NavigationEntry(NamedTuple):
    """A page that each page leads to; its name is the text `nav_KEY`."""

    key: str
    path: str
    access: Access


NAVIGATION: list[NavigationEntry] = []


def page(
    method: str, path: str, *, access: Access, nav: str = ""
) -> Callable[[Callable[[web.Request], Awaitable[web.StreamResponse]]], Handler]:
    """
    Register a handler as a page.

    :param nav: its key among the pages that each page leads to; empty: it is none of them.
    """

    def register(handler: Handler) -> Handler:
        PAGE_ROUTES.append(Route(method, path, handler, {}, access))
        if nav:
            NAVIGATION.append(NavigationEntry(nav, path, access))
        return handler

    return register


def form_action(
    path: str, *, access: Access
) -> Callable[[Callable[[web.Request, Form], Awaitable[web.StreamResponse]]], Handler]:
    """Register what a form of ours does: it gets the fields, once the form has shown that it is ours."""

    def register(handler: Callable[[web.Request, Form], Awaitable[web.StreamResponse]]) -> Handler:
        async def check(request: web.Request) -> web.StreamResponse:
            form = await read_form(request)
            refuse_strange_form(request, form)
            return await handler(request, form)

        PAGE_ROUTES.append(Route("POST", path, check, {}, access))
        return check

    return register


def refuse_strange_form(request: web.Request, form: Form) -> None:
    """:raises ApiError: the form does not bear what ours do."""
    given = form.get(FORM_FIELD, [""])[0].encode("utf-8", "surrogateescape")
    if not hmac.compare_digest(given, make_form_key(request).encode()):
        raise ApiError(403, "The form is too old or not one of this page's. Load the page again, and send it.")


def make_form_key(request: web.Request) -> str:
    """What a form of ours bears: it fits to who asks and to their session, and no other site can read it."""
    principal = find_principal(request)
    who = f"{principal.by if principal else ''}\n{request.cookies.get(COOKIE, '')}"
    return hmac.new(_SECRET, who.encode("utf-8", "surrogateescape"), "sha256").hexdigest()


def render(request: web.Request, template: str, status: int = 200, **values: Any) -> web.Response:
    """A page as the answer to a request, in the language of who asks; jinja2 escapes all that stands in values."""
    language = choose_language(request)
    principal = find_principal(request)

    def allows(access: Access) -> bool:
        return principal is not None and may(principal.role, access)

    text = load_template(template).render(
        t=Texts(language), language=language, languages=LANGUAGES, form_key=make_form_key(request), allows=allows,
        address=request.path_qs, same_page=_find_same_page(request), here=request.path,
        principal=principal, is_local=principal == LOCAL,
        signed_in=bool(request.cookies.get(COOKIE)) and principal is not None and not principal.person,
        navigation=[each for each in NAVIGATION if allows(each.access)], **values,
    )  # fmt: skip
    response = web.Response(text=text, status=status, content_type="text/html", charset="utf-8")
    response.headers["Content-Security-Policy"] = POLICY
    response.headers["Referrer-Policy"] = "same-origin"  # without a referrer, browsers hide the origin of a form, too
    remember_language(request, response)
    return response


def _find_same_page(request: web.Request) -> str:
    """The beginning of an address that shows this page in another language; of what a form did, the tickets' page."""
    kept = [(name, text) for name, text in request.query.items() if name != "lang"]
    if request.method != "GET":
        return "/?"
    return f"?{urllib.parse.urlencode(kept)}&" if kept else "?"


def go_to(path: str) -> web.Response:
    """Where a browser goes on once a form has done its work."""
    return web.Response(status=303, headers={"Location": path})


def read_field(form: Form, name: str) -> str:
    """One field of a form, with the line ends of everybody else."""
    return form.get(name, [""])[0].replace("\r\n", "\n").strip()


def accepts_page(request: web.Request) -> bool:
    """Whether who asks can read HTML: a browser says so, programs do not."""
    return "text/html" in request.headers.get("Accept", "")


def load_template(name: str) -> "Template":
    """A template, which escapes all values."""
    return _environment().get_template(name)


@functools.cache
def _environment() -> "Environment":
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # it takes 40 ms, which no command needs

    from runtime.http.pages.page_filters import FILTERS

    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip
    environment.filters.update(FILTERS)
    return environment
