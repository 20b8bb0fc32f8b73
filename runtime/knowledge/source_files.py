"""Where the files are that passages come from: an index names them below their folder, wherever that stands."""

import asyncio
from collections.abc import Collection
from pathlib import Path

from actors.evidence.claims import Resolution
from runtime.knowledge.knowledge_index import FILE
from runtime.storage.errors import StorageError
from runtime.storage.sqlite.integrity import read_rows

SECONDS = 1.0
_FOLDERS = "SELECT name, path FROM folders ORDER BY length(name) DESC"


async def find_source_files(storage: Path, answer: Resolution | None) -> dict[str, str]:
    """The path of each source of an answer that is a file on this disk now; none where the index cannot be read."""
    sources = {each.source for each in answer.citations} if answer else set[str]()
    try:
        return await asyncio.to_thread(_find, storage / FILE, sources) if sources else {}
    except StorageError:
        return {}  # the answer names its sources by itself


def _find(index: Path, sources: Collection[str]) -> dict[str, str]:
    folders = read_rows(index, _FOLDERS, SECONDS)
    found: dict[str, str] = {}
    for source in sources:
        paths = (
            Path(path) / source.removeprefix(f"{name}/") for name, path in folders if source.startswith(f"{name}/")
        )
        if (file := next(paths, None)) is not None and file.is_file():
            found[source] = str(file)
    return found
