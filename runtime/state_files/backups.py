"""Backups of a project: `backups/{projectId}/{number}-{stage}.md`, and `latest`, which names one with its checksum."""

import contextlib
import os
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from runtime.processes.atomic_files import folder_for, read_whole, write_whole
from runtime.state_files import frontmatter
from runtime.state_files.frontmatter import digest, is_sound
from runtime.state_files.parser import Unreadable

NAME_CHARACTERS = 100


def name_of(project_id: str) -> str:
    """
    The name of a project's file, without suffix, and of its folder of backups: one name in one folder, whatever the id.

    An id of letters, digits, dots, dashes and underscores is its own name.
    """
    name = quote(project_id, safe="", errors="replace")
    if name.startswith("."):
        name = f"%2E{name[1:]}"
    return name if name and len(name) <= NAME_CHARACTERS else other_name_of(project_id)


def other_name_of(project_id: str) -> str:
    """The name of a project whose own is too long, or taken by a file of somebody else's."""
    return f"%{frontmatter.digest(project_id)}"


def name_in(folder: Path, project_id: str) -> str:
    """
    Under which name a project is kept in a storage folder: its own, unless something else stands there.

    A README or a person's notes stay what they are, and so does the file of an id that differs in case alone where
    the file system does not tell the two apart.
    """
    own, other = name_of(project_id), other_name_of(project_id)
    if (folder / f"{other}.md").exists():
        return other  # once begun there it stays there
    return own if not os.path.lexists(folder / f"{own}.md") or is_kept_as(folder, own, project_id) else other


def is_kept_as(folder: Path, name: str, project_id: str) -> bool:
    """Whether the state file of this name is the project's; one that cannot be read is known by its backups."""
    whose = _whose(folder / f"{name}.md")
    return whose == project_id or (whose is None and exist(folder, name))


def _whose(path: Path) -> str | None:
    """The id of the project that a state file is of, edited or not; nothing when it is none."""
    try:
        return str(frontmatter.split(read_whole(path) or "")[0][frontmatter.ID])
    except (Unreadable, KeyError):
        return None


FOLDER = "backups"
LATEST = "latest"
"""As `sha256sum` writes it, so that `sha256sum -c latest` checks the latest backup."""
KEPT = 10
"""The last so many are kept, and the last of each stage."""

_NAME = re.compile(r"(\d{6,12})-([a-z]{1,20})\.md")
_MARK = re.compile(r"([0-9a-f]{64})  (\S{1,60})\n?")


def add(folder: Path, name: str, stage: str, text: str) -> Path:
    """
    Keep a state file as the latest backup, and let go of the older ones that are not needed.

    :param folder: the storage folder.
    :param name: under which the project is kept there.
    :raises OSError: it could not be written; what was there is as it was.
    """
    place = folder_for(folder_for(folder / FOLDER) / name)
    there = _list_backups(place)
    path = place / f"{there[0][0] + 1 if there else 1:06}-{stage}.md"
    write_whole(path, text)
    write_whole(place / LATEST, f"{digest(text)}  {path.name}\n")
    _rotate(place)
    return path


def valid(folder: Path, name: str) -> Iterator[tuple[Path, str]]:
    """
    All backups of a project that are as they were written, the latest first, with their text.

    :param name: under which the project is kept.
    """
    place = folder / FOLDER / name
    if place.is_symlink() or place.parent.is_symlink() or not place.is_dir():
        return
    mark = _MARK.fullmatch(read_whole(place / LATEST) or "")
    files = [file for _, _, file in _list_backups(place)]
    if mark and mark[2] in files:
        files.remove(mark[2])
        files.insert(0, mark[2])
    for file in files:
        text = read_whole(place / file)
        if text is None or not is_sound(text):
            continue
        if not mark or file != mark[2] or digest(text) == mark[1]:
            yield place / file, text


def exist(folder: Path, name: str) -> bool:
    """Whether a project of this name was ever kept here."""
    return (folder / FOLDER / name / LATEST).is_file()


def _rotate(place: Path) -> None:
    there = _list_backups(place)
    last_of = {stage: name for _, stage, name in reversed(there)}
    keep = {name for _, _, name in there[:KEPT]} | set(last_of.values())
    for _, _, name in there:
        if name not in keep:
            with contextlib.suppress(OSError):  # one too many does no harm
                (place / name).unlink()


def _list_backups(place: Path) -> list[tuple[int, str, str]]:
    """(number, stage, name) of each backup, the latest first."""
    found = (_NAME.fullmatch(path.name) for path in place.iterdir())
    return sorted(((int(each[1]), each[2], each[0]) for each in found if each), reverse=True)
