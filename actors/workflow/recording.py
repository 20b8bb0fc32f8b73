"""What of a run is durable by now. Its outcome rests on that, and on nothing that may be lost."""

from collections.abc import Callable

from actors.ports import Entry, Journal
from actors.workflow.outcome import Outcome
from actors.workflow.tables import Run


class Recording:
    """The journal of one run, as its Orchestrator writes it."""

    __slots__ = ("_journal", "_sent", "durable", "events")

    def __init__(self, journal: Journal, run: Run, events: int) -> None:
        """:param events: how many of them the journal holds, which led to `run`."""
        self._journal = journal
        self._sent = events
        self.durable = run
        """The run as its recorded events tell it."""
        self.events = events
        """How many those are."""

    def number(self) -> int:
        """Of the next event."""
        self._sent += 1
        return self._sent

    def record(self, entry: Entry, run: Run, final: Outcome | None, then: Callable[[Exception | None], None]) -> None:
        """
        Make one event durable, together with the end if it led there; then say how it went.

        :param run: what it led to.
        """

        def on_written(error: Exception | None) -> None:
            if error is None and self.events == entry.n - 1:  # what follows a lost one does not count
                self.durable, self.events = run, entry.n
            then(error)

        try:
            if final is None:
                self._journal.record(entry, on_written)
            else:
                self._journal.finish(entry, final, on_written)
        except Exception as error:
            then(error)

    def keep(self, outcome: Outcome, then: Callable[[], None]) -> None:
        """Have the end of what is durable kept until it is recorded; then say that it is safe."""
        try:
            self._journal.keep(outcome, self.events, then)
        except Exception:  # the end itself must not depend on what has failed already
            then()
