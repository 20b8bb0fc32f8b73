"""
What lies in the storage folder is for its owner's eyes: files 0600, folders 0700, whatever the umask of the process is.

The umask itself stays as it is: it is the host's, where Terminus is used as a library. What was made wider before is
tightened when it is opened again. Only what belongs to this user is changed, and never what a link points to.
"""

import contextlib
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

FILE = 0o600
FOLDER = 0o700
DATABASE = "terminus.db"
CHOOSE_ANOTHER = "Set [storage] folder or TERMINUS_STORAGE_FOLDER to a folder that this user may write."
"""The remedy where this user may not write to it."""
OWNERS = "owners"
"""Where each process has its lock."""
OTHERS = 0o077
"""What nobody else may do."""
_OURS = re.compile(
    r"(terminus|knowledge|statutes|cases)\.db(-wal|-shm|-journal|\.memory|\.memory\..*)?|(knowledge|vectors)\.lock"
    r"|owners|backups|pages|logs|[^.].*\.md|\..*"
)
"""Names of what Terminus puts into a storage folder. Hidden files, such as .gitkeep, are no reason to leave it open."""
_OWN_FOLDERS = (OWNERS, "backups", "pages", "logs")
"""Nobody else puts anything into these."""
_EDITED = re.compile(r"(.+)\.edited-.*")
MOST_ENTRIES = 100_000
"""Of one folder; a folder with more is closed all the same, which is what counts."""


def make_folder(path: Path) -> Path:
    """
    A folder of ours that is there from now on, with its parents; one that was wider open is closed.

    :raises OSError: it cannot be made, or is a link or a file.
    """
    if not path.parent.exists():
        make_folder(path.parent)
    path.mkdir(mode=FOLDER, exist_ok=True)
    _tighten(path, FOLDER)
    return path


def make_file(path: Path) -> Path:
    """A file of ours for somebody else to open, such as SQLite: an empty one if there is none, closed to others."""
    with contextlib.suppress(FileExistsError):
        os.close(open_new(path))
    _tighten(path, FILE)
    return path


def open_new(path: Path) -> int:
    """
    A descriptor to write a file of ours with that was not there.

    :raises FileExistsError: it was.
    """
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, FILE)


def make_database(path: Path) -> Path:
    """A database file likewise. SQLite gives what it puts beside it the rights of the file itself."""
    make_file(path)
    for suffix in ("-wal", "-shm", "-journal"):
        _tighten(path.with_name(path.name + suffix), FILE)
    return path


def make_storage(folder: Path) -> Path:
    """
    The storage folder itself. One that was wider open is closed, with all of ours in it.

    One that holds other people's files as well, such as a home, is left as it is; what is ours in it is closed.

    :raises OSError: it cannot be made.
    """
    folder.mkdir(mode=FOLDER, parents=True, exist_ok=True)
    if not folder.stat().st_mode & OTHERS:
        return folder
    entries = list(_entries(folder))
    names = {entry.name for entry in entries}
    for entry in entries:
        if entry.name in _OWN_FOLDERS:
            _close(Path(entry.path))
        elif is_ours(entry.name, folder):
            _tighten(Path(entry.path), FILE)
    if all(_OURS.fullmatch(name) for name in names):
        _tighten(folder, FOLDER)
    return folder


def is_ours(name: str, folder: Path) -> bool:
    """Whether Terminus made this: known names, and Markdown of which there are backups; any other may be a person's."""
    if name.endswith(".md"):
        stem = name.removesuffix(".md")
        edited = _EDITED.fullmatch(stem)
        return (folder / "backups" / (edited[1] if edited else stem)).is_dir()
    return not name.startswith(".") and _OURS.fullmatch(name) is not None


def _close(folder: Path) -> None:
    """Everything in a folder that only we write to, what is deepest first: closed last, it is looked through again."""
    for entry in _entries(folder):
        if entry.is_dir(follow_symlinks=False):
            _close(Path(entry.path))
        else:
            _tighten(Path(entry.path), FILE)
    _tighten(folder, FOLDER)


def _entries(folder: Path) -> Iterator["os.DirEntry[str]"]:
    with contextlib.suppress(OSError):
        if folder.is_symlink():
            return
        with os.scandir(folder) as found:
            for _, entry in zip(range(MOST_ENTRIES), found, strict=False):
                yield entry


def _tighten(path: Path, mode: int) -> None:
    """Close a regular file or folder of this user to everybody else; what cannot be closed is left."""
    with contextlib.suppress(OSError):
        about = path.lstat()
        if not about.st_mode & OTHERS:
            return
        if (stat.S_ISDIR if mode == FOLDER else stat.S_ISREG)(about.st_mode) and about.st_uid == os.geteuid():
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
            try:
                if os.path.samestat(os.fstat(descriptor), about):
                    os.fchmod(descriptor, about.st_mode & 0o700)
            finally:
                os.close(descriptor)
