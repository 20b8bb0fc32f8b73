"""
A page: its route, its template, its language, what each template knows, and the files that every
browser may have.

A new page is a file like `home_page.py`. A language is one file of texts; all have the same keys.
"""

import functools
import hmac
import secrets
import tomllib
import urllib.parse
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from aiohttp import web
from aiohttp.typedefs import Handler

from actors.reporting.links import link
from actors.text.catalogue import html_language, say, say_count, say_name, say_step
from actors.text.normalize import unescape_markdown
from actors.text.truncate import shorten
from runtime.access.tokens import LOCAL, Access, may
from runtime.http.errors import ApiError
from runtime.http.gate import COOKIE, find_principal
from runtime.http.request_bodies import read_form
from runtime.http.routes import Route
from runtime.times import format_duration
from runtime.user_text import spell_out

if TYPE_CHECKING:
    from jinja2 import Environment, Template


LANGUAGES = {"en": "English", "zh": "中文", "ko": "한국어"}
"""By their codes, each as it calls itself."""
LANGUAGE_COOKIE = "terminus_language"
COOKIE_SECONDS = 365 * 86_400
_TEXTS = Path(__file__).parent / "texts"


class Texts:
    """The texts of one language: called with a key, and values for its places."""

    def __init__(self, language: str) -> None:
        self.language = language
        self.tag = html_language(language)
        self._texts = load_texts(language)

    def __call__(self, key: str, **values: object) -> str:
        """:raises KeyError: there is no such text."""
        return self._texts[key].format(**values) if values else self._texts[key]

    def count(self, key: str, count: int) -> str:
        """The text of so many, in the form that the number asks for."""
        return self(f"{key}_one" if count == 1 else key, count=f"{count:,}")

    def name(self, prefix: str, key: str) -> str:
        """The text `PREFIX_KEY`, or the key's own words where there is none, as of a workflow that somebody added."""
        return self._texts.get(f"{prefix}_{key}") or spell_out(key)

    def step(self, name: str) -> str:
        """What a step of a run is called."""
        return say_step(spell_out(name), self.language)

    def say(self, key: str, **values: object) -> str:
        """A sentence of the catalogue that answers are written with."""
        return say(key, self.language, **values)

    def say_code(self, code: str) -> str:
        """What a code of an outcome means."""
        return say_name(code, self.language)

    def say_count(self, key: str, count: int) -> str:
        """The same of a sentence with a count."""
        return say_count(key, self.language, count)


@functools.cache
def load_texts(language: str) -> dict[str, str]:
    """All texts of a language, by their keys."""
    texts: dict[str, str] = tomllib.loads((_TEXTS / f"{language}.toml").read_text(encoding="utf-8"))
    return texts


def choose_language(request: web.Request) -> str:
    """What was chosen on this page or before, else what the browser prefers of those that there are, else English."""
    chosen = (request.query.get("lang", ""), request.cookies.get(LANGUAGE_COOKIE, ""))
    preferred = _read_preferences(request.headers.get("Accept-Language", ""))
    return next((each for each in (*chosen, *preferred) if each in LANGUAGES), "en")


def remember_language(request: web.Request, response: web.Response) -> None:
    """Keep what was chosen by `?lang=`, so that the next page is in that language, too."""
    if (chosen := request.query.get("lang", "")) in LANGUAGES:
        response.set_cookie(LANGUAGE_COOKIE, chosen, max_age=COOKIE_SECONDS, httponly=True, samesite="Lax")


def _read_preferences(header: str) -> list[str]:
    """The languages of an Accept-Language header without their regions, the most wanted first."""
    wanted = []
    for part in header.split(",")[:20]:
        tag, _, weight = part.partition(";")
        try:
            quality = float(weight.strip().removeprefix("q=")) if weight else 1.0
        except ValueError:
            quality = 0.0
        wanted.append((-quality, tag.strip().partition("-")[0].lower()))
    return [code for _, code in sorted(wanted, key=lambda each: each[0])]


def find_link(source: str, anchor: str = "") -> str:
    """Where a source can be opened, if it is a page of the web; else empty, for nobody opens files of the server."""
    return link(f"{source}#{anchor}" if anchor else source)


FILTERS: dict[str, Callable[..., Any]] = {
    "find_link": find_link, "duration": format_duration, "shorten": shorten, "unescape_markdown": unescape_markdown,
}  # fmt: skip


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

    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip
    environment.filters.update(FILTERS)
    return environment


_STATIC = Path(__file__).parent / "static"
_KINDS = {"terminus.css": "text/css", "terminus.js": "text/javascript"}


@page("GET", "/ui/static/{name}", access="open")
async def read_static(request: web.Request) -> web.StreamResponse:
    name = request.match_info["name"]
    if name not in _KINDS:
        raise web.HTTPNotFound
    body = (_STATIC / name).read_bytes()
    return web.Response(body=body, content_type=_KINDS[name], charset="utf-8", headers={"Cache-Control": "no-cache"})
