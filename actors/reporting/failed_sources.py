"""What was not obtained, in words: grouped by reason, each with its place, and no list without an end. Pure."""

from collections.abc import Sequence
from typing import NamedTuple

from actors.evidence.sources import FailedSource, Reason
from actors.text.truncate import shorten

SHOWN = 10
PLACE_CHARACTERS = 200
DETAIL_CHARACTERS = 300

REASONS: dict[Reason, str] = {
    "dead": "Not there any more",
    "refused": "Refused by the rules for fetching",
    "blocked": "Blocked against programs",
    "paywall": "Behind a paywall",
    "binary": "Not a text",
    "too_large": "Too large",
    "timed_out": "No answer in time",
    "robots": "Not allowed by the site's robots.txt",
    "rate_limited": "Too many requests for the site",
    "unreachable": "Not reachable",
    "duplicate": "The same text as another page",
    "thin": "Too little text",
    "budget": "Beyond the budget",
    "source_failed": "A source did not answer",
    "cancelled": "Not read before the end",
}


class Group(NamedTuple):
    """What was missed for one reason."""

    title: str
    items: tuple[str, ...]
    more: int
    """How many are not shown."""


def group_failures(missed: Sequence[FailedSource]) -> tuple[Group, ...]:
    """Reasons in the order in which they first came up."""
    of: dict[Reason, dict[str, str]] = {}
    for each in missed:
        place = shorten(each.place, PLACE_CHARACTERS)
        of.setdefault(each.reason, {}).setdefault(place, shorten(each.detail, DETAIL_CHARACTERS))
    return tuple(
        Group(REASONS[reason], tuple(map(_item, list(places.items())[:SHOWN])), max(0, len(places) - SHOWN))
        for reason, places in of.items()
    )


def _item(place: tuple[str, str]) -> str:
    where, detail = place
    return detail if where in detail else f"{where}: {detail}" if detail else where
