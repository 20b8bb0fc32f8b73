"""`index`: reads folders of documents into the knowledge base, with a bar on a terminal."""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from runtime.cli import Exit
from runtime.cli.view.folder_lines import describe_folder, describe_ignored, describe_skipped, list_first
from runtime.cli.view.printing import Line, print_result, write
from runtime.knowledge import KINDS, no_index_message
from runtime.program import command
from runtime.service_error import ServiceError
from runtime.user_text import pluralize, safe

if TYPE_CHECKING:
    from runtime.knowledge.indexing import IndexReport
    from runtime.settings import Settings

SUMMARY = "read folders of documents into the knowledge base"
BUSY_SECONDS = 1.0
LATER = "A daemon on this folder prepares their meaning, too."
"""Why vectors are missing that this command leaves."""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = (
        "Unchanged files are not read again, vanished ones are forgotten; a folder that is not there, or shows no "
        "document, keeps what was read from it until --remove. Once all can be found by its words, the sentence model "
        "prepares what the texts mean. It may be stopped at any moment: what is made is kept, and a daemon or the next "
        "index goes on.\n\n"
        f"exit status: 0 done, 1 failed, 2 bad input, 3 the folders hold no {KINDS}, or none is indexed, 130 stopped."
    )
    parser.add_argument("folders", nargs="*", metavar="FOLDER", help="default: [knowledge] folders of the settings")
    kinds = parser.add_mutually_exclusive_group()
    kinds.add_argument("--list", action="store_true", help="show the folders of the index, and what was left out")
    kinds.add_argument("--remove", action="store_true", help="take the folders out of the index, by path or name")
    side = parser.add_mutually_exclusive_group()
    side.add_argument("--cases", metavar="FILE", help="decided cases instead, a JSON object a line: read, or --remove")
    side.add_argument(
        "--statutes", metavar="FOLDER", help="laws instead, a Markdown file each with 第X条: read, or --remove"
    )
    parser.add_argument(
        "--no-wait", action="store_true", help="leave the meaning of texts to a daemon, or the next index"
    )
    parser.add_argument("--json", action="store_true", help="print the report as one JSON object and nothing else")


def run(arguments: argparse.Namespace, settings: "Settings") -> int:
    import asyncio

    from runtime.embeddings.provider_check import name_missing_model
    from runtime.knowledge.readers.reader import GROUP, Reader
    from runtime.plugins import find_plugins

    if arguments.cases is not None or arguments.statutes is not None:
        from runtime.cli.side_sources import index_source, remove_source
        from runtime.knowledge.decided_cases import CASES
        from runtime.knowledge.law_reader import STATUTES

        side, name = (STATUTES, arguments.statutes) if arguments.cases is None else (CASES, arguments.cases)
        if arguments.folders or arguments.list:
            raise ServiceError(
                f"{side.option} takes its one {side.takes.upper()}, and neither folders nor --list. Leave these out."
            )
        carry_out = remove_source if arguments.remove else index_source
        return carry_out(side, name, settings, json=arguments.json)
    if arguments.list:
        return _list(settings, json=arguments.json)
    if arguments.remove:
        return _remove(arguments.folders, settings, json=arguments.json)
    for sentence in find_plugins(Reader, GROUP).broken:
        write([Line(sentence, "poor")], sys.stderr)
    folders = _folders(arguments.folders or list(settings.knowledge.folders), settings)
    if missing := name_missing_model(settings.embeddings):
        write([Line(missing, "poor")], sys.stderr)
    report, stopped = asyncio.run(_index(folders, settings, waits=not arguments.no_wait, json=arguments.json))
    print_result(_describe_meaning(report), report, json=arguments.json)
    return Exit.CANCELLED if stopped else Exit.DONE if report.files else Exit.NOT_FOUND


def _list(settings: "Settings", *, json: bool) -> int:
    import asyncio

    from runtime.cli.side_sources import list_sources
    from runtime.embeddings.providers import open_workers
    from runtime.knowledge.decided_cases import CASES
    from runtime.knowledge.index import IndexedFolder, MeaningState
    from runtime.knowledge.indexing import list_folders, measure_meaning
    from runtime.knowledge.law_reader import STATUTES
    from runtime.processes.pool import Workers

    async def look() -> tuple[list[IndexedFolder], MeaningState | None]:
        storage = settings.storage.folder
        async with open_workers(settings, Workers(1)) as (workers, embedder):
            return await list_folders(storage, workers), await measure_meaning(storage, workers, embedder)

    folders, meaning = asyncio.run(look())
    lines = [line for folder in folders for line in describe_folder(folder)]
    if meaning and meaning.texts:
        rest = "" if meaning.ready == meaning.texts else f"; {command('serve')} or {command('index')} makes the rest"
        ready = f"{meaning.ready:,} of {pluralize(meaning.texts, 'text')}"
        lines += [Line(""), Line(f"{ready} can be found by meaning{rest}")]
    found: dict[str, object] = {"folders": folders, "meaning": meaning}
    for side in (STATUTES, CASES):
        its, found[side.option.strip("-")] = list_sources(side, settings)
        lines += its
    print_result(lines or [Line(no_index_message(), "poor")], found, json=json)
    return Exit.DONE if lines else Exit.NOT_FOUND


