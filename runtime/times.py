"""When something was and how long it took, for people and for programs. Pure."""

import datetime
import re
import time
from typing import Annotated

import msgspec

Moment = Annotated[datetime.datetime, msgspec.Meta(tz=True)]
"""In UTC, as ISO 8601."""
MINUTE, HOUR, DAY = 60, 3_600, 86_400
"""Seconds."""
UNITS = {"s": 1, "m": MINUTE, "h": HOUR, "d": DAY, "w": 7 * DAY}
AGE = re.compile(r"([0-9]{1,6}(?:\.[0-9]{1,3})?)\s*([smhdw])", re.IGNORECASE)


def iso(seconds: float) -> datetime.datetime:
    """Seconds since 1970 as programs get them: to a millisecond, in UTC."""
    return datetime.datetime.fromtimestamp(round(seconds, 3), datetime.UTC)


def local(seconds: float) -> str:
    """Seconds since 1970 as the clock on the wall shows them."""
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seconds))


def ago(seconds: float, now: float) -> str:
    """When something was, in words as long as it is recent: `3 min ago`, `yesterday 14:05`, `2026-11-02`."""
    past = now - seconds
    if past < -MINUTE:  # the clock was set back since
        return local(seconds)[:-3]
    if past < MINUTE:
        return "just now" if past < 5 else f"{past:.0f} s ago"
    if past < HOUR:
        return f"{past // MINUTE:.0f} min ago"
    that, today = datetime.datetime.fromtimestamp(seconds), datetime.datetime.fromtimestamp(now)  # noqa: DTZ006 - local
    days = (today.date() - that.date()).days
    if days == 0 or past < 6 * HOUR:
        return f"{past // HOUR:.0f} h ago"
    if days == 1:
        return f"yesterday {that:%H:%M}"
    return f"{days} days ago" if days < 7 else f"{that:%Y-%m-%d}"


def format_duration(seconds: float) -> str:
    """How long something took: `0.4 s`, `12 s`, `3 min 5 s`, `2 h 5 min`."""
    if seconds < 10:
        return f"{max(0.0, seconds):.1f} s"
    whole = round(seconds)
    if whole < MINUTE:
        return f"{whole} s"
    if whole < HOUR:
        return f"{whole // MINUTE} min {whole % MINUTE} s"
    return f"{whole // HOUR} h {whole % HOUR // MINUTE} min"


def parse_age(text: str) -> float | None:
    """Seconds, from `30m`, `36h`, `90d` or `12w`; None if it is none."""
    found = AGE.fullmatch(text.strip())
    return float(found[1]) * UNITS[found[2].lower()] if found else None


def since(text: str, now: float) -> float | None:
    """Seconds since 1970 from `30m`, `12h`, `2d`, `1w` before now, or from a local date or time; None if it is none."""
    text = text.strip()
    if (age := parse_age(text)) is not None:
        return now - age
    try:
        return datetime.datetime.fromisoformat(text).timestamp()
    except (ValueError, OverflowError, OSError):
        return None


def is_day(text: str) -> bool:
    """Whether a text is a day, written as YYYY-MM-DD."""
    try:
        return datetime.date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False
