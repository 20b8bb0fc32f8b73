"""Whether a daemon lives is answered while its event loop stands still, and nobody else is lost meanwhile."""

import contextlib
import json
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from runtime.http.liveness import Systemd
from runtime.processes.live_process import is_probe, make_answer
from tests.runtime.cli.commands.program import SECONDS, Place
from tests.runtime.cli.commands.test_serve import Daemon, daemon

PROBE_SECONDS = 5.0
"""Far above what an answer takes, far below for how long the daemons here stand still."""
STALL_SECONDS = "1.5"


@contextmanager
def standing_still(server: Daemon) -> Iterator[None]:
    """As in the middle of a regular expression: no thread of the daemon does anything."""
    server.popen.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        server.popen.send_signal(signal.SIGCONT)


def send(server: Daemon, words: str) -> socket.socket:
    line = socket.create_connection(("127.0.0.1", server.port), timeout=SECONDS)
    line.sendall(words.replace("\n", "\r\n").encode())
    return line


def is_open(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=SECONDS).close()
    except ConnectionRefusedError:
        return False
    return True


def answer_of(line: socket.socket) -> tuple[int, Any]:
    with line:
        head, _, body = b"".join(iter(lambda: line.recv(65_536), b"")).partition(b"\r\n\r\n")
    return int(head.split()[1]), json.loads(body) if body else None


def probe(server: Daemon) -> tuple[int, Any]:
    line = send(server, "GET /health/live HTTP/1.1\nHost: localhost\nConnection: close\n\n")
    line.settimeout(PROBE_SECONDS)
    return answer_of(line)


def test_a_daemon_that_stands_still_lives_until_it_has_for_too_long(tmp_path: Path) -> None:
    with daemon(Place(tmp_path), TERMINUS_SERVER_STALL_SECONDS=STALL_SECONDS) as server:
        assert probe(server) == (200, {"live": True, "ready": True})

        with standing_still(server):
            assert probe(server) == (200, {"live": True, "ready": False})
            until = time.monotonic() + SECONDS
            while (found := probe(server))[0] == 200:
                assert time.monotonic() < until
            assert found == (503, {"live": False, "ready": False})

        until = time.monotonic() + SECONDS
        while probe(server) != (200, {"live": True, "ready": True}):
            assert time.monotonic() < until
        assert server.stop()[0] == 0


def test_whoever_came_meanwhile_is_answered_when_it_goes_on(tmp_path: Path) -> None:
    ticket = json.dumps({"id": "HD-1", "text": "My printer smokes."})
    with daemon(Place(tmp_path)) as server:
        with standing_still(server):
            posted = send(
                server,
                "POST /tickets?wait=30 HTTP/1.1\nHost: localhost\nContent-Type: application/json\n"
                f"Connection: close\nContent-Length: {len(ticket)}\n\n{ticket}",
            )
            half = send(server, "GET /health/li")
            silent = send(server, "")
            ready = [
                send(server, "GET /health/ready HTTP/1.1\nHost: localhost\nConnection: close\n\n") for _ in range(99)
            ]
            gone = send(server, "GET /tickets HTTP/1.1\n")
            gone.close()
            assert probe(server)[0] == 200, "those before it do not hold it up"

        assert answer_of(posted)[1]["ticket"] == "HD-1"
        assert [answer_of(each)[0] for each in ready] == [200] * 99
        half.sendall(b"ve HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        assert answer_of(half) == (200, {"live": True, "ready": True})
        silent.sendall(b"GET /health/live HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        assert answer_of(silent)[0] == 200
        assert server.stop()[0] == 0


def test_a_killed_daemon_leaves_nobody_who_says_that_it_lives(tmp_path: Path) -> None:
    with daemon(Place(tmp_path)) as server:
        server.stop(signal.SIGKILL)
        until = time.monotonic() + SECONDS
        while True:
            with contextlib.suppress(ConnectionResetError):  # it came in between
                if not is_open(server.port):
                    return
            assert time.monotonic() < until


@pytest.mark.parametrize(
    ("start", "does"),
    [
        (b"GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n", True), (b"HEAD /health/live?x=1 HTTP/1.0\r\n\r\n", True),
        (b"GET /health/lively HTTP/1.1\r\n", False), (b"POST /health/live HTTP/1.1\r\n", False),
        (b"GET /health/ready HTTP/1.1\r\n", False), (b"GET /health/live", False), (b"", False), (b"\xff" * 2000, False),
    ],
)  # fmt: skip
def test_only_one_question_is_answered(start: bytes, *, does: bool) -> None:
    assert is_probe(start) == does


def test_a_head_has_no_body() -> None:
    whole, head = make_answer(alive=True, head=False), make_answer(alive=True, head=True)
    assert whole.startswith(head)
    assert head.endswith(b"\r\n\r\n")


def test_systemd_hears_that_it_is_ready_and_beats_as_often_as_it_asks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as heard:
        heard.bind(str(tmp_path / "notify"))
        heard.settimeout(SECONDS)
        monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "notify"))
        monkeypatch.setenv("WATCHDOG_USEC", "60000000")
        systemd = Systemd()
        systemd.ready()
        for _ in range(3):
            systemd.beat()

        assert [heard.recv(99) for _ in range(2)] == [b"READY=1", b"WATCHDOG=1"]
        heard.setblocking(False)
        with pytest.raises(BlockingIOError):
            heard.recv(99)


def test_without_systemd_nothing_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NOTIFY_SOCKET", raising=False)
    monkeypatch.setenv("WATCHDOG_USEC", "no number")
    systemd = Systemd()
    systemd.ready()
    systemd.beat()
