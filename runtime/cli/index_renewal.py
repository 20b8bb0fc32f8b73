"""Before tickets run: an index of another version is made anew, with the bar that `index` shows."""

import contextlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from runtime.knowledge.index import is_lapsed
from runtime.user_text import safe

if TYPE_CHECKING:
    from runtime.settings import Settings


async def renew_index(settings: "Settings", *, quiet: bool = False) -> None:
    """
    Read again what another version had indexed; say what is gone. Costs next to nothing where all is as it should be.

    :raises PortFailed: the index cannot be written.
    """
    if not is_lapsed(Path(settings.storage.folder)):
        return
    from runtime.cli.view.progress_bar import bar
    from runtime.knowledge.indexing import index
    from runtime.processes.pool import Workers

    if not quiet:
        print("Another version of Terminus made the index: its folders are read again.", file=sys.stderr, flush=True)
    workers = Workers(settings.workers.processes)
    try:
        with contextlib.nullcontext(lambda _: None) if quiet else bar(sys.stderr) as progress:
            report = await index([], settings.storage.folder, workers, settings.knowledge, progress)
    finally:
        workers.close()
    for folder, reason in report.gone:
        print(f"{safe(folder)}: {safe(reason)}", file=sys.stderr, flush=True)
