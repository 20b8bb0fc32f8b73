"""`index --statutes` and `index --cases`: reads laws of a folder or cases of a file, takes them out, lists them."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from runtime.cli import Exit
from runtime.cli.view.printing import Line, print_result, write
from runtime.knowledge.decided_cases import CASES
from runtime.knowledge.law_reader import STATUTES
from runtime.knowledge.side_index import SideIndex, SideIndexFailed, SourceReport
from runtime.program import command
from runtime.service_error import ServiceError
from runtime.user_text import pluralize, safe

if TYPE_CHECKING:
    from runtime.settings import Settings

EMPTY = {
    CASES: "There is no case in it: each is a JSON object on a line of its own, with id and summary.",
    STATUTES: "There is no law in it: a Markdown file with a title, and articles such as 第一条 below it.",
}

PHASES: dict[SideIndex, Literal["reading", "cases"]] = {CASES: "cases", STATUTES: "reading"}
"""What is counted while they are read."""


def index_source(side: SideIndex, name: str, settings: "Settings", *, json: bool) -> int:
    """
    Read a folder of laws or a file of cases, with a bar on a terminal; what it does not hold any more goes.

    :raises ServiceError: there is none, or the index cannot be used.
    """
    from runtime.cli.view.progress_bar import bar
    from runtime.knowledge.indexing import IndexProgress

    kind, source, one = side.takes, Path(name), side.what.removesuffix("s")
    if not name.strip() or not source.exists():
        raise ServiceError(f"There is no {kind} {safe(name)}. Check the name.")
    if source.is_dir() is (kind == "file"):
        raise ServiceError(f"{safe(name)} is no {kind}. Name the {kind} of {side.what}.")
    try:
        with bar(sys.stderr) as draw:

            def show(done: int, total: int, read: int) -> None:
                draw(IndexProgress(done, total, pluralize(read, one), read, phase=PHASES[side]))

            report = side.take(Path(settings.storage.folder), source, show)
    except OSError as error:
        raise ServiceError(f"{safe(name)} cannot be read: {error.strerror or error}.", "failed") from error
    except SideIndexFailed as error:
        raise ServiceError(str(error), "failed") from error
    print_result(_describe(side, report), report, json=json)
    return Exit.DONE if report.documents else Exit.NOT_FOUND


def remove_source(side: SideIndex, name: str, settings: "Settings", *, json: bool) -> int:
    """
    Take what was read of a source out of the index, whether or not the source is still there.

    :raises ServiceError: the index cannot be used.
    """
    try:
        gone = side.remove(Path(settings.storage.folder), Path(name))
    except SideIndexFailed as error:
        raise ServiceError(str(error), "failed") from error
    if gone is None:
        shows = command("index --list")
        line = Line(f"No {side.what} were read from {safe(name)}. {shows} shows the sources.", "poor")
    else:
        line = Line(f"{safe(name)} is out of the index ({pluralize(gone, side.what.removesuffix('s'))}).", "good")
    print_result([line], {"removed": {name: gone}}, json=json)
    return Exit.NOT_FOUND if gone is None else Exit.DONE


def list_sources(side: SideIndex, settings: "Settings") -> tuple[list[Line], list[dict[str, object]]]:
    """The sources of an index, for people and as they are; of one that cannot be used, why, on standard error."""
    try:
        sources = side.list_sources(Path(settings.storage.folder))
    except SideIndexFailed as error:
        write([Line(safe(str(error)), "poor")], sys.stderr)
        return [], []
    one = side.what.removesuffix("s")
    lines = [Line(f"{safe(path)}: {pluralize(count, one)}") for path, count in sources]
    return lines, [{"path": path, side.what: count} for path, count in sources]


def _describe(side: SideIndex, report: SourceReport) -> Iterator[Line]:
    if report.documents:
        yield Line(pluralize(report.documents, side.what.removesuffix("s")), "good")
        yield Line(f"{report.read:>9,}  read, for they are new or changed")
    else:
        yield Line(EMPTY[side], "poor")
    if report.removed:
        yield Line(f"{report.removed:>9,}  removed, for they are not there any more")
    if report.skipped:
        yield Line(f"Skipped ({len(report.skipped) + report.more_skipped:,})", "strong")
        yield from (Line(safe(f"{place}: {reason}"), "poor", indent=2) for place, reason in report.skipped)
    if report.more_skipped:
        yield Line(f"and {report.more_skipped:,} more", indent=2)
