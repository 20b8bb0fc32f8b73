"""Only those are heard who may be: with a token those who have it, without one this machine's own programs."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from runtime.http.request_bodies import FORM
from runtime.http.routes import ROUTES
from tests.runtime.http.kit import TEXT, TOKEN, interface, sentence

PATHS = [(method, re.sub(r"\{[^}]*\}", "T-1", path)) for method, path, _, _, access in ROUTES if access != "open"]


class TestWithAToken:
    async def test_nobody_without_it_is_heard(self, tmp_path: Path) -> None:
        strangers = (
            None, "", "Bearer", "Bearer ", f"Bearer {TOKEN}x", f"Bearer {TOKEN[:-1]}", f"Basic {TOKEN}", TOKEN,
            f"Bearer {TOKEN.upper()}", f"Bearer {TOKEN} {TOKEN}", "Bearer \xfc\xf1\xee",
        )  # fmt: skip
        for n, (method, path) in enumerate([*PATHS, ("GET", "/nowhere"), ("DELETE", "/tickets")]):
            async with interface(tmp_path / str(n), token=TOKEN) as web:  # who tries too often is told to wait
                for given in strangers:
                    line = "" if given is None else f"Authorization: {given}\r\n"
                    request = f"{method} {path} HTTP/1.1\r\nHost: any.example\r\n{line}Connection: close\r\n\r\n"
                    answer = await web.raw(request.encode("latin-1"))

                    head, _, body = answer.partition(b"\r\n\r\n")
                    assert head.startswith(b"HTTP/1.1 401 "), (method, path, given)
                    assert b"WWW-Authenticate: Bearer" in head
                    assert "Authorization" in sentence(json.loads(body))
                    assert TOKEN.encode() not in answer

    @pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
    async def test_who_has_it_is_heard_under_any_name_of_the_host(self, tmp_path: Path, scheme: str) -> None:
        async with interface(tmp_path, token=TOKEN) as web:
            headers = {"Authorization": f"{scheme} {TOKEN}", "Host": "helpdesk.example"}
            assert (await web.ask("POST", "/tickets?wait=20", json={"text": TEXT}, headers=headers))[0] == 200

    async def test_health_tells_a_stranger_no_counts(self, tmp_path: Path) -> None:
        async with interface(tmp_path, token=TOKEN) as web:
            answer = await web.raw(b"GET /health HTTP/1.1\r\nHost: any\r\nConnection: close\r\n\r\n")
            assert json.loads(answer.partition(b"\r\n\r\n")[2]) == {"live": True, "ready": True}
            assert "runs" in (await web.ask("GET", "/health"))[1]


class TestWithoutAToken:
    @pytest.mark.parametrize(
        "host", ["127.0.0.1", "127.0.0.1:1", "localhost:8421", "LOCALHOST", "[::1]:8421", "127.9.9.9"]
    )
    async def test_this_machine_is_served_under_its_own_names(self, tmp_path: Path, host: str) -> None:
        async with interface(tmp_path) as web:
            assert (await web.ask("GET", "/health", headers={"Host": host}))[0] == 200

    @pytest.mark.parametrize(
        "host",
        ["evil.example", "evil.example:8421", "127.0.0.1.evil.example", "localhost.evil.example", "192.168.0.7",
         "", "[::1", "127.0.0.1@evil.example", "evil.example#localhost", "::1]"],
    )  # fmt: skip
    async def test_a_name_that_somebody_else_points_here_is_not(self, tmp_path: Path, host: str) -> None:
        async with interface(tmp_path) as web:
            for path in ("/health", "/nowhere"):
                request = f"GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
                answer = await web.raw(request.encode())

                assert answer.startswith((b"HTTP/1.1 403 ", b"HTTP/1.1 400 ")), answer

    async def test_nor_is_a_request_without_a_name(self, tmp_path: Path) -> None:
        async with interface(tmp_path) as web:
            assert (await web.raw(b"GET /health HTTP/1.0\r\n\r\n")).split()[1] in {b"400", b"403"}


@pytest.mark.parametrize("token", ["", TOKEN])
@pytest.mark.parametrize(
    "headers",
    [{"Origin": "https://evil.example"}, {"Origin": "null"}, {"Origin": "http://127.0.0.1:1"}, {"Origin": ""},
     {"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}],
    ids=str,
)  # fmt: skip
async def test_pages_of_other_sites_neither_file_nor_read_tickets(
    tmp_path: Path, headers: dict[str, str], token: str
) -> None:
    async with interface(tmp_path, token=token) as web:
        receipt = await web.submit()
        attempts: list[tuple[str, str, dict[str, Any]]] = [
            ("POST", "/tickets", {"data": "text=x", "headers": {**headers, "Content-Type": "text/plain"}}),
            ("POST", "/tickets", {"data": "x", "headers": {**headers, "Content-Type": FORM}}),
            ("POST", "/tickets", {"json": {"text": "x"}, "headers": headers}),
            ("POST", receipt["links"]["cancel"], {"headers": headers}),
            ("GET", receipt["links"]["ticket"], {"headers": headers}),
        ]
        for method, path, more in attempts:
            assert (await web.refusal(method, path, **more))[0] == 403
        assert len(await web.node.journal.latest(9)) == 1


async def test_a_page_of_this_server_may(tmp_path: Path) -> None:
    async with interface(tmp_path) as web:
        headers = {"Origin": web.url, "Sec-Fetch-Site": "same-origin"}
        assert (await web.ask("POST", "/tickets?wait=20", json={"text": TEXT}, headers=headers))[0] == 200


async def test_no_answer_is_kept_or_taken_for_a_page(tmp_path: Path) -> None:
    async with interface(tmp_path) as web:
        receipt = await web.submit("<script>alert(1)</script> VPN", wait=20)
        for path in (f"/runs/{receipt['run']}", "/<script>", f"/tickets/{receipt['ticket']}/events"):
            async with web.client.get(path) as response:
                assert response.headers["Cache-Control"] == "no-store"
                assert response.headers["X-Content-Type-Options"] == "nosniff"
                assert response.content_type in {"application/json", "application/problem+json", "text/event-stream"}
                assert "Access-Control-Allow-Origin" not in response.headers


async def test_what_a_request_says_neither_commands_the_terminal_nor_forges_a_line_of_the_log(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    from runtime.observe import logs
    from tests.runtime.http.kit import settings

    evil = "\x1b[2J\r\n2026 [error] forged \u202e"
    with logs.to_stderr(settings(tmp_path)):
        async with interface(tmp_path) as web:
            await web.submit(f"VPN {evil}", subject=f"s{evil}", requester=f"r{evil}", wait=20)
            await web.refusal("GET", "/a%1b%5b2J%0d%0a2026%20forged")
            await web.refusal("POST", "/tickets", json={"text": "x", "id": evil})
            await web.refusal("POST", "/tickets", json={"text": "x", evil: 1})
            await web.refusal("POST", f"/tickets?wait={'%1b%5b2J'}", json={"text": "x"})

    lines = capfd.readouterr().err.splitlines()
    assert len(lines) > 10
    for line in lines:
        assert line.isprintable()
        json.loads(line)
