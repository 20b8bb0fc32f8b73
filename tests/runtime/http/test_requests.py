"""Whatever is sent: an answer in one sentence, never a trace, never a ticket that nobody meant."""

import asyncio
import gzip
import json
import random
import re
import socket
from pathlib import Path
from typing import Any

import pytest

from runtime.http import openapi, request_bodies, server
from tests.runtime.http.kit import TEXT, Held, interface, sentence, until

JSON = "application/json"
POST = b"POST /tickets HTTP/1.1\r\nHost: localhost\r\n"
DEEP = b'{"text": ' + b"[" * 50_000


@pytest.mark.parametrize(
    ("media", "body", "status", "words"),
    [
        (JSON, b"", 400, ["JSON object"]),
        (JSON, b"{", 400, ["JSON object"]),
        (JSON, b'{"text": "a"} x', 400, ["JSON object"]),
        (JSON, b"[]", 400, ["object"]),
        (JSON, b'"text"', 400, ["object"]),
        (JSON, b"null", 400, ["object"]),
        (JSON, b'{"text": 1}', 400, ["text"]),
        (JSON, b'{"text": null}', 400, ["text"]),
        (JSON, b'{"text": "a", "priority": 1}', 400, ["priority", '"requester"']),
        (JSON, b'{"text": "a", "' + b"x" * 5000 + b'": 1}', 400, ["unknown field"]),
        (JSON, b'{"text": "\xff"}', 400, ["JSON object"]),
        (JSON, b'{"text": "\\ud800"}', 400, ["JSON object"]),
        (JSON, DEEP, 400, ["JSON object"]),
        (JSON, b'{"text": "a\\u0000b"}', 400, ["U+0000"]),
        (JSON, b"{}", 400, ["empty"]),
        (JSON, b'{"text": " \\n ", "subject": " "}', 400, ["empty"]),
        (JSON, b'{"text": "a", "id": "../../etc/passwd"}', 400, ["id", "letters"]),
        (JSON, b'{"text": "a", "id": "a\\nb"}', 400, ["id", "letters"]),
        (JSON, json.dumps({"text": "a", "id": "a" * 101}).encode(), 400, ["id", "letters"]),
        (JSON, json.dumps({"text": "a", "subject": "a" * 501}).encode(), 400, ["subject", "500"]),
        (JSON, json.dumps({"text": "a", "requester": "a" * 501}).encode(), 400, ["requester", "500"]),
        ("text/plain", b"", 400, ["empty"]),
        ("text/plain", b" \t\r\n", 400, ["empty"]),
        ("text/plain", b"caf\xe9", 400, ["byte 3", "UTF-8"]),
        ("text/plain", b"\x7fELF\0\0", 400, ["U+0000"]),
        ("text/plain; charset=latin-1", b"a", 415, ["UTF-8"]),
        ("text/plain; charset=nonsense", b"a", 415, ["UTF-8"]),
        ("application/x-www-form-urlencoded", b"text=a", 415, [JSON, "fields of a form"]),
        ("multipart/form-data; boundary=x", b"--x--", 415, [JSON]),
        ("application/octet-stream", b"a", 415, [JSON]),
        ("", b'{"text": "a"}', 415, [JSON]),
        ("application/json/json", b'{"text": "a"}', 415, [JSON]),
    ],
    ids=lambda value: None if isinstance(value, bytes) else str(value),
)
async def test_what_is_no_ticket_is_refused_in_a_sentence_that_says_why(
    tmp_path: Path, media: str, body: bytes, status: int, words: list[str]
) -> None:
    async with interface(tmp_path) as web:
        found, why = await web.refusal("POST", "/tickets", data=body, headers={"Content-Type": media})

        assert found == status
        assert [word for word in words if word not in why] == []
        assert len(why) < 500
        assert await web.node.journal.latest(9) == []


