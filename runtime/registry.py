"""The runs that go on in this process: found by their id or their ticket's, and cancelled when another process asks."""

import asyncio
import sqlite3

import structlog

from actors.outcome import Outcome
from runtime.run import LiveRun
from runtime.storage.journal import SqliteJournal

log = structlog.get_logger()

CANCEL_POLL_SECONDS = 0.5
"""How soon a run hears that another process asked to cancel it."""


class LiveRuns:
    """A run is in here from its beginning to its end."""

    def __init__(self, journal: SqliteJournal, owner: str) -> None:
        """:param owner: the token under which the journal knows this process."""
        self._journal = journal
        self._owner = owner
        self._runs: dict[str, LiveRun] = {}
        self._run_of: dict[str, str] = {}
        """Ticket to run."""
        self._cancelled: dict[str, int] = {}
        self._poll: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        return len(self._runs)

    def __contains__(self, run_id: str) -> bool:
        return run_id in self._runs

    def __getitem__(self, run_id: str) -> LiveRun:
        return self._runs[run_id]

    def find(self, some_id: str) -> LiveRun | None:
        """A run by its id or its ticket's."""
        return self._runs.get(self._run_of.get(some_id, some_id))

    def add(self, live: LiveRun) -> None:
        self._runs[live.id] = live
        self._run_of[live.ticket] = live.id
        live.when_ended(self._ended)
        if self._poll is None:
            self._listen()

    def abandon(self) -> None:
        """Stop all at once, without an end."""
        if self._poll is not None:
            self._poll.cancel()
        for live in list(self._runs.values()):
            live.abandon()
        self._runs.clear()

    def _ended(self, outcome: Outcome) -> None:
        self._runs.pop(outcome.run, None)
        self._cancelled.pop(outcome.run, None)
        if self._run_of.get(outcome.ticket) == outcome.run:
            del self._run_of[outcome.ticket]

    def _listen(self) -> None:
        """Hear what other processes asked of the runs of this one."""
        self._poll = None
        try:
            asked = self._journal.to_cancel(self._owner)
        except sqlite3.Error as error:  # the runs go on; whoever asked is heard when the database can be read again
            log.warning("journal.failed", error=repr(error))
            asked = {}
        for run_id, times in asked.items():
            if (live := self._runs.get(run_id)) and times > self._cancelled.get(run_id, 0):
                self._cancelled[run_id] = times
                live.cancel()
        if self._runs:
            self._poll = asyncio.get_running_loop().call_later(CANCEL_POLL_SECONDS, self._listen)
