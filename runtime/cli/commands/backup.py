"""`backup`: copies all that is stored into a folder or an archive, while others may be working with it."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from runtime.cli import Exit
from runtime.cli.view.printing import Line, print_result
from runtime.service_error import ServiceError
from runtime.user_text import pluralize, safe

if TYPE_CHECKING:
    from runtime.settings import Settings


SUMMARY = "copy all that is stored, while others may be working with it"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = (
        "It holds tickets, memory, knowledge index, state files and pages, not the settings and the log. It is as\n"
        "private as what it was made of, and a purge does not reach it: delete backups that you need no more.\n\n"
        "exit status: 0 done, 1 failed."
    )
    parser.add_argument("to", metavar="FOLDER_OR_FILE", help="a new folder, or a file that ends with .tar or .tar.gz")
    parser.add_argument("--force", action="store_true", help="replace a backup that is there")
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")


def run(arguments: argparse.Namespace, settings: "Settings") -> int:
    from runtime.storage.errors import StorageError
    from runtime.upkeep.backup import back_up

    to = Path(arguments.to)
    try:
        manifest = back_up(Path(settings.storage.folder), to, replace=arguments.force)
    except (OSError, StorageError) as error:
        what = f"The backup {safe(str(to))} could not be written ({getattr(error, 'strerror', None) or error})"
        raise ServiceError(f"{what}. Nothing is left of it. Make room or name another place.", "failed") from error
    said = Line(f"Kept {pluralize(len(manifest.files), 'file')}, {manifest.size / 1e6:,.1f} MB, in {to}.")
    value = {"to": str(to.absolute()), "made": manifest.made, "files": len(manifest.files), "bytes": manifest.size}
    print_result([said], value, json=arguments.json)
    return Exit.DONE
