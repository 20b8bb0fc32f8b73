"""All tools: those that a file in `shipped/` describes."""

from importlib import import_module
from typing import TYPE_CHECKING

from runtime.tools import shipped

if TYPE_CHECKING:
    from runtime.tools.tool import Tool

EXPECTED = frozenset({"case_search", "create_document", "regulation_search", "web_search"})
"""Named by agents that ship: they are offered as soon as they have a file in `shipped/`."""


def list_names() -> frozenset[str]:
    """What an agent may name; nothing is imported."""
    return EXPECTED.union(shipped.names())


def load_tools() -> dict[str, "Tool"]:
    """Every tool by its name."""
    known: dict[str, Tool] = {name: import_module(f"{shipped.__name__}.{name}").TOOL for name in shipped.names()}
    return known
