"""How much of the protocol a server takes: found out by what it refuses, kept per kind of request, tried anew later."""

import re
from typing import Literal

import msgspec

from bus import Clock

Format = Literal["json_schema", "json_object", "plain"]
NEW, OLD = "max_completion_tokens", "max_tokens"


class Capabilities(msgspec.Struct, frozen=True):
    """A form of request. Each step goes to a simpler one, so looking for the right one ends after nine refusals."""

    format: Format = "json_schema"
    limits: tuple[str, ...] = (NEW, OLD)
    """The keys that may still bound the answer; the first is sent."""
    tools: bool = True
    temperature: bool = True
    """It may be told not to choose its words by chance."""
    system: bool = True
    """Instructions stand in a message of their own; else before the question."""
    stream: Literal["counted", "plain", ""] = "counted"
    """How an answer is asked for piece by piece, where somebody reads along: with a count of its tokens, or without."""

    @property
    def limit(self) -> str:
        return self.limits[0] if self.limits else ""


FIRST = Capabilities()
ELSEWHERE = Capabilities(limits=(OLD, NEW))
"""Servers other than OpenAI's know the older name, and some take the newer one without heeding it."""
ANEW_SECONDS = 600.0
"""After so long a server is asked in the fullest form again; each time in vain makes it twice as long."""
ANEW_MOST = 21_600.0

_TOO_LONG = re.compile(
    r"context[_ ](?:length|window|size)|maximum context|too (?:long|large|many tokens)", re.IGNORECASE
)
_FORMAT = re.compile(
    r"response_?format|json_schema|json_object|json[_ ]mode|schema|grammar|structured[_ ]output", re.IGNORECASE
)
_LIMIT = re.compile(r"max_(?:completion_)?tokens|in the completion", re.IGNORECASE)
"""Also where the room that is kept for the answer makes the whole too long."""
_SIZE = re.compile(r"too (?:large|high)|at most|must be (?:less|<|below)|maximum context|less than", re.IGNORECASE)
_TOOLS = re.compile(r"\btool|\bfunction", re.IGNORECASE)
_TOOL_SCHEMA = re.compile(r"schema for (?:tool|function)|\btools?\b.{0,40}\bstrict", re.IGNORECASE)
_TEMPERATURE = re.compile("temperature", re.IGNORECASE)
_SYSTEM = re.compile(
    r"system[ _-]?(?:role|message|prompt|instruction)|developer[ _-]?instruction|roles? must alternate"
    r"|(?:support|invalid|unknown|unsupported)[^.]{0,40}['\"](?:system|developer)['\"]|\brole[^.]{0,20}\bsystem\b",
    re.IGNORECASE,
)
_STREAM_OPTIONS = re.compile(r"stream_options|include_usage", re.IGNORECASE)
_REFUSED = r"(?:support|allow|permit|enabled|verified|cannot use|unknown|unrecogni[sz]ed|disabled)"
_STREAM = re.compile(
    rf"{_REFUSED}[^.]{{0,80}}\bstream(?:ing)?\b|\bstream(?:ing)?\b[^.]{{0,80}}{_REFUSED}|stream_options|include_usage",
    re.IGNORECASE,
)


def simpler(capabilities: Capabilities, detail: str, *, tools: bool, stream: bool = False) -> Capabilities | None:
    """
    The next form to try after a server refused one; None when no other form would help.

    :param detail: what the server said. When that names nothing known, less is asked of it step by step.
    :param tools: whether the refused request offered tools.
    :param stream: whether it asked for the answer piece by piece.
    """
    if stream and _STREAM.search(detail):
        counted = capabilities.stream == "counted" and _STREAM_OPTIONS.search(detail)
        return msgspec.structs.replace(capabilities, stream="plain" if counted else "")
    if _LIMIT.search(detail) and capabilities.limits:
        left = () if _SIZE.search(detail) else capabilities.limits[1:]
        return msgspec.structs.replace(capabilities, limits=left)
    if too_long(detail):
        return None
    if capabilities.temperature and _TEMPERATURE.search(detail):
        return msgspec.structs.replace(capabilities, temperature=False)
    if stream and not minds_form(detail):
        return msgspec.structs.replace(capabilities, stream="")  # it changes nothing but what is shown meanwhile
    if _SYSTEM.search(detail) and capabilities.system:
        return msgspec.structs.replace(capabilities, system=False)
    format_named, tools_named = _FORMAT.search(detail), tools and capabilities.tools and _TOOLS.search(detail)
    if tools_named and (not format_named or _TOOL_SCHEMA.search(detail)):
        return msgspec.structs.replace(capabilities, tools=False)
    if capabilities.format != "plain":
        less: Format = "json_object" if capabilities.format == "json_schema" and not tools_named else "plain"
        return msgspec.structs.replace(capabilities, format=less)  # both at once are refused in every format
    return None if format_named and not tools_named else _leave_out(capabilities, tools=tools)


def _leave_out(capabilities: Capabilities, *, tools: bool) -> Capabilities | None:
    """What else may be minded by a server that does not say what it minds."""
    if tools and capabilities.tools:
        return msgspec.structs.replace(capabilities, tools=False)
    if capabilities.system:
        return msgspec.structs.replace(capabilities, system=False)
    return msgspec.structs.replace(capabilities, limits=capabilities.limits[1:]) if capabilities.limits else None


def too_long(detail: str) -> bool:
    """Whether a server minds the length of the prompt, which no other form makes shorter."""
    return bool(_TOO_LONG.search(detail))


def minds_form(detail: str) -> bool:
    """Whether an error is about a part of the form, by name."""
    return any(each.search(detail) for each in (_FORMAT, _TOOLS, _SYSTEM, _LIMIT, _STREAM, _TEMPERATURE))


class ServerForms:
    """
    The form in which a server is asked first, with tools and without.

    A refusal that names what it minds is believed at once; one that does not may have had another cause, so its second
    in a row counts. None counts for ever: a server is mended, and a daemon runs for months.
    """

    def __init__(self, clock: Clock, first: Capabilities) -> None:
        self._clock = clock
        self._first = first
        self._known: dict[bool, tuple[Capabilities, float, float]] = {}
        """With when it was learned, and for how many seconds it holds."""
        self._doubted: dict[bool, Capabilities] = {}

    def best(self, *, tools: bool) -> Capabilities:
        form, since, seconds = self._known.get(tools, (self._first, 0.0, 0.0))
        return form if self._clock.time() < since + seconds else self._first

    def confirm(self, *, tools: bool) -> None:
        """The form that is asked first was taken: whatever was refused in between had another cause."""
        self._doubted.pop(tools, None)
        if self.best(tools=tools) == self._first:
            self._known.pop(tools, None)

    def learn(self, form: Capabilities, *, tools: bool, named: bool) -> bool:
        """
        A simpler form than the best was taken; say whether the next request begins with it.

        :param named: the refusals before it said what they minded.
        """
        if not named and self._doubted.get(tools) != form:
            self._doubted[tools] = form
            return False
        self._doubted.pop(tools, None)
        known, _, seconds = self._known.get(tools, (self._first, 0.0, 0.0))
        seconds = min(ANEW_MOST, 2 * seconds) if known == form else ANEW_SECONDS
        self._known[tools] = form, self._clock.time(), seconds
        return True
