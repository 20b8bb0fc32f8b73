"""The description is true: each route is in it, and each answer is one that it names, in the form that it names."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from runtime.engine.run_record import EndedRecord
from runtime.http import openapi, routes
from runtime.http.errors import Problem
from runtime.http.openapi import document
from runtime.http.request_bodies import Feedback, FeedbackReceipt, Health, NewTicket, Receipt, RunStatus, TicketPage
from runtime.http.routes import ROUTES
from runtime.tickets import ID
from runtime.user_text import as_json
from tests import ROOT
from tests.runtime.http.kit import TEXT, TOKEN, Held, Interface, interface

SHAPES: dict[str, type] = {
    shape.__name__: shape
    for shape in (EndedRecord, Health, FeedbackReceipt, Problem, Receipt, RunStatus, NewTicket, Feedback, TicketPage)
}


def operations() -> Iterator[tuple[str, str, Any]]:
    for path, methods in document()["paths"].items():
        for method, operation in methods.items():
            yield method.upper(), path, operation


def references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, each in value.items():
            if key == "$ref":
                yield each
            else:
                yield from references(each)
    elif isinstance(value, list):
        for each in value:
            yield from references(each)


def test_every_route_is_described_and_nothing_else() -> None:
    assert {(method, path) for method, path, _ in operations()} == {(method, path) for method, path, *_ in ROUTES}


class Lamp(msgspec.Struct):
    lit: bool


def test_what_a_new_route_answers_is_described(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(routes, "ROUTES", [])
    monkeypatch.setattr(routes, "SHAPES", shapes := {**routes.SHAPES})
    monkeypatch.setattr(openapi, "SHAPES", shapes)
    routes.route("GET", "/lamp", "A lamp", {200: routes.as_json("It is lit or not", Lamp)})

    assert openapi.document.__wrapped__()["components"]["schemas"]["Lamp"]["properties"] == {"lit": {"type": "boolean"}}


def test_every_reference_leads_somewhere_and_every_schema_is_complete() -> None:
    schemas = document()["components"]["schemas"]
    for reference in references(document()):
        assert reference.removeprefix("#/components/schemas/") in schemas
    assert set(schemas["NewTicket"]["properties"]) == set(NewTicket.__struct_fields__)
    assert schemas["NewTicket"]["additionalProperties"] is False
    assert schemas["Outcome"]["properties"]["handoffs"]["type"] == "array"
    for name in ("EndedRecord", "RunStatus"):
        assert {"question", "subject", "requester"} < set(schemas[name]["required"])
        assert schemas[name]["properties"]["started"] == {"type": "string", "format": "date-time"}


def test_paths_name_their_parameters_with_the_pattern_that_holds() -> None:
    for _, path, operation in operations():
        named = [each for each in operation["parameters"] if each["in"] == "path"]
        assert {f"{{{each['name']}}}" for each in named} == set(re.findall(r"\{\w+\}", path))
        assert all(each["schema"]["pattern"] == f"^{ID.pattern}$" for each in named if each["name"] == "id")


async def test_it_is_served(tmp_path: Path) -> None:
    async with interface(tmp_path) as web:
        assert await web.ask("GET", "/openapi.json") == (200, json.loads(as_json(document())))
        assert document()["openapi"].startswith("3.1")


REQUESTS: tuple[tuple[str, str, str, dict[str, Any], int], ...] = (
    ("POST", "/tickets", "/tickets", {"json": {"text": TEXT, "id": "T-2"}}, 202),
    ("POST", "/tickets", "/tickets?wait=20", {"json": {"text": TEXT, "id": "T-0"}}, 200),
    ("POST", "/tickets", "/tickets", {"json": {"text": "Other.", "id": "T-1"}}, 409),
    ("POST", "/tickets", "/tickets", {"json": {}}, 400),
    ("POST", "/tickets", "/tickets", {"data": b"a", "headers": {"Content-Type": "a/b"}}, 415),
    ("POST", "/tickets", "/tickets", {"json": {"text": "a" * 300_000}}, 413),
    ("GET", "/tickets/{id}", "/tickets/T-1", {}, 200),
    ("GET", "/tickets/{id}", "/tickets/T-0", {}, 200),
    ("GET", "/tickets/{id}", "/tickets/T-404", {}, 404),
    ("GET", "/runs/{id}", "/runs/R-404", {}, 404),
    ("GET", "/tickets", "/tickets?status=running&limit=1", {}, 200),
    ("GET", "/tickets", "/tickets?status=solved", {}, 400),
    ("POST", "/tickets/{id}/cancel", "/tickets/T-0/cancel", {}, 200),
    ("POST", "/tickets/{id}/cancel", "/tickets/T-1/cancel", {}, 202),
    ("POST", "/tickets/{id}/feedback", "/tickets/T-0/feedback", {"json": {"right": True}}, 200),
    ("POST", "/tickets/{id}/feedback", "/tickets/T-1/feedback", {"json": {"right": True}}, 409),
    ("POST", "/tickets/{id}/feedback", "/tickets/T-1/feedback", {"json": {"wrong": True}}, 400),
    ("GET", "/tickets/{id}/report", "/tickets/T-0/report", {}, 404),
    ("GET", "/tickets/{id}/report", "/tickets/T-0/report?format=odt", {}, 400),
    ("GET", "/health", "/health", {}, 200),
    ("GET", "/health", "/health", {"headers": {"Origin": "null"}}, 403),
    ("GET", "/runs/{id}", "/runs/R-1", {"headers": {"Authorization": ""}}, 401),
)


@pytest.mark.parametrize(("method", "path", "url", "more", "status"), REQUESTS, ids=lambda value: str(value)[:30])
async def test_an_answer_is_one_that_is_described(
    tmp_path: Path, method: str, path: str, url: str, more: dict[str, Any], status: int
) -> None:
    model = Held()
    model.free.set()
    async with interface(tmp_path, model=model, memory="feedback" in url, token=TOKEN) as web:
        await web.submit(id="T-0", wait=20)
        model.free.clear()
        await web.submit("Another VPN question.", id="T-1")
        if status == 200:
            model.free.set()
        await check(web, method, path, url, more, status)


async def check(web: Interface, method: str, path: str, url: str, more: dict[str, Any], status: int) -> None:
    async with web.client.request(method, url, **more) as response:
        body = await response.read()
    assert response.status == status, body
    described = document()["paths"][path][method.lower()]["responses"][str(status)]
    reference = described["content"][response.content_type]["schema"]["$ref"]
    shape = SHAPES[reference.rpartition("/")[2]]
    value: object = msgspec.json.decode(body, type=shape, strict=True)
    assert set(msgspec.json.decode(body)) <= set(shape.__struct_fields__), value  # type: ignore[attr-defined]


def test_the_description_is_whole_for_a_program_that_loads_nothing_else() -> None:
    code = "from runtime.http.openapi import document; print(*document()['paths'])"
    program = [sys.executable, "-c", code]
    done = subprocess.run(program, cwd=ROOT, capture_output=True, text=True, check=True)  # noqa: S603 - our own
    assert set(done.stdout.split()) == set(document()["paths"])
