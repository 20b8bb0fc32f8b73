"""JSON and XML as lines of plain text: what they say, without their brackets."""

import json
from collections.abc import Iterator
from typing import Any

LINES = 20_000
DEPTH = 40
CHARACTERS = 2_000_000
"""What is longer is read as plain text."""


def of_json(text: str) -> str:
    """A value in each line, after the names that lead to it; the text itself when it is no JSON."""
    if len(text) > CHARACTERS:
        return text[:CHARACTERS]
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return "\n".join(line for line, _ in zip(_values(value, "", 0), range(LINES), strict=False))


def of_xml(text: str) -> str:
    """The texts of the elements, a line each; nothing of a file with entities of its own or of a broken one."""
    from lxml import etree

    if "<!ENTITY" in text[:CHARACTERS].upper():
        return ""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, recover=True)
    try:
        root = etree.fromstring(text[:CHARACTERS].encode("utf-8", "replace"), parser)
    except etree.LxmlError:
        return ""
    if root is None:
        return ""
    lines = (" ".join(each.split()) for each in root.itertext() if isinstance(each, str))
    return "\n".join(line for line, _ in zip(filter(None, lines), range(LINES), strict=False))


def _values(value: Any, path: str, depth: int) -> Iterator[str]:
    if depth > DEPTH:
        return
    if isinstance(value, dict):
        for name, each in value.items():
            yield from _values(each, f"{path}.{name}" if path else str(name), depth + 1)
    elif isinstance(value, list):
        for each in value:
            yield from _values(each, path, depth + 1)
    elif value not in (None, ""):
        said = " ".join(str(value).split())
        yield f"{path}: {said}" if path else said
