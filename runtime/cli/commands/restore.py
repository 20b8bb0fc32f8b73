"""`restore`: puts a backup in the place of what is stored; what was there is moved aside."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from runtime.cli import Exit
from runtime.cli.view.printing import Line, print_result
from runtime.program import command
from runtime.service_error import ServiceError
from runtime.user_text import pluralize, safe

if TYPE_CHECKING:
    from runtime.settings import Settings


SUMMARY = "put a backup in the place of what is stored"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = (
        "Stop the daemon first. Checksums and databases are checked before anything is changed.\n\n"
        "exit status: 0 done, 1 nothing was changed, for the backup is not whole or a process is using the folder."
    )
    parser.add_argument("source", metavar="FROM", help=f"what {command('backup')} made")
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")


def run(arguments: argparse.Namespace, settings: "Settings") -> int:
    from runtime.storage.private import OWNERS
    from runtime.upkeep.backup import restore

    folder = Path(settings.storage.folder)
    try:
        restored = restore(Path(arguments.source), folder, folder / OWNERS)
    except OSError as error:
        what = f"The backup could not be put into {safe(str(folder))} ({error.strerror or error})"
        raise ServiceError(f"{what}. Make room, or see to the rights, and ask again.", "failed") from error
    manifest = restored.manifest
    said = [Line(f"Restored {pluralize(len(manifest.files), 'file')} of {manifest.made} into {folder}.")]
    if restored.aside:
        said.append(Line(f"What was there is in {restored.aside}: a purge does not reach it, so delete it in time."))
    said.append(Line(f"{command('resume')}, or the daemon, goes on with tickets that were not over."))
    value = {"made": manifest.made, "files": len(manifest.files), "aside": restored.aside}
    print_result(said, value, json=arguments.json)
    return Exit.DONE
