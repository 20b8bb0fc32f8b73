"""Which process runs what: a lock that the system releases when its holder dies, however it dies."""

import contextlib
import os
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from runtime.processes.file_lock import take
from runtime.storage.ends import PendingEnd, Slots, read_pending
from runtime.storage.private import make_folder
from runtime.storage.work_mark import WorkMark, read_mark

SUFFIX = ".lock"
SOCKET_SUFFIX = ".sock"


class Legacy(NamedTuple):
    """What a dead process left behind in its file."""

    told: list[PendingEnd]
    """Ends that it had told and not recorded."""
    worked_on: str = ""
    """The run that it worked on when it died; empty: none, or nobody knows."""


class ProcessLock:
    """This process, as the owner of runs in a database. Other processes can tell whether it lives."""

    def __init__(self, folder: Path) -> None:
        """:param folder: where the lock files are; the same for all processes of one database."""
        self._folder = make_folder(folder)
        self.token, self._file = self._enter()
        self.slots = Slots(self._file)
        """Room in its file for ends that cannot be recorded."""
        self.mark = WorkMark(self._path(self.token))
        """What it works on."""

    def is_alive(self, token: str) -> bool:
        """Whether the process of this token is still there."""
        if token == self.token:
            return True
        with self.legacy(token) as left:
            return left is None

    @contextlib.contextmanager
    def legacy(self, token: str) -> Iterator[Legacy | None]:
        """
        What a dead process left, held against all others meanwhile; nothing while it lives.

        Its file stays: `forget` removes it.
        """
        try:
            file = os.open(self._path(token), os.O_RDWR | os.O_CLOEXEC)
        except FileNotFoundError:
            yield Legacy([])
            return
        try:
            yield Legacy(list(read_pending(file)), read_mark(file)) if take(file) else None
        finally:
            os.close(file)

    def others(self) -> list[str]:
        """The tokens of all processes that have a file, dead or alive, but for this one."""
        tokens = (path.name.removesuffix(SUFFIX) for path in self._folder.glob(f"*{SUFFIX}"))
        return sorted(token for token in tokens if token != self.token)

    @property
    def socket(self) -> Path:
        """Where this process may listen to others of its folder; the file goes with its lock."""
        return self._socket(self.token)

    def sockets(self) -> list[Path]:
        """Where processes listen, or listened before they died."""
        return sorted(self._folder.glob(f"*{SOCKET_SUFFIX}"))

    def forget(self, token: str) -> None:
        """A dead process left nothing that is not recorded by now."""
        self._path(token).unlink(missing_ok=True)
        self._socket(token).unlink(missing_ok=True)

    def close(self, *, leaves: bool = False) -> None:
        """:param leaves: something in its file is for others to record."""
        if not leaves:
            with contextlib.suppress(OSError):  # a disk that has failed keeps it: the next process finds its owner dead
                self.forget(self.token)
        self.mark.close()
        os.close(self._file)

    def _enter(self) -> tuple[str, int]:
        """A new file with its lock: one that another process may have taken for a dead one's is left to it."""
        while True:
            token = uuid.uuid4().hex[:12]
            path = self._path(token)
            file = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o600)
            try:
                if take(file) and os.path.samestat(os.fstat(file), path.stat()):
                    return token, file
            except FileNotFoundError:
                pass
            os.close(file)

    def _path(self, token: str) -> Path:
        return self._folder / f"{token}{SUFFIX}"

    def _socket(self, token: str) -> Path:
        return self._folder / f"{token}{SOCKET_SUFFIX}"


def anybody(folder: Path) -> bool:
    """Whether a process lives that holds a lock in this folder. It changes nothing."""
    for path in folder.glob(f"*{SUFFIX}"):
        try:
            file = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
        except OSError:
            continue
        try:
            if not take(file):
                return True
        finally:
            os.close(file)
    return False
