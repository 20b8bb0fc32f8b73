"""What stands in a folder of documents and below it: files that can be read, what is skipped, what is ignored."""

import os
import stat
from pathlib import Path

from runtime.knowledge.index import contained_files
from runtime.knowledge.readers.reader import SUFFIXES
from runtime.user_text import encodable

FILES_LIMIT = 200_000
DEPTH_LIMIT = 40
EXAMPLES = 3
"""So many ignored files of a kind are named."""
IGNORED_FOLDERS = frozenset(("_sources", "_static", "_images", "__pycache__", "node_modules"))
"""What Sphinx puts beside its pages (their sources once more), and what programs leave behind."""


class FolderScan:
    """What stands in a folder and below it, by what becomes of it."""

    def __init__(self) -> None:
        self.files: list[str] = []
        self.skipped: list[tuple[str, str]] = []
        self.ignored: dict[str, list[str]] = {}
        self.unopened: list[str] = []

    def run(self, root: Path) -> None:
        """Go through all folders; of more files than an index may hold, not all are looked at."""
        todo = [("", 0)]
        while todo and len(self.files) <= FILES_LIMIT:
            below, depth = todo.pop()
            try:
                with contained_files.opened_folder(root, below) as folder_:
                    found = [(entry.name, _kind(entry, root / below, root, depth)) for entry in os.scandir(folder_)]
            except OSError as error:
                self.skipped.append((below, f"cannot be opened: {error.strerror}"))
                self.unopened.append(below)
                continue
            for name, what in sorted(found):
                if what == "folder" and encodable(f"{below}{name}"):
                    todo.append((f"{below}{name}/", depth + 1))
                else:
                    self._sort_in(f"{below}{name}", name, what)

    def _sort_in(self, path: str, name: str, what: str) -> None:
        if not encodable(path):
            self.skipped.append((path.encode("utf-8", "backslashreplace").decode(), "its name is not valid UTF-8"))
        elif what == "file":
            self.files.append(path)
        elif what:
            self.skipped.append((path, what))
        else:
            self.ignored.setdefault(_ignored_kind(name), []).append(path)


def _ignored_kind(name: str) -> str:
    if name.startswith("."):
        return "hidden"
    if name in IGNORED_FOLDERS:
        return f"in {name}"
    return Path(name).suffix.lower()[:20] or "without a suffix"


def _kind(entry: "os.DirEntry[str]", folder: Path, root: Path, depth: int) -> str:
    """`folder`, `file`, the reason for skipping it, or nothing for what is none of ours."""
    if entry.name.startswith("."):
        return ""
    try:
        if entry.is_dir():
            if entry.name in IGNORED_FOLDERS:
                return ""
            if entry.is_symlink():
                return "a link to a folder"
            return "folder" if depth < DEPTH_LIMIT else f"more than {DEPTH_LIMIT} folders deep"
        if Path(entry.name).suffix.lower() not in SUFFIXES:
            return ""
        if entry.is_symlink() and not (folder / entry.name).resolve(strict=True).is_relative_to(root):
            return contained_files.LEADS_OUT
        return "file" if stat.S_ISREG(entry.stat().st_mode) else contained_files.NOT_REGULAR
    except (OSError, RuntimeError):
        return "a broken link"
