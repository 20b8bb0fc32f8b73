"""What anybody may send to the address of a helpdesk's deliveries, over a real socket, for each system that ships."""

import base64
import gzip
import hashlib
import hmac
import json
import re
import time
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from runtime.http import server
from runtime.intake.adapter_file import SignatureRule, load_tables, read_adapter
from tests.runtime.http.kit import Interface, interface
from tests.runtime.intake.test_intake import Opened, connected, hurry, opened, settle, until

__all__ = ["hurry", "opened"]

SECRET = "a shared secret"
TEXT = "My VPN drops every hour."
KILOBYTES = 16
BODIES: dict[str, Any] = {
    "chatwoot": {"event": "conversation_created", "id": 7, "messages": [{"id": 3}]},
    "freescout": {"id": 7, "_embedded": {"threads": [{"id": 3, "createdBy": {"type": "customer", "id": 9}}]}},
    "freshdesk": {"event": "replied", "ticket": "7"},
    "glpi": {"event": "new", "item": {"id": 7}},
    "jira_sm": {"webhookEvent": "jira:issue_created", "issue": {"id": "3", "key": "IT-7"}, "user": {"accountId": "9"}},
    "roundup": {"event": "issue.created", "issue": {"id": "7"}, "actor": "9", "messages": [{"id": "3"}]},
    "rt": {"event": "ticket.create", "event_id": "3", "ticket": {"id": 7}, "transaction": {"creator": "ann"}},
    "zammad": {"ticket": {"id": 7, "article_ids": [3]}, "article": {"id": 3, "sender": "Customer", "created_by_id": 9}},
    "zendesk": {"event": "created", "ticket": "7", "actor": "9", "at": "2026-01-01T00:00:00Z"},
}
"""What each sends when a customer writes, as far as its adapter file looks at it."""
MORE = {"freescout": {"X-FreeScout-Event": "convo.created"}}
RULES = {name: read_adapter(load_tables(name, Path()), name).signature for name in BODIES}
SIGNING = [name for name, rule in RULES.items() if rule.scheme == "hmac"]
TIMED = [name for name in SIGNING if RULES[name].time_header]
UNSIGNED = ("django_helpdesk", "mail")
Headers = dict[str, str]


def encode(name: str, **more: Any) -> bytes:
    return json.dumps({**BODIES[name], **more}).encode()


def sign(rule: SignatureRule, body: bytes, *, at: float | None = None, secret: str = SECRET) -> Headers:
    """The headers of a delivery that was signed at a time, Unix seconds, with a secret."""
    if rule.scheme == "header":
        return {rule.header: secret}
    now = time.time() if at is None else at
    told = str(int(now))
    parts = {"{body}": body, "{time}": told.encode()}
    message = b"".join(parts.get(each, each.encode()) for each in re.split(r"(\{[a-z]+\})", rule.signed))
    digest = hmac.new(secret.encode(), message, getattr(hashlib, rule.algorithm))
    signature = digest.hexdigest() if rule.encoding == "hex" else base64.b64encode(digest.digest()).decode()
    return {rule.header: rule.prefix + signature} | ({rule.time_header: told} if rule.time_header else {})


def connect(folder: Path, name: str) -> None:
    (folder / "helpdesks").mkdir(exist_ok=True)
    (folder / "secret").write_text(SECRET, encoding="utf-8")
    secret = json.dumps(f"file:{folder / 'secret'}")
    (folder / "helpdesks" / f"{name}.toml").write_text(
        f'system = "{name}"\nurl = "http://127.0.0.1:9"\nbot = "17"\nuser = "1"\nmode = "off"\npoll_seconds = 3600\n'
        f"secret = {secret}\ntoken = {secret}\nclient_secret = {secret}\n", encoding="utf-8",
    )  # fmt: skip


