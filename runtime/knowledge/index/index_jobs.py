"""What worker processes do for indexing: list a folder, take one file in, forget what vanished. Blocking."""

import contextlib
import hashlib
import os
import sqlite3
import stat
from pathlib import Path
from typing import Literal

import msgspec

from runtime.knowledge.index import contained_files, index_writer
from runtime.knowledge.readers.parsed_document import Unreadable
from runtime.knowledge.readers.reader import SUFFIXES, read
from runtime.user_text import encodable

FILES_LIMIT = 200_000
DEPTH_LIMIT = 40
IGNORED_FOLDERS = frozenset(("_sources", "_static", "_images", "__pycache__", "node_modules"))
"""What Sphinx puts beside its pages (their sources once more), and what programs leave behind."""

_open: dict[str, tuple[tuple[int, int], sqlite3.Connection]] = {}


class Listing(msgspec.Struct, frozen=True):
    """The files of a folder that can be read, in order of their paths."""

    folder: int
    name: str
    root: str
    files: list[str]
    skipped: list[tuple[str, str]]
    ignored: int


class Taken(msgspec.Struct, frozen=True):
    """What became of one file."""

    status: Literal["read", "unchanged", "skipped"]
    reason: str = ""
    passages: int = 0


def lapsed(database: str) -> list[str]:
    """The folders of an index of another version."""
    if not Path(database).exists():
        return []
    with contextlib.closing(sqlite3.connect(f"{Path(database).as_uri()}?mode=ro", uri=True)) as db:
        return index_writer.lapsed_folders(db)


def listing(database: str, folder: str) -> Listing:
    """List a folder and give it a number. Links to folders and special files are skipped, hidden ones ignored."""
    if not folder.strip():
        raise ValueError("a folder without a name cannot be indexed")
    root = Path(folder).expanduser().resolve()
    if not root.is_dir():
        raise ValueError(f"{folder} is not a folder" if root.exists() else f"there is no folder {folder}")
    files: list[str] = []
    skipped: list[tuple[str, str]] = []
    ignored, todo = 0, [("", 0)]
    while todo:
        below, depth = todo.pop()
        try:
            with contained_files.opened_folder(root, below) as folder_:
                found = [(entry.name, _kind(entry, root / below, root, depth)) for entry in os.scandir(folder_)]
        except OSError as error:
            skipped.append((below, f"cannot be opened: {error.strerror}"))
            continue
        for name, what in sorted(found):
            path = f"{below}{name}"
            if not encodable(path):
                skipped.append((path.encode("utf-8", "backslashreplace").decode(), "its name is not valid UTF-8"))
            elif what == "folder":
                todo.append((path + "/", depth + 1))
            elif what == "file":
                files.append(path)
            elif what:
                skipped.append((path, what))
            else:
                ignored += 1
        if len(files) > FILES_LIMIT:
            raise ValueError(f"{folder} holds more than {FILES_LIMIT:,} documents; index its folders one by one")
    number, called = index_writer.folder_id(_connection(database), root)
    return Listing(number, called, str(root), sorted(files), skipped, ignored)


def _kind(entry: "os.DirEntry[str]", folder: Path, root: Path, depth: int) -> str:
    """`folder`, `file`, the reason for skipping it, or nothing for what is none of ours."""
    if entry.name.startswith("."):
        return ""
    try:
        if entry.is_dir():
            if entry.name in IGNORED_FOLDERS:
                return ""
            if entry.is_symlink():
                return "a link to a folder"
            return "folder" if depth < DEPTH_LIMIT else f"more than {DEPTH_LIMIT} folders deep"
        if Path(entry.name).suffix.lower() not in SUFFIXES:
            return ""
        if entry.is_symlink() and not (folder / entry.name).resolve(strict=True).is_relative_to(root):
            return contained_files.LEADS_OUT
        return "file" if stat.S_ISREG(entry.stat().st_mode) else contained_files.NOT_REGULAR
    except (OSError, RuntimeError):
        return "a broken link"


def take(database: str, folder: int, root: str, path: str, megabytes: float, seconds: float) -> Taken:
    """Read a file into the index if its content is new. What cannot be read is not in the index afterwards."""
    db = _connection(database)
    limits = f"{megabytes:g} MB, {seconds:g} s"
    try:
        data = contained_files.read(Path(root), path, int(megabytes * 1_000_000))
    except contained_files.TooLarge as error:
        index_writer.remove(db, folder, path)
        over = f"is over the limit of {megabytes:g} MB (knowledge.file_megabytes)"
        return Taken("skipped", f"{error.size / 1e6:.3g} MB {over}")
    except contained_files.Outside as error:
        index_writer.remove(db, folder, path)
        return Taken("skipped", str(error.strerror))
    except OSError as error:
        index_writer.remove(db, folder, path)
        return Taken("skipped", f"cannot be opened: {error.strerror}")
    digest = hashlib.sha256(data).hexdigest()
    known = index_writer.stored_key(db, folder, path)
    if known == (digest, ""):
        return Taken("unchanged")
    if known and known[0] == f"{digest} {limits}":
        return Taken("skipped", known[1])
    try:
        document = read(path, data)
    except Unreadable as error:
        index_writer.replace(db, folder, path, f"{digest} {limits}", None, str(error))
        return Taken("skipped", str(error))
    return Taken("read", passages=index_writer.replace(db, folder, path, digest, document))


def give_up(database: str, folder: int, root: str, path: str, megabytes: float, seconds: float, reason: str) -> bool:
    """Remember that a file's reader had to be stopped, so that the same content is not tried again."""
    db = _connection(database)
    try:
        data = contained_files.read(Path(root), path, int(megabytes * 1_000_000))
    except (OSError, contained_files.TooLarge):
        return index_writer.remove(db, folder, path)
    digest = hashlib.sha256(data).hexdigest()
    index_writer.replace(db, folder, path, f"{digest} {megabytes:g} MB, {seconds:g} s", None, reason)
    return True


def forget(database: str, folder: int, keep: list[str]) -> int:
    """Take out the documents of a folder that are not to be kept."""
    db, wanted = _connection(database), set(keep)
    known = [str(row[0]) for row in db.execute("SELECT path FROM documents WHERE folder = ?", (folder,))]
    return sum(index_writer.remove(db, folder, path) for path in known if path not in wanted)


def finish(database: str) -> float:
    """Merge what was written piece by piece, so that searching is quick; returns the size in megabytes."""
    db = _connection(database)
    db.execute("INSERT INTO terms (terms) VALUES ('optimize')")
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    pages, size = (db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "page_size"))
    return float(pages * size / 1e6)


def _connection(database: str) -> sqlite3.Connection:
    """This process's connection, opened again when the file is another one."""
    known = _open.get(database)
    path = Path(database)
    if known is not None:
        if path.exists() and known[0] == _identity(path):
            return known[1]
        known[1].close()
    db = index_writer.connect(path)
    _open[database] = (_identity(path), db)
    return db


def _identity(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_dev, found.st_ino


def close() -> None:
    """Close this process's connections. A worker process need not: it ends with them."""
    for _, db in _open.values():
        db.close()
    _open.clear()
