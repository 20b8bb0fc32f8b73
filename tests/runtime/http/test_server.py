"""Listening and ending: a port that cannot be had, too many connections, and runs that get their seconds."""

import asyncio
import socket
from pathlib import Path

import pytest

from runtime.http import server
from runtime.http.server import address, bound
from runtime.service_error import ServiceError
from runtime.settings import ServerSettings
from tests.patience import HANGS_SECONDS
from tests.runtime.http.kit import Held, interface


def test_a_port_in_use_is_said_in_one_sentence() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as taken,
        pytest.raises(ServiceError, match=r"^127\.0\.0\.1 port \d+ is in use\. .*--port\.$") as caught,
    ):
        bound(ServerSettings(port=taken.getsockname()[1]))
    assert caught.value.kind == "invalid"


@pytest.mark.parametrize(
    ("host", "word"),
    [("helpdesk.example", "no IP address"), ("\x1b[2J", "no IP address"), ("203.0.113.7", "cannot be listened on")],
)
def test_an_address_that_is_none_of_this_machine_is_said_in_one_sentence(host: str, word: str) -> None:
    with pytest.raises(ServiceError, match=word) as caught:
        bound(ServerSettings(host=host))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("host", "shown"), [("127.0.0.1", "http://127.0.0.1:"), ("localhost", "http://127.0.0.1:"), ("::1", "http://[::1]:"),
                        ("[::1]", "http://[::1]:")]
)  # fmt: skip
def test_the_address_is_one_that_can_be_asked(host: str, shown: str) -> None:
    try:
        sock = bound(ServerSettings(host=host, port=0))
    except ServiceError:
        if ":" in host and not _has_ipv6():
            pytest.skip("this machine has no IPv6")
        raise
    with sock:
        assert address(sock).startswith(shown)
        assert int(address(sock).rpartition(":")[2]) > 0


def _has_ipv6() -> bool:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        return False
    return True


async def test_connections_above_the_limit_are_told_so_and_others_go_on(tmp_path: Path) -> None:
    async with interface(tmp_path, max_connections=20) as web:
        idle = [await asyncio.open_connection("127.0.0.1", web.port) for _ in range(20)]
        for reader, writer in idle:
            writer.write(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert b"200" in await reader.readline()

        answer = await web.raw(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert answer == b"" or answer.startswith(b"HTTP/1.1 503 ")  # who sends too early may be cut off
        assert (await web.raw()).startswith(b"HTTP/1.1 503 ")

        for _, writer in idle:
            writer.close()
            await writer.wait_closed()
        async with asyncio.timeout(HANGS_SECONDS):
            while not (
                await web.raw(b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            ).startswith(b"HTTP/1.1 200 "):
                continue  # those that were closed are not yet forgotten


async def test_runs_get_their_seconds_to_end_and_no_more(tmp_path: Path) -> None:
    model = Held()
    async with interface(tmp_path, model=model) as web:
        await web.submit()
        await server._let_end(web.node, 0.0, asyncio.Event())
        assert web.node.live == 1

        waiting = asyncio.ensure_future(server._let_end(web.node, 60.0, asyncio.Event()))
        model.free.set()
        await asyncio.wait_for(waiting, HANGS_SECONDS)
        assert web.node.live == 0


async def test_a_second_signal_ends_it_at_once(tmp_path: Path) -> None:
    async with interface(tmp_path, model=Held()) as web:
        await web.submit()
        stop = server.Stop()
        stop()
        assert (stop.asked.is_set(), stop.at_once.is_set()) == (True, False)
        waiting = asyncio.ensure_future(server._let_end(web.node, 600.0, stop.at_once))
        stop()
        await asyncio.wait_for(waiting, HANGS_SECONDS)
        assert web.node.live == 1


async def test_while_it_resumes_it_tells_what_it_knows_and_takes_nothing(tmp_path: Path) -> None:
    async with interface(tmp_path, model=Held()) as web:
        receipt = await web.submit(id="T-1")
        web.desk.ready = False

        status, health = await web.ask("GET", "/health")
        assert (status, health["live"], health["ready"]) == (503, True, False)
        assert (await web.ask("GET", "/tickets/T-1"))[0] == 200
        assert await web.submit(id="T-1") == receipt
        status, why = await web.refusal("POST", "/tickets", json={"text": "Another."})
        assert (status, "not ready" in why) == (503, True)


async def test_told_to_stop_while_it_resumes_it_does_not_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, asked = asyncio.Event(), asyncio.Event()

    async def resume() -> list[object]:
        begun.set()
        await asyncio.Event().wait()
        return []

    async with interface(tmp_path) as web:
        monkeypatch.setattr(web.node, "resume", resume)
        resuming = asyncio.ensure_future(server._resume(web.node, asked))
        await begun.wait()
        asked.set()
        assert await asyncio.wait_for(resuming, HANGS_SECONDS) == 0
