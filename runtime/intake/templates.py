"""Calls to a helpdesk as templates: values go into whole leaves of JSON, into segments of a path, into headers."""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

PLACE = re.compile(r"\{([a-z_]+)(:number)?\}")
"""`{status:number}`, alone in its leaf, becomes a number where the value is one: some helpdesks take no text there."""
Json = Any


def find_names(value: Json) -> frozenset[str]:
    """The names of all places in a template."""
    if isinstance(value, str):
        return frozenset(name for name, _ in PLACE.findall(value))
    parts = (
        [*value, *value.values()] if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else ()
    )
    return frozenset().union(*map(find_names, parts))


def fill(value: Json, values: Mapping[str, Json]) -> Json:
    """
    Fill each leaf. A leaf that is one place and nothing else takes the value as it is, a list or a number too; nothing
    is ever pasted into JSON text.

    :raises KeyError: a place has no value.
    """
    if isinstance(value, str):
        if (whole := PLACE.fullmatch(value)) is not None:
            found = values[whole[1]]
            return int(found) if whole[2] and str(found).isdecimal() else found
        return PLACE.sub(lambda place: str(values[place[1]]), value)
    if isinstance(value, Mapping):
        return {str(fill(key, values)): fill(each, values) for key, each in value.items()}
    return [fill(each, values) for each in value] if isinstance(value, list | tuple) else value


def fill_path(path: str, values: Mapping[str, Json]) -> str:
    """
    Fill a path: a value stays one segment, whatever it holds.

    :raises ValueError: it would lead elsewhere.
    """

    def fill_segment(place: re.Match[str]) -> str:
        value = str(values[place[1]])
        if not value.strip("."):
            raise ValueError(f"{value!r} is no segment of a path")
        return quote(value, safe="")

    return PLACE.sub(fill_segment, path)


def fill_header(header: str, values: Mapping[str, Json]) -> str:
    """Fill a header; a value cannot begin another one."""
    return re.sub(r"[\r\n\0]+", " ", str(fill(header, values)))
