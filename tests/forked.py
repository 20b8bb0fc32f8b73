"""Starts programs of ours by a server that forks them, where `subprocess` would start an interpreter for each."""

import os
import select
import socket
import struct
import subprocess
import sys
import threading
import types
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from runtime.processes import pool
from tests import ROOT

REPORT = struct.Struct("i")
"""A process id, or an exit code as `Popen.returncode` has it."""
READY = b"ready"
CONTROL = """
import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""
"""Makes the terminal the one whose Ctrl-C reaches the program; `preexec_fn` could, but runs among threads."""


class Order(msgspec.Struct):
    """A program to be run as `python -m MODULE WORDS` or `python -c CODE WORDS` would."""

    words: list[bytes]
    """From -m or -c on, as the system hands them over: what is no text, too."""
    folder: str
    environ: dict[str, str]
    descriptors: list[int]
    """What those that come with the order are called in the child."""
    starter: int
    """Which of the child's descriptors leads here, for the worker processes that it starts itself."""
    session: bool = False
    terminal: bool = False
    """Whether stdin is the terminal that controls its session."""


class ForkServer:
    """
    The way to a server, which is started when it is first wanted.

    Until it has loaded all, programs are started the ordinary way, so that nobody waits for it.
    """

    def __init__(self, orders: int = -1) -> None:
        """:param orders: the descriptor that leads to a server that runs already."""
        self.orders = orders
        self._ready = orders >= 0
        self._process: subprocess.Popen[bytes] | None = None
        self._starting = threading.Lock()

    @property
    def pid(self) -> int | None:
        """The server's own process, if it was started here."""
        return self._process.pid if self._process else None

    def popen(self, arguments: Sequence[str], *, terminal: bool = False, **given: Any) -> "subprocess.Popen[Any]":
        """
        Start `[sys.executable, "-m" or "-c", ...]`.

        :param terminal: whether stdin is a terminal that is to control the program's session.
        :param given: what `Popen` takes.
        """
        if self.is_ready():
            return ForkedPopen(self, arguments, terminal=terminal, **given)
        if terminal:
            arguments = [arguments[0], "-c", CONTROL, *arguments[1:]]
        return subprocess.Popen(arguments, **given)  # noqa: S603 - our own code

    def send(self, order: bytes, descriptors: Sequence[int]) -> None:
        with socket.socket(fileno=os.dup(self.orders)) as line:
            socket.send_fds(line, [order], descriptors)

    def close(self) -> None:
        if self._process is None:
            return
        if not self.is_ready():
            self._process.kill()
        os.close(self.orders)
        self._process.wait()

    def is_ready(self) -> bool:
        """Whether programs are forked by now; one is started if there is none, by one thread."""
        with self._starting:
            if self.orders < 0:
                self._start()
            if not self._ready:
                waiting = select.poll()
                waiting.register(self.orders, select.POLLIN)
                if waiting.poll(0):
                    assert os.read(self.orders, len(READY)) == READY, "the fork server could not load the product"
                    self._ready = True
            return self._ready

    def _start(self) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603 - our own interpreter
                [sys.executable, "-m", "tests.fork_server", str(theirs.fileno())],
                cwd=ROOT, pass_fds=(theirs.fileno(),), stdin=subprocess.DEVNULL, start_new_session=True,
                env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)},
            )  # fmt: skip
        self.orders = ours.detach()


class ForkedPopen(subprocess.Popen[Any]):
    """A child of a fork server. Streams, waiting and signals are those of `Popen`."""

    def __init__(self, server: ForkServer, arguments: Sequence[str], *, terminal: bool, **given: Any) -> None:
        self._server, self._terminal, self._report = server, terminal, -1
        super().__init__(arguments, **given)

    def _execute_child(self, args: Sequence[str], *given: Any) -> None:
        """What `Popen` calls once it has made the pipes."""
        (_, preexec, close, passed, folder, environ, _, _, shell, *pipes) = given[:15]
        session = given[20]
        assert (args[0], preexec, close, shell) == (sys.executable, None, True, False)
        streams = [pipes[0], pipes[3], pipes[5]]
        actual = [each if each >= 0 else number for number, each in enumerate(streams)]
        starter = max([2, *passed]) + 1
        order = Order(
            [os.fsencode(word) for word in args[1:]], os.fspath(folder or Path.cwd()),
            dict(os.environ if environ is None else environ),
            [0, 1, 2, *passed, starter], starter, session, self._terminal,
        )  # fmt: skip
        self._report, theirs = os.pipe()
        try:
            self._server.send(msgspec.msgpack.encode(order), [*actual, *passed, self._server.orders, theirs])
        finally:
            os.close(theirs)
        self.pid = self._read()
        self._child_created = True
        self._close_pipe_fds(*pipes)  # type: ignore[attr-defined]

    def _read(self) -> int:
        report = os.read(self._report, REPORT.size)
        if not report:
            raise ChildProcessError("the fork server is gone")
        return int(REPORT.unpack(report)[0])

    def _internal_poll(self, **_: object) -> int | None:
        if self.returncode is None:
            self._await(0)
        return self.returncode

    def _wait(self, timeout: float | None) -> int:
        if self.returncode is None and not self._await(None if timeout is None else max(0, timeout) * 1000):
            assert timeout is not None
            raise subprocess.TimeoutExpired(self.args, timeout)
        return self.returncode

    def _await(self, milliseconds: float | None) -> bool:
        """Wait for the end; whether it came in time."""
        with self._waitpid_lock:  # type: ignore[attr-defined]
            if self.returncode is None:
                waiting = select.poll()
                waiting.register(self._report, select.POLLIN)
                if not waiting.poll(milliseconds):
                    return False
                self.returncode = self._read()
                os.close(self._report)
        return True


def fork_workers(server: ForkServer) -> None:
    """Have `runtime.processes.pool` start its processes by a server."""
    start = types.SimpleNamespace(Popen=server.popen, DEVNULL=subprocess.DEVNULL)
    pool.subprocess = start  # type: ignore[assignment, attr-defined]


FORK_SERVER = ForkServer()
"""That of this process."""
