"""A route is one record: registered, it is served and described."""

from pathlib import Path

import pytest
from aiohttp import web

from runtime.http import routes
from runtime.http.errors import Problem
from runtime.http.middleware import answer
from runtime.http.openapi import document
from tests.runtime.http.kit import interface


async def test_a_route_is_one_function_with_its_description(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    added = list(routes.ROUTES)
    monkeypatch.setattr(routes, "ROUTES", added)
    monkeypatch.setattr("runtime.http.server.ROUTES", added)
    monkeypatch.setattr("runtime.http.openapi.ROUTES", added)

    @routes.route(
        "GET", "/tickets/{id}/echo", "Say it again", {200: routes.as_json("As it was", Problem)}, refusals=(404,)
    )
    async def echo(request: web.Request) -> web.StreamResponse:
        return answer({"error": request.match_info["id"]})

    document.cache_clear()
    try:
        async with interface(tmp_path) as client:
            assert await client.ask("GET", "/tickets/T-1/echo") == (200, {"error": "T-1"})
            _, described = await client.ask("GET", "/openapi.json")
    finally:
        document.cache_clear()
    operation = described["paths"]["/tickets/{id}/echo"]["get"]
    assert operation["summary"] == "Say it again"
    assert [each["name"] for each in operation["parameters"]] == ["id"]
    assert set(operation["responses"]) == {"200", "400", "401", "403", "404", "429", "500", "503"}
