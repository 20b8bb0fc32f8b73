"""Reports as files: Markdown, HTML, DOCX, PDF. What a format needs is only loaded when it is asked for."""

import importlib
import os
from importlib.util import find_spec
from pathlib import Path

import msgspec

from actors.documents.template import Document
from actors.ports import PortFailed
from actors.reporting.markdown import render_markdown
from actors.reporting.report import Report
from runtime.processes.atomic_files import replace_whole

_FORMATS = {".md": "", ".html": "", ".docx": "docx", ".pdf": "reportlab"}
"""Suffixes, each with what must be installed to write files of it."""

DOCUMENT_FORMATS = (".md", ".docx")
"""Of a document, which a person signs or works on."""


class NotWritten(PortFailed):
    """A report cannot be written as asked. The text says how else."""


def formats() -> tuple[str, ...]:
    """Suffixes of the files that a report can be written to."""
    return tuple(_FORMATS)


def missing(suffix: str) -> str:
    """Why no report can be written as files of this suffix, in a sentence; empty when it can."""
    library = _FORMATS.get(suffix)
    if not library or find_spec(library) is not None:
        return ""
    return f"Writing {suffix} needs more than is installed: `pip install -e '.[documents]'`, or ask for .html."


def render(report: Report | Document, suffix: str) -> bytes:
    """
    A report or a document as the content of a file of this suffix.

    :raises NotWritten: no such format, or what it needs is not installed.
    """
    if suffix not in _FORMATS:
        raise NotWritten(
            f"A report cannot be written as {suffix or 'a file without suffix'}: name one of {', '.join(_FORMATS)}."
        )
    if said := missing(suffix):
        raise NotWritten(said)
    if isinstance(report, Document):
        return _render_document(report, suffix)
    if suffix == ".md":
        return render_markdown(report).encode("utf-8", "replace")
    made: bytes = importlib.import_module(f"{__name__}.{suffix[1:]}").render(report)
    return made


def _render_document(document: Document, suffix: str) -> bytes:
    if suffix == ".md":
        return document.markdown.encode("utf-8", "replace")
    if suffix == ".docx":
        from runtime.reports.document_docx import render_document

        return render_document(document)
    raise NotWritten(f"A document is written as {' or '.join(DOCUMENT_FORMATS)}, not as {suffix}.")


def render_packed(report: bytes, suffix: str) -> bytes:
    """`render` of a report encoded as MessagePack, for a worker process."""
    return render(msgspec.msgpack.decode(report, type=Report), suffix)


def render_packed_fragment(report: bytes) -> bytes:
    """A report encoded as MessagePack as HTML for a page that shows more than it, for a worker process."""
    from runtime.reports.html import render_fragment

    return render_fragment(msgspec.msgpack.decode(report, type=Report))


def render_packed_document(document: bytes, suffix: str) -> bytes:
    """The same of a document."""
    return render(msgspec.msgpack.decode(document, type=Document), suffix)


def write(report: Report | Document, path: Path) -> None:
    """
    Write a report in the format of the path's suffix: the file is there as a whole, or as it was before.

    :raises NotWritten: as above.
    :raises OSError: the disk or the folder is not as it should be.
    """
    made = render(report, path.suffix.lower())
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
