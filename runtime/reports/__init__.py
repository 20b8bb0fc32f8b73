"""Reports as files: Markdown, HTML, DOCX, PDF. What a format needs is only loaded when it is asked for."""

import importlib
import os
from importlib.util import find_spec
from pathlib import Path

from actors.ports import PortFailed
from actors.reporting.report import Report
from runtime.processes.atomic_files import replace_whole

_MODULES = {
    ".md": "runtime.reports.text",
    ".html": "runtime.reports.html",
    ".docx": "runtime.reports.docx",
    ".pdf": "runtime.reports.pdf",
}
_EXTRA = ".[documents]"
_WRITERS = {".docx": "docx", ".pdf": "reportlab"}
"""What must be installed to write a report of this suffix."""


class NotWritten(PortFailed):
    """A report cannot be written as asked. The text says how else."""


def formats() -> tuple[str, ...]:
    """Suffixes of the files that a report can be written to."""
    return tuple(_MODULES)


def missing(suffix: str) -> str:
    """Why no report can be written as files of this suffix, in a sentence; empty when it can."""
    module = _WRITERS.get(suffix)
    if module is None or find_spec(module) is not None:
        return ""
    return f"Writing {suffix} needs more than is installed: `pip install -e '{_EXTRA}'`, or ask for .html."


def write(report: Report, path: Path) -> None:
    """
    Write a report in the format of the path's suffix: the file is there as a whole, or as it was before.

    :raises NotWritten: no such format, or what it needs is not installed.
    :raises OSError: the disk or the folder is not as it should be.
    """
    name = _MODULES.get(path.suffix.lower())
    if name is None:
        known = ", ".join(formats())
        raise NotWritten(
            f"A report cannot be written as {path.suffix or 'a file without suffix'}: name one of {known}."
        )
    try:
        made: bytes = importlib.import_module(name).render(report)
    except ModuleNotFoundError as error:
        raise NotWritten(
            f"Writing {path.suffix} needs {error.name}: `pip install -e '{_EXTRA}'`, or ask for .html."
        ) from None
    with replace_whole(path, path.with_name(f".{path.name[:50]}.{os.getpid()}.new"), _mode(path)) as file:
        file.write(made)


def _mode(path: Path) -> int:
    """The rights of the file that is replaced; a new one has those of any new file."""
    try:
        return path.stat().st_mode & 0o777
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask
