"""The interface as OpenAPI 3.1: schemas come from the very types that are read and answered, paths from the routes."""

import functools

import msgspec
from aiohttp import web

from actors.workflow.outcome import AnswerReady, AnswerRefused, HandoffMade, Outcome, RunBegan
from actors.workflow.progress import AgentSelected, AnswerText, DraftChecked, RoundBegan, StageProgress, StatusChanged
from runtime.families import FAMILIES
from runtime.http import docs_page, endpoints
from runtime.http.files import POLICY
from runtime.http.middleware import answer
from runtime.http.routes import ROUTES, SHAPES, Document, refer_to, route
from runtime.http.schemas import JSON, NewTicket
from runtime.settings import ServerSettings

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
        text=docs_page.render(document()), content_type="text/html", charset="utf-8",
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
