"""A refusal is problem details, whoever refuses: a handler, a middleware, the parser, or the door itself."""

import json
from pathlib import Path
from typing import Any

import pytest

from runtime.http.errors import PROBLEM, TITLES, ApiError, make_problem
from runtime.http.server import TURNED_AWAY
from tests.runtime.http.kit import Held, interface, sentence

CHUNKED = b"POST /tickets HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n"


def read(raw: bytes) -> tuple[int, Any]:
    """Status and body of an answer as it goes over the line."""
    head, _, body = raw.partition(b"\r\n\r\n")
    assert b"Content-Type: application/problem+json" in head, raw
    told = json.loads(body)
    sentence(told)
    assert told["status"] == int(head.split()[1])
    assert told["type"] == f"/docs#status-{told['status']}"
    return told["status"], told


@pytest.mark.parametrize(
    ("request_", "status", "remedy"),
    [
        (b"GET /health HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 9_000 + b"\r\n\r\n", 431, "Shorten"),
        (b"GET /" + b"a" * 9_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n", 431, "Shorten"),
        (b"GET /health HTTP/1.1\r\nHost: localhost\r\nA\0B: c\r\n\r\n", 400, "Look at"),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 400, "Ask for http://"),
        (CHUNKED + b"zz\r\n", 400, ""),
    ],
    ids=("header", "address", "name", "tls", "chunk"),
)  # fmt: skip
async def test_what_the_parser_refuses_is_told_and_the_connection_closed(
    tmp_path: Path, request_: bytes, status: int, remedy: str
) -> None:
    async with interface(tmp_path) as web:
        found, told = read(await web.raw(request_))

        assert found == status
        assert told["remedy"].startswith(remedy)
        assert b"aaaa" not in json.dumps(told).encode()
        assert (await web.ask("GET", "/health"))[0] == 200


def test_a_connection_above_the_limit_is_told_when_to_come_again() -> None:
    status, told = read(TURNED_AWAY)

    assert status == 503
    assert b"\r\nRetry-After: 5\r\n" in TURNED_AWAY
    assert "connections" in told["detail"]


async def test_too_many_tickets_are_told_when_to_come_again(tmp_path: Path) -> None:
    model = Held()
    async with interface(tmp_path, model=model, max_runs=1) as web:
        await web.submit()
        async with web.client.post("/tickets", json={"text": "Another one."}) as response:
            told = await response.json()
        model.free.set()

    assert (response.status, response.content_type) == (429, PROBLEM)
    assert int(response.headers["Retry-After"]) > 0
    assert told["title"] == TITLES[429]


@pytest.mark.parametrize(
    ("text", "remedy"),
    [
        ("The body is cut off. Send it again.", "Send it again."),
        ("Wait for its end; or cancel it.", "Or cancel it."),
        ("There is no ticket T-1.", "Check the address and the id; GET /docs shows what there is."),
    ],
)
def test_the_remedy_is_what_the_sentence_says_to_do(text: str, remedy: str) -> None:
    told = make_problem(ApiError(404, text))

    assert (told.detail, told.remedy) == (text, remedy)
