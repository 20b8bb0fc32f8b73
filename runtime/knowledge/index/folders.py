"""The folders of an index: shown, and taken out again, in a worker process."""

from pathlib import Path
from typing import TypeVar

from runtime.knowledge.index.folder_records import IndexedDocument, IndexedFolder
from runtime.knowledge.index.index_results import Removed
from runtime.knowledge.index.indexing import FINISHING_SECONDS, LOCK, IndexFailed
from runtime.knowledge.knowledge_index import FILE, explain
from runtime.processes.file_lock import LockHeld, hold_lock
from runtime.processes.pool import WorkError, Workers
from runtime.settings import KnowledgeSettings

R = TypeVar("R")
_WORK = "runtime.knowledge.index.index_jobs"


async def list_folders(storage: str | Path, workers: Workers) -> list[IndexedFolder]:
    """
    The folders of the index in a storage folder; none, when there is no index yet or one of another version.

    :raises IndexFailed: the index cannot be read.
    """
    database = _database(storage)
    try:
        within, kind = FINISHING_SECONDS, list[IndexedFolder]
        return await workers.call(f"{_WORK}:list_folders", database, within=within, returns=kind)
    except WorkError as error:
        raise IndexFailed(f"The index cannot be read: {explain(error, database)}") from error


async def list_documents(after: str, most: int, storage: str | Path, workers: Workers) -> list[IndexedDocument]:
    """
    So many documents of the index by their names, those after one.

    :raises IndexFailed: the index cannot be read.
    """
    database = _database(storage)
    name, within, kind = f"{_WORK}:list_documents", FINISHING_SECONDS, list[IndexedDocument]
    try:
        return await workers.call(name, database, after, most, within=within, returns=kind)
    except WorkError as error:
        raise IndexFailed(f"The index cannot be read: {explain(error, database)}") from error


async def store_upload(folder: str, name: str, body: bytes, workers: Workers) -> str:
    """
    Keep a document in the folder of uploads; returns why not, in a sentence, or nothing.

    :raises IndexFailed: it cannot be written.
    """
    try:
        work = workers.call(f"{_WORK}:store_upload", folder, name, body, within=FINISHING_SECONDS, returns=str)
        return await work
    except WorkError as error:
        raise IndexFailed(f"The document cannot be written: {error.detail}") from error


async def remove_upload(
    folder: str, name: str, storage: str | Path, workers: Workers, settings: KnowledgeSettings
) -> bool:
    """
    Delete a document of the folder of uploads, and take it out of the index; false: there is none.

    :raises IndexFailed: another process is indexing for too long, or the index cannot be written.
    """
    work = "remove_upload", _database(storage), folder, name
    return await _change(*work, storage=storage, workers=workers, settings=settings, returns=bool)


async def remove_folder(folder: str, storage: str | Path, workers: Workers, settings: KnowledgeSettings) -> int | None:
    """
    Take a folder out of the index, by its path or its name there. How many documents it held; None: it is not there.

    :raises IndexFailed: another process is indexing for too long, or the index cannot be written.
    """
    work = "remove_folder", _database(storage), folder
    try:
        removed = await _change(*work, storage=storage, workers=workers, settings=settings, returns=Removed)
    except FileNotFoundError:
        return None
    return removed.documents


async def _change(
    function: str, database: str, *arguments: str, storage: str | Path, workers: Workers, settings: KnowledgeSettings,
    returns: type[R],
) -> R:  # fmt: skip
    try:
        async with hold_lock(Path(storage) / LOCK, within=settings.wait_seconds, waits=lambda: None):
            name, within = f"{_WORK}:{function}", FINISHING_SECONDS
            return await workers.call(name, database, *arguments, within=within, returns=returns)
    except LockHeld:
        raise IndexFailed(
            f"Another process has been indexing into {storage} for more than {settings.wait_seconds:g} s "
            "(knowledge.wait_seconds). Wait until it has ended, or end it, and try again."
        ) from None
    except WorkError as error:
        raise IndexFailed(f"The index cannot be written: {explain(error, database)}") from error


def _database(storage: str | Path) -> str:
    return str(Path(storage).absolute() / FILE)
