"""The runs that go on in this process: found by their id or their ticket's, and cancelled when another process asks."""

import asyncio
from collections import Counter

import structlog

from actors.workflow.outcome import Outcome
from runtime.meters import meters
from runtime.run import LiveRun
from runtime.storage.errors import StorageError
from runtime.storage.journal import RunJournal

log = structlog.get_logger()

CANCEL_POLL_SECONDS = 0.5
"""How soon a run hears that another process asked to cancel it."""


class RunRegistry:
    """A run is in here from its beginning until its end is recorded."""

    def __init__(self, journal: RunJournal, owner: str) -> None:
        """:param owner: the token under which the journal knows this process."""
        self._journal = journal
        self._owner = owner
        self._runs: dict[str, LiveRun] = {}
        self._run_of: dict[str, str] = {}
        """Ticket to run."""
        self._unrecorded: set[str] = set()
        """Runs that have ended, and whose end is not recorded yet."""
        self._cancelled: dict[str, int] = {}
        self._poll: asyncio.Task[None] | None = None
        journal.pending.when_recorded = self._on_recorded

    def __len__(self) -> int:
        return len(self._runs)

    def __contains__(self, run_id: str) -> bool:
        return run_id in self._runs

    @property
    def count_open(self) -> int:
        return len(self._runs) - len(self._unrecorded)

    def count_states(self) -> Counter[tuple[str, ...]]:
        """How many runs go on, by workflow and state."""
        going = (live for live in self._runs.values() if live.id not in self._unrecorded)
        return Counter((live.workflow, live.state) for live in going)

    def run(self, run_id: str) -> LiveRun | None:
        return self._runs.get(run_id)

    def of_ticket(self, ticket_id: str) -> LiveRun | None:
        return self._runs.get(self._run_of.get(ticket_id, ""))

    def add(self, live: LiveRun) -> None:
        self._runs[live.id] = live
        self._run_of[live.ticket] = live.id
        live.on_end(self._on_end)
        if self._poll is None or self._poll.done():
            self._poll = asyncio.get_running_loop().create_task(self._listen(), name="cancel requests")

    def abandon(self) -> None:
        """Stop all at once, without an end."""
        if self._poll is not None:
            self._poll.cancel()
        for live in list(self._runs.values()):
            live.abandon()
        self._runs.clear()
        self._unrecorded.clear()

    def _on_end(self, outcome: Outcome) -> None:
        if outcome.run not in self._runs:
            return
        meters.count_end(outcome)
        if outcome.run in self._journal.pending:
            self._unrecorded.add(outcome.run)
        else:
            self._forget(self._runs[outcome.run])

    def _on_recorded(self, run_id: str) -> None:
        if run_id in self._unrecorded:
            self._unrecorded.discard(run_id)
            self._forget(self._runs[run_id])

    def _forget(self, live: LiveRun) -> None:
        self._runs.pop(live.id, None)
        self._cancelled.pop(live.id, None)
        if self._run_of.get(live.ticket) == live.id:
            del self._run_of[live.ticket]

    async def _listen(self) -> None:
        """Hear what other processes ask of the runs of this one."""
        while self._runs:
            try:
                requests = await self._journal.store.cancel_requests(self._owner)
            except StorageError as error:  # the runs go on; whoever asks is heard when it can be read again
                log.warning("journal.failed", error=repr(error))
                requests = {}
            for run_id, times in requests.items():
                if (live := self._runs.get(run_id)) and times > self._cancelled.get(run_id, 0):
                    self._cancelled[run_id] = times
                    live.cancel()
            await asyncio.sleep(CANCEL_POLL_SECONDS)
