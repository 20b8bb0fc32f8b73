"""
Whether the daemon lives, for whoever asks while its event loop stands still: told by a small process beside it.

See `runtime.processes.live_process`. Here is the daemon's end of the line: it sends a byte at each beat of the loop,
and takes the connections that were kept for it meanwhile.
"""

import asyncio
import contextlib
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import structlog

from runtime.processes import live_process

log = structlog.get_logger()

AGAIN_SECONDS = 10.0
"""How soon another one is started in the place of one that died."""
END_SECONDS = 2.0
MOST_AT_ONCE = 64
"""Connections that are taken over in one go."""


class Liveness:
    """The process beside a daemon."""

    def __init__(self, listening: socket.socket, dead_after: float) -> None:
        """:param dead_after: seconds after which a loop that stands still is said to be dead."""
        self._listening = listening
        self._dead_after = dead_after
        self._loop = asyncio.get_running_loop()
        self._take: Callable[[socket.socket], object] | None = None
        self._again: asyncio.TimerHandle | None = None
        self._popen: subprocess.Popen[bytes] | None = None
        self._line: socket.socket | None = None
        self._start()

    def beat(self) -> None:
        """The loop goes on. It never blocks: one beat that is lost is no matter."""
        if self._line is not None:
            with contextlib.suppress(OSError):
                self._line.send(b".")

    def attach(self, take: Callable[[socket.socket], object]) -> None:
        """From now on connections are taken over that were kept for this process."""
        self._take = take
        if self._line is not None:
            self._loop.add_reader(self._line, self._hear)

    def detach(self) -> None:
        """What is kept from now on is nobody's any more."""
        self._take = None
        if self._line is not None:
            self._loop.remove_reader(self._line)

    def close(self) -> None:
        """End it, so that nobody listens on the socket any more but this process."""
        if self._again is not None:
            self._again.cancel()
        self._end()

    def _start(self) -> None:
        self._again = None
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        command = [
            sys.executable, "-I", "-S", str(Path(live_process.__file__)),
            str(self._listening.fileno()), str(theirs.fileno()), str(self._dead_after),
        ]  # fmt: skip
        try:
            with theirs:
                self._popen = subprocess.Popen(  # noqa: S603 - our own file, by our own interpreter
                    command, pass_fds=(self._listening.fileno(), theirs.fileno()), stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                    start_new_session=True,  # Ctrl-C is for the daemon, which ends it itself
                )  # fmt: skip
        except OSError as error:
            ours.close()
            log.warning("liveness.not_started", error=repr(error))
            self._again = self._loop.call_later(AGAIN_SECONDS, self._start)
            return
        self._line = ours
        if self._take is not None:
            self._loop.add_reader(ours, self._hear)

    def _hear(self) -> None:
        for _ in range(MOST_AT_ONCE):
            if self._line is None or self._take is None:
                return
            try:
                said, files, _, _ = socket.recv_fds(self._line, 1, 1)
            except (BlockingIOError, InterruptedError):
                return
            except OSError:
                said, files = b"", []
            for file in files:
                self._take(socket.socket(fileno=file))
            if not said:
                log.warning("liveness.died", again_seconds=AGAIN_SECONDS)
                self._end()
                self._again = self._loop.call_later(AGAIN_SECONDS, self._start)
                return

    def _end(self) -> None:
        if self._line is not None:
            self._loop.remove_reader(self._line)
            self._line.close()
            self._line = None
        if self._popen is not None:
            try:
                self._popen.wait(END_SECONDS)
            except subprocess.TimeoutExpired:
                self._popen.kill()
                self._popen.wait()
            self._popen = None


class Systemd:
    """What systemd is told where it wants to know: that the daemon is ready, and that its loop goes on."""

    def __init__(self) -> None:
        self._address = os.environ.get("NOTIFY_SOCKET", "")
        wanted = os.environ.get("WATCHDOG_USEC", "")
        self._every = int(wanted) / 2e6 if wanted.isdecimal() and int(wanted) else 0.0
        self._told = 0.0

    def ready(self) -> None:
        self._tell(b"READY=1")

    def beat(self) -> None:
        """At each beat of the loop; it passes on as many as are asked for."""
        now = time.monotonic()
        if self._every and now - self._told >= self._every:
            self._told = now
            self._tell(b"WATCHDOG=1")

    def _tell(self, what: bytes) -> None:
        if not self._address:
            return
        place = "\0" + self._address[1:] if self._address.startswith("@") else self._address
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as line:
            line.setblocking(False)
            line.sendto(what, place)
