"""
The interface as OpenAPI 3.1, and as one page for people: schemas from the very types that are read
and answered, paths from routes.
"""

import functools
from collections.abc import Iterator, Sequence
from html import escape
from typing import Any

import msgspec
from aiohttp import web

from actors.workflow.outcome import AnswerReady, AnswerRefused, HandoffMade, Outcome, RunBegan
from actors.workflow.progress import AgentSelected, AnswerText, DraftChecked, RoundBegan, StageProgress, StatusChanged
from runtime.families import FAMILIES
from runtime.http import endpoints
from runtime.http.errors import OTHERWISE, REMEDIES, TITLES
from runtime.http.files import POLICY
from runtime.http.middleware import answer
from runtime.http.request_bodies import JSON, NewTicket
from runtime.http.routes import ROUTES, SHAPES, Document, refer_to, route
from runtime.settings import ServerSettings

REFERENCE = "#/components/schemas/"
STYLE = """
:root { color-scheme: light dark; }
body { font: 1rem/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 60rem; padding: 1rem; overflow-wrap: anywhere; }
h2 { border-top: 1px solid; padding-top: 1rem; } h3 { margin-top: 2rem; }
code, .path { font-family: ui-monospace, monospace; }
table { border-collapse: collapse; width: 100%; } th, td { border-bottom: 1px solid #8886; padding: .3rem .6rem .3rem 0;
text-align: left; vertical-align: top; } nav ul { columns: 2 20rem; list-style: none; padding: 0; }
"""
PROGRAMS = (
    'Programs read the same in <a href="/openapi.json">/openapi.json</a> (OpenAPI 3.1). Where the server has a token, '
    "send it as <code>Authorization: Bearer ...</code>."
)
PROBLEMS = (
    "What is not carried out is answered as <code>application/problem+json</code>: <code>detail</code> says why, and "
    "<code>remedy</code> what to do."
)


def render(told: Document) -> str:
    """The whole page of an OpenAPI document."""
    return "\n".join(
        [
            '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Terminus: the HTTP API</title>',
            f'<meta name="viewport" content="width=device-width"><style>{STYLE}</style></head><body><main>',
            f"<h1>Terminus: the HTTP API</h1><p>{escape(told['info']['description'])} {PROGRAMS}</p>",
            *_contents(told["paths"]),
            "<h2>Requests</h2>",
            *(line for path, methods in told["paths"].items() for line in _path(path, methods)),
            f"<h2>Problems</h2><p>{PROBLEMS}</p>",
            *_problems(),
            "<h2>Shapes</h2>",
            *(line for name, schema in sorted(told["components"]["schemas"].items()) for line in _shape(name, schema)),
            "</main></body></html>",
        ]
    )


def _contents(paths: Document) -> Iterator[str]:
    yield '<nav aria-label="Requests"><ul>'
    for path, methods in paths.items():
        for method, operation in methods.items():
            where, said = f"#{_anchor(method, path)}", escape(operation["summary"])
            yield f'<li><a class="path" href="{where}">{method.upper()} {escape(path)}</a><br>{said}</li>'
    yield "</ul></nav>"


def _path(path: str, methods: Document) -> Iterator[str]:
    for method, operation in methods.items():
        yield f'<h3 id="{_anchor(method, path)}" class="path">{method.upper()} {escape(path)}</h3>'
        yield f"<p>{escape(operation['summary'])}.</p>"
        if operation["parameters"]:
            rows = [
                (f"<code>{escape(each['name'])}</code>", escape(each["in"]), _kind(each["schema"]),
                 escape(each.get("description", "")))
                for each in operation["parameters"]
            ]  # fmt: skip
            yield from _table(("Parameter", "In", "Is", "Meaning"), rows)
        for kind, media in operation.get("requestBody", {}).get("content", {}).items():
            yield f"<p>Takes <code>{escape(kind)}</code>: {_kind(media['schema'])}</p>"
        answers = [
            (f'<a href="#status-{status}">{status}</a>' if int(status) >= 400 else status, _media(answer),
             escape(answer["description"]))
            for status, answer in sorted(operation["responses"].items())
        ]  # fmt: skip
        yield from _table(("Status", "Answer", "Meaning"), answers)


def _problems() -> Iterator[str]:
    rows = [
        (f'<span id="status-{status}">{status}</span>', escape(title), escape(REMEDIES.get(status, OTHERWISE)))
        for status, title in TITLES.items()
    ]
    return _table(("Status", "Title", "Remedy, unless the sentence has one"), rows)


