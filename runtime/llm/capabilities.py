"""How much of the protocol a server takes, found out by what it refuses: a table of simpler forms, each tried once."""

import re
from typing import Literal

import msgspec


class Capabilities(msgspec.Struct, frozen=True):
    """A form of request. There are 18, and each step goes to a simpler one, so looking for the right one ends."""

    format: Literal["json_schema", "json_object", "plain"] = "json_schema"
    limit: Literal["max_completion_tokens", "max_tokens", ""] = "max_completion_tokens"
    """The key that bounds the answer."""
    tools: bool = True


FIRST = Capabilities()
_TOO_LONG = re.compile(
    r"context[_ ]length|context[_ ]window|maximum context|too (?:long|large|many tokens)", re.IGNORECASE
)
_FORMAT = re.compile(r"response_format|json_schema|json_object|schema|grammar|structured", re.IGNORECASE)
_LIMIT = re.compile(r"max_(?:completion_)?tokens|in the completion", re.IGNORECASE)
"""Also where the room that is kept for the answer makes the whole too long."""
_TOOLS = re.compile(r"\btool|\bfunction", re.IGNORECASE)


def simpler(capabilities: Capabilities, detail: str, *, tools: bool) -> Capabilities | None:
    """
    The next form to try after a server refused one; None when no other form would help.

    :param detail: what the server said. When that names nothing known, less is asked of it step by step.
    :param tools: whether the refused request offered tools.
    """
    if _LIMIT.search(detail) and capabilities.limit:
        return _less_limit(capabilities)
    if too_long(detail):
        return None
    if tools and capabilities.tools and _TOOLS.search(detail) and not _FORMAT.search(detail):
        return msgspec.structs.replace(capabilities, tools=False)
    if capabilities.format != "plain":
        less = "json_object" if capabilities.format == "json_schema" else "plain"
        return msgspec.structs.replace(capabilities, format=less)
    if _FORMAT.search(detail):
        return None
    if tools and capabilities.tools:
        return msgspec.structs.replace(capabilities, tools=False)
    return _less_limit(capabilities) if capabilities.limit else None


def too_long(detail: str) -> bool:
    """Whether a server minds the length of the prompt, which no other form makes shorter."""
    return bool(_TOO_LONG.search(detail))


def minds_form(detail: str) -> bool:
    """Whether an error of a server's own is about the form of the request all the same."""
    return bool(_FORMAT.search(detail))


def _less_limit(capabilities: Capabilities) -> Capabilities:
    less = "max_tokens" if capabilities.limit == "max_completion_tokens" else ""
    return msgspec.structs.replace(capabilities, limit=less)
