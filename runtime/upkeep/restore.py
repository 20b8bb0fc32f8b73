"""
Puts a backup in the place of what is stored. Blocking.

Everything is unpacked beside the old first, and checked: the checksums, the databases, their versions. Only then is
the old moved aside, where it stays, and the new moved in, the database last. Stopped at any moment nothing is lost, and
asked again, it begins anew.
"""

import contextlib
import errno
import os
import shutil
import tarfile
import time
from collections.abc import Collection
from pathlib import Path, PurePosixPath
from typing import IO

import msgspec

from actors.ports import PortFailed
from runtime.processes.atomic_files import sync
from runtime.storage.private import DATABASE, is_ours, make_folder, make_storage
from runtime.storage.sqlite.integrity import examine, version
from runtime.storage.sqlite.process_lock import anybody
from runtime.storage.sqlite.schema import NEWEST
from runtime.upkeep.backup import DATABASES, FOLDERS, FORMAT, MANIFEST, Manifest, copy, store, verify
from runtime.user_text import display

DRAFT = ".restoring"
MANIFEST_BYTES = 256 << 20
EXAMINE_SECONDS = 600.0
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
