"""`report`: prints the report of a research, or writes it to a file."""

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from runtime.cli import Exit, utf8
from runtime.program import command
from runtime.service_error import ServiceError
from runtime.user_text import as_json, display, safe

if TYPE_CHECKING:
    from actors.documents.template import Document
    from actors.reporting.report import Report
    from runtime.settings import Settings


SUMMARY = "print or write the report of a research, or the document that a ticket asked for"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = "exit status: 0 done, 2 bad input, 3 there is no such research, or no report of it yet."
    parser.add_argument("id", type=utf8, help="a ticket or a run")
    parser.add_argument("--out", metavar="FILE", help="write it as .md, .html, .docx or .pdf, and print nothing")
    parser.add_argument("--json", action="store_true", help="print it as one JSON object and nothing else")


async def run(arguments: argparse.Namespace, settings: "Settings") -> int:
    from actors.documents.template import Document
    from actors.reporting.markdown import render_markdown
    from runtime.cli.view.terminal_markdown import show
    from runtime.engine.service import open_service

    out = None if arguments.out is None else destination(arguments.out)
    async with open_service(settings) as service:
        report = await service.report(arguments.id)
    if out is not None:
        write_report(report, out)
    if arguments.json:
        print(as_json(report))
    elif out is None:
        show(report.markdown if isinstance(report, Document) else render_markdown(report), sys.stdout)
    return Exit.DONE


def destination(name: str) -> Path:
    """
    The file that a report is written to, looked at before there is one.

    :raises ServiceError: it cannot be written there.
    """
    from runtime.reports import formats, missing

    path = Path(name)
    said, suffix, folder = safe(name), path.suffix.lower(), path.parent
    if suffix not in formats():
        known = ", ".join(formats())
        raise ServiceError(
            f"A report is written as {known}, not {display(path.suffix or name)}: name --out accordingly."
        )
    if said_missing := missing(suffix):
        raise ServiceError(said_missing)
    if path.is_dir():
        raise ServiceError(f"{said} is a folder. Name a file in it with --out.")
    if not folder.is_dir():
        raise ServiceError(
            f"There is no folder {safe(str(folder))} to write {safe(path.name)} to. Make it, or name another."
        )
    if not os.access(path if path.exists() else folder, os.W_OK):
        raise ServiceError(f"{said} cannot be written by this user. Name another file with --out.")
    return path


def write_report(report: "Report | Document", out: Path) -> None:
    """Write a report and say so."""
    from runtime.reports import write

    try:
        write(report, out)
    except OSError as error:
        what = f"{safe(str(out))} could not be written ({error.strerror or type(error).__name__})"
        raise ServiceError(f"{what}. Make room or name another file: {command('report ID --out FILE')}.") from None
    print(f"Written to {safe(str(out))}.", file=sys.stderr, flush=True)
