"""Connections are taken in, and a system without files is neither asked again at once nor complained about for ever."""

import asyncio
import contextlib
import errno
import socket
from collections.abc import Iterator

import pytest
from structlog.testing import capture_logs

from runtime.http import server as accepting
from runtime.http.server import AT_ONCE, LINE_SECONDS, PAUSE_SECONDS, Acceptor


class Greets(asyncio.Protocol):
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        transport.write(b"hello")
        transport.close()


class Poor(socket.socket):
    """A listening socket of a system that has no files for so many tries."""

    tries = 0
    fails: list[int]

    def accept(self) -> tuple[socket.socket, object]:
        self.tries += 1
        if self.fails:
            code = self.fails.pop(0)
            raise OSError(code, "no")
        return super().accept()


@contextlib.contextmanager
def listening(*fails: int) -> Iterator[Poor]:
    with Poor(socket.AF_INET, socket.SOCK_STREAM) as sock:
        sock.fails = list(fails)
        sock.bind(("127.0.0.1", 0))
        sock.listen(256)
        yield sock


async def greeting(sock: socket.socket) -> bytes:
    reader, writer = await asyncio.open_connection(*sock.getsockname())
    try:
        return await asyncio.wait_for(reader.read(), 20)
    finally:
        writer.close()
        await writer.wait_closed()


async def test_everybody_is_taken_in() -> None:
    with listening() as sock:
        acceptor = Acceptor(sock, Greets)
        assert await asyncio.gather(*(greeting(sock) for _ in range(3 * AT_ONCE))) == [b"hello"] * 3 * AT_ONCE
        acceptor.close()


@pytest.mark.parametrize("code", [errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM])
async def test_without_files_it_rests_between_tries_and_says_so_once(
    code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(accepting, "PAUSE_SECONDS", 0.01)
    with listening(*[code] * 20) as sock, capture_logs() as logs:
        acceptor = Acceptor(sock, Greets)
        assert await greeting(sock) == b"hello"
        acceptor.close()

    assert sock.tries <= 20 + 2, "one try for each rest"
    assert [(each["event"], each["times"]) for each in logs] == [("connections.exhausted", 1)]


async def test_while_it_lasts_it_is_said_once_a_minute_with_a_count(monkeypatch: pytest.MonkeyPatch) -> None:
    loop = asyncio.get_running_loop()
    with listening() as sock, capture_logs() as logs:
        acceptor = Acceptor(sock, Greets)
        now = loop.time()
        monkeypatch.setattr(loop, "time", lambda: now)
        for _ in range(int(3 * LINE_SECONDS / PAUSE_SECONDS) + 1):
            acceptor._rest(OSError(errno.EMFILE, "Too many open files"))
            now += PAUSE_SECONDS
            acceptor.close()  # and with it the pause
        monkeypatch.undo()

    assert [each["times"] for each in logs] == [1, *[int(LINE_SECONDS / PAUSE_SECONDS)] * 3]


async def test_who_went_away_already_holds_up_nobody() -> None:
    with listening(errno.ECONNABORTED, errno.EPROTO) as sock, capture_logs() as logs:
        acceptor = Acceptor(sock, Greets)
        assert await greeting(sock) == b"hello"
        acceptor.close()
    assert logs == []


async def test_closed_it_takes_nobody_in_not_even_after_its_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accepting, "PAUSE_SECONDS", 0.01)
    with listening(errno.EMFILE) as sock:
        acceptor = Acceptor(sock, Greets)
        _, writer = await asyncio.open_connection(*sock.getsockname())
        async with asyncio.timeout(20):
            while sock.fails:  # noqa: ASYNC110 - a socket sets no event
                await asyncio.sleep(0)
        acceptor.close()
        await asyncio.sleep(0.05)
        assert sock.tries == 1
        writer.close()
        await writer.wait_closed()