async def test_a_text_is_a_ticket_though_curl_calls_it_a_form(tmp_path: Path) -> None:
    async with interface(tmp_path) as web:
        text = "My VPN = down: 100 % of the time & always. 每小时断开"
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        status, outcome = await web.ask("POST", "/tickets?wait=20", data=text.encode(), headers=headers)
        _, told = await web.ask("GET", f"/tickets/{outcome['ticket']}")

        assert status == 200
        assert told["question"] == text


@pytest.mark.parametrize("wait", ["-1", "nan", "soon", "", "1e", "0x10", "1,5"])
async def test_a_wait_that_is_no_time_is_refused(tmp_path: Path, wait: str) -> None:
    async with interface(tmp_path) as web:
        status, why = await web.refusal("POST", f"/tickets?wait={wait}", json={"text": TEXT})

        assert (status, "wait" in why) == (400, True)
        assert await web.node.journal.latest(9) == []


@pytest.mark.parametrize("wait", ["inf", "1e300"])
async def test_nobody_waits_for_ever(tmp_path: Path, wait: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_bodies, "WAIT_SECONDS", 0.01)
    async with interface(tmp_path, model=Held()) as web:
        status, receipt = await web.ask("POST", f"/tickets?wait={wait}", json={"text": TEXT})

        assert (status, receipt["status"]) == (202, "running")


