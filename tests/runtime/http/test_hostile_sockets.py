"""Connections of who means harm or cannot do better: nothing is smuggled, nobody else waits, and each is told why."""

import asyncio
import contextlib
import json
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from runtime.access.tokens import TokenBook
from runtime.http import request_bodies, server
from tests.patience import HANGS_SECONDS, promised
from tests.runtime.http.kit import TOKEN, Interface, interface, sentence, until

HEAD = b"POST /tickets HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\n"
SMUGGLED = HEAD + b"Content-Length: 8\r\n\r\nsmuggled"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
LENGTH = b"Content-Length: %d\r\n" % len(SMUGGLED)
REFUSED = {
    "two lengths": HEAD + b"Content-Length: 0\r\n" + LENGTH + b"\r\n" + SMUGGLED,
    "the same length twice": HEAD + LENGTH + LENGTH + b"\r\n" + SMUGGLED,
    "two lengths in one": HEAD + b"Content-Length: 0, 5\r\n\r\n" + SMUGGLED,
    "a length and chunks": HEAD + LENGTH + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + SMUGGLED,
    "chunks and a length": HEAD + b"Transfer-Encoding: chunked\r\n" + LENGTH + b"\r\n0\r\n\r\n" + SMUGGLED,
    "a length with a sign": HEAD + b"Content-Length: +0\r\n\r\n" + SMUGGLED,
    "chunked twice": HEAD + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + SMUGGLED,
    "chunked, and then not": HEAD + b"Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n" + SMUGGLED,
    "nearly chunked": HEAD + b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n" + SMUGGLED,
    "chunked with a control": HEAD + b"Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n" + SMUGGLED,
    "a blank before the colon": HEAD + b"Content-Length : 0\r\n\r\n" + SMUGGLED,
    "a folded header": HEAD + b"X: a\r\n b\r\nContent-Length: 0\r\n\r\n" + SMUGGLED,
    "two hosts": b"GET /health HTTP/1.1\r\nHost: localhost\r\nHost: 127.0.0.1\r\n\r\n" + SMUGGLED,
    "a chunk that is no number": CHUNKED + b"0x0\r\n\r\n" + SMUGGLED,
    "a chunk below nothing": CHUNKED + b"-1\r\n\r\n" + SMUGGLED,
    "a chunk beyond all numbers": CHUNKED + b"f" * 17 + b"\r\n" + SMUGGLED,
    "a chunk longer than it says": CHUNKED + b"1\r\nabc\r\n0\r\n\r\n" + SMUGGLED,
    "a chunk's line that ends early": CHUNKED + b"0\n\n" + SMUGGLED,
    "a line feed in a chunk's extension": CHUNKED + b"0;a\nb\r\n\r\n" + SMUGGLED,
    "a carriage return alone": b"GET /health HTTP/1.1\r\nHost: localhost\r\nX: a\rContent-Length: 0\r\n\r\n" + SMUGGLED,
    "a header without a name": HEAD + b": a\r\nContent-Length: 0\r\n\r\n" + SMUGGLED,
    "a thousand headers": HEAD + b"".join(b"X-%d: a\r\n" % n for n in range(1000)) + b"\r\n" + SMUGGLED,
    "a header without an end": HEAD + b"X: " + b"a" * 20_000 + b"\r\n\r\n" + SMUGGLED,
    "a cookie of many headers": HEAD + b"Cookie: a=b\r\n" * 1000 + b"\r\n" + SMUGGLED,
    "a trailer without an end": CHUNKED + b"0\r\nX: " + b"a" * 20_000 + b"\r\n\r\n" + SMUGGLED,
    "another version": b"GET /health HTTP/3.0\r\nHost: localhost\r\n\r\n" + SMUGGLED,
    "no version": b"GET /health\r\n\r\n" + SMUGGLED,
}
"""Each would end, for some reader, before what is hidden behind it."""
ONE = b"GET /health/live HTTP/1.1\r\nHost: localhost\r\n"


