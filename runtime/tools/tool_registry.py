"""All tools: those that a file in `shipped/` describes, and those of the user's own module."""

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING

from runtime.tools import shipped

if TYPE_CHECKING:
    from runtime.settings import Settings
    from runtime.tools.tool import Tool


def list_names(settings: "Settings | None" = None) -> frozenset[str]:
    """
    What an agent may name; of those that ship nothing is imported.

    :param settings: name the user's module; None: only those that ship.
    :raises ConfigError: the user's module cannot be used.
    """
    return frozenset(shipped.names()).union(_load_own(settings) if settings else ())


def load_tools(settings: "Settings") -> dict[str, "Tool"]:
    """
    Every tool by its name.

    :raises ConfigError: the user's module cannot be used.
    """
    known: dict[str, Tool] = {name: import_module(f"{shipped.__name__}.{name}").TOOL for name in shipped.names()}
    return {**known, **_load_own(settings)}


def explain_missing(settings: "Settings") -> dict[str, str]:
    """
    Of the tools that no model is offered here what each of them waits for.

    :raises ConfigError: the user's module cannot be used.
    """
    known = load_tools(settings)
    return {name: tool.remedy for name, tool in known.items() if not tool.configured(settings)}


def _load_own(settings: "Settings") -> Mapping[str, "Tool"]:
    if not settings.agents.tools:
        return {}
    from runtime.tools.own_module import load_own  # most installations have none

    return load_own(settings.agents.tools, shipped.names())
