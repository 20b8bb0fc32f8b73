"""
A backup: a folder, or an archive of one, with all that is stored and a manifest of checksums. Blocking.

The databases are snapshots of one moment each, taken while others write; what was deleted is not in them. Files are
whole at any moment. Logs and locks are left out. A backup appears under its name only when it is complete and on disk.
"""

import contextlib
import hashlib
import os
import shutil
import sys
import tarfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import msgspec

from actors.ports import PortFailed
from runtime.processes.atomic_files import replace_whole, sync, write_bytes
from runtime.program import command
from runtime.state_files import backups
from runtime.storage.private import DATABASE, make_folder, open_new
from runtime.storage.sqlite.integrity import REMEDY, examine, snapshot
from runtime.upkeep.belongings import PAGES

MANIFEST = "MANIFEST.json"
FORMAT = 1
KNOWLEDGE = "knowledge.db"
DATABASES = (DATABASE, KNOWLEDGE)
FOLDERS = (backups.FOLDER, PAGES)
ARCHIVES = (".tar", ".tar.gz", ".tgz")
CHUNK = 1 << 20
EXAMINE_SECONDS = 600.0


class BackupFailed(PortFailed):
    """It could not be made. The text says why, and what to do."""


class Kept(msgspec.Struct, frozen=True):
    """One file of a backup."""

    bytes: int
    sha256: str


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """What a backup holds, by path below it."""

    format: int
    made: str
    """ISO time in UTC."""
    schema: int
    """Version of the tables of the database."""
    files: dict[str, Kept]

    @property
    def size(self) -> int:
        return sum(each.bytes for each in self.files.values())


def back_up(folder: Path, to: Path, *, replace: bool = False) -> Manifest:
    """
    Make a backup of a storage folder.

    :param to: the new folder, or an archive by its suffix.
    :param replace: an earlier backup that is there.
    :raises BackupFailed: there is nothing to keep, or something stands at its place.
    :raises StorageError: a database could not be read.
    :raises OSError: the disk did not take it; nothing is left of it.
    """
    to = to.absolute()
    _check_place(folder, to, replace=replace)
    draft = to.with_name(f".{to.name}.{os.getpid()}.part")
    _remove(draft)
    try:
        manifest = _copy(folder, make_folder(draft))
        if to.name.endswith(ARCHIVES):
            _pack(draft, to)
        else:
            if replace:
                _remove(to)
            draft.rename(to)
        sync(to.parent)
    finally:
        _remove(draft)
    return manifest


def _check_place(folder: Path, to: Path, *, replace: bool) -> None:
    if not (folder / DATABASE).exists():
        raise BackupFailed(f"There is nothing to keep: {folder} has no database yet.")
    if not to.parent.is_dir():
        raise BackupFailed(f"There is no folder {to.parent}: make it, or name another place.")
    if to.resolve().is_relative_to(folder.resolve()):
        raise BackupFailed(f"{to} is in the storage folder itself: name a place outside of it, best on another disk.")
    if not os.path.lexists(to):
        return
    if not replace:
        raise BackupFailed(f"{to} is there already: name another place, or give --force to replace it.")
    ours = (to / MANIFEST).is_file() if to.is_dir() else to.is_file() and to.name.endswith(ARCHIVES)
    if to.is_symlink() or not ours:
        raise BackupFailed(f"{to} is no backup, so it is not replaced: name another place.")


def _copy(folder: Path, draft: Path) -> Manifest:
    schema, files = 0, dict[str, Kept]()
    for name in DATABASES:  # first: what the files say later is no riddle to an older database
        if (folder / name).exists():
            _check_sound(folder / name)
            version = snapshot(folder / name, draft / name)
            schema = version if name == DATABASE else schema
            files[name] = verify(draft / name)
    for path in sorted(_files(folder)):
        name = str(path.relative_to(folder))
        with contextlib.suppress(FileNotFoundError):  # an older backup of a state file went meanwhile
            make_folder((draft / name).parent)
            files[name] = copy(path, draft / name)
    made = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    manifest = Manifest(format=FORMAT, made=made, schema=schema, files=files)
    write_bytes(draft / MANIFEST, msgspec.json.format(msgspec.json.encode(manifest), indent=1) + b"\n")
    for place in {draft, *((draft / name).parent for name in files)}:
        sync(place)
    return manifest


def _check_sound(file: Path) -> None:
    """:raises BackupFailed: it is damaged: a copy would hold the damage, and pass for whole."""
    try:
        damage = examine(file, "quick_check", EXAMINE_SECONDS, read_only=True)
    except TimeoutError:  # a large one, or somebody writes: it is kept as it is
        return
    if damage:
        remedy = f"Move it away and index again with {command('index')}." if file.name == KNOWLEDGE else REMEDY
        raise BackupFailed(
            f"No backup was made: {file} is damaged ({damage}). Copy the folder as it is first. {remedy}"
        )


def _files(folder: Path) -> Iterator[Path]:
    """All that is kept beside the databases; nothing that is a link to elsewhere."""
    found = [folder / f"{DATABASE}.memory", *folder.glob("*.md")]
    for name in FOLDERS:
        if not (folder / name).is_symlink():
            found += (folder / name).rglob("*")
    yield from (path for path in found if path.is_file() and not path.is_symlink() and not path.name.startswith("."))


def copy(path: Path, to: Path) -> Kept:
    """Copy a file, but no link, into a new, private one, durably; returns what was written."""
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC), "rb") as source:
        return store(source, to)


def store(source: IO[bytes], to: Path, most: int = sys.maxsize) -> Kept:
    """The same for a stream, of which no more than so many bytes are taken."""
    digest, size = hashlib.sha256(), 0
    with os.fdopen(open_new(to), "wb") as target:
        while chunk := source.read(min(most - size, CHUNK)):
            digest.update(chunk)
            size += target.write(chunk)
        target.flush()
        os.fsync(target.fileno())
    return Kept(size, digest.hexdigest())


def verify(path: Path) -> Kept:
    """A file as it is."""
    with path.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    return Kept(path.stat().st_size, digest)


def _pack(draft: Path, to: Path) -> None:
    """Make a draft the archive that it is to be."""
    with (
        replace_whole(to, to.with_name(f".{to.name}.{os.getpid()}.packed")) as stream,
        tarfile.open(fileobj=stream, mode="w" if to.name.endswith(".tar") else "w:gz") as archive,
    ):
        for path in sorted(path for path in draft.rglob("*") if path.is_file()):
            archive.add(path, str(path.relative_to(draft)), recursive=False)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