def _remove(named: list[str], settings: "Settings", *, json: bool) -> int:
    import asyncio

    from runtime.knowledge.indexing import remove_folder
    from runtime.processes.pool import Workers

    if not named or not all(name.strip() for name in named):
        raise ServiceError(f"Which folder shall be removed? {command('index --list')} shows those of the index.")
    workers, removed = Workers(1), dict[str, int | None]()
    try:
        for name in named:
            work = remove_folder(name, settings.storage.folder, workers, settings.knowledge)
            removed[name] = asyncio.run(work)
    finally:
        workers.close()
    print_result(_removed(removed), {"removed": removed}, json=json)
    return Exit.DONE if None not in removed.values() else Exit.NOT_FOUND


def _removed(removed: dict[str, int | None]) -> Iterator[Line]:
    for name, count in removed.items():
        if count is None:
            yield Line(
                f"The index holds no folder {safe(name)}. {command('index --list')} shows which it holds.", "poor"
            )
        else:
            yield Line(f"{safe(name)} is out of the index ({pluralize(count, 'document')}).", "good")


def _folders(named: list[str], settings: "Settings") -> list[Path]:
    """The folders to read, or a sentence about the first that is none. One of the index may be out of reach."""
    if not named:
        raise ServiceError("Which folders? Name them, or set [knowledge] folders in config.toml.")
    for name in named:
        if not name.strip():
            raise ServiceError('One of the folders has no name. Name each; for the one you are in, that is ".".')
        path = Path(name)
        if not path.exists() and str(path.resolve()) not in _indexed(settings):
            raise ServiceError(f"There is no folder {safe(name)}. Check the name.")
        if path.exists() and not path.is_dir():
            raise ServiceError(f"{safe(name)} is a file. Name the folder that it is in.")
    return [Path(name).resolve() for name in named]


def _indexed(settings: "Settings") -> list[str]:
    """The paths of the folders that the index holds."""
    from runtime.knowledge import FILE
    from runtime.storage.errors import StorageError
    from runtime.storage.sqlite.integrity import read_rows

    try:
        rows = read_rows(Path(settings.storage.folder) / FILE, "SELECT path FROM folders", BUSY_SECONDS)
    except StorageError:
        return []
    return [str(path) for (path,) in rows]


async def _index(folders: list[Path], settings: "Settings", *, waits: bool, json: bool) -> tuple["IndexReport", bool]:
    """What was read, told as soon as it can be found by its words; and whether the rest was stopped by Ctrl-C."""
    import asyncio

    import msgspec

    from runtime.cli.view.progress_bar import bar
    from runtime.embeddings.providers import open_workers
    from runtime.knowledge.indexing import Vectors, index, make_vectors, measure_meaning
    from runtime.processes.pool import Workers

    storage, stopped = settings.storage.folder, False
    async with open_workers(settings, Workers(settings.workers.processes)) as (workers, embedder):
        with bar(sys.stderr) as progress:
            report = await index(folders, storage, workers, settings.knowledge, progress)
        if not json:
            print_result(_lines(report), report, json=False)
        before = await measure_meaning(storage, workers, embedder)
        if embedder is None or before is None or before.ready == before.texts:
            return report, False
        missing = before.texts - before.ready
        made = Vectors(0, missing, LATER)
        if waits:
            found = f"All can be found by words. The meaning of {pluralize(missing, 'text')} is prepared now"
            write([Line(f"{found}: Ctrl-C stops that and keeps what is made.", "faint")], sys.stderr)
            try:
                with bar(sys.stderr) as progress:
                    made = await make_vectors(storage, workers, embedder, progress)
            except asyncio.CancelledError:
                stopped, after = True, await measure_meaning(storage, workers, embedder)
                left = after.texts - after.ready if after else missing
                made = Vectors(missing - left, left, LATER)
    vectors = {"vectors": made.made, "without_vectors": made.missing, "words_only": made.failure}
    return msgspec.structs.replace(report, **vectors), stopped


def _lines(report: "IndexReport") -> Iterator[Line]:
    for folder, kept in report.vanished:
        yield Line(
            f"{safe(folder)} is not there, or shows no document: what was read from it stays in the index "
            f"({pluralize(kept, 'document')}).",
            "poor",
        )
        yield Line(f"If it is gone for good: {command('index --remove')} {safe(quote(folder))}", indent=2)
    if not report.files:
        if not report.vanished:
            yield Line(f"There is no {KINDS} in it.", "poor")
        yield from describe_ignored(report.kinds)
        return
    found = pluralize(report.files - len(report.skipped), "document")
    yield Line(f"{found} in {report.seconds:.1f} s", "good")
    for name, count in (
        ("read", report.read),
        ("unchanged", report.unchanged),
        ("removed", report.removed),
        ("twins of a page, counted once", report.twins),
        ("skipped", len(report.skipped)),
        ("files of other kinds", report.ignored),
        ("new passages", report.passages),
    ):
        if count or name != "twins of a page, counted once":
            yield Line(f"{count:>9,}  {name}")
    yield Line(f"{report.megabytes:>9.1f}  megabytes of index")
    if report.forgotten:
        yield Line(f"Forgotten, for they are not there any more ({len(report.forgotten)})", "strong")
        yield from list_first(report.forgotten)
    yield from describe_skipped(report.skipped)
    yield from describe_ignored(report.kinds)


def _describe_meaning(report: "IndexReport") -> Iterator[Line]:
    if report.vectors:
        yield Line(f"{pluralize(report.vectors, 'passage')} more can be found by meaning now.", "good")
    if report.without_vectors:
        found = f"{pluralize(report.without_vectors, 'passage')} can be found by words only. {report.words_only}"
        yield Line(f"{found} {command('index')} goes on where it stopped.", "poor")
