"""`Retry-After`, as model servers, search services and web pages send it: one reader, bounded, for all of them."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

MOST_SECONDS = 31_536_000.0
"""A year; who asks for more is understood to ask for this."""
_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)?(?:[eE]\+?[0-9]{1,4})?")
_UNITS = {"retry-after-ms": 0.001, "retry-after": 1.0}
"""In seconds; the finer one is believed first."""


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """
    Seconds that a server asks to be left alone, 0 to MOST_SECONDS; None when it says nothing that can be understood.

    :param headers: of an answer; they must find names in any case.
    :param now: seconds since 1970, for dates.
    """
    for name, unit in _UNITS.items():
        text = (headers.get(name) or "").strip()
        seconds = float(text) * unit if _NUMBER.fullmatch(text) else _until(text, now)
        if seconds is not None:
            return min(seconds, MOST_SECONDS)
    return None


def _until(text: str, now: float) -> float | None:
    """Seconds until an HTTP date; none when it is over, or when it is no date."""
    try:
        date = parsedate_to_datetime(text)
        date = date if date.tzinfo is not None else date.replace(tzinfo=UTC)
        return max(0.0, (date - datetime.fromtimestamp(now, UTC)).total_seconds())
    except (ValueError, TypeError, OverflowError):
        return None
