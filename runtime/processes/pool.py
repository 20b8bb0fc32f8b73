"""
Blocking work in processes that can be killed: reading documents, searching, memory's arithmetic.

A thread cannot be stopped, so none is used: when a call's time is up, the process that serves it is killed and the next
call gets a new one. When its caller is cancelled, the process has a moment to finish, for what it has loaded is worth
more than the moment; then it is killed, too. Functions are named `module:function`, take and return what
msgspec can encode, and may keep what they loaded in module state, which the next call finds again.
"""

import asyncio
import contextlib
import functools
import math
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from runtime.plugins import files_in_use
from runtime.processes.worker_process import HEADER

R = TypeVar("R")

WORN = 0.01
"""A process whose call has run as long as it may is killed at once. To kill one and start another takes 0.03 s."""
LINGER_SECONDS = 0.5
"""What a process has to finish a call that nobody waits for any more."""

ROOT = Path(__file__).resolve().parents[2]


class WorkError(Exception):
    """A call to a worker process came to nothing."""

    @property
    def detail(self) -> str:
        """What the function said, without the type of its exception."""
        head, colon, rest = str(self).partition(": ")
        return rest if colon and head.isidentifier() else str(self)


class WorkTimedOut(WorkError):
    """The call's time was up; the process that served it is dead."""


class WorkFailed(WorkError):
    """The function raised, or its process died. The text says which."""


class _Process:
    """One worker process and the line to it."""

    __slots__ = ("_got", "_line", "_popen", "asked")

    def __init__(self, niceness: int, modules: tuple[str, ...] = ()) -> None:
        """:param modules: loaded before the first call comes."""
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        plugins = msgspec.json.encode(files_in_use()).decode()
        path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
        try:
            with theirs:
                self._popen = subprocess.Popen(  # noqa: S603 - our own module, by our own interpreter
                    [sys.executable, "-m", "runtime.processes.worker_process", str(theirs.fileno()), plugins, *modules],
                    pass_fds=(theirs.fileno(),),
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    env={**os.environ, "PYTHONPATH": path},
                    start_new_session=True,  # Ctrl-C is for the parent, which ends its workers itself
                )
        except OSError as error:
            ours.close()
            raise WorkFailed(f"no worker process could be started: {error}") from error
        if niceness:
            with contextlib.suppress(ProcessLookupError):  # it has died already, and the first call will say so
                os.setpriority(os.PRIO_PROCESS, self._popen.pid, niceness)
        self._line = ours
        self._got = bytearray()
        self.asked = False
        """Whether it has all of a call and owes the answer."""

    async def call(self, function: str, arguments: tuple[Any, ...]) -> bytes:
        loop, frame = asyncio.get_running_loop(), msgspec.msgpack.encode((function, arguments))
        await loop.sock_sendall(self._line, HEADER.pack(len(frame)) + frame)
        self.asked = True
        while (left := self._remaining()) > 0:
            self._take(await loop.sock_recv(self._line, min(left, 1 << 20)))
        return self._answer()

    def linger(self, seconds: float, done: Callable[[bool], None]) -> Callable[[], None]:
        """
        Take the answer that nobody waits for.

        :param done: is told whether it came in time; then the process can be called again.
        :returns: ends that, without a word to `done`.
        """
        loop = asyncio.get_running_loop()

        def end() -> None:
            loop.remove_reader(self._line)
            timer.cancel()

        def over(*, well: bool) -> None:
            end()
            done(well)

        def readable() -> None:
            try:
                self._take(self._line.recv(min(self._remaining(), 1 << 20)))
            except BlockingIOError:
                return
            except (OSError, EOFError):
                over(well=False)
                return
            if self._remaining() <= 0:
                self._answer()
                over(well=True)

        timer = loop.call_later(seconds, lambda: over(well=False))
        loop.add_reader(self._line, readable)
        return end

    def _remaining(self) -> int:
        """How many bytes of the answer are still to come, as far as that is known."""
        if len(self._got) < HEADER.size:
            return HEADER.size - len(self._got)
        return HEADER.size + int(HEADER.unpack_from(self._got)[0]) - len(self._got)

    def _take(self, chunk: bytes) -> None:
        if not chunk:
            raise EOFError("the worker process died")
        self._got += chunk

    def _answer(self) -> bytes:
        answer = bytes(self._got[HEADER.size :])
        self._got.clear()
        self.asked = False
        return answer

    def kill(self) -> None:
        self._line.close()
        self.hang_up()

    def hang_up(self) -> None:
        """End the process; whoever waits for its answer reads the end of the line."""
        self._popen.kill()
        self._popen.wait()  # a killed process is reaped at once


