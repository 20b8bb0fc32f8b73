"""Which process runs what: a lock that the system releases when its holder dies, however it dies."""

import fcntl
import os
import uuid
from pathlib import Path


class Owner:
    """This process, as the owner of runs in a database. Other processes can tell whether it lives."""

    def __init__(self, folder: Path) -> None:
        """:param folder: where the lock files are; the same for all processes of one database."""
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self.token = uuid.uuid4().hex[:12]
        self._path = folder / f"{self.token}.lock"
        self._file = os.open(self._path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def lives(self, token: str) -> bool:
        """Whether the process of this token is still there; forgets it when it is not."""
        if token == self.token:
            return True
        path = self._folder / f"{token}.lock"
        try:
            file = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        except FileNotFoundError:
            return False
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(file)
        path.unlink(missing_ok=True)
        return False

    def close(self) -> None:
        self._path.unlink(missing_ok=True)
        os.close(self._file)
