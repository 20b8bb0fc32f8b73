"""By which names a project goes in the storage folder."""

import os
from pathlib import Path
from urllib.parse import quote

from runtime.processes.atomic_files import read_whole
from runtime.state_files import backups, frontmatter
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
    return whose == project_id or (whose is None and backups.exist(folder, name))


def _whose(path: Path) -> str | None:
    """The id of the project that a state file is of, edited or not; nothing when it is none."""
    try:
        return str(frontmatter.split(read_whole(path) or "")[0][frontmatter.ID])
    except (Unreadable, KeyError):
        return None
