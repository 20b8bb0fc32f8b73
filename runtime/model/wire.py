"""What of a chat completion is read. Servers differ in what they leave out, so almost everything may be missing."""

from typing import Any

import msgspec


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


class Usage(msgspec.Struct, frozen=True):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class Reply(msgspec.Struct, frozen=True):
    choices: list[Choice] = []
    usage: Usage | None = None

    @property
    def tokens(self) -> int | None:
        """What the server says that it took, in and out together."""
        usage = self.usage
        if usage is None or usage.prompt_tokens is None:
            return None
        return usage.prompt_tokens + (usage.completion_tokens or 0)


read = msgspec.json.Decoder(Reply).decode
