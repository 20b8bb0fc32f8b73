"""Where the lines of a log go: to stderr, whose reader may have stopped reading, or to a file of bounded size."""

import errno
import os
import select
from pathlib import Path
from typing import Protocol, TextIO

from runtime.storage.private import make_file, make_folder, make_storage

AT_ONCE_BYTES = 512
"""What POSIX has every pipe take at once that is ready to be written to."""


class Sink(Protocol):
    def write(self, text: str, /) -> object: ...


class Stderr:
    """This process's stderr. Whoever reads it may stop: what cannot be written at once is refused, never waited for."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor, self._broken_off = descriptor, False

    def write(self, text: str) -> None:
        left = ("\n" * self._broken_off + text).encode("utf-8", "backslashreplace")
        while left:
            if not select.select((), (self._descriptor,), (), 0)[1]:
                raise BlockingIOError(errno.EAGAIN, "Nobody reads the log")
            left = left[os.write(self._descriptor, left[:AT_ONCE_BYTES]) :]
            self._broken_off = bool(left)


def without_waiting(stream: TextIO) -> Sink:
    """A stream that is written to as `Stderr` is, where it belongs to a file of the system."""
    try:
        return Stderr(stream.fileno())
    except OSError:  # no file of the system stands behind it
        return stream


class LogFile:
    """A file for this user's eyes, begun anew when it is full; one older file is kept."""

    def __init__(self, path: Path, most_bytes: int) -> None:
        self.path, self._most = path, most_bytes
        make_storage(path.parent.parent)
        make_folder(path.parent)
        self._open()

    def write(self, text: str) -> None:
        data = text.encode("utf-8", "backslashreplace")
        if self._size and self._size + len(data) > self._most:
            self.close()
            self.path.replace(self.path.with_suffix(".1.log"))
            self._open()
        self._size += os.write(self._descriptor, data)

    def close(self) -> None:
        os.close(self._descriptor)

    def _open(self) -> None:
        make_file(self.path)
        self._descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self._size = os.fstat(self._descriptor).st_size
