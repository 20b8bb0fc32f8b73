"""Writes the state file of each research: at every finished stage, every 30 s, and at the end."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from runtime.run import LiveRun
    from runtime.workers import Workers


class Keeper:
    """One a process."""

    def __init__(self, folder: "Path", workers: "Workers", backup_seconds: float) -> None:
        self._folder = folder
        self._workers = workers
        self._backup_seconds = backup_seconds

    def follow(self, live: "LiveRun") -> None:
        """From now on the file of this outermost run is kept."""

    def deeper(self, live: "LiveRun") -> None:
        """A round below began: until it ends it knows most. Its id begins with that of its outermost run."""

    async def close(self) -> None:
        """Write what is not written yet."""
