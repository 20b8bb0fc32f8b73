"""`index --statutes`: reads a folder of laws."""

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from runtime.cli import Exit
from runtime.cli.view.printing import Line, print_result, write
from runtime.processes.pool import Workers
from runtime.service_error import ServiceError
from runtime.statutes.statute_index import StatuteIndex, StatuteReport
from runtime.storage.private import make_storage
from runtime.user_text import pluralize, safe

if TYPE_CHECKING:
    from runtime.settings import Settings


def index_folder(name: str, settings: "Settings", *, json: bool) -> int:
    """
    Read the laws of a folder; those that it does not hold any more go.

    :raises ServiceError: there is no such folder.
    """
    folder = Path(name)
    if not name.strip() or not folder.is_dir():
        raise ServiceError(f"There is no folder {safe(name)}. Check the name.")
    report = asyncio.run(_index(folder, settings))
    print_result(_describe(report), report, json=json)
    return Exit.DONE if report.laws else Exit.NOT_FOUND


async def _index(folder: Path, settings: "Settings") -> StatuteReport:
    workers = Workers(1)
    try:
        statutes = StatuteIndex(make_storage(Path(settings.storage.folder)), workers)
        waiting = Line("Another process is reading laws; waiting.")
        return await statutes.index(folder, lambda: write([waiting], sys.stderr))
    finally:
        workers.close()


def _describe(report: StatuteReport) -> Iterator[Line]:
    if report.laws:
        yield Line(f"{pluralize(report.laws, 'law')} with {pluralize(report.articles, 'article')}", "good")
    else:
        yield Line("There is no law in it: a Markdown file with a title, and articles such as 第一条 below it.", "poor")
    for name, count in (("read", report.read), ("gone, for the folder does not hold them any more", report.gone)):
        yield Line(f"{count:>9,}  {name}")
    if report.skipped:
        yield Line(f"Skipped ({len(report.skipped) + report.more_skipped:,})", "strong")
        yield from (Line(safe(f"{name}: {reason}"), "poor", indent=2) for name, reason in report.skipped)
    if report.more_skipped:
        yield Line(f"and {pluralize(report.more_skipped, 'more file')}", indent=2)
