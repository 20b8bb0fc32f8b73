"""
Blocking work in processes that can be killed: reading documents, searching, memory's arithmetic.

A thread cannot be stopped, so none is used: when a call's time is up or its caller is cancelled, the process that
serves it is killed and the next call gets a new one. Functions are named `module:function`, take and return what
msgspec can encode, and may keep what they loaded in module state, which the next call finds again.
"""

import asyncio
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from runtime.worker import HEADER

R = TypeVar("R")

ROOT = Path(__file__).resolve().parent.parent


class WorkError(Exception):
    """A call to a worker process came to nothing."""


class WorkTimedOut(WorkError):
    """The call's time was up; the process that served it is dead."""


class WorkFailed(WorkError):
    """The function raised, or its process died. The text says which."""


class _Process:
    """One worker process and the line to it."""

    __slots__ = ("_decode", "_line", "_popen")

    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
        try:
            with theirs:
                self._popen = subprocess.Popen(  # noqa: S603 - our own module, by our own interpreter
                    [sys.executable, "-m", "runtime.worker", str(theirs.fileno())],
                    pass_fds=(theirs.fileno(),),
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    env={**os.environ, "PYTHONPATH": path},
                    start_new_session=True,  # Ctrl-C is for the parent, which ends its workers itself
                )
        except OSError as error:
            ours.close()
            raise WorkFailed(f"no worker process could be started: {error}") from error
        self._line = ours

    async def call(self, function: str, arguments: tuple[Any, ...]) -> bytes:
        loop, frame = asyncio.get_running_loop(), msgspec.msgpack.encode((function, arguments))
        await loop.sock_sendall(self._line, HEADER.pack(len(frame)) + frame)
        size = HEADER.unpack(await self._read(HEADER.size))[0]
        return await self._read(size)

    async def _read(self, size: int) -> bytes:
        loop, chunks = asyncio.get_running_loop(), bytearray()
        while len(chunks) < size:
            chunk = await loop.sock_recv(self._line, min(size - len(chunks), 1 << 20))
            if not chunk:
                raise EOFError("the worker process died")
            chunks += chunk
        return bytes(chunks)

    def kill(self) -> None:
        self._line.close()
        self.hang_up()

    def hang_up(self) -> None:
        """End the process; whoever waits for its answer reads the end of the line."""
        self._popen.kill()
        self._popen.wait()  # a killed process is reaped at once


class Workers:
    """A few processes, started when first needed, each serving one call at a time."""

    def __init__(self, size: int = 2) -> None:
        self._idle: list[_Process] = []
        self._busy: set[_Process] = set()
        self._places = asyncio.Semaphore(size)
        self._closed = False
        self.killed = 0

    async def call(self, function: str, *arguments: Any, within: float, returns: type[R]) -> R:
        """
        Run `module:function` in a worker process.

        :param within: seconds for waiting, running and the answer together.
        :raises WorkTimedOut: the time was up.
        :raises WorkFailed: the function raised, or its process died.
        """
        try:
            async with asyncio.timeout(within):
                async with self._places:
                    ok, value = await self._serve(function, arguments)
        except TimeoutError:
            raise WorkTimedOut(f"{function} took longer than {within:g} s") from None
        if not ok:
            raise WorkFailed(str(value))
        return msgspec.convert(value, returns)

    async def _serve(self, function: str, arguments: tuple[Any, ...]) -> tuple[bool, Any]:
        if self._closed:
            raise WorkFailed("the workers are closed")
        process = self._idle.pop() if self._idle else _Process()
        self._busy.add(process)
        try:
            answer = await process.call(function, arguments)
            result: tuple[bool, Any] = msgspec.msgpack.decode(answer, type=tuple[bool, Any])
        except BaseException as error:
            self._busy.discard(process)
            process.kill()
            self.killed += 1
            if isinstance(error, OSError | EOFError):
                raise WorkFailed("the worker process died") from error
            raise
        self._busy.discard(process)
        self._idle.append(process)
        return result

    def close(self) -> None:
        """End every process now, the busy ones too."""
        self._closed = True
        for process in self._idle:
            process.kill()
        self._idle.clear()
        for process in self._busy:
            process.hang_up()
