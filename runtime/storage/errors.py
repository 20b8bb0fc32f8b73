"""
What storage may answer instead of doing as it is told.

    StorageError
    ├── Conflict
    └── StorageClosed
    JournalDamaged      (damage.py: one run cannot be read; all others can)
    UnknownRun          (a PortFailed: there is no such ticket or run)
"""

from actors.ports import PortFailed
from runtime.program import command


class StorageError(Exception):
    """The disk, or what stands on it, does not allow it. The text is for logs and for who has the disk."""


class Conflict(StorageError):
    """What was to be written is there already, or somebody else has written something newer."""


class StorageClosed(StorageError):
    """Something was written after the storage was closed."""


class UnknownRun(PortFailed):
    """No run or ticket of this id is stored."""

    def __init__(self, some_id: str) -> None:
        super().__init__(f"There is no ticket or run {some_id!r}; {command('status')} lists the latest.")
