"""Puts a project on the disk: its state file and a backup. Runs in worker processes: a slow disk holds up nobody."""

import contextlib
import os
import re
from pathlib import Path

import msgspec

from runtime.families.research_state.head import split
from runtime.families.research_state.project import Project
from runtime.families.research_state.state_file import render_state
from runtime.processes.atomic_files import read_whole, write_whole
from runtime.state_files import backups
from runtime.state_files.file_names import name_in
from runtime.state_files.frontmatter import is_sound
from runtime.state_files.parser import Unreadable

EDITED = 20
"""Versions that people edited, of one project, that are kept beside its file; then the last is written over."""


class Saved(msgspec.Struct, frozen=True):
    """What was put where."""

    backup: str
    edited: str = ""
    """The name under which the file is kept that a person had changed."""


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
            head, _, _ = split(before)
            project = msgspec.structs.replace(project, created=head.created_at)
    if os.path.lexists(path) and not (before and is_sound(before)):
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
