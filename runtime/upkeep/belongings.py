"""What a ticket leaves outside of the database: state files, backups, pages, lines of the log, the memory's model."""

import contextlib
import os
import re
import shutil
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from runtime.state_files import backups
from runtime.state_files.file_names import is_kept_as, name_of, other_name_of

LOGS, PAGES = "logs", "pages"
_WORDS = re.compile(rb'[^\s"\'`=,;:()\[\]{}]+')
"""What may be an id in a line of the log, as JSON or for people."""
_SIMPLE = re.compile(r"[\w.-]+")


def forget_files(folder: Path, ids: Collection[str]) -> int:
    """
    Remove the state files and backups of researches, with the versions that people edited, and pages that they cited.

    :returns: how many files.
    :raises OSError: one could not be removed.
    """
    count = 0
    for project_id in ids:
        for name in (name_of(project_id), other_name_of(project_id)):
            for path in _state_files(folder, name, project_id):
                path.unlink(missing_ok=True)
                count += 1
            place = folder / backups.FOLDER / name
            if place.is_dir() and not place.is_symlink() and not place.parent.is_symlink():
                count += sum(1 for _ in place.iterdir())
                shutil.rmtree(place)
    return count + (_forget_pages(folder, ids) if (folder / PAGES).is_dir() else 0)


def _forget_pages(folder: Path, ids: Collection[str]) -> int:
    """Pages that no other research refers to."""
    from runtime.crawl.originals import forget  # it loads what reads pages: most installations keep none

    return forget(folder, ids)


def _state_files(folder: Path, name: str, project_id: str) -> Iterator[Path]:
    """Those that Terminus names so; a README or a person's notes of the same name stay. A name is no pattern."""
    state_file = folder / f"{name}.md"
    if os.path.lexists(state_file) and is_kept_as(folder, name, project_id):
        yield state_file
    if os.path.lexists(draft := folder / f".{name}.md.new"):
        yield draft
    begin = f"{name}.edited-"
    with os.scandir(folder) as entries:
        found = [entry.name for entry in entries if entry.name.startswith(begin) and entry.name.endswith(".md")]
    yield from (folder / each for each in found)


def forget_recordings(folder: Path, ticket: str = "", *, before: float = 0.0) -> int:
    """
    Remove what was recorded of the helpdesk that a ticket came from, whichever ticket it shows, and what is old.

    :param before: files that were written before this moment go, whatever they are of; Unix seconds.
    :returns: how many files.
    """
    from runtime.intake.recordings import FOLDER  # most installations have none of a helpdesk
    from runtime.intake.write_back import PREFIX

    source = ticket.removeprefix(PREFIX).partition(".")[0] if ticket.startswith(PREFIX) else ""
    count = 0
    for path in (folder / FOLDER).glob("*/*.json"):
        with contextlib.suppress(FileNotFoundError):  # somebody else removes it, too
            if path.parent.name == source or path.lstat().st_mtime < before:
                path.unlink()
                count += 1
    return count


def forget_lines(folder: Path, ids: Iterable[str]) -> int:
    """
    Blank the lines of the log files that name one of these ids, where they stand: other processes may be writing.

    :returns: how many lines.
    """
    wanted = {each.encode("utf-8", "backslashreplace") for each in ids}
    simple = {each for each in wanted if _SIMPLE.fullmatch(each.decode("utf-8", "replace"))}
    if not wanted or (folder / LOGS).is_symlink():
        return 0
    return sum(_blank(path, simple, wanted - simple) for path in (folder / LOGS).glob("*.log") if not path.is_symlink())


def _blank(path: Path, simple: set[bytes], others: set[bytes]) -> int:
    """`others` hold characters that may also stand between words, so they are looked for as they are."""
    count = at = 0
    with path.open("r+b") as file:
        for line in iter(file.readline, b""):
            if not simple.isdisjoint(_WORDS.findall(line)) or any(each in line for each in others):
                os.pwrite(file.fileno(), b" " * len(line.rstrip(b"\n")), at)
                count += 1
            at += len(line)
        if count:
            os.fsync(file.fileno())
    return count


def model_files(database: Path) -> list[Path]:
    """The model of what was remembered, and drafts of it; it is made again from what is left."""
    return [path for path in database.parent.glob(f"{database.name}.memory*") if not path.is_dir()]
