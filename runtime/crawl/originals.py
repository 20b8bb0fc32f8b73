"""
Pages as they were sent, packed, in `pages/` of the storage folder: each content once, however many researches read it.

`{sha256}.gz` is what was sent; `{project}.txt` names those that a research refers to. Blocking: for worker processes.
"""

import contextlib
import errno
import gzip
import hashlib
import os
import re
import time
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from runtime.processes.atomic_files import folder_for, read_bytes, write_bytes
from runtime.processes.file_lock import LOOK_SECONDS, take
from runtime.state_files.backups import name_of

FOLDER = "pages"
MOST_BYTES = 200_000_000
"""Nothing that was kept unpacks to more."""
LOCK_SECONDS = 10.0
"""How long others are waited for; each holds the lock for one page, or for one purge."""
_NAMED = re.compile(r"[0-9a-f]{64}")
_LOCK = ".lock"


def keep(folder: str, project_id: str, body: bytes, most_bytes: int) -> str:
    """
    Keep what was sent for a research that refers to it.

    :param most_bytes: of it, packed. What has more is not kept.
    :returns: its SHA-256, or nothing when it is not kept.
    :raises OSError: the disk did not take it.
    """
    packed = gzip.compress(body, mtime=0)
    if len(packed) > most_bytes:
        return ""
    digest = hashlib.sha256(body).hexdigest()
    place = folder_for(Path(folder) / FOLDER)
    with _alone(place):
        listed = _list_of(place, project_id)
        if digest not in _digests_of(listed):
            _add_line(listed, digest)  # first: what nobody refers to would never be removed
        if read(Path(folder), digest) is None:
            write_bytes(_file(place, digest), packed)
    return digest


def read(folder: Path, sha256: str) -> bytes | None:
    """What was sent, letter by letter; nothing when it is not there any more or is not what it was."""
    place = folder / FOLDER
    if not _NAMED.fullmatch(sha256) or place.is_symlink():
        return None
    packed = read_bytes(_file(place, sha256))
    if packed is None:
        return None
    unpacker = zlib.decompressobj(zlib.MAX_WBITS | 16)
    try:
        body = unpacker.decompress(packed, MOST_BYTES)
    except zlib.error:
        return None
    return body if hashlib.sha256(body).hexdigest() == sha256 else None


def forget(folder: Path, project_ids: Iterable[str]) -> int:
    """
    Remove what only these researches refer to.

    :returns: how many contents were removed.
    :raises OSError: a file could not be removed; asked again, it goes on.
    """
    place = folder / FOLDER
    if place.is_symlink() or not place.is_dir():
        return 0
    with _alone(place):
        lists = [path for each in project_ids if (path := _list_of(place, each)).exists()]
        mine = {digest for path in lists for digest in _digests_of(path)}
        others = (path for path in place.glob("*.txt") if path not in lists) if mine else ()
        gone = mine.difference(*map(_digests_of, others))
        removed = 0
        for digest in sorted(gone):
            with contextlib.suppress(FileNotFoundError):
                _file(place, digest).unlink()
                removed += 1
        for path in lists:
            path.unlink()
    return removed


@contextlib.contextmanager
def _alone(place: Path) -> Iterator[None]:
    """
    No other process keeps or removes meanwhile; the system lets go of the lock when its holder dies.

    :raises TimeoutError: another process held it for too long.
    """
    until = time.monotonic() + LOCK_SECONDS
    descriptor = os.open(place / _LOCK, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        while not take(descriptor):
            if time.monotonic() >= until:
                raise TimeoutError(errno.ETIMEDOUT, "another process is keeping or removing pages")
            time.sleep(LOOK_SECONDS)
        yield
    finally:
        os.close(descriptor)


def _file(place: Path, digest: str) -> Path:
    return place / f"{digest}.gz"


def _list_of(place: Path, project_id: str) -> Path:
    return place / f"{name_of(project_id)}.txt"


def _digests_of(path: Path) -> set[str]:
    return set(_NAMED.findall((read_bytes(path) or b"").decode("ascii", "replace")))


def _add_line(path: Path, digest: str) -> None:
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    with os.fdopen(os.open(path, flags, 0o600), "wb") as file:
        file.write(f"{digest}\n".encode())
        file.flush()
        os.fsync(file.fileno())