class TestLarge:
    @pytest.mark.parametrize("media", [JSON, "text/plain"])
    async def test_bodies_are_refused_without_being_read(
        self, tmp_path: Path, media: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(server, "LINGER_SECONDS", 0.01)
        async with interface(tmp_path, body_kilobytes=2) as web:
            head = f"POST /tickets HTTP/1.1\r\nHost: localhost\r\nContent-Type: {media}\r\n"
            answer = await web.raw(f"{head}Content-Length: 9999999999\r\nConnection: close\r\n\r\n".encode(), b"x" * 99)

            assert answer.startswith(b"HTTP/1.1 413 ")
            assert "2 KB" in _error(answer)

    async def test_bodies_without_a_length_are_refused_when_it_is_enough(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(server, "LINGER_SECONDS", 0.01)
        head = POST + b"Content-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n"
        async with interface(tmp_path, body_kilobytes=2) as web:
            answer = await web.raw(head, *[b"400\r\n" + b"x" * 1024 + b"\r\n"] * 8)

            assert answer.startswith(b"HTTP/1.1 413 ")

    async def test_tickets_are_refused_by_their_own_limit(self, tmp_path: Path) -> None:
        async with interface(tmp_path, run={"ticket_kilobytes": 1}) as web:
            status, why = await web.refusal("POST", "/tickets", json={"text": "é" * 513})
            assert (status, "ticket_kilobytes" in why) == (413, True)
            assert (await web.ask("POST", "/tickets", json={"text": "é" * 512}))[0] == 202

    async def test_compressed_bodies_are_not_opened(self, tmp_path: Path) -> None:
        bomb = gzip.compress(b"a" * 1_000_000)
        async with interface(tmp_path) as web:
            headers = {"Content-Type": "text/plain", "Content-Encoding": "gzip"}
            status, why = await web.refusal("POST", "/tickets", data=bomb, headers=headers)

            assert (status, "Content-Encoding" in why) == (415, True)

    async def test_keys_are_refused(self, tmp_path: Path) -> None:
        async with interface(tmp_path) as web:
            headers = {"Idempotency-Key": "k" * 201}
            assert (await web.refusal("POST", "/tickets", json={"text": TEXT}, headers=headers))[0] == 400


class TestSlow:
    async def test_bodies_are_given_up(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(request_bodies, "BODY_SECONDS", 0.02)
        monkeypatch.setattr(server, "LINGER_SECONDS", 0.01)
        async with interface(tmp_path) as web:
            head = POST + b"Content-Type: text/plain\r\nContent-Length: 99\r\n\r\n"
            answer = await web.raw(head, b"My V")

            assert answer.startswith(b"HTTP/1.1 408 ")
            assert "body" in _error(answer)
            assert await web.node.journal.latest(9) == []

    @pytest.mark.parametrize("sent", [b"", b"GET /hea", b"GET /health HTTP/1.1\r\nHost: local"])
    async def test_headers_are_given_up(self, tmp_path: Path, sent: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(server, "IDLE_SECONDS", 0.02)
        async with interface(tmp_path) as web:
            assert await web.raw(sent) == b""

    @pytest.mark.skipif(not hasattr(socket, "TCP_USER_TIMEOUT"), reason="this system cannot drop such clients")
    async def test_readers_of_a_long_answer_are_dropped(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(server, "UNREAD_SECONDS", 0.2)
        monkeypatch.setattr(openapi, "document", lambda: {"long": "a" * 20_000_000})
        async with interface(tmp_path) as web:
            before = len(asyncio.all_tasks())  # each connection has one
            with socket.create_connection(("127.0.0.1", web.port)) as deaf:
                deaf.sendall(b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n")
                await until(lambda: len(asyncio.all_tasks()) > before)
                await until(lambda: len(asyncio.all_tasks()) == before)

            assert (await web.submit(wait=20))["status"] == "resolved"

    async def test_bodies_that_are_cut_off_leave_nothing(self, tmp_path: Path) -> None:
        async with interface(tmp_path) as web:
            _, writer = await asyncio.open_connection("127.0.0.1", web.port)
            writer.write(POST + b"Content-Type: text/plain\r\nContent-Length: 9\r\n\r\nMy")
            await writer.drain()
            writer.close()
            await writer.wait_closed()

            assert (await web.ask("GET", "/health"))[1]["runs"] == 0
            assert await web.node.journal.latest(9) == []


class TestPaths:
    @pytest.mark.parametrize(
        "some_id",
        ["..", "%2e%2e", "..%2f..%2fetc%2fpasswd", "a%00b", "a%0d%0aSet-Cookie:%20x=1", "%20", "-x", "a" * 101, "a'--",
         "%F0%9F%98%80", "%ff", "T%2D1%2F", "*", "a%20OR%201=1"],
    )  # fmt: skip
    @pytest.mark.parametrize(("method", "after"), [("GET", ""), ("GET", "/events"), ("POST", "/cancel")])
    async def test_tricks_in_ids_find_nothing(self, tmp_path: Path, some_id: str, method: str, after: str) -> None:
        async with interface(tmp_path) as web:
            for where in ("tickets", "runs") if not after else ("tickets",):
                request = f"{method} /{where}/{some_id}{after} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
                answer = await web.raw(request.encode())

                status = answer.split()[1]
                assert status in {b"404", b"405"}, answer
                assert b"Set-Cookie:" not in answer.partition(b"\r\n\r\n")[0]
                assert sentence(json.loads(answer.partition(b"\r\n\r\n")[2]))

    async def test_a_ticket_is_no_run_and_a_run_is_no_ticket(self, tmp_path: Path) -> None:
        async with interface(tmp_path) as web:
            receipt = await web.submit()
            assert (await web.refusal("GET", f"/runs/{receipt['ticket']}"))[0] == 404
            assert (await web.refusal("GET", f"/tickets/{receipt['run']}"))[0] == 404
            assert (await web.refusal("POST", f"/tickets/{receipt['run']}/cancel"))[0] == 404

    @pytest.mark.parametrize(
        "path", ["/", "/ticket", "/tickets/", "/tickets/a/b", "//tickets", "/admin", "/.git/config"]
    )
    async def test_that_lead_nowhere_say_where_to_look(self, tmp_path: Path, path: str) -> None:
        async with interface(tmp_path) as web:
            answer = await web.raw(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())

            assert answer.split()[1] in {b"404", b"405"}
            sentence(json.loads(answer.partition(b"\r\n\r\n")[2]))

    @pytest.mark.parametrize(
        ("method", "path", "allowed"),
        [("PUT", "/tickets", "GET,HEAD,POST"), ("DELETE", "/tickets/T-1", "GET,HEAD"),
         ("GET", "/tickets/T-1/cancel", "POST"), ("POST", "/health", "GET,HEAD"),
         ("HEAD", "/tickets/T-1/events", "GET"),
         ("OPTIONS", "/tickets", "GET,HEAD,POST"), ("PATCH", "/runs/R-1", "GET,HEAD")],
    )  # fmt: skip
    async def test_other_methods_are_refused_with_those_there_are(
        self, tmp_path: Path, method: str, path: str, allowed: str
    ) -> None:
        async with interface(tmp_path) as web, web.client.request(method, path) as response:
            assert response.status == 405
            assert response.headers["Allow"] == allowed
            if method != "HEAD":
                assert method in sentence(await response.json())

    async def test_head_tells_what_get_would_without_a_body(self, tmp_path: Path) -> None:
        async with interface(tmp_path) as web, web.client.head("/health") as response:
            assert (response.status, await response.read()) == (200, b"")


@pytest.mark.parametrize(
    "request_",
    [
        b"NONSENSE\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET /health HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 100_000 + b"\r\n\r\n",
        b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET /health HTTP/1.1\r\nHost: localhost\r\nA\0B: c\r\n\r\n",
        b"GET /health HTTP/1.1\r\nHost: localhost\r\n" + b"".join(b"X%d: a\r\n" % n for n in range(500)) + b"\r\n",
        POST + b"Content-Length: -1\r\n\r\n",
        POST + b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        POST + b"Content-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"\0" * 1000,
    ],
    ids=lambda value: ascii(value[:30]),
)
async def test_broken_http_is_refused_and_the_server_goes_on(tmp_path: Path, request_: bytes) -> None:
    async with interface(tmp_path) as web:
        answer = await web.raw(request_)

        assert answer.split()[1] in {b"400", b"415", b"431"}, answer
        assert b"Traceback" not in answer
        assert b".py" not in answer
        assert (await web.submit(wait=20))["status"] == "resolved"
        assert len(await web.node.journal.latest(9)) == 1


PIECES = (
    b"GET", b"POST", b" ", b"/tickets", b"/tickets/T-1", b"/events", b"?wait=0", b"HTTP/1.1", b"\r\n", b"\n",
    b"\r\n\r\n", b"Host: localhost\r\n", b"Content-Type: application/json\r\n", b"Content-Length: 15\r\n",
    b"Transfer-Encoding: chunked\r\n", b"5\r\nhello\r\n0\r\n\r\n", b"\0", b"\xff\xfe", b":",
    b"Expect: 100-continue\r\n", b'{"text": "VPN"}',
    b"Upgrade: websocket\r\nConnection: Upgrade\r\n", b"Content-Encoding: gzip\r\n", b"Range: bytes=0-1\r\n", b"{" * 99,
)  # fmt: skip


@pytest.mark.parametrize("seed", range(4))
async def test_whatever_bytes_come_no_answer_is_a_failure_of_the_server(tmp_path: Path, seed: int) -> None:
    dice = random.Random(seed)
    async with interface(tmp_path) as web:
        for _ in range(60):
            noise = b"".join(dice.choice(PIECES) for _ in range(dice.randrange(12)))
            begin = dice.choice((POST, b"GET /tickets/T-1 HTTP/1.1\r\nHost: localhost\r\n", b""))
            answer = await web.raw(begin + noise + b"\r\n", end=True)

            assert not re.search(rb"HTTP/1\.[01] 5", answer), (begin + noise, answer)
            assert b"Traceback" not in answer
        assert (await web.submit(wait=20))["status"] == "resolved"


async def test_what_nobody_expected_is_logged_in_full_and_answered_in_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: Any) -> None:
        raise ZeroDivisionError("a secret of the inside")

    async with interface(tmp_path) as web:
        monkeypatch.setattr(web.node.journal, "latest_of", broken)
        status, why = await web.refusal("GET", "/tickets/T-1")

    assert (status, "inside" in why) == (500, False)
    assert "a secret of the inside" in caplog.text


def _error(answer: bytes) -> str:
    head, _, body = answer.partition(b"\r\n\r\n")
    assert b"application/problem+json" in head
    return sentence(json.loads(body))
