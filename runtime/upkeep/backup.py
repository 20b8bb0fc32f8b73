"""
A backup: a folder, or an archive of one, with all that is stored and a manifest of checksums; and
the way back. Blocking.

The databases are snapshots of one moment each, taken while others write; what was deleted is not in
them. A backup is unpacked beside what is stored and checked (checksums, databases, versions) before
it takes its place; what stood there is moved aside.
"""

import contextlib
import errno
import hashlib
import os
import shutil
import sys
import tarfile
import time
from collections.abc import Collection, Iterator
from pathlib import Path, PurePosixPath
from typing import IO

import msgspec

from actors.ports import PortFailed
from runtime.processes.atomic_files import replace_whole, sync, write_bytes
from runtime.program import command
from runtime.state_files import backups
from runtime.storage.private import DATABASE, is_ours, make_folder, make_storage, open_new
from runtime.storage.sqlite.integrity import REMEDY, examine, snapshot, version
from runtime.storage.sqlite.process_lock import anybody
from runtime.storage.sqlite.schema import NEWEST
from runtime.upkeep.purge import PAGES
from runtime.user_text import display

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


DRAFT = ".restoring"
MANIFEST_BYTES = 256 << 20
KEPT = "logs"
"""Stays where it is: the log of what is done here."""


class RestoreFailed(PortFailed):
    """Nothing was put in place. The text says why, and what to do."""


class Restored(msgspec.Struct, frozen=True):
    """What was put in place."""

    manifest: Manifest
    aside: str
    """The folder with what was there before; empty when there was nothing."""


def restore(source: Path, folder: Path, owners: Path) -> Restored:
    """
    Put a backup in the place of what is in a storage folder.

    :raises RestoreFailed: a process is using the folder, or the backup is not whole.
    :raises OSError: the disk did not take it.
    """
    _check_nobody(folder, owners)
    if not source.exists():
        raise RestoreFailed(f"There is no backup {source}. Check the name.")
    draft = make_storage(folder) / DRAFT
    if draft.exists():
        shutil.rmtree(draft)
    try:
        manifest = _unpack(source, make_folder(draft))
        _check_databases(draft)
        _check_nobody(folder, owners)
        (draft / MANIFEST).unlink(missing_ok=True)
        aside = _move_aside(folder, {path.name for path in draft.iterdir()})
        _move_in(draft, folder)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    sync(folder)
    return Restored(manifest, str(aside or ""))


def _check_nobody(folder: Path, owners: Path) -> None:
    if anybody(owners):
        raise RestoreFailed(f"A process is using {folder}: stop the daemon and every command first, then restore.")


def _unpack(source: Path, draft: Path) -> Manifest:
    """Everything that the manifest names, as it was when the backup was made."""
    try:
        manifest = _from_folder(source, draft) if source.is_dir() else _from_archive(source, draft)
    except (tarfile.TarError, EOFError, UnicodeError) as error:
        raise RestoreFailed(f"{source} is no backup, or not a whole one ({error}).") from None
    for name, kept in manifest.files.items():
        path = draft / name
        if not path.is_file():
            raise RestoreFailed(f"{source} is not whole: {name} is missing. Take another backup.")
        if verify(path) != kept:
            raise RestoreFailed(f"{source} is damaged: {name} is not as it was kept. Take another backup.")
    return manifest


def _from_folder(source: Path, draft: Path) -> Manifest:
    try:
        with (source / MANIFEST).open("rb") as stream:
            manifest = _manifest(source, stream)
    except FileNotFoundError:
        raise RestoreFailed(f"{source} is no backup: it has no {MANIFEST}.") from None
    for name in manifest.files:
        make_folder((draft / name).parent)
        with contextlib.suppress(FileNotFoundError):
            copy(source / name, draft / name)
    return manifest


