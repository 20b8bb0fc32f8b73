"""Whatever a header or an address says: an answer below 500, in one sentence where it is a refusal, never a trace."""

import asyncio
import json
from pathlib import Path

import pytest

from tests.runtime.http.kit import TOKEN, Interface, interface, sentence

PARTS = {
    "Origin": ["http://[", "http://[::1", "http://]", "http://a:b@[", "//[", "null", "", "http://a:99999999",
               "\xff\xfe"],
    "Host": ["[", "[]", "[::1]:99999", "::", "127.0.0.1:x", "a\tb", "\xff", "%00", "a" * 7000],
    "Authorization": ["\xff", "Bearer", "Bearer \xff\xfe", "Bearer " + "a" * 7000, "=?utf-8?q?x?="],
    "Content-Type": ["", ";", "text/plain; charset=\xff", 'text/plain; charset="', "text/plain; charset*=utf-8''%ff",
                     "text/plain; charset*0=a; charset*1*=%00", "multipart/form-data; boundary=", "a" * 7000, "/"],
    "Content-Length": ["-1", "1e9", "nan", "9" * 400, "0x10", "\u0661".encode().decode("latin-1"), "1, 1", "+1"],
    "Content-Encoding": ["\xff", "gzip, gzip", "a" * 7000, ";"],
    "Transfer-Encoding": ["\xff", "chunked, chunked", "gzip", "identity, chunked"],
    "Expect": ["\xff\xfe", "200-maybe", "a" * 7000],
    "Last-Event-ID": ["\xff", "-1", "9" * 400, "nan"],
    "Idempotency-Key": ["\xff\xfe", "a" * 7000, "../../x", "%00"],
    "Accept": ["\xff", ";q=nan", "text/html;" * 500],
    "Sec-Fetch-Site": ["\xff", "\x01"],
}  # fmt: skip
TARGETS = [
    "//[", "/tickets/%ff", "/tickets/%00", "/tickets/[", "/tickets/T-1%2f..", "/runs/%F0%9F%98%80", "/%", "/%zz",
    "http://[/", "*", "/tickets?wait=http://[", "/tickets?wait=%ff", "/tickets?wait=-1", "/tickets?wait=nan",
    "/tickets?wait=1e400x", f"/tickets?wait={'9' * 5000}x", "/tickets?wait=%00", "/tickets?wait=", "/tickets?%=%&=&=",
    "/tickets/T-1/report?format=%ff", "/tickets/T-1/report?format=[", "/tickets/T-1/report?format=md%00",
]  # fmt: skip
REQUESTS = [("POST", "/tickets"), ("GET", "/health"), ("GET", "/nowhere"), ("DELETE", "/tickets")]


async def said(web: Interface, method: str, target: str, headers: dict[str, str], body: bytes) -> bytes:
    """What is answered; a request that never becomes whole is given up by its client."""
    usual = {"Host": "127.0.0.1", "Content-Type": "application/json", "Content-Length": str(len(body))}
    lines = [f"{name}: {value}\r\n" for name, value in ({**usual, **headers}).items()]
    head = f"{method} {target} HTTP/1.1\r\n{''.join(lines)}Connection: close\r\n\r\n"
    try:
        async with asyncio.timeout(5):
            return await web.raw(head.encode("latin-1") + body)
    except TimeoutError:  # it declared more than it sent
        return b""


def check(answer: bytes) -> None:
    if not answer:
        return
    head, _, body = answer.partition(b"\r\n\r\n")
    status = int(head.split()[1])
    assert status < 500, answer
    assert b"Traceback" not in answer
    if status >= 400 and body:
        assert b"Content-Type: application/problem+json" in head, answer
        assert json.loads(body)["status"] == status
        sentence(json.loads(body))


@pytest.mark.parametrize("token", ["", TOKEN])
@pytest.mark.parametrize("name", PARTS)
async def test_no_header_makes_it_stumble(tmp_path: Path, name: str, token: str) -> None:
    async with interface(tmp_path, token=token) as web:
        for method, path in REQUESTS:
            for value in PARTS[name]:
                given = {"Authorization": f"Bearer {TOKEN}", name: value}
                check(await said(web, method, path, given, b'{"text": "My VPN drops."}'))
        assert (await web.ask("GET", "/health"))[0] == 200


async def test_no_address_makes_it_stumble(tmp_path: Path) -> None:
    async with interface(tmp_path) as web:
        for target in TARGETS:
            for method in ("GET", "POST"):
                check(await said(web, method, target, {"Content-Type": "text/plain"}, b"x"))
        assert (await web.ask("GET", "/health"))[0] == 200


@pytest.mark.parametrize("origin", ["http://[", "http://[::1", "http://]", "//["])
async def test_an_origin_that_is_no_address_is_a_strangers(tmp_path: Path, origin: str) -> None:
    async with interface(tmp_path) as web:
        assert (await web.refusal("GET", "/health", headers={"Origin": origin}))[0] == 403


async def test_an_expectation_is_met_or_refused(tmp_path: Path) -> None:
    async with interface(tmp_path) as web:
        body = b'{"text": "My VPN drops."}'
        assert b" 202 " in await said(web, "POST", "/tickets", {"Expect": "100-Continue"}, body)
        for path in ("/tickets", "/nowhere"):
            answer = await said(web, "POST", path, {"Expect": "\xff"}, body)
            assert answer.startswith(b"HTTP/1.1 417 ")
            assert "100-continue" in sentence(json.loads(answer.partition(b"\r\n\r\n")[2]))
