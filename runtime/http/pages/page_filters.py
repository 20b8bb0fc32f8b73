"""What templates do with values: days, durations, links that may be followed."""

import datetime
from collections.abc import Callable
from typing import Any

from markupsafe import Markup, escape

from actors.reporting.links import link
from actors.text.truncate import shorten
from runtime.times import format_duration


def write_moment(moment: datetime.datetime | None) -> Markup:
    """A moment in UTC, which the script tells by the reader's own clock."""
    if moment is None:
        return Markup()
    return Markup('<time datetime="{}">{}</time>').format(moment.isoformat(), f"{moment:%Y-%m-%d %H:%M} UTC")


def write_source(source: str, anchor: str = "") -> Markup:
    """Where something stands: a link if it is a page of the web, else its name."""
    where = f"{source}#{anchor}" if anchor else source
    if target := link(where):
        return Markup('<a href="{}" rel="noopener noreferrer nofollow">{}</a>').format(target, shorten(where, 120))
    return Markup("<span>{}</span>").format(where)


FILTERS: dict[str, Callable[..., Any]] = {
    "moment": write_moment, "source": write_source, "duration": format_duration, "shorten": shorten, "e": escape,
}  # fmt: skip