def _from_archive(source: Path, draft: Path) -> Manifest:
    """Only plain files are taken, under names that stay below the draft."""
    with tarfile.open(source) as archive:
        try:
            found = archive.extractfile(MANIFEST)
        except KeyError:
            found = None
        if found is None:
            raise RestoreFailed(f"{source} is no backup: it has no {MANIFEST}.")
        manifest = _manifest(source, found)
        for member in archive:
            if member.isfile() and member.name in manifest.files and (stream := archive.extractfile(member)):
                make_folder((draft / member.name).parent)
                most = manifest.files[member.name].bytes + 1  # more than it should have is enough to know
                store(stream, draft / member.name, most)
    return manifest


def _manifest(source: Path, stream: IO[bytes]) -> Manifest:
    try:
        manifest = msgspec.json.decode(stream.read(MANIFEST_BYTES), type=Manifest)
    except msgspec.MsgspecError as error:
        raise RestoreFailed(f"{source} is damaged: its {MANIFEST} cannot be read ({error}).") from None
    if manifest.format != FORMAT:
        raise RestoreFailed(f"{source} is a backup of a newer version. Use the version of Terminus that made it.")
    for name in manifest.files:
        if not _belongs(name):
            raise RestoreFailed(f"{source} is no backup: it names {display(name)}, which is none of its files.")
    if DATABASE not in manifest.files:
        raise RestoreFailed(f"{source} has no database in it. Take another backup.")
    return manifest


def _belongs(name: str) -> bool:
    """Only what a backup holds is put anywhere, whatever a manifest says."""
    parts = PurePosixPath(name).parts
    if not parts or "/".join(parts) != name or "\x00" in name or any(part.startswith(".") for part in parts):
        return False
    if len(parts) == 1:
        return name in {*DATABASES, f"{DATABASE}.memory"} or name.endswith(".md")
    return parts[0] in FOLDERS


def _check_databases(draft: Path) -> None:
    for name in DATABASES:
        if not (draft / name).exists():
            continue
        try:
            findings = examine(draft / name, "quick_check", EXAMINE_SECONDS)
        except TimeoutError:  # its checksum is right
            findings = ""
        if findings:
            raise RestoreFailed(f"The {name} of the backup is damaged ({findings}). Take another backup.")
    if (found := version(draft / DATABASE)) > NEWEST:
        raise RestoreFailed(
            f"The backup is of version {found}, and this program knows no newer one than {NEWEST}: use the version of "
            "Terminus that made it."
        )


def _move_aside(folder: Path, wanted: Collection[str]) -> Path | None:
    """
    Everything of ours goes into a folder of its own, which nothing else is in; nothing, when there was nothing.

    :param wanted: names that the backup fills. What a person put there under one of them goes aside, too.
    """
    old = [
        path for path in _standing(folder) if path.name != KEPT and (path.name in wanted or is_ours(path.name, folder))
    ]
    if not old:
        return None
    name = f"{folder.absolute().name}.before-restore-{time.strftime('%Y%m%dT%H%M%S', time.gmtime())}-{os.getpid()}"
    aside = folder.absolute().parent / name
    try:
        aside.mkdir(mode=0o700)
        _move(old[0], aside)
    except OSError as error:
        if error.errno not in {errno.EXDEV, errno.EACCES, errno.EROFS, errno.EPERM}:
            raise
        with contextlib.suppress(OSError):
            aside.rmdir()
        aside = make_folder(folder / f".{name}")  # the folder is a disk of its own, or nothing may be made beside it
        _move(old[0], aside)
    for path in old[1:]:
        _move(path, aside)
    return aside


def _move_in(draft: Path, folder: Path) -> None:
    for path in reversed(_standing(draft)):
        if (folder / path.name).is_dir():
            raise RestoreFailed(f"{folder / path.name} was made meanwhile. Stop what uses {folder}, and ask again.")
        _move(path, folder)


def _standing(folder: Path) -> list[Path]:
    """The database first: until there is one again, nobody takes what is there for the whole."""
    return sorted(folder.iterdir(), key=lambda path: (path.name != DATABASE, path.name))


def _move(path: Path, into: Path) -> None:
    path.replace(into / path.name)
