"""Which runs are listed, as a person or a program says it; what cannot be meant gets a sentence."""

import time

import msgspec

from runtime.families import find
from runtime.service_error import ServiceError
from runtime.storage.records import Wanted
from runtime.times import parse_age, since
from runtime.user_text import display

MOST_LISTED = 1_000


class RunFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Filters as they were given; what is None or empty was not."""

    search: str = ""
    status: str = ""
    failed: bool = False
    workflow: str = ""
    since: str | None = None
    """30m, 12h, 2d, 1w ago, or a date."""
    intent: str = ""
    slow: str | None = None
    """A duration such as 10s or 2m."""
    agent: str = ""
    limit: str | int | None = None


def make_wanted(given: RunFilter, dash: str = "--") -> Wanted:
    """
    What is looked for in the database.

    :param dash: how the names of filters are spelled where they were given.
    :raises ServiceError: a filter cannot be meant so; the text says how.
    """
    return Wanted(
        search=given.search, status=given.status, failed=given.failed, since=_read_since(given.since, dash),
        workflow=find(given.workflow).name if given.workflow else "", intent=given.intent,
        slow=_read_slow(given.slow, dash), agent=given.agent, count=_read_limit(given.limit, dash),
    )  # fmt: skip


def _read_limit(given: str | int | None, dash: str) -> int:
    text = "20" if given is None else str(given)
    count = int(text) if text.isascii() and text.isdigit() and len(text) <= 9 else 0
    if not 1 <= count <= MOST_LISTED:
        raise ServiceError(f"{dash}limit must be a whole number from 1 to {MOST_LISTED:,}, not {display(given)}.")
    return count


def _read_since(given: str | None, dash: str) -> float:
    began = 0.0 if given is None else since(given, time.time())
    if began is None:
        raise ServiceError(f"{dash}since must be such as 30m, 12h, 2d, 1w or 2026-01-31, not {display(given)}.")
    return began


def _read_slow(given: str | None, dash: str) -> float:
    seconds = 0.0 if given is None else parse_age(given)
    if seconds is None or (given is not None and not seconds):
        raise ServiceError(f"{dash}slow must be a duration such as 10s, 2m or 1h, not {display(given)}.")
    return seconds