def read_answers(said: bytes) -> list[tuple[int, bytes, bytes]]:
    """Status, head and body of each answer on a line, whose lengths must be right."""
    answers = []
    while said:
        head, _, rest = said.partition(b"\r\n\r\n")
        lengths = [each[15:] for each in head.split(b"\r\n") if each.lower().startswith(b"content-length:")]
        length = int(lengths[0]) if lengths else len(rest)
        answers.append((int(head.split()[1]), head, rest[:length]))
        said = rest[length:]
    return answers


async def is_served(web: Interface) -> None:
    """Whoever else asks now has an answer within the second that is promised."""
    began = time.monotonic()
    assert (await web.ask("GET", "/health/live"))[0] == 200
    took = time.monotonic() - began
    assert took < 1.0 or took < promised(
        1.0
    )  # what is promised is only found out where it is in doubt: that takes time


@contextlib.asynccontextmanager
async def lines(web: Interface, count: int) -> AsyncIterator[list[tuple[asyncio.StreamReader, asyncio.StreamWriter]]]:
    opened = [await asyncio.open_connection("127.0.0.1", web.port) for _ in range(count)]
    try:
        yield opened
    finally:
        for _, writer in opened:
            writer.close()
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()


@pytest.mark.parametrize("how", REFUSED)
async def test_nothing_is_smuggled_behind_what_can_be_read_in_two_ways(
    tmp_path: Path, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "LINGER_SECONDS", 0.01)
    async with interface(tmp_path) as web:
        (status, head, body), *more = read_answers(await web.raw(REFUSED[how]))

        assert 400 <= status < 500
        assert more == [], "the connection ends with the refusal"
        assert b"Content-Type: application/problem+json" in head
        assert b"X-Content-Type-Options: nosniff" in head
        assert json.loads(body)["status"] == status
        sentence(json.loads(body))
        assert await web.node.journal.latest(9) == []
        await is_served(web)


