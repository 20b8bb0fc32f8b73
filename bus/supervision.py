"""How often an actor may fail before it is stopped for good, and what all buses of a process had to give up on."""

import msgspec

from bus.errors import BusError, UserFacingError

RESTARTS, RESTART_SECONDS = 5, 60.0
"""Restart intensity: an actor that fails more often than this in that time is stopped."""

ERROR_CHARACTERS = 500
"""How much of an error's text is passed on; it may hold a whole document."""


def describe(error: BaseException) -> str:
    """An error in one bounded line, even one that cannot say what it is."""
    try:
        return (str(error) if isinstance(error, UserFacingError) else repr(error))[:ERROR_CHARACTERS]
    except Exception:
        return type(error).__name__


def explain_to_sender(error: BaseException) -> str:
    """An error as the sender sees it: its sentence if that was written for users, else only its kind."""
    if isinstance(error, UserFacingError | BusError):
        return describe(error)
    return f"An internal error ({type(error).__name__}); the log says more."


class Failures:
    """When the actors of one bus failed lately."""

    __slots__ = ("_times",)

    def __init__(self) -> None:
        self._times: dict[str, list[float]] = {}

    def too_often(self, address: str, now: float) -> bool:
        """Count one more failure and say whether it is one too many."""
        recent = [t for t in self._times.get(address, ()) if now - t < RESTART_SECONDS]
        self._times[address] = [*recent, now][-RESTARTS - 1 :]
        return len(recent) >= RESTARTS


class Counters(msgspec.Struct):
    """For those who operate the process."""

    abandoned: int = 0
    """Turns that were still running when their time to end was over."""
    dead_letters: int = 0
    """Messages that nobody will read."""


counters = Counters()
