"""`index --cases`: reads decided cases from a file, takes them out again, and lists the files that were read."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from runtime.cases.case_file import CaseStoreFailed
from runtime.cases.case_indexing import CaseReport, CaseSource, index_cases, list_sources, remove_cases
from runtime.cli import Exit
from runtime.cli.view.printing import Line, print_result
from runtime.program import command
from runtime.service_error import ServiceError
from runtime.user_text import pluralize, safe

if TYPE_CHECKING:
    from runtime.settings import Settings


def index_file(name: str, settings: "Settings", *, json: bool) -> int:
    """
    Read the cases of a file, with a bar on a terminal.

    :raises ServiceError: there is no such file, or the store cannot be used.
    """
    from runtime.cli.view.progress_bar import bar
    from runtime.knowledge.index.indexing import IndexProgress

    file = Path(name)
    if not name.strip() or not file.exists():
        raise ServiceError(f"There is no file {safe(name)}. Check the name.")
    if not file.is_file():
        raise ServiceError(f"{safe(name)} is no file. Name the file of cases, a JSON object a line.")
    try:
        with bar(sys.stderr) as show:
            report = index_cases(
                Path(settings.storage.folder), file,
                lambda end, size, read: show(IndexProgress(end, size, pluralize(read, "case"), read, phase="cases")),
            )  # fmt: skip
    except OSError as error:
        raise ServiceError(f"{safe(name)} cannot be read: {error.strerror or error}.", "failed") from error
    except CaseStoreFailed as error:
        raise ServiceError(str(error), "failed") from error
    print_result(_describe(report), report, json=json)
    return Exit.DONE if report.cases else Exit.NOT_FOUND


def remove_file(name: str, settings: "Settings", *, json: bool) -> int:
    """
    Take the cases of a file out of the store, whether or not the file is still there.

    :raises ServiceError: the store cannot be used.
    """
    try:
        gone = remove_cases(Path(settings.storage.folder), str(Path(name).resolve()))
    except CaseStoreFailed as error:
        raise ServiceError(str(error), "failed") from error
    if gone is None:
        line = Line(f"No cases were read from {safe(name)}. {command('index --list')} shows the files.", "poor")
    else:
        line = Line(f"{safe(name)} is out of the index ({pluralize(gone, 'case')}).", "good")
    print_result([line], {"removed": {name: gone}}, json=json)
    return Exit.NOT_FOUND if gone is None else Exit.DONE


def list_case_files(settings: "Settings") -> list[CaseSource]:
    """
    The files of which the store holds cases.

    :raises ServiceError: the store cannot be used.
    """
    try:
        return list_sources(Path(settings.storage.folder))
    except CaseStoreFailed as error:
        raise ServiceError(str(error), "failed") from error


def describe_case_files(sources: list[CaseSource]) -> Iterator[Line]:
    for source in sources:
        yield Line(f"{safe(source.path)}: {pluralize(source.cases, 'case')}")


def _describe(report: CaseReport) -> Iterator[Line]:
    if report.cases:
        yield Line(f"{pluralize(report.cases, 'case')}{', unchanged' if report.unchanged else ''}", "good")
    else:
        yield Line("There is no case in it: each is a JSON object on a line of its own, with id and summary.", "poor")
    if report.removed:
        yield Line(f"{report.removed:>9,}  removed, for the file does not hold them any more")
    if report.skipped:
        yield Line(f"Skipped ({len(report.skipped) + report.more_skipped:,})", "strong")
        yield from (Line(safe(f"line {number}: {reason}"), "poor", indent=2) for number, reason in report.skipped)
    if report.more_skipped:
        yield Line(f"and {pluralize(report.more_skipped, 'more line')}", indent=2)
