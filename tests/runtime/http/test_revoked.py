"""Whoever may no more is told nothing more: each stream and each wait looks at who asks again while it goes on."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, NamedTuple

import aiohttp
import msgspec
import pytest

from runtime.access import tokens
from runtime.engine import service
from runtime.engine import service as run_events
from runtime.http import stream
from runtime.http.gate import COOKIE
from runtime.storage.records import Record
from runtime.tickets import Ticket
from tests.runtime.http.kit import SECONDS, TEXT, TOKEN, Held, Interface, interface, until
from tests.runtime.http.pages.test_page_routes import read_key, send
from tests.runtime.http.test_access import ANN, PROXY, bearer, book

BEAT = 0.02
STREAMS = ("/events", "/tickets/T-1/events", "/tickets/T-1/events?spans=1")
Headers = dict[str, str]


@pytest.fixture(autouse=True)
def _heartbeats_are_short(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (run_events, service, stream):
        monkeypatch.setattr(module, "HEARTBEAT_SECONDS", BEAT)
    monkeypatch.setattr(tokens, "FRESH_SECONDS", 0.0)


async def have_token(web: Interface) -> Headers:
    return bearer(await book(web).create("ann", "operate"))


async def sign_in(web: Interface) -> Headers:
    token = await book(web).create("ann", "operate")
    form = {"form_key": await read_key(web, "/ui/sign-in"), "token": token, "to": "/"}
    return {"Cookie": f"{COOKIE}={(await send(web, '/ui/sign-in', form)).cookies[COOKIE].value}"}


async def have_none(_: Interface) -> Headers:
    return {}


async def revoke(web: Interface, _: Headers) -> None:
    await book(web).revoke("ann")


async def turn_tokens_on(web: Interface, _: Headers) -> None:
    await book(web).create("first", "submit")


async def expire(web: Interface, _: Headers) -> None:
    await rewrite(web, expires=1.0)


async def lower(web: Interface, _: Headers) -> None:
    await rewrite(web, role="submit")


async def rewrite(web: Interface, **changed: Any) -> None:
    (token,) = await book(web).read_all()
    body = msgspec.msgpack.encode(msgspec.structs.replace(token, **changed))
    await web.node.journal.store.put(Record(kind=tokens.KIND, id=token.name, body=body, replaces=True))


async def make_again_with_less(web: Interface, _: Headers) -> None:
    await book(web).revoke("ann")
    await book(web).create("ann", "submit")


async def sign_out(web: Interface, headers: Headers) -> None:
    form = {"form_key": await read_key(web, "/", **headers)}
    assert (await send(web, "/ui/sign-out", form, **headers)).status == 303


class Loss(NamedTuple):
    """How somebody comes to be heard no more."""

    begin: Callable[[Interface], Awaitable[Headers]]
    lose: Callable[[Interface, Headers], Awaitable[None]]
    said: str
    """What they are told."""


LOSSES = {
    "a token that was revoked": Loss(have_token, revoke, "This token was revoked"),
    "one that has expired": Loss(have_token, expire, "This token, ann, has expired"),
    "one whose role was lowered": Loss(have_token, lower, "'token:ann' may no longer do"),
    "one of the same name with less": Loss(have_token, make_again_with_less, "This token was revoked"),
    "a session whose token was revoked": Loss(sign_in, revoke, "Send a token"),
    "a session whose token has expired": Loss(sign_in, expire, "Send a token"),
    "a session that was signed out": Loss(sign_in, sign_out, "Send a token"),
    "this machine, once there is a token": Loss(have_none, turn_tokens_on, "Send a token"),
}


async def listen(web: Interface, path: str, headers: Headers) -> aiohttp.ClientResponse:
    response = await web.client.get(path, headers=headers)
    assert response.status == 200
    return response


async def read_rest(response: aiohttp.ClientResponse) -> list[str]:
    """The lines that still come until the stream ends."""
    body = await asyncio.wait_for(response.content.read(), SECONDS)
    return body.decode().splitlines()


@pytest.mark.parametrize("loss", LOSSES.values(), ids=list(LOSSES))
async def test_every_stream_and_wait_ends_with_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, loss: Loss
) -> None:
    model, waits_now = Held(), asyncio.Event()
    async with interface(tmp_path, model=model) as web:
        await web.node.submit(Ticket(text=TEXT, id="T-1"))
        headers = await loss.begin(web)
        await model.asked.wait()
        streams = [await listen(web, path, headers) for path in STREAMS]
        waits = []
        if "Cookie" not in headers:  # by a session one only reads
            body = {"text": TEXT, "id": "T-1"}
            outcome = web.desk.outcome

            async def wait(*given: Any) -> Any:
                waits_now.set()
                return await outcome(*given)

            monkeypatch.setattr(web.desk, "outcome", wait)
            waits.append(asyncio.ensure_future(web.refusal("POST", "/tickets?wait=600", json=body, headers=headers)))
            await waits_now.wait()
        await until(lambda: web.desk.streams == len(STREAMS))

        await loss.lose(web, headers)

        for response in streams:
            lines = await read_rest(response)
            assert lines[-3:-1] == ["event: failed", lines[-2]]
            problem = json.loads(lines[-2].removeprefix("data: "))
            assert problem["status"] == 401
            assert problem["detail"].startswith(loss.said)
        for waited in waits:
            status, why = await asyncio.wait_for(waited, SECONDS)
            assert (status, why.startswith(loss.said)) == (401, True)
        assert web.desk.streams == 0
        model.free.set()


async def test_nothing_is_told_behind_a_heartbeat_however_much_happens(tmp_path: Path) -> None:
    """A stream that is never silent has no heartbeat of its own."""
    async with interface(tmp_path) as web:
        headers, other = await have_token(web), bearer(await book(web).create("other", "submit"))
        response = await listen(web, "/events", headers)
        await book(web).revoke("ann")
        await asyncio.sleep(2 * BEAT)  # the time after which a look is due
        _, told = await web.ask("POST", "/tickets?wait=20", json={"text": TEXT}, headers=other)
        assert told["ticket"] not in "\n".join(await read_rest(response))


async def test_a_stream_of_whom_a_proxy_named_ends_after_a_while_and_goes_on_for_who_comes_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream, "PROXY_SECONDS", BEAT)
    async with interface(tmp_path, **PROXY) as web:
        lines = await read_rest(await listen(web, "/events", ANN))
        assert not any(line.startswith("event:") for line in lines)


async def test_a_token_that_is_good_goes_on_and_is_no_failed_login_once_it_is_not(tmp_path: Path) -> None:
    model = Held()
    async with interface(tmp_path, model=model, token=TOKEN, failed_logins=2) as web:
        headers, kept = await have_token(web), bearer(await book(web).create("kept", "read"))
        await web.ask("POST", "/tickets", json={"text": TEXT, "id": "T-1"}, headers=headers)
        good = [await listen(web, "/tickets/T-1/events", each) for each in (kept, {})]
        bad = [await listen(web, "/events", headers) for _ in range(5)]
        await book(web).revoke("ann")
        for response in bad:
            assert "event: failed" in await read_rest(response)
        assert (await web.ask("GET", "/tickets/T-1"))[0] == 200, "the token of the configuration is heard from here"
        model.free.set()
        for response in good:
            assert "event: ended" in await read_rest(response)
