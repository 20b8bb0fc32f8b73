"""What of a chat completion is read. Servers differ in what they leave out, so almost everything may be missing."""

import json
from typing import Any

import msgspec

MOST_TOKENS = 10_000_000
"""Of one call, in or out: ten times what any model takes. Who reports more has miscounted."""
DIGITS = 20
"""A number with so many is no count of anything."""


class Function(msgspec.Struct, frozen=True):
    name: str = ""
    arguments: str | dict[str, Any] | None = ""  # JSON as text, or as some servers have it, JSON itself


class ToolCall(msgspec.Struct, frozen=True):
    id: str | None = ""
    function: Function = Function()


class Part(msgspec.Struct, frozen=True):
    text: str | None = ""


class Message(msgspec.Struct, frozen=True):
    content: str | list[Part] | None = None
    refusal: str | None = None
    tool_calls: list[ToolCall] | None = None

    @property
    def text(self) -> str:
        if isinstance(self.content, list):
            return "".join(part.text or "" for part in self.content)
        return self.content or ""


class Choice(msgspec.Struct, frozen=True):
    message: Message
    finish_reason: str | None = None


class Reply(msgspec.Struct, frozen=True):
    choices: list[Choice] = []
    usage: Any = None
    """As the server has it: `tokens` says what of it can be believed."""

    @property
    def tokens(self) -> tuple[int, int] | None:
        """Tokens in and out, as the server counts them; nothing when it does not say, or says what cannot be."""
        if not isinstance(self.usage, dict):
            return None
        tokens_in, tokens_out = (_count(self.usage.get(name)) for name in ("prompt_tokens", "completion_tokens"))
        return None if tokens_in is None or tokens_out is None else (tokens_in, tokens_out)


_read = msgspec.json.Decoder(Reply).decode


def read(body: bytes) -> Reply:
    """
    A chat completion.

    :raises msgspec.DecodeError: it is none.
    """
    try:
        return _read(body)
    except msgspec.DecodeError:
        # Servers in Python send NaN, which is no JSON; a number of a thousand digits is, but none that anybody needs.
        try:
            return msgspec.convert(json.loads(body, parse_constant=lambda _: None, parse_int=_whole), Reply)
        except (ValueError, RecursionError):
            pass
        raise


def _whole(digits: str) -> int | None:
    return int(digits) if len(digits) < DIGITS else None


def _count(said: object) -> int | None:
    """A number of tokens, if it is one."""
    if isinstance(said, float) and said.is_integer():
        said = int(said)
    if isinstance(said, bool) or not isinstance(said, int):
        return None
    return said if 0 <= said <= MOST_TOKENS else None
