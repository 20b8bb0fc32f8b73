"""A model may not bring in an address of its own: links and recipients that no shown passage contains are taken out."""

import re
from collections.abc import Iterable
from typing import Any

REMOVED = "[address removed]"
_ADDRESS = re.compile(
    r"""(?:[a-z][a-z0-9+.-]{0,30}:)?//[^\s<>"')\]}]+"""  # with a scheme, or relative to one
    r"""|\b(?:mailto|tel|javascript|data):[^\s<>"')\]}]+"""
    r"""|[^\s<>"'()\[\]{},;:@]{1,100}@[^\s<>"'()\[\]{},;:@]{1,255}\.[a-z]{2,}"""
    r"""|www\.[^\s<>"')\]}]+"""
    r"""|\b(?:[a-z0-9-]{1,63}\.){1,20}[a-z]{2,63}/[^\s<>"')\]}]*""",
    re.IGNORECASE,
)
_TAIL = ".,;:!?"
Plain = Any  # what msgspec.to_builtins makes of a struct


def remove_addresses(value: Plain, shown: Iterable[str]) -> tuple[Plain, int]:
    """Replace every address that stands in none of the shown texts; say how many there were."""
    texts = tuple(shown)
    count = 0

    def clean(match: re.Match[str]) -> str:
        nonlocal count
        address = match[0].rstrip(_TAIL)
        if any(address in text for text in texts):
            return match[0]
        count += 1
        return REMOVED + match[0][len(address) :]

    def walk(node: Plain) -> Plain:
        if isinstance(node, str):
            return _ADDRESS.sub(clean, node)
        if isinstance(node, list | tuple):
            return [walk(each) for each in node]
        if isinstance(node, dict):
            return {key: walk(each) for key, each in node.items()}
        return node

    return walk(value), count
