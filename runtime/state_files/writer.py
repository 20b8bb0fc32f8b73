"""Puts a project on the disk: its state file and a backup. Runs in worker processes: a slow disk holds up nobody."""

import contextlib
import os
import re
from pathlib import Path

import msgspec

from runtime.state_files import backups, frontmatter
from runtime.state_files.atomic_files import read_whole, write_whole
from runtime.state_files.parser import Unreadable
from runtime.state_files.project import Project, name_of, other_name_of
from runtime.state_files.state_file import render_state

EDITED = 20
"""Versions that people edited, of one project, that are kept beside its file; then the last is written over."""


class Saved(msgspec.Struct, frozen=True):
    """What was put where."""

    backup: str
    edited: str = ""
    """The name under which the file is kept that a person had changed."""


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
    return whose == project_id or (whose is None and backups.exist(folder, name))


def state_file(folder: Path, project_id: str) -> Path:
    return folder / f"{name_in(folder, project_id)}.md"


def _whose(path: Path) -> str | None:
    """The id of the project that a state file is of, edited or not; nothing when it is none."""
    try:
        return frontmatter.split(read_whole(path) or "")[0].project_id
    except Unreadable:
        return None


def save(folder: str, project: Project) -> Saved:
    """
    Write the state file, and keep a copy of it as the latest backup.

    What a person changed in it is kept beside it first. When the project began is what its file says.

    :raises OSError: the disk did not take it; what was there is whole.
    """
    name = name_in(Path(folder), project.id)
    path = Path(folder, f"{name}.md")
    before, edited = read_whole(path), ""
    if before is not None:
        with contextlib.suppress(Unreadable):
            head, _, _ = frontmatter.split(before)
            project = msgspec.structs.replace(project, created=head.created_at)
    if os.path.lexists(path) and not (before and frontmatter.is_sound(before)):
        edited = _put_aside(path, project.updated)
    text = render_state(project)
    write_whole(path, text)
    return Saved(backups.add(Path(folder), name, project.status, text).name, edited)


def _put_aside(path: Path, at: str) -> str:
    stem = f"{path.stem}.edited-{re.sub('[^0-9TZ]', '', at)}"
    names = [f"{stem}.md", *(f"{stem}-{number}.md" for number in range(2, EDITED + 1))]
    name = next((name for name in names if not path.with_name(name).exists()), names[-1])
    path.replace(path.with_name(name))
    return name