def _shape(name: str, schema: Document) -> Iterator[str]:
    yield f'<h3 id="{escape(name)}">{escape(name)}</h3><p>{escape(schema.get("description", ""))}</p>'
    required = schema.get("required", ())
    rows = [
        (f"<code>{escape(each)}</code>", _kind(its), "yes" if each in required else "no")
        for each, its in schema.get("properties", {}).items()
    ]
    if rows:
        yield from _table(("Name", "Is", "Always there"), rows)


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    yield "<table><thead><tr>" + "".join(f'<th scope="col">{each}</th>' for each in head) + "</tr></thead><tbody>"
    for row in rows:
        yield "<tr>" + "".join(f"<td>{each}</td>" for each in row) + "</tr>"
    yield "</tbody></table>"


def _media(answer: Document) -> str:
    return "<br>".join(
        f"<code>{escape(kind)}</code> {_kind(media.get('schema', {}))}" for kind, media in answer["content"].items()
    )


def _kind(schema: Any) -> str:
    """What a schema asks for, in a few words, with links to the shapes it names."""
    if reference := schema.get("$ref", ""):
        name = escape(reference.removeprefix(REFERENCE))
        return f'<a href="#{name}">{name}</a>'
    if choices := schema.get("anyOf", schema.get("oneOf")):
        return " or ".join(map(_kind, choices))
    if "enum" in schema:
        return ", ".join(f"<code>{escape(str(each))}</code>" for each in schema["enum"])
    kind = schema.get("type", "anything")
    if kind == "array":
        return f"list of {_kind(schema['items'])}" if isinstance(schema.get("items"), dict) else "list"
    words = kind if isinstance(kind, str) else " or ".join(kind)
    return escape(f"{words} ({schema['format']})" if "format" in schema else words)


def _anchor(method: str, path: str) -> str:
    return escape(f"{method}{path}".replace("/", "-").replace("{", "").replace("}", ""))


__all__ = ["docs", "document", "endpoints", "openapi"]

OF_EVENTS = (
    Outcome, RunBegan, HandoffMade, AnswerRefused, AnswerReady, RoundBegan, StageProgress, StatusChanged, AgentSelected,
    AnswerText, DraftChecked,
)  # fmt: skip
"""What a stream of events sends, which no route names."""


BEARER = (
    "`terminus tokens create NAME --role submit|read|operate|admin` makes one; each operation names the role that it "
    "needs, and each role may do what the one before it may. Needed as soon as there is a token or a proxy."
)
HEADER = ServerSettings().user_header
PROXY = "Set by a proxy that [server] proxy names, as [server] user_header; refused from any other address."


@route(
    "GET", "/openapi.json", "This description",
    {200: {"description": "OpenAPI 3.1", "content": {JSON: {"schema": {"type": "object"}}}}}, access="submit",
)  # fmt: skip
async def openapi(_: web.Request) -> web.StreamResponse:
    return answer(document())


@route(
    "GET", "/docs", "This description, as a page to read",
    {200: {"description": "HTML", "content": {"text/html": {"schema": {"type": "string"}}}}}, access="submit",
)  # fmt: skip
async def docs(_: web.Request) -> web.StreamResponse:
    return web.Response(
        text=render(document()), content_type="text/html", charset="utf-8",
        headers={"Content-Security-Policy": POLICY},
    )  # fmt: skip


@functools.cache
def document() -> Document:
    """The whole description."""
    paths: Document = {}
    for each in ROUTES:
        paths.setdefault(each.path, {})[each.method.lower()] = each.operation
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Terminus",
            "version": "1",
            "description": "Tickets in, resolutions out. Every ticket ends, with exactly one outcome.",
        },
        "paths": paths,
        "components": {
            "schemas": _components(),
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer", "description": BEARER},
                "proxy": {"type": "apiKey", "in": "header", "name": HEADER, "description": PROXY},
            },
        },
    }


def _components() -> Document:
    """The schemas; the options of a ticket are those of the families that there are."""
    orders = [family.order for family in FAMILIES if family.order is not None]
    shapes = dict.fromkeys([*SHAPES.values(), *OF_EVENTS, *orders])
    _, components = msgspec.json.schema_components(shapes, ref_template="#/components/schemas/{name}")
    ticket = components[NewTicket.__name__]["properties"]
    ticket["workflow"]["enum"] = [family.name for family in FAMILIES]
    ticket["options"] = {"anyOf": [*map(refer_to, orders), {"type": "null"}], "default": None}
    return components
