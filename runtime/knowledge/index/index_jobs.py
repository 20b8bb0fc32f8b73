"""What worker processes do for indexing: list a folder, take one file in, forget what vanished. Blocking."""

import datetime
import hashlib
import sqlite3
from pathlib import Path, PurePath
from typing import Literal

from runtime.knowledge import KINDS
from runtime.knowledge.index import (
    contained_files,
    folder_records,
    index_version,
    index_writer,
    twins,
    vector_store,
)
from runtime.knowledge.index.folder_records import (
    FolderRecord,
    Forgotten,
    Ignored,
    IndexedDocument,
    IndexedFolder,
    Listing,
    MeaningState,
    Removed,
    Taken,
)
from runtime.knowledge.index.folder_scan import EXAMPLES, FILES_LIMIT, FolderScan
from runtime.knowledge.readers.parsed_document import NotInstalled, Unreadable
from runtime.knowledge.readers.reader import SUFFIXES, read
from runtime.processes.atomic_files import write_bytes
from runtime.storage.private import make_storage

_open: dict[str, tuple[tuple[int, int], sqlite3.Connection]] = {}


def lapsed(database: str) -> list[str]:
    """The folders that are to be read again, for another version made the index."""
    return index_version.find_lapsed(Path(database))


def settle(database: str, folders: list[str]) -> int:
    """These folders were read again, or are gone. Returns how many others are still to be read."""
    db = _connection(database)
    for folder in folders:
        index_version.settle_folder(db, folder)
    return len(index_version.lapsed_folders(db))


def listing(database: str, folder: str) -> Listing:
    """
    List a folder and give it a number. Links to folders and special files are skipped, hidden ones ignored.

    One that is not there but in the index is listed as empty: a drive may not be mounted.
    """
    if not folder.strip():
        raise ValueError("a folder without a name cannot be indexed")
    root = Path(folder).expanduser().resolve()
    known = not root.exists() and folder_records.find(_connection(database), str(root))
    if known:
        return Listing(known[0], _name(database, known[0]), known[1], [], [], [], [])
    if not root.is_dir():
        raise ValueError(f"{folder} is not a folder" if root.exists() else f"there is no folder {folder}")
    scan = FolderScan()
    scan.run(root)
    if len(scan.files) > FILES_LIMIT:
        raise ValueError(f"{folder} holds more than {FILES_LIMIT:,} documents; index its folders one by one")
    kinds = [Ignored(kind, len(paths), tuple(sorted(paths)[:EXAMPLES])) for kind, paths in scan.ignored.items()]
    kinds.sort(key=lambda each: (-each.count, each.kind))
    number, called = index_writer.folder_id(_connection(database), root)
    return Listing(number, called, str(root), sorted(scan.files), scan.skipped, kinds, scan.unopened)


def _name(database: str, folder: int) -> str:
    return str(_connection(database).execute("SELECT name FROM folders WHERE id = ?", (folder,)).fetchone()[0])


def take(database: str, folder: int, root: str, path: str, megabytes: float, seconds: float) -> Taken:
    """Read a file into the index if its content is new. What cannot be read is not in the index afterwards."""
    db = _connection(database)
    try:
        data, page, digest = _read(root, path, megabytes)
    except (OSError, contained_files.TooLarge) as error:
        index_writer.remove(db, folder, path)
        return Taken("skipped", _explain(error, megabytes))
    known = index_writer.stored_key(db, folder, path)
    if known == (digest, ""):
        return Taken("unchanged")
    status: Literal["skipped", "twin"] = "skipped"
    key = f"{digest} {megabytes:g} MB, {seconds:g} s"
    if known and known[0] == key:
        return Taken("twin" if known[1].startswith(twins.REASON) else "skipped", known[1])
    try:
        if page and twins.is_twin(data, page[1]):
            status, reason = "twin", f"{twins.REASON}{page[0]}"
        else:
            return Taken("read", passages=index_writer.replace(db, folder, path, digest, read(path, data)))
    except NotInstalled as error:
        key, reason = "", str(error)
    except Unreadable as error:
        reason = str(error)
    index_writer.replace(db, folder, path, key, None, reason)
    return Taken(status, reason)


def give_up(database: str, folder: int, root: str, path: str, megabytes: float, seconds: float, reason: str) -> bool:
    """Remember that a file's reader had to be stopped, so that the same content is not tried again."""
    db = _connection(database)
    try:
        digest = _read(root, path, megabytes)[2]
    except (OSError, contained_files.TooLarge):
        return index_writer.remove(db, folder, path)
    index_writer.replace(db, folder, path, f"{digest} {megabytes:g} MB, {seconds:g} s", None, reason)
    return True


