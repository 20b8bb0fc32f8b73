"""
The files of a folder of documents: found, opened safely, and told from the pages that were made of them.

What is checked is what is read: each step from the folder down is taken by descriptor, and none
follows a link, whatever is swapped for one meanwhile.
"""

import contextlib
import errno
import os
import re
import stat
from collections.abc import Iterator, Sequence
from html import unescape
from pathlib import Path, PurePosixPath

from runtime.knowledge.readers.parsed_document import Unreadable
from runtime.knowledge.readers.reader import HTML, PACKED, decode, suffixes
from runtime.storage.private import DATABASE
from runtime.user_text import encodable

FILES_LIMIT = 200_000
DEPTH_LIMIT = 40
WITHOUT_READER = frozenset((".adoc", ".asciidoc"))
"""Documents that are read once somebody adds a reader for them."""
IGNORED_FOLDERS = frozenset(("_sources", "_static", "_images", "__pycache__", "node_modules"))
"""What Sphinx puts beside its pages (their sources once more), and what programs leave behind."""
LEFT_OUT = "left out"
"""A folder of nobody's documents."""
LEADS_OUT = "a link that leads out of the folder"
NOT_REGULAR = "not a regular file"
TWIN_SHARE = 0.85
"""
So much of a text's words is in the page of the same name, when that was made from it. Of Git's manual 238 of 239 texts
are above it, and 1 of 239 that were set beside another text's page.
"""
TWIN = "the same words as "

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
"""Without blocking: what was swapped for a pipe has nobody at its other end."""
_TAG = re.compile(r"<[^<>]*>")
_WORD = re.compile(r"\w{3,}")


class Outside(OSError):
    """What stands there is not to be read. `strerror` says why."""

    def __init__(self, why: str) -> None:
        super().__init__(errno.EPERM, why)


class TooLarge(Exception):
    """A file has more bytes than are read of one."""

    def __init__(self, size: int) -> None:
        super().__init__(size)
        self.size = size


class FolderScan:
    """What stands in a folder and below it, by what becomes of it."""

    def __init__(self, root: Path) -> None:
        """Go through all folders; of more files than an index may hold, not all are looked at."""
        self.files: list[str] = []
        self.skipped: list[tuple[str, str]] = []
        self.ignored: dict[str, list[str]] = {}
        self.unopened: list[str] = []
        readable, todo = suffixes(), [("", 0)]
        while todo and len(self.files) <= FILES_LIMIT:
            below, depth = todo.pop()
            try:
                with opened_folder(root, below) as folder:
                    found = sorted(
                        (each.name, _kind(each, root / below, root, depth, readable)) for each in os.scandir(folder)
                    )
            except OSError as error:
                self.skipped.append((below, f"cannot be opened: {error.strerror}"))
                self.unopened.append(below)
                continue
            for name, kind in found:
                if kind == "folder" and encodable(f"{below}{name}"):
                    todo.append((f"{below}{name}/", depth + 1))
                else:
                    self._sort_in(f"{below}{name}", name, kind)

    def _sort_in(self, path: str, name: str, kind: str) -> None:
        if not encodable(path):
            self.skipped.append((path.encode("utf-8", "backslashreplace").decode(), "its name is not valid UTF-8"))
        elif kind == "file":
            self.files.append(path)
        elif kind == LEFT_OUT:
            self.ignored.setdefault(f"in {name}", []).append(path)
        elif kind:
            self.skipped.append((path, kind))
        else:
            called = Path(name).suffix.lower()[:20] or "without a suffix"
            called += ", not read (see docs/readers.md)" if called in WITHOUT_READER else ""
            called = "hidden" if name.startswith(".") else called
            self.ignored.setdefault(called, []).append(path)


def _kind(entry: "os.DirEntry[str]", folder: Path, root: Path, depth: int, readable: frozenset[str]) -> str:
    """`folder`, `file`, `LEFT_OUT`, the reason for skipping it, or nothing for what is none of ours."""
    if entry.name.startswith("."):
        return ""
    try:
        if entry.is_dir():
            if entry.name in IGNORED_FOLDERS:
                return LEFT_OUT
            if entry.is_symlink():
                return "a link to a folder"
            if (folder / entry.name / DATABASE).is_file():  # reports of ours are no source of their own
                return LEFT_OUT
            return "folder" if depth < DEPTH_LIMIT else f"more than {DEPTH_LIMIT} folders deep"
        if Path(entry.name).suffix.lower() not in readable:
            return ""
        if entry.is_symlink() and not (folder / entry.name).resolve(strict=True).is_relative_to(root):
            return LEADS_OUT
        return "file" if stat.S_ISREG(entry.stat().st_mode) else NOT_REGULAR
    except (OSError, RuntimeError):
        return "a broken link"


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


def read_file(root: Path, path: str, most: int) -> bytes:
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


def find_page(root: Path, path: str, most: int) -> tuple[str, bytes] | None:
    """The page of the same name in the same folder, as path and bytes; None for a page, or what has none."""
    place = PurePosixPath(path)
    if place.suffix.lower() in HTML | PACKED:
        return None
    for suffix in sorted(HTML):
        try:
            page = str(place.with_suffix(suffix))
            return page, read_file(root, page, most)
        except (OSError, TooLarge):
            continue
    return None


def is_twin(data: bytes, page: bytes) -> bool:
    """Whether a page says nearly all that a text says: one document then, of which the page is kept."""
    try:
        text, shown = decode(data), unescape(_TAG.sub(" ", decode(page, html=True)))
    except Unreadable:
        return False
    words = set(_WORD.findall(text.casefold()))
    return bool(words) and len(words & set(_WORD.findall(shown.casefold()))) >= TWIN_SHARE * len(words)