@pytest.fixture
async def web(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Interface]:
    """All systems that send are connected; none of them can be asked."""
    monkeypatch.setattr(server, "LINGER_SECONDS", 0.01)
    for name in (*BODIES, "django_helpdesk"):
        connect(tmp_path, name)
    async with interface(tmp_path, body_kilobytes=KILOBYTES) as opened_:
        yield opened_


async def post(web: Interface, name: str, body: bytes, *headers: tuple[str, str] | Mapping[str, str]) -> int:
    """The status that a delivery gets; a header may come twice."""
    pairs = [pair for each in headers for pair in (each.items() if isinstance(each, Mapping) else [each])]
    pairs += MORE.get(name, {}).items()
    async with web.client.post(f"/intake/{name}", data=body, headers=pairs) as got:
        assert got.status < 500, await got.text()
        return got.status


async def count_taken(web: Interface) -> int:
    """Deliveries that are durable."""
    return len(await web.node.journal.store.records("delivery"))


async def test_each_system_is_believed_once_with_its_secret_in_any_spelling_of_its_headers(web: Interface) -> None:
    spellings: list[Callable[[str], str]] = [str, str.upper, str.lower]
    for number, spell in enumerate(spellings):
        for name, rule in RULES.items():
            body = encode(name, attempt=number)
            signed = {spell(key): value for key, value in sign(rule, body).items()}
            assert await post(web, name, body, signed) == (202 if number == 0 or name == "freshdesk" else 200), name
            wrong = sign(rule, body, secret="another")
            assert await post(web, name, body, wrong) == 401, name
            assert await post(web, name, body, sign(rule, body, secret="")) == 401, name
            assert await post(web, name, body) == 401, name
            if rule.scheme == "hmac":
                assert await post(web, name, body + b" ", signed) == 401, name
    assert await count_taken(web) == len(RULES) + 2, "Freshdesk has nothing to know a delivery again by"


async def test_who_does_not_sign_cannot_send(web: Interface) -> None:
    for name in (*UNSIGNED, "nobody"):
        assert await post(web, name, b"{}") == 404
    assert await count_taken(web) == 0


async def test_a_delivery_of_another_time_is_not_believed(web: Interface) -> None:
    for name in TIMED:
        rule, body, now = RULES[name], encode(name), time.time()
        for beside in (-10.0 * 366 * 86_400, -rule.tolerance_seconds - 60, rule.tolerance_seconds + 60, 1e9):
            assert await post(web, name, body, sign(rule, body, at=now + beside)) == 401, (name, beside)
        signed = sign(rule, body)
        for told in ("", "now", "9" * 15, "-1", "1e9", "\u0661" * 10):
            assert await post(web, name, body, {**signed, rule.time_header: told}) == 401, (name, told)
        assert await post(web, name, body, {rule.header: signed[rule.header]}) == 401, name
        for other in ("0", signed[rule.time_header]):
            assert await post(web, name, body, signed, (rule.time_header, other)) == 401, name
            assert await post(web, name, body, (rule.time_header, other), signed) == 401, name
        near = sign(rule, body, at=now - rule.tolerance_seconds + 60)
        assert await post(web, name, body, near) == 202, name


async def test_two_signatures_are_two_readings_and_neither_is_believed(web: Interface) -> None:
    for name, rule in RULES.items():
        body = encode(name)
        right, wrong = sign(rule, body), (rule.header, sign(rule, body, secret="another")[rule.header])
        assert await post(web, name, body, right, wrong) == 401, name
        assert await post(web, name, body, wrong, right) == 401, name
        assert await post(web, name, body, right) == 202, name


@pytest.mark.parametrize("garbage", ["\udcff\udcfe", "é漢", "=" * 7000, "sha256=" * 900, " ,; " * 500])
async def test_a_signature_that_is_none_is_refused_in_a_sentence(web: Interface, garbage: str) -> None:
    for name, rule in RULES.items():
        body = encode(name)
        head = (
            f"POST /intake/{name} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {len(body)}\r\n"
        )
        signed = {**sign(rule, body), rule.header: garbage}
        lines = "".join(f"{key}: {value}\r\n" for key, value in signed.items())
        answer = await web.raw((head + lines + "\r\n").encode("utf-8", "surrogateescape") + body)
        assert answer.startswith(b"HTTP/1.1 401 "), (name, answer[:200])
    assert await count_taken(web) == 0