def _read(root: str, path: str, megabytes: float) -> tuple[bytes, tuple[str, bytes] | None, str]:
    """A file's content, the page of its name, and the key of both: if the page goes, the text is read again."""
    most = int(megabytes * 1_000_000)
    data, page = contained_files.read(Path(root), path, most), twins.find_page(Path(root), path, most)
    made = hashlib.sha256(data)
    if page:
        made.update(hashlib.sha256(page[1]).digest())
    return data, page, made.hexdigest()


def _explain(error: Exception, megabytes: float) -> str:
    if isinstance(error, contained_files.TooLarge):
        return f"{error.size / 1e6:.3g} MB is over the limit of {megabytes:g} MB (knowledge.file_megabytes)"
    why = str(getattr(error, "strerror", error))
    return why if isinstance(error, contained_files.Outside) else f"cannot be opened: {why}"


def forget(database: str, folder: int, keep: list[str], unopened: list[str]) -> Forgotten:
    """
    Take out the documents of a folder that are not to be kept.

    Where a folder shows none at all, or one below it cannot be opened, they stay: that is how a drive looks which is
    not mounted. Only `remove_folder` forgets them.
    """
    db, wanted = _connection(database), set(keep)
    known = [str(row[0]) for row in db.execute("SELECT path FROM documents WHERE folder = ?", (folder,))]
    if not keep:
        return Forgotten([], len(known))
    hidden = tuple(unopened)
    gone = [path for path in known if path not in wanted and not path.startswith(hidden)]
    return Forgotten(sorted(path for path in gone if index_writer.remove(db, folder, path)), 0)


def keep_record(database: str, path: str, ignored: list[Ignored], skipped: list[tuple[str, str]]) -> bool:
    """Note how a folder was, for who lists the folders."""
    at = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    folder_records.save(_connection(database), path, FolderRecord(at, tuple(ignored), tuple(sorted(skipped))))
    return True


def list_folders(database: str) -> list[IndexedFolder]:
    """The folders of an index; none, when there is no index or one of another version."""
    db = _find(database)
    return folder_records.find_all(db) if db else []


def list_documents(database: str, after: str, most: int) -> list[IndexedDocument]:
    """Documents of the index by their names, those after one."""
    db = _find(database)
    return folder_records.find_documents(db, after, most) if db else []


def store_upload(folder: str, name: str, body: bytes) -> str:
    """Keep a document in the folder of uploads; returns why not, in a sentence, or nothing."""
    if PurePath(name).suffix.lower() not in SUFFIXES:
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
    db = _find(database)
    known = folder_records.find(db, folder) if db else None
    return bool(db and known and index_writer.remove(db, known[0], name)) or was_there


def remove_folder(database: str, named: str) -> Removed:
    """Take a folder out of the index."""
    db = _find(database)
    removed = folder_records.remove(db, named) if db else None
    if removed is not None:
        finish(database)
    return Removed(removed)


def measure_meaning(database: str, model: str) -> MeaningState:
    """How many texts there are, and how many of them have a vector of this model."""
    db = _find(database)
    if db is None:
        return MeaningState(0, 0)
    texts, ready = vector_store.count(db)
    return MeaningState(texts, ready if vector_store.model_name(db) == model else 0)


def begin_vectors(database: str, model: str, anew: bool) -> tuple[int, bool]:
    """
    Forget the vectors of any other model. Returns how many texts have none, and whether there were others.

    :param anew: else those of another one stay, and no text is said to have none.
    """
    db = _find(database)
    if db is None or (not anew and vector_store.model_name(db) not in {"", model}):
        return 0, False
    others = vector_store.begin(db, model)
    texts, ready = vector_store.count(db)
    return texts - ready, others


def find_texts_without_vectors(database: str, after: bytes, most: int) -> list[vector_store.Unseen]:
    """Some of them in order of their digests, from one on, and after the last of all from the first."""
    db = _find(database)
    return vector_store.find_missing(db, after, most) or vector_store.find_missing(db, b"", most) if db else []


def keep_vectors(database: str, model: str, vectors: list[tuple[bytes, bytes]]) -> bool:
    """Store vectors, as (digest, vector), as long as the index has those of this model."""
    db = _find(database)
    return db is not None and vector_store.keep(db, model, vectors)


def finish(database: str) -> float:
    """Merge what was written piece by piece, so that searching is quick; returns the size in megabytes."""
    db = _connection(database)
    vector_store.forget_unused(db)
    db.execute("INSERT INTO terms (terms) VALUES ('optimize')")
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    pages, size = (db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "page_size"))
    return float(pages * size / 1e6)


def _find(database: str) -> sqlite3.Connection | None:
    """This process's connection; None where there is no index, or one of another version."""
    return _connection(database) if Path(database).exists() and not lapsed(database) else None


def _connection(database: str) -> sqlite3.Connection:
    """This process's connection, opened again when the file is another one, or of another version by now."""
    known = _open.get(database)
    path = Path(database)
    if known is not None:
        if path.exists() and known[0] == _identity(path) and index_version.is_current(known[1]):
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