@pytest.mark.parametrize(
    "sent",
    [HEAD.replace(b"\r\n", b"\n") + b"Content-Length: 3\n\nVPN", HEAD + b"Content-Length: 3\n\nVPN",
     CHUNKED + b"3;" + b"a" * 4000 + b"\r\nVPN\r\n0\r\n\r\n"],
    ids=["line feeds", "one line feed", "a long extension"],
)  # fmt: skip
async def test_what_is_read_generously_is_read_once(tmp_path: Path, sent: bytes) -> None:
    async with interface(tmp_path) as web:
        answers = read_answers(await web.raw(sent + SMUGGLED.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")))
        filed = {
            (await web.node.journal.store.read_question(each)).question for each in await web.node.journal.latest(9)
        }

        assert filed == ({"VPN", "smuggled"} if answers[0][0] == 202 else set())


async def test_a_thousand_requests_at_once_are_answered_in_their_order(tmp_path: Path) -> None:
    async with interface(tmp_path) as web:
        last = b"Connection: close\r\n"
        sent = b"".join(
            b"GET /tickets/T-%d HTTP/1.1\r\nHost: localhost\r\n%s\r\n" % (n, last if n == 999 else b"")
            for n in range(1000)
        )
        asked = asyncio.ensure_future(web.raw(sent))
        while not asked.done():
            await is_served(web)

        answers = read_answers(await asked)

    assert [json.loads(body)["detail"] for _, _, body in answers] == [f"There is no ticket T-{n}." for n in range(1000)]


@pytest.mark.parametrize("what", ["headers", "body"])
async def test_who_sends_byte_by_byte_is_given_up_and_keeps_nobody_waiting(
    tmp_path: Path, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "IDLE_SECONDS", 0.5)
    monkeypatch.setattr(request_bodies, "BODY_SECONDS", 0.5)
    monkeypatch.setattr(server, "LINGER_SECONDS", 0.01)
    begin = HEAD if what == "headers" else HEAD + b"Content-Length: 100000\r\n\r\n"
    async with interface(tmp_path) as web, lines(web, 200) as slow:
        over = [asyncio.ensure_future(reader.read()) for reader, _ in slow]
        for _, writer in slow:
            writer.write(begin)
        async with asyncio.timeout(HANGS_SECONDS):
            while not all(each.done() for each in over):
                for (_, writer), each in zip(slow, over, strict=True):
                    if not each.done():
                        writer.write(b"a")
                await is_served(web)
                await asyncio.sleep(0.01)

        heard = [each.result() for each in over if not each.exception()]
        assert all(each == b"" or each.startswith(b"HTTP/1.1 408 ") for each in heard)
        assert await web.node.journal.latest(9) == []
        assert (await web.submit(wait=20))["status"] == "resolved"


async def test_a_chunk_extension_without_an_end_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_bodies, "BODY_SECONDS", 0.5)
    monkeypatch.setattr(server, "LINGER_SECONDS", 0.01)
    async with interface(tmp_path) as web, lines(web, 1) as ((reader, writer),):
        writer.write(CHUNKED + b"1;")
        heard = asyncio.ensure_future(reader.read(99))
        async with asyncio.timeout(HANGS_SECONDS):
            while not heard.done():
                writer.write(b"a" * 65_536)
                with contextlib.suppress(ConnectionError):
                    await writer.drain()
                await is_served(web)

        with contextlib.suppress(ConnectionError):  # it was cut off while it went on sending
            assert (await heard).startswith(b"HTTP/1.1 408 ")
        assert await web.node.journal.latest(9) == []


async def test_who_closes_one_side_has_gone_and_leaves_nothing_half_done(tmp_path: Path) -> None:
    async with interface(tmp_path) as web:
        before = len(asyncio.all_tasks())
        for sent in (
            b"",
            b"GET /hea",
            ONE + b"\r\n",
            HEAD + b"Content-Length: 9\r\n\r\nVPN",
            HEAD + b"Content-Length: 3\r\n\r\nVPN",
        ):
            await web.raw(sent, end=True)

        await until(lambda: len(asyncio.all_tasks()) <= before)
        questions = [await web.node.journal.store.read_question(each) for each in await web.node.journal.latest(9)]
        assert {each.question for each in questions} <= {"VPN"}
        await is_served(web)


@pytest.mark.parametrize("forged", ["X-Forwarded-Host: localhost", "Forwarded: host=localhost", "X-Host: localhost"])
async def test_another_name_is_not_made_ours_by_a_header(tmp_path: Path, forged: str) -> None:
    async with interface(tmp_path) as web:
        sent = f"GET /tickets HTTP/1.1\r\nHost: rebound.example\r\n{forged}\r\nConnection: close\r\n\r\n"
        ((status, _, body),) = read_answers(await web.raw(sent.encode()))

        assert (status, "127.0.0.1" in sentence(json.loads(body))) == (403, True)


@pytest.mark.parametrize("name", ["X-Forwarded-For", "X-Real-IP", "Forwarded", "X-Client-IP"])
async def test_forged_tokens_are_counted_for_who_sends_them_whatever_they_say_of_that(
    tmp_path: Path, name: str
) -> None:
    async with interface(tmp_path, token=TOKEN, failed_logins=5) as web:
        got = [
            (
                await web.ask(
                    "GET", "/tickets", headers={"Authorization": f"Bearer no-{n}", name: f"for=198.51.100.{n}"}
                )
            )[0]
            for n in range(10)
        ]
        assert got == [401] * 5 + [429] * 5


async def test_forged_tokens_cost_the_same_however_many_came(tmp_path: Path) -> None:
    """And who has a token of ours is heard all the while."""
    async with interface(tmp_path, token=TOKEN) as web:
        book = TokenBook(web.node.journal.store)
        ours = {"Authorization": f"Bearer {await book.create('made', 'submit')}"}
        spent = []
        for batch in range(6):
            began = time.process_time()
            for n in range(150):
                forged = {"Authorization": f"Bearer terminus_{n:012x}_{batch:043}"}
                async with web.client.get("/tickets", headers=forged) as response:
                    assert response.status in {401, 429}
                    assert response.status == 401 or int(response.headers["Retry-After"]) > 0
            spent.append(time.process_time() - began)
            assert (await web.ask("GET", "/tickets", headers=ours))[0] == 200

        assert min(spent[3:]) < 2.0 * min(spent[:3]), spent
