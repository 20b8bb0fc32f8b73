"""
Takes connections in. When the system has no files left it stops for a moment, says so in one line, and goes on.

The event loop's own way is to try again at once for each place of the backlog: thousands of lines a second.
"""

import asyncio
import errno
import socket
from collections.abc import Callable

import structlog

log = structlog.get_logger()

AT_ONCE = 64
"""Connections that are taken in before others have their turn."""
PAUSE_SECONDS = 0.25
"""How long nothing is taken in once there are no files left."""
LINE_SECONDS = 60.0
"""How often the log says so while it lasts."""
EXHAUSTED = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})
GONE = frozenset({errno.ECONNABORTED, errno.EPROTO, errno.EPERM})
"""The client went away, or a firewall was faster."""


class Acceptor:
    """Gives each connection of a listening socket a protocol of its own, until it is closed."""

    def __init__(self, sock: socket.socket, protocol: Callable[[], asyncio.Protocol]) -> None:
        self._sock = sock
        self._protocol = protocol
        self._loop = asyncio.get_running_loop()
        self._opening: set[asyncio.Task[object]] = set()
        self._pause: asyncio.TimerHandle | None = None
        self._failures = 0
        self._last_line = float("-inf")
        sock.setblocking(False)
        self._loop.add_reader(sock, self._accept)

    def close(self) -> None:
        """Take no more in; what was taken in goes on."""
        if self._pause is not None:
            self._pause.cancel()
        self._loop.remove_reader(self._sock)

    def _accept(self) -> None:
        for _ in range(AT_ONCE):
            try:
                connection, _ = self._sock.accept()
            except (BlockingIOError, InterruptedError):
                return
            except OSError as error:
                if error.errno in GONE:
                    continue
                self._rest(error)
                return
            self.take(connection)

    def take(self, connection: socket.socket) -> None:
        """Take in a connection that was accepted already."""
        task = self._loop.create_task(self._open(connection))
        self._opening.add(task)
        task.add_done_callback(self._opening.discard)

    async def _open(self, connection: socket.socket) -> None:
        try:
            connection.setblocking(False)
            await self._loop.connect_accepted_socket(self._protocol, connection)
        except Exception as error:  # one connection is no reason to take no others
            connection.close()
            log.warning("connection.failed", error=repr(error))

    def _rest(self, error: OSError) -> None:
        """Take nothing in for a moment: whoever waits in the backlog goes on waiting."""
        self._loop.remove_reader(self._sock)
        self._pause = self._loop.call_later(PAUSE_SECONDS, self._go_on)
        self._failures += 1
        now = self._loop.time()
        if now - self._last_line >= LINE_SECONDS:
            remedy = "raise the limit of open files (ulimit -n), or lower [server] max_connections"
            log.error("connections.exhausted", reason=error.strerror, times=self._failures,
                      remedy=remedy if error.errno in EXHAUSTED else "")  # fmt: skip
            self._last_line, self._failures = now, 0

    def _go_on(self) -> None:
        self._pause = None
        self._loop.add_reader(self._sock, self._accept)
