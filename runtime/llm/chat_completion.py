"""What of a chat completion is read. Servers differ in what they leave out, so almost everything may be missing."""

import json
from typing import Any, TypeVar

import msgspec

T = TypeVar("T", bound=msgspec.Struct)

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
    reasoning_content: Any = None
    """Where some servers put all that a model wrote, the answer with it."""

    @property
    def text(self) -> str:
        """What the model wrote; of a message without a text what it thought, or what it wanted to call with."""
        content = self.content
        text = "".join(part.text or "" for part in content) if isinstance(content, list) else content or ""
        if text.strip():
            return text
        if isinstance(self.reasoning_content, str) and self.reasoning_content.strip():
            return self.reasoning_content
        arguments = self.tool_calls[0].function.arguments if self.tool_calls else None
        return arguments if isinstance(arguments, str) else json.dumps(arguments) if arguments else text


class Choice(msgspec.Struct, frozen=True):
    message: Message
    finish_reason: str | None = None


class Reply(msgspec.Struct, frozen=True):
    choices: list[Choice] = []
    error: Any = None
    """What went wrong, as gateways report it with a status that says that all is well."""
    usage: Any = None
    """As the server has it: `tokens` says what of it can be believed."""
    length: int = 0
    """Bytes of the whole body."""

    @property
    def tokens(self) -> tuple[int, int] | None:
        """Tokens in and out, as the server counts them; nothing when it does not say, or says what cannot be."""
        if not isinstance(self.usage, dict):
            return None
        tokens_in, tokens_out = (_count(self.usage.get(name)) for name in ("prompt_tokens", "completion_tokens"))
        return None if tokens_in is None or tokens_out is None else (tokens_in, tokens_out)


def read(body: bytes) -> Reply:
    """
    A chat completion.

    :raises msgspec.DecodeError: it is none.
    """
    return msgspec.structs.replace(convert(body, Reply), length=len(body))


def convert(body: bytes, shape: type[T]) -> T:
    """
    A completion, or a piece of one, from its JSON.

    :raises msgspec.DecodeError: it is none.
    """
    try:
        return msgspec.json.decode(body, type=shape)
    except msgspec.DecodeError:
        # Servers in Python send NaN, which is no JSON; a number of a thousand digits is, but none that anybody needs.
        try:
            return msgspec.convert(json.loads(body, parse_constant=lambda _: None, parse_int=_whole), shape)
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
