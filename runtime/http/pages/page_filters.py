"""What templates do with values: durations, shorter texts, links that may be followed."""

from collections.abc import Callable
from typing import Any

from actors.reporting.links import link
from actors.text.normalize import unescape_markdown
from actors.text.truncate import shorten
from runtime.times import format_duration


def find_link(source: str, anchor: str = "") -> str:
    """Where a source can be opened, if it is a page of the web; else empty, for nobody opens files of the server."""
    return link(f"{source}#{anchor}" if anchor else source)


FILTERS: dict[str, Callable[..., Any]] = {
    "find_link": find_link, "duration": format_duration, "shorten": shorten, "unescape_markdown": unescape_markdown,
}  # fmt: skip
