"""Refuses calls that are bound to fail, so that nobody waits for a service which is gone."""

from actors.ports import PortFailed
from bus import Clock


class CircuitOpen(PortFailed):
    """The last calls all failed in the same way; this one was not even tried."""


class CircuitBreaker:
    """
    After some equal fatal failures in a row, calls are refused for some seconds.

    Then one call is let through to look; the others are refused until it has come back well.
    """

    def __init__(self, clock: Clock, *, failures: int = 3, seconds: float = 15.0) -> None:
        self._clock = clock
        self._failures = failures
        self._seconds = seconds
        self._kind = ""
        self._count = 0
        self._sentence = ""
        self._until = 0.0

    def check(self) -> None:
        """:raises CircuitOpen: what the last calls failed with, without asking again."""
        if self._count >= self._failures and self._clock.time() < self._until:
            raise CircuitOpen(f"{self._sentence} (It failed {self._count} times; not asked again for a few seconds.)")

    def enter(self) -> None:
        """As `check`, for a call that begins: when the time is over, the first one looks, and the others wait."""
        self.check()
        if self._count >= self._failures:
            self._until = self._clock.time() + self._seconds

    def record_success(self) -> None:
        """The service answered, whatever it said."""
        self._count = 0
        self._kind = ""

    def record_failure(self, kind: str, sentence: str) -> None:
        """A call failed in a way that the next one will fail in too."""
        self._count = self._count + 1 if kind == self._kind else 1
        self._kind, self._sentence = kind, sentence
        self._until = self._clock.time() + self._seconds
