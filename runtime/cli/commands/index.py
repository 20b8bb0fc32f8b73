"""`index`: reads folders of documents into the knowledge base, with a bar on a terminal."""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from runtime.cli import Exit
from runtime.cli.view.printing import Line, print_result
from runtime.service_error import ServiceError
from runtime.user_text import pluralize, safe

if TYPE_CHECKING:
    from runtime.knowledge.index.indexing import IndexReport
    from runtime.settings import Settings

SUMMARY = "read folders of documents into the knowledge base"
SKIPPED_SHOWN = 20


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = (
        "Unchanged files are not read again, vanished ones are forgotten. It may be stopped at any moment.\n\n"
        "exit status: 0 done, 1 failed, 2 bad input, 3 the folders hold no Markdown, text or HTML."
    )
    parser.add_argument("folders", nargs="*", metavar="FOLDER", help="default: [knowledge] folders of the settings")
    parser.add_argument("--json", action="store_true", help="print the report as one JSON object and nothing else")


def run(arguments: argparse.Namespace, settings: "Settings") -> int:
    import asyncio

    folders = _folders(arguments.folders or list(settings.knowledge.folders))
    report = asyncio.run(_index(folders, settings))
    print_result(_lines(report), report, json=arguments.json)
    return Exit.DONE if report.files else Exit.NOT_FOUND


def _folders(named: list[str]) -> list[Path]:
    """The folders to read, or a sentence about the first that is none."""
    if not named:
        raise ServiceError("Which folders? Name them, or set [knowledge] folders in config.toml.")
    for name in named:
        if not name.strip():
            raise ServiceError('One of the folders has no name. Name each; for the one you are in, that is ".".')
        path = Path(name)
        if not path.exists():
            raise ServiceError(f"There is no folder {safe(name)}. Check the name.")
        if not path.is_dir():
            raise ServiceError(f"{safe(name)} is a file. Name the folder that it is in.")
    return [Path(name).resolve() for name in named]


async def _index(folders: list[Path], settings: "Settings") -> "IndexReport":
    from runtime.cli.view.progress_bar import bar
    from runtime.knowledge.index.indexing import index
    from runtime.processes.pool import Workers

    workers = Workers(settings.workers.processes)
    try:
        with bar(sys.stderr) as progress:
            return await index(folders, settings.storage.folder, workers, settings.knowledge, progress)
    finally:
        workers.close()


def _lines(report: "IndexReport") -> Iterator[Line]:
    if not report.files:
        forgotten = f" What it held is forgotten ({pluralize(report.removed, 'document')})." if report.removed else ""
        yield Line(f"There is no Markdown, text or HTML in it.{forgotten}", "poor")
        return
    found = pluralize(report.files, "document")
    yield Line(f"{found} in {report.seconds:.1f} s", "good")
    for name, count in (
        ("read", report.read),
        ("unchanged", report.unchanged),
        ("removed", report.removed),
        ("skipped", len(report.skipped)),
        ("files of other kinds", report.ignored),
        ("new passages", report.passages),
    ):
        yield Line(f"{count:>9,}  {name}")
    yield Line(f"{report.megabytes:>9.1f}  megabytes of index")
    if report.skipped:
        yield Line("")
        yield Line(f"Skipped ({len(report.skipped)})", "strong")
    for source, reason in report.skipped[:SKIPPED_SHOWN]:
        yield Line(f"{source}: {reason}", indent=2)
    if len(report.skipped) > SKIPPED_SHOWN:
        yield Line(f"and {len(report.skipped) - SKIPPED_SHOWN} more; `--json` lists them all", "faint", 2)
