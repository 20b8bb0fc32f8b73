"""What was not obtained, in words: grouped by reason, each with its place, and no list without an end. Pure."""

from collections.abc import Sequence
from typing import NamedTuple

from actors.evidence.sources import FailedSource, Reason
from actors.text.catalogue import say
from actors.text.truncate import shorten

SHOWN = 10
PLACE_CHARACTERS = 200
DETAIL_CHARACTERS = 300


class Group(NamedTuple):
    """What was missed for one reason."""

    title: str
    items: tuple[str, ...]
    more: int
    """How many are not shown."""


def group_failures(missed: Sequence[FailedSource], language: str) -> tuple[Group, ...]:
    """Reasons in the order in which they first came up."""
    of: dict[Reason, dict[str, str]] = {}
    for each in missed:
        place = shorten(each.place, PLACE_CHARACTERS)
        detail = each.detail
        if each.reason == "source_failed":  # how it is mended is for the log
            detail = say(f"missed_{each.reason}", language)
        of.setdefault(each.reason, {}).setdefault(place, shorten(detail, DETAIL_CHARACTERS))
    return tuple(
        Group(
            say(f"missed_{reason}", language),
            tuple(map(_item, list(places.items())[:SHOWN])),
            max(0, len(places) - SHOWN),
        )
        for reason, places in of.items()
    )


def _item(place: tuple[str, str]) -> str:
    where, detail = place
    return detail if where in detail else f"{where}: {detail}" if detail else where
