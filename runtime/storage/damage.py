"""Rows that cannot be read: which of them, and what is to be done. Whatever stands in them, nothing else fails."""

import contextlib
import math
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

REMEDY = (
    "Use the version of Terminus that wrote it, or a copy of the database; or submit the ticket again under a new id"
)
UNREADABLE = (
    msgspec.MsgspecError, TypeError, ValueError, LookupError, AttributeError, ArithmeticError, AssertionError,
    RecursionError,
)  # fmt: skip
"""What decoding and folding raise where something else is stored than was written. Not SQLite's own errors."""
LATEST_SECONDS = 253_402_300_799.0
"""The end of the year 9999: no calendar goes further."""


class JournalDamaged(Exception):
    """What is stored of a run cannot be read by this version."""

    def __init__(self, what: str, why: object = "") -> None:
        """
        :param what: which part, in words that may be shown to anybody, such as "the beginning of R-1 cannot be read".
        :param why: for the log, and for who has the database.
        """
        super().__init__(f"{what}: {why}" if why else what)
        self.what = what


@contextlib.contextmanager
def reading(what: str) -> Iterator[None]:
    """
    Read something of a run's rows.

    :raises JournalDamaged: it is not what was written.
    """
    try:
        yield
    except UNREADABLE as error:
        raise JournalDamaged(f"{what} cannot be read", f"{type(error).__name__}: {error}".splitlines()[0]) from error


def check_complete(numbers: Sequence[object], run_id: str) -> None:
    """:raises JournalDamaged: the numbers of a run's events are not 1, 2, 3 and so on."""
    for n, number in enumerate(numbers, 1):
        if number != n:
            raise JournalDamaged(f"event {n} of {run_id} is missing")


def text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def content(value: Any) -> bytes:
    """What is no blob is one that cannot be decoded."""
    return value if isinstance(value, bytes) else b""


def seconds(value: Any) -> float:
    """A moment since 1970, 0 where none can be read."""
    usable = isinstance(value, float | int) and math.isfinite(value) and 0 <= value <= LATEST_SECONDS
    return float(value) if usable else 0.0
