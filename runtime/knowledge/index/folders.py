"""The folders of an index: shown, and taken out again, in a worker process."""

from pathlib import Path

from runtime.knowledge.index.folder_records import IndexedFolder
from runtime.knowledge.index.index_jobs import Removed
from runtime.knowledge.index.indexing import FINISHING_SECONDS, LOCK, IndexFailed
from runtime.knowledge.knowledge_index import FILE, explain
from runtime.processes.file_lock import LockHeld, hold_lock
from runtime.processes.pool import WorkError, Workers
from runtime.settings import KnowledgeSettings

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


async def remove_folder(folder: str, storage: str | Path, workers: Workers, settings: KnowledgeSettings) -> int | None:
    """
    Take a folder out of the index, by its path or its name there. How many documents it held; None: it is not there.

    :raises IndexFailed: another process is indexing for too long, or the index cannot be written.
    """
    database = _database(storage)
    try:
        async with hold_lock(Path(storage) / LOCK, within=settings.wait_seconds, waits=lambda: None):
            name, within = f"{_WORK}:remove_folder", FINISHING_SECONDS
            return (await workers.call(name, database, folder, within=within, returns=Removed)).documents
    except FileNotFoundError:
        return None
    except LockHeld:
        raise IndexFailed(
            f"Another process has been indexing into {storage} for more than {settings.wait_seconds:g} s "
            "(knowledge.wait_seconds). Wait until it has ended, or end it, and try again."
        ) from None
    except WorkError as error:
        raise IndexFailed(f"The index cannot be written: {explain(error, database)}") from error


def _database(storage: str | Path) -> str:
    return str(Path(storage).absolute() / FILE)