class Workers:
    """A few processes, started when first needed, each serving one call at a time."""

    def __init__(self, size: int = 2, niceness: int = 0) -> None:
        """:param niceness: above 0, they give way to whatever else wants the processors."""
        self.size = size
        self._niceness = niceness
        self._idle: list[_Process] = []
        self._busy: set[_Process] = set()
        self._lingering: dict[_Process, Callable[[], None]] = {}
        """Those that finish a call which was cancelled, and how to end that."""
        self._freed = asyncio.Event()
        self._places = asyncio.Semaphore(size)
        self._closed = False
        self.killed = 0

    def warm(self, *modules: str) -> None:
        """Start all processes, if none runs yet, and have them load modules: the first call need not wait for that."""
        if self._closed or self._idle or self._busy or self._lingering:
            return
        with contextlib.suppress(WorkFailed):  # the first call will say so
            for _ in range(self.size):
                self._idle.append(_Process(self._niceness, modules))

    async def call(
        self, function: str, *arguments: Any, within: float, returns: type[R], waiting: float = 0.0
    ) -> R:  # fmt: skip
        """
        Run `module:function` in a worker process.

        :param within: seconds for waiting, running and the answer together.
        :param waiting: seconds more that it may wait for its turn, of which none are for running.
        :raises WorkTimedOut: the time was up. A process that has run for all of it is dead; one that was waited for
            may go on until it has.
        :raises WorkFailed: the function raised, or its process died.
        """
        try:
            async with asyncio.timeout(within + waiting) as bound, self._places:
                if waiting:
                    loop = asyncio.get_running_loop()
                    bound.reschedule(min(loop.time() + within, bound.when() or math.inf))
                ok, value = await self._serve(function, arguments, bound, within)
        except TimeoutError:
            raise WorkTimedOut(f"{function} took longer than {within:g} s") from None
        if not ok:
            raise WorkFailed(str(value))
        return msgspec.convert(value, returns)

    async def _serve(
        self, function: str, arguments: tuple[Any, ...], bound: asyncio.Timeout, within: float
    ) -> tuple[bool, Any]:
        process = await self._free()
        began = asyncio.get_running_loop().time()
        self._busy.add(process)
        try:
            answer = await process.call(function, arguments)
            result: tuple[bool, Any] = msgspec.msgpack.decode(answer, type=tuple[bool, Any])
        except BaseException as error:
            self._busy.discard(process)
            # Under load most of a call's time may go by while it waits: its process is not worn out by what is left.
            left = LINGER_SECONDS if not bound.expired() else began + within - asyncio.get_running_loop().time()
            if isinstance(error, asyncio.CancelledError) and left > WORN and process.asked and not self._closed:
                self._lingering[process] = process.linger(left, functools.partial(self._end_linger, process))
                raise
            self._kill(process)
            if isinstance(error, OSError | EOFError):
                raise WorkFailed("the worker process died") from error
            raise
        self._busy.discard(process)
        self._idle.append(process)
        self._freed.set()
        return result

    async def _free(self) -> _Process:
        """A process that has nothing to do. One that is about to finish is waited for rather than another begun."""
        while not self._closed and not self._idle and len(self._busy) + len(self._lingering) >= self.size:
            self._freed.clear()
            await self._freed.wait()
        if self._closed:
            raise WorkFailed("the workers are closed")
        return self._idle.pop() if self._idle else _Process(self._niceness)

    def _end_linger(self, process: _Process, well: bool) -> None:
        del self._lingering[process]
        if well:
            self._idle.append(process)
        else:
            self._kill(process)
        self._freed.set()

    def _kill(self, process: _Process) -> None:
        process.kill()
        self.killed += 1

    def close(self) -> None:
        """End every process now, the busy ones too."""
        self._closed = True
        for process, end in self._lingering.items():
            end()
            self._kill(process)
        self._lingering.clear()
        for process in self._idle:
            process.kill()
        self._idle.clear()
        for process in self._busy:
            process.hang_up()
        self._freed.set()
