"""Files that are written whole or not at all, and that are never read or written by way of a link to elsewhere."""

import contextlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from runtime.storage.private import FOLDER, open_new

MOST_BYTES = 128 << 20
"""A larger file is no state file of ours."""
_OLD = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK


def write_whole(path: Path, text: str) -> None:
    """`write_bytes` for a text."""
    write_bytes(path, text.encode("utf-8", "surrogatepass"))


def write_bytes(path: Path, content: bytes) -> None:
    """
    Replace a file; after a crash there is the old one or the new one, and no disk cache holds it back.

    :raises OSError: nothing was changed.
    """
    with replace_whole(path, path.with_name(f".{path.name}.new")) as file:
        file.write(content)
    sync(path.parent)


@contextlib.contextmanager
def replace_whole(path: Path, draft: Path, mode: int | None = None) -> Iterator[BinaryIO]:
    """
    A new file to write to that takes the place of another once all is on the disk: nobody sees half of it.

    :param draft: its name until then, in the same folder.
    :param mode: its rights; None: nobody else may read it.
    """
    draft.unlink(missing_ok=True)
    try:
        with os.fdopen(open_new(draft), "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
            if mode is not None:
                os.fchmod(file.fileno(), mode)
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def read_whole(path: Path) -> str | None:
    """The text of a file; nothing when there is none, or one that is no regular file of UTF-8 text of sensible size."""
    return _text(read_bytes(path), "strict")


def read_start(path: Path, size: int) -> str | None:
    """The first bytes of a file as text, or nothing, as above."""
    return _text(read_bytes(path, size), "ignore")


def read_bytes(path: Path, size: int = MOST_BYTES) -> bytes | None:
    """The first bytes of a file; nothing when there is none, or one that is no regular file of sensible size."""
    try:
        with os.fdopen(os.open(path, _OLD), "rb") as file:
            about = os.fstat(file.fileno())
            if not stat.S_ISREG(about.st_mode) or about.st_size > MOST_BYTES:
                return None
            return file.read(size)
    except OSError:
        return None


def folder_for(path: Path) -> Path:
    """
    A folder that is there from now on, and is no link.

    :raises OSError: it is a link, or cannot be made.
    """
    path.mkdir(mode=FOLDER, exist_ok=True)
    if path.is_symlink():
        raise NotADirectoryError(f"{path} is a link to elsewhere")
    return path


def _text(content: bytes | None, errors: str) -> str | None:
    try:
        return None if content is None else content.decode("utf-8", errors)
    except UnicodeDecodeError:
        return None


def sync(folder: Path) -> None:
    """Make the names in a folder durable."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