async def test_a_body_is_bounded_whole_and_plain(web: Interface) -> None:
    for name, rule in RULES.items():
        large = encode(name, more="x" * KILOBYTES * 1024)
        assert await post(web, name, large, sign(rule, large)) == 413, name
        for empty in (b"", b"null", b"[]", b'"7"', b"{}", b"{", b"\xff", b"[" * 10_000):
            status = await post(web, name, empty, sign(rule, empty))
            assert status == 400 or (name, status) == ("freshdesk", 200), (name, empty[:10])
        body = encode(name)
        for packed in (gzip.compress(body), gzip.compress(encode(name, more="x" * 10_000_000))):
            for meant in (body, packed):
                assert await post(web, name, packed, sign(rule, meant), {"Content-Encoding": "gzip"}) == 415, name
    assert await count_taken(web) == 0


def write_raw(name: str, *headers: str) -> Callable[[Headers], bytes]:
    """The beginning of a request by hand."""

    def write(signed: Headers) -> bytes:
        lines = [*headers, *(f"{key}: {value}" for key, value in (signed | MORE.get(name, {})).items())]
        return "\r\n".join([f"POST /intake/{name} HTTP/1.1", "Host: localhost", *lines, "", ""]).encode()

    return write


async def test_what_comes_in_chunks_is_put_together_and_what_breaks_off_leaves_nothing(web: Interface) -> None:
    for name, rule in RULES.items():
        body = encode(name)
        signed = sign(rule, body)
        whole = write_raw(name, f"Content-Length: {len(body)}")(signed)
        assert not (await web.raw(whole, body[:-3], end=True)).startswith(b"HTTP/1.1 2"), name
        chunked = write_raw(name, "Transfer-Encoding: chunked", "Connection: close")(signed)
        pieces = b"".join(f"{len(each):x}\r\n".encode() + each + b"\r\n" for each in (body[:9], body[9:]))
        assert not (await web.raw(chunked, pieces, end=True)).startswith(b"HTTP/1.1 2"), name
        endless = [b"1000\r\n" + b" " * 0x1000 + b"\r\n"] * 6
        assert (await web.raw(chunked, *endless)).startswith(b"HTTP/1.1 413 "), name
        assert await count_taken(web) == list(RULES).index(name)
        assert (await web.raw(chunked, pieces, b"0\r\n\r\n")).startswith(b"HTTP/1.1 202 "), name


async def test_an_old_delivery_that_is_sent_again_writes_nothing_again(opened: Opened, tmp_path: Path) -> None:
    async with connected(tmp_path) as (desk, web):
        first, second = desk.write("7", "ann", TEXT), desk.write("7", "ann", "Only at home, by the way.")
        assert (await desk.deliver(web.client, second))[1] == {"state": "taken"}, "the later one comes first"
        await until(lambda: bool(desk.said("7", public=False)))
        assert (await desk.deliver(web.client, first))[1] == {"state": "taken"}
        await settle(web, opened)
        assert len(desk.said("7", public=False)) == 1
        _, told = await web.ask("GET", "/tickets/hd.desk.7")
        assert "Only at home" in told["question"]

        assert await opened[-1].inbox.forget_deliveries(time.time() + 60) == 2
        for event in (second, first):
            assert (await desk.deliver(web.client, event))[1] == {"state": "taken"}, "nobody knows it any more"
        await settle(web, opened)

        assert (len(desk.said("7", public=False)), desk.said("7", public=True)) == (1, [])
        _, listed = await web.ask("GET", "/tickets")
        assert len(listed["tickets"]) == 1
