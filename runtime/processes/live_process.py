"""
Answers `GET /health/live` while the daemon's event loop stands still, from the daemon's own socket.

A process of its own, for whatever holds the interpreter of the daemon holds all threads of it. It uses the standard
library only, so that it starts in no time and takes little memory. While the loop beats it takes no connection. Once
the loop has not for `TAKE_SECONDS` it takes those that come, answers who asks whether the daemon lives, and keeps the
others: they are handed to the daemon as they came when the loop goes on. It ends with the daemon.
"""

import contextlib
import os
import resource
import select
import socket
import sys
import time

TAKE_SECONDS = 0.5
"""From then on it takes connections. Who probes waits for a second or more."""
LOOK_SECONDS = 0.1
AT_ONCE = 64
"""Connections that are taken between two looks."""
FIRST_BYTES = 1024
"""Of a request, enough to see what it asks for."""
SILENT_SECONDS = 1.0
"""Who has sent nothing for so long does not probe."""
SPARE_FILES = 16
PATH = b"/health/live"


class Watched:
    """The daemon, as far as its beats tell."""

    def __init__(self, dead_after: float) -> None:
        self._dead_after = dead_after
        self._beaten = time.monotonic()
        self._begun = False
        """Before the first beat it starts, which may take long: a large database is examined, or brought up to date."""

    def beat(self) -> None:
        self._beaten, self._begun = time.monotonic(), True

    @property
    def stands_still(self) -> bool:
        return time.monotonic() - self._beaten > TAKE_SECONDS

    @property
    def is_alive(self) -> bool:
        return not self._begun or time.monotonic() - self._beaten <= self._dead_after


def is_probe(start: bytes) -> bool:
    """Whether a request that begins so asks whether the daemon lives."""
    words = start.split(b"\r\n", 1)[0].split(b" ")
    return len(words) == 3 and words[0] in {b"GET", b"HEAD"} and words[1].split(b"?", 1)[0] == PATH


def make_answer(*, alive: bool, head: bool) -> bytes:
    """What the daemon itself would say, but that it takes no tickets now."""
    body = b'{"live":%s,"ready":false}\n' % (b"true" if alive else b"false")
    status = b"200 OK" if alive else b"503 Service Unavailable"
    return (
        b"HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\nCache-Control: no-store\r\n"
        b"X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n" % (status, len(body))
    ) + (b"" if head else body)


def serve(listening: socket.socket, line: socket.socket, dead_after: float) -> None:
    """Until the other end of the line is closed."""
    daemon = Watched(dead_after)
    unread: dict[socket.socket, float] = {}
    """Connections that have not said yet what they want, and since when."""
    kept: list[socket.socket] = []
    """Those that are the daemon's."""
    most = max(AT_ONCE, _raise_files() - SPARE_FILES)
    line.setblocking(False)
    while True:
        taking = daemon.stands_still and len(unread) + len(kept) < most
        for ready in _wait([line, *([listening] if taking else []), *unread]):
            if ready is line:
                if not _hear(line):
                    return
                daemon.beat()
            elif ready is listening:
                _take(listening, unread)
            else:
                _answer(ready, daemon, kept)
                del unread[ready]
        now = time.monotonic()
        for each in [each for each, since in unread.items() if now - since > SILENT_SECONDS]:
            del unread[each]
            kept.append(each)
        if not daemon.stands_still:
            kept += unread
            unread.clear()
            _hand_over(line, kept)


def _wait(sockets: list[socket.socket]) -> list[socket.socket]:
    poll, by_number = select.poll(), {each.fileno(): each for each in sockets}
    for number in by_number:
        poll.register(number, select.POLLIN)
    return [by_number[number] for number, _ in poll.poll(LOOK_SECONDS * 1000)]


def _hear(line: socket.socket) -> bool:
    """Take the beats that came; false when the daemon is gone."""
    try:
        return bool(line.recv(4096))
    except BlockingIOError:
        return True
    except OSError:
        return False


def _take(listening: socket.socket, unread: dict[socket.socket, float]) -> None:
    for _ in range(AT_ONCE):
        try:
            connection, _address = listening.accept()
        except OSError:  # the daemon was faster, the client went away, or there are no files left
            return
        connection.setblocking(False)
        unread[connection] = time.monotonic()


def _answer(connection: socket.socket, daemon: Watched, kept: list[socket.socket]) -> None:
    """Answer a probe; what asks for anything else stays unread, for the daemon."""
    try:
        start = connection.recv(FIRST_BYTES, socket.MSG_PEEK)
        if start and not is_probe(start):
            kept.append(connection)
            return
        with connection:
            if start:
                connection.recv(1 << 16)  # what is left unread at the close would undo the answer
                connection.sendall(make_answer(alive=daemon.is_alive, head=start.startswith(b"HEAD")))
                connection.shutdown(socket.SHUT_WR)
    except OSError:
        connection.close()


def _hand_over(line: socket.socket, kept: list[socket.socket]) -> None:
    """As many as the line takes at once; the others at the next look."""
    while kept:
        try:
            socket.send_fds(line, [b"+"], [kept[0].fileno()])
        except OSError:
            return
        kept.pop(0).close()


def _raise_files() -> int:
    """How many files this process may have open; as many as the system lets it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        soft = hard
    return min(soft, 1 << 16) if soft > 0 else 1 << 16


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        serve(socket.socket(fileno=int(sys.argv[1])), socket.socket(fileno=int(sys.argv[2])), float(sys.argv[3]))
    os._exit(0)
