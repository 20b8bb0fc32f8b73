"""What worker processes do for indexing: list a folder, take one file in, settle what was read. Blocking."""

import contextlib
import datetime
import hashlib
from pathlib import Path, PurePath
from typing import Any, Literal

import msgspec

from runtime.knowledge import KINDS
from runtime.knowledge.decided_cases import CASES
from runtime.knowledge.folder_files import (
    FILES_LIMIT,
    TWIN,
    FolderScan,
    Outside,
    TooLarge,
    find_page,
    is_twin,
    read_file,
)
from runtime.knowledge.index import FolderRecord, Ignored, Index, find_lapsed, is_lapsed, make_index
from runtime.knowledge.law_reader import STATUTES
from runtime.knowledge.readers.parsed_document import NotInstalled, Unreadable
from runtime.knowledge.readers.reader import read, suffixes
from runtime.knowledge.side_index import SideIndexFailed
from runtime.processes.atomic_files import write_bytes
from runtime.storage.private import make_storage

EXAMPLES = 3
"""So many ignored files of a kind are named."""


class Listing(msgspec.Struct, frozen=True):
    """The files of a folder that can be read, in order of their paths."""

    folder: int
    name: str
    root: str
    files: list[str] = []
    skipped: list[tuple[str, str]] = []
    ignored: list[Ignored] = []
    unopened: list[str] = []
    """Folders below it whose files are not known."""


class Taken(msgspec.Struct, frozen=True):
    """What became of one file."""

    status: Literal["read", "unchanged", "twin", "skipped"]
    reason: str = ""
    passages: int = 0


class Forgotten(msgspec.Struct, frozen=True):
    """What was in the index and is not in the folder any more."""

    paths: list[str]
    kept: int = 0
    """Documents that stay although the folder is not there or shows none of them."""


def ask(database: str, method: str, arguments: list[Any]) -> Any:
    """What a method of the index says; an empty one stands for one that is lapsed or not there."""
    if Path(database).exists() and not find_lapsed(database):
        return getattr(make_index(Path(database)), method)(*arguments)
    with contextlib.closing(Index.in_memory()) as empty:
        return getattr(empty, method)(*arguments)


def listing(database: str, folder: str) -> Listing:
    """
    List a folder and give it a number. Links to folders and special files are skipped, hidden ones ignored.

    One that is not there but in the index is listed as empty: a drive may not be mounted.
    """
    if not folder.strip():
        raise ValueError("a folder without a name cannot be indexed")
    root, index = Path(folder).expanduser().resolve(), make_index(Path(database))
    if not root.exists() and (known := index.find_folder(str(root))):
        return Listing(*known)
    if not root.is_dir():
        raise ValueError(f"{folder} is not a folder" if root.exists() else f"there is no folder {folder}")
    scan = FolderScan(root)
    if len(scan.files) > FILES_LIMIT:
        raise ValueError(f"{folder} holds more than {FILES_LIMIT:,} documents; index its folders one by one")
    kinds = [Ignored(kind, len(paths), tuple(sorted(paths)[:EXAMPLES])) for kind, paths in scan.ignored.items()]
    kinds.sort(key=lambda each: (-each.count, each.kind))
    return Listing(*index.add_folder(root), str(root), sorted(scan.files), scan.skipped, kinds, scan.unopened)


def take(database: str, folder: int, root: str, path: str, megabytes: float, seconds: float, stopped: str) -> Taken:
    """
    Read a file into the index if its content is new. What cannot be read is not in the index afterwards.

    :param stopped: why its reader had to be stopped, so that the same content is not tried again; or empty.
    """
    index, most = make_index(Path(database)), int(megabytes * 1_000_000)
    try:
        data, page = read_file(Path(root), path, most), find_page(Path(root), path, most)
    except (OSError, TooLarge) as error:
        index.remove(folder, path)
        return Taken("skipped", _explain(error, megabytes))
    made = hashlib.sha256(data)
    if page:  # if it goes, the text is read again
        made.update(hashlib.sha256(page[1]).digest())
    digest = made.hexdigest()
    known, limited = index.find_key(folder, path), f"{digest} {megabytes:g} MB, {seconds:g} s"
    if known == (digest, ""):
        return Taken("unchanged")
    if known and known[0] == limited:
        return Taken("twin" if known[1].startswith(TWIN) else "skipped", known[1])
    try:
        if stopped:
            taken = Taken("skipped", stopped)
        elif page and is_twin(data, page[1]):
            taken = Taken("twin", f"{TWIN}{page[0]}")
        else:
            return Taken("read", passages=index.add(folder, path, digest, read(path, data)))
    except NotInstalled as error:
        limited, taken = "", Taken("skipped", str(error))
    except Unreadable as error:
        taken = Taken("skipped", str(error))
    index.add(folder, path, limited, None, taken.reason)
    return taken


def _explain(error: Exception, megabytes: float) -> str:
    if isinstance(error, TooLarge):
        return f"{error.size / 1e6:.3g} MB is over the limit of {megabytes:g} MB (knowledge.file_megabytes)"
    why = str(getattr(error, "strerror", error))
    return why if isinstance(error, Outside) else f"cannot be opened: {why}"


def settle(database: str, listed: Listing, skipped: list[tuple[str, str]]) -> Forgotten:
    """
    Take out the documents that a folder does not hold any more, and note how it was.

    Where it shows none at all, or one below it cannot be opened, they stay: that is how a drive looks which is not
    mounted. Only `remove_folder` forgets them.
    """
    index = make_index(Path(database))
    known, wanted = sorted(index.list_paths(listed.folder)), {*listed.files}
    if known and not wanted:
        index.settle_folder(listed.folder)
        return Forgotten([], len(known))
    gone = [each for each in known if each not in wanted and not each.startswith(tuple(listed.unopened))]
    for path in gone:
        index.remove(listed.folder, path)
    at = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    index.settle_folder(listed.folder, FolderRecord(at, tuple(listed.ignored), tuple(sorted(skipped))))
    return Forgotten(gone)


def finish(database: str) -> float:
    """All that another version had indexed is read again, or gone. Returns the size in megabytes."""
    index = make_index(Path(database))
    index.forget_lapsed()
    return index.optimize()


def renew_side_indexes(database: str) -> bool:
    """Make those of laws and cases anew, if another version made them; where that fails, a search says so."""
    storage = Path(database).parent
    for side in (STATUTES, CASES):
        with contextlib.suppress(SideIndexFailed, OSError):
            side.renew(storage)
    return not is_lapsed(storage)


def store_upload(folder: str, name: str, body: bytes) -> str:
    """Keep a document in the folder of uploads; returns why not, in a sentence, or nothing."""
    if PurePath(name).suffix.lower() not in suffixes():
        return f"Documents are {KINDS}. Give the name the suffix of one, such as .md."
    make_storage(Path(folder))
    write_bytes(Path(folder) / name, body)
    return ""


def remove_upload(database: str, folder: str, name: str) -> bool:
    """Delete a document of the folder of uploads, and take it out of the index; false if there is none."""
    file = Path(folder) / name
    was_there = file.is_file() and not file.is_symlink()
    if was_there:
        file.unlink()
    known = ask(database, "find_folder", [folder])
    return bool(known and ask(database, "remove", [known[0], name])) or was_there
