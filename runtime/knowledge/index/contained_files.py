"""
Opens what stands in a folder of documents, and nothing else, whatever is swapped for a link meanwhile.

What is checked is what is read: each step from the folder down is taken by descriptor, and none follows a link.
"""

import contextlib
import errno
import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
"""Without blocking: what was swapped for a pipe has nobody at its other end."""
LEADS_OUT = "a link that leads out of the folder"
NOT_REGULAR = "not a regular file"


class Outside(OSError):
    """What stands there is not to be read. `strerror` says why."""

    def __init__(self, why: str) -> None:
        super().__init__(errno.EPERM, why)


class TooLarge(Exception):
    """A file has more bytes than are read of one."""

    def __init__(self, size: int) -> None:
        super().__init__(size)
        self.size = size


@contextlib.contextmanager
def opened_folder(root: Path, below: str) -> Iterator[int]:
    """
    A descriptor of a folder below `root`, which must be a real path; `below` is empty for `root` itself.

    :raises OSError: it is not there, or a part of the way is a link.
    """
    descriptor = _walk(root, PurePosixPath(below).parts)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def read(root: Path, path: str, most: int) -> bytes:
    """
    The bytes of a file below `root`. A link is followed to a file that stands in the folder itself.

    :raises TooLarge: it has more than `most` bytes.
    :raises OSError: it cannot be read, is no regular file, or stands elsewhere.
    """
    try:
        descriptor = _open(root, PurePosixPath(path).parts)
    except OSError as error:
        if error.errno != errno.ELOOP:
            raise
        target = (root / path).resolve(strict=True)
        if not target.is_relative_to(root):
            raise Outside(LEADS_OUT) from None
        descriptor = _open(root, target.relative_to(root).parts)
    with os.fdopen(descriptor, "rb") as file:
        about = os.fstat(file.fileno())
        if not stat.S_ISREG(about.st_mode):
            raise Outside(NOT_REGULAR)
        if about.st_size > most:
            raise TooLarge(about.st_size)
        data = file.read(most + 1)
    if len(data) > most:  # it grows
        raise TooLarge(len(data))
    return data


def _open(root: Path, parts: Sequence[str]) -> int:
    *folders, name = parts
    folder = _walk(root, folders)
    try:
        kind = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
        if not stat.S_ISREG(kind) and not stat.S_ISLNK(kind):
            raise Outside(NOT_REGULAR)  # opening a device may do something
        return os.open(name, _FILE, dir_fd=folder)
    finally:
        os.close(folder)


def _walk(root: Path, folders: Sequence[str]) -> int:
    descriptor = os.open(root, _FOLDER)
    for name in folders:
        above = descriptor
        try:
            if name == os.pardir:
                raise Outside(LEADS_OUT)
            descriptor = os.open(name, _FOLDER, dir_fd=above)
        finally:
            os.close(above)
    return descriptor
