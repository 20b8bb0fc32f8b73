"""A terminal for tests: programs run in it, and what they draw can be looked at."""

import fcntl
import os
import re
import select
import struct
import sys
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Self

from tests import ROOT
from tests.forked import FORK_SERVER
from tests.patience import HANGS_SECONDS

SIZE = (50, 110)
"""Rows and columns."""
HIDE, SHOW = "\x1b[?25l", "\x1b[?25h"
"""The cursor."""


class Terminal:
    """One program of ours in a terminal of its own. Its stdout may go elsewhere."""

    def __init__(
        self,
        arguments: Sequence[str],
        environ: Mapping[str, str],
        *,
        stdout: int | None = None,
        size: tuple[int, int] = SIZE,
    ) -> None:
        self._ours, theirs = os.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", *size, 0, 0))
        self._popen = FORK_SERVER.popen(
            [sys.executable, *arguments], terminal=True,
            cwd=ROOT, stdin=theirs, stdout=theirs if stdout is None else stdout, stderr=theirs,
            env={**environ, "TERM": "xterm-256color"}, start_new_session=True,
        )  # fmt: skip
        os.close(theirs)
        self.drawn = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._popen.poll() is None:
            self._popen.kill()
        self._popen.wait()
        os.close(self._ours)

    def press(self, keys: bytes) -> None:
        os.write(self._ours, keys)

    def until(self, seen: Callable[[str], bool], seconds: float = HANGS_SECONDS) -> str:
        """Read what is drawn until it is as wanted; fail after so many seconds, or when the program ends before."""
        until = time.monotonic() + seconds
        while not seen(self.drawn):
            assert time.monotonic() < until, self.drawn
            assert self._read(until - time.monotonic()), self.drawn
        return self.drawn

    def end(self, seconds: float = HANGS_SECONDS) -> int:
        """Read until the program ends; its exit status."""
        until = time.monotonic() + seconds
        while self._read(until - time.monotonic()):
            assert time.monotonic() < until, self.drawn
        return self._popen.wait(max(1.0, until - time.monotonic()))

    def _read(self, seconds: float) -> bool:
        ready, _, _ = select.select([self._ours], [], [], max(0.0, seconds))
        assert ready, f"nothing more was drawn in time after {self.drawn!r}"
        try:
            piece = os.read(self._ours, 65_536)
        except OSError:  # what Linux says when the other end is closed
            return False
        self.drawn += piece.decode("utf-8", "replace")
        return bool(piece)


def plain(drawn: str) -> str:
    """What was drawn without colours and movements."""
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", drawn).replace("\r", "")
