"""
Which run a process works on at this moment, where its death does not lose it: in a mapped part of its owner's file.

What is written there is the system's as soon as it is written: it outlives the process without waiting for a disk. Only
the run that is tried alone is waited for, so that it outlives the machine, too.
"""

import contextlib
import mmap
import os
import struct

from runtime.processes.boot_clock import BOOT_CHARACTERS, since_boot

MARK_BYTES = 256
"""The first of the file."""
NAME_BYTES = 96
MAGIC = b"WORK"
"""No earlier version began a file with it: those had a length there that was smaller."""
_FORM = struct.Struct(f"{len(MAGIC)}s{BOOT_CHARACTERS}s{NAME_BYTES}s{NAME_BYTES}s")
_NOW = len(MAGIC) + BOOT_CHARACTERS
_ALONE = _NOW + NAME_BYTES
_NOBODY = bytes(NAME_BYTES)


class WorkMark:
    """That of this process."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """
        :param path: the owner's file. Where the disk has no room for the mark there is none: a run that kills its
            process is ended by its deadline then.
        """
        self._map: mmap.mmap | None = None
        boot, _ = since_boot()
        with contextlib.suppress(OSError):
            # A file of its own for the map, which holds on to it: the lock is let go of with the other one.
            file = os.open(path, os.O_RDWR | os.O_CLOEXEC)
            try:
                # Written and not only made longer: a map of a hole fails when the disk is full.
                os.pwrite(file, _FORM.pack(MAGIC, boot.encode(), _NOBODY, _NOBODY).ljust(MARK_BYTES, b"\0"), 0)
                self._map = mmap.mmap(file, MARK_BYTES)
            finally:
                os.close(file)
        self._bytes = memoryview(self._map) if self._map is not None else memoryview(bytearray(MARK_BYTES))
        self.now = self._bytes[_NOW:_ALONE]
        """The run that is worked on; its first byte is 0 where none is."""

    def turns_of(self, run: str) -> "RunTurns":
        """What the bus of a run tells its turns to, and those of the runs within it."""
        return RunTurns(self, _encode_name(run))

    def set_alone(self, run: str) -> None:
        """
        Note durably which run is tried alone; empty: none is. It waits for the disk.

        :raises OSError: it is noted, but not durable.
        """
        self._bytes[_ALONE : _ALONE + NAME_BYTES] = _encode_name(run)
        if self._map is not None:
            self._map.flush()

    def close(self) -> None:
        """Let go of the file. What still has a turn then is noted nowhere."""
        mapped, views, self._map = self._map, (self.now, self._bytes), None
        self._bytes = memoryview(bytearray(MARK_BYTES))
        self.now = self._bytes[_NOW:_ALONE]
        for view in views:
            view.release()
        if mapped is not None:
            mapped.close()


class RunTurns:
    """`bus.turns.Turns` of one run."""

    __slots__ = ("_mark", "_name")

    def __init__(self, mark: WorkMark, name: bytes) -> None:
        self._mark = mark
        self._name = name

    def begin(self) -> None:
        self._mark.now[:] = self._name

    def end(self) -> None:
        self._mark.now[0] = 0


def read_mark(file: int) -> str:
    """
    The run that a process worked on when it died, by its open file; empty: none, or nobody knows.

    If the machine died with it, only what had been waited for is there: the run that was tried alone.
    """
    mark = os.pread(file, _FORM.size, 0)
    if len(mark) < _FORM.size:
        return ""
    magic, boot, now, alone = _FORM.unpack(mark)
    if magic != MAGIC:
        return ""
    name = now if boot.rstrip(b"\0") == since_boot()[0].encode() else alone
    return bytes(name).partition(b"\0")[0].decode("utf-8", "replace")


def _encode_name(run: str) -> bytes:
    """As it stands in the mark. One that is too long, which only a person can have made up, is not noted."""
    name = run.encode()
    return name.ljust(NAME_BYTES, b"\0") if len(name) < NAME_BYTES else _NOBODY
