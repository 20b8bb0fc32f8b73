"""Times as helpdesks write them, and when a ticket is to be answered. Pure."""

import datetime
import math

from runtime.times import DAY, is_day

BEFORE_SECONDS = 300.0
"""What was written so shortly before a helpdesk was connected still counts: clocks differ, and people try it then."""


def parse_time(text: str) -> float | None:
    """Unix seconds, of ISO 8601, of seconds, or of `2026-11-21.22:31:18`; None: it is none of these."""
    if text.isdecimal() and len(text) <= 12:
        return float(text)
    try:
        at = datetime.datetime.fromisoformat(text.replace(".", "T", 1) if text[10:11] == "." else text)
    except ValueError:
        return None
    return (at if at.tzinfo else at.replace(tzinfo=datetime.UTC)).timestamp()


def read_due(text: str) -> float:
    """Unix seconds by which a ticket is to be answered: of a day, its end; infinity: nobody said."""
    if (at := parse_time(text.strip())) is None:
        return math.inf
    return at + DAY if is_day(text.strip()) else at


def needs_reminder(due: str, began: float, now: float, minutes: float) -> bool:
    """
    Whether people should be told once more that a ticket is due.

    Not in the first half of the time that they have, and not where it was due before: the suggestion says so itself.

    :param began: when our run began, Unix seconds.
    :param minutes: before it is due.
    """
    at = read_due(due)
    return began < at < math.inf and at - now <= min(minutes * 60, (at - began) / 2)
