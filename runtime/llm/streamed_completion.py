"""A chat completion that comes in pieces, put together again as if it had come whole."""

import codecs
import json
from typing import Any

import msgspec

from runtime.llm.chat_completion import Choice, Function, Message, Part, Reply, ToolCall, convert, read
from runtime.llm.draft_stream import DraftStream

WANTED = {"counted": b',"stream":true,"stream_options":{"include_usage":true}}', "plain": b',"stream":true}'}
"""What a request ends with that asks for pieces; with `counted` the last of them says how many tokens it took."""
CALLS = 128
"""Tool calls of one message that are put together."""

FIRST = b":deir"
"""What a line of server-sent events begins with: a comment, `data`, `event`, `id`, `retry`."""
BLANK = codecs.BOM_UTF8 + b" \t\r\n"
"""Bytes that say nothing at the head of a line; a byte order mark may stand at that of the first one."""


class BrokenStream(Exception):
    """It stopped before the answer was whole."""


class FunctionDelta(msgspec.Struct, frozen=True):
    name: str | None = None
    arguments: str | dict[str, Any] | None = None


class CallDelta(msgspec.Struct, frozen=True):
    index: int | None = None
    id: str | None = None
    function: FunctionDelta | None = None


class Delta(msgspec.Struct, frozen=True):
    content: str | list[Part] | None = None
    refusal: str | None = None
    tool_calls: list[CallDelta] | None = None
    reasoning_content: Any = None


class ChunkChoice(msgspec.Struct, frozen=True):
    delta: Delta | None = None
    message: Delta | None = None
    """In the place of `delta`, where a server sends all at once."""
    finish_reason: str | None = None
    index: int | None = 0


class Chunk(msgspec.Struct, frozen=True):
    choices: list[ChunkChoice] | None = None
    error: Any = None
    usage: Any = None


class StreamedRequest(msgspec.Struct, frozen=True):
    """What a client needs to have an answer written while somebody reads along."""

    body: bytes
    """Of the request that asks for pieces."""
    draft: DraftStream


class WholeBody:
    """The body of a completion that comes in one piece, however many packets that takes."""

    def __init__(self) -> None:
        self._chunks: list[bytes] = []

    begun = False
    """Whether something of an answer has come."""

    def feed(self, data: bytes) -> bool:
        """Take the next bytes; say whether they were the last that count."""
        self._chunks.append(data)
        return False

    def finish(self) -> Reply:
        """
        The completion, at the end of the body.

        :raises msgspec.DecodeError: it is none.
        """
        return read(self._chunks[0] if len(self._chunks) == 1 else b"".join(self._chunks))


class StreamBody:
    """As `WholeBody`, of server-sent events; a server that was asked for these and sends JSON is understood, too."""

    def __init__(self, draft: DraftStream) -> None:
        self._draft = draft
        self._half = ""
        """The first half of a character whose second half comes with the next piece."""
        self._rest = b""
        """A line that is not whole yet."""
        self._whole: WholeBody | None = None
        self._texts: dict[str, list[str]] = {"content": [], "refusal": [], "reasoning_content": []}
        self._calls: dict[int, tuple[str, str, list[str]]] = {}
        """By its place each tool call: id, name, pieces of its arguments."""
        self._reason: str | None = None
        self._usage: Any = None
        self._error: Any = None
        self.begun = self._answers = self._over = False

    def feed(self, data: bytes) -> bool:
        """
        As `WholeBody`.

        :raises msgspec.DecodeError: an event is no part of a completion.
        """
        if self._whole is not None:
            return self._whole.feed(data)
        self._rest += data
        if not self._answers and (first := self._rest.lstrip(BLANK)[:1]) and first not in FIRST:
            self._whole = WholeBody()
            return self._whole.feed(self._rest)
        *lines, self._rest = self._rest.split(b"\n")
        for line in lines:
            self._take(line)
        return self._over

    def finish(self) -> Reply:
        """
        As `WholeBody`.

        :raises BrokenStream: the end is missing.
        """
        if self._whole is not None:
            return self._whole.finish()
        self._take(self._rest)
        if self._error is not None:
            return Reply(error=self._error, usage=self._usage)
        if self._reason is None and not self._over:
            raise BrokenStream
        if not self._answers:
            return Reply(usage=self._usage)
        content, refusal, thought = (_mend("".join(pieces)) for pieces in self._texts.values())
        calls = [ToolCall(number, Function(name, "".join(given))) for number, name, given in self._calls.values()]
        message = Message(content, refusal or None, calls or None, thought or None)
        written = len(content) + len(thought) + sum(len(call.function.arguments or "") for call in calls)
        return Reply([Choice(message, self._reason)], usage=self._usage, length=4 * written)

    def _take(self, line: bytes) -> None:
        """One line; whatever is no data, such as a comment that keeps the connection open, says nothing."""
        name, _, value = line.partition(b":")
        value = value.strip()
        if name.strip(BLANK) != b"data" or not value or self._over:
            return
        if value == b"[DONE]":
            self._over = True
            return
        chunk = convert(value, Chunk)
        self._usage = chunk.usage or self._usage
        self._error = self._error or chunk.error
        for choice in chunk.choices or ():
            if not choice.index:  # one answer was asked for
                self._add(choice)

    def _add(self, choice: ChunkChoice) -> None:
        self._answers = True
        self._reason = choice.finish_reason or self._reason
        delta = choice.delta or choice.message or Delta()
        content = delta.content
        written = "".join(part.text or "" for part in content) if isinstance(content, list) else content or ""
        text, self._half = _split_half(self._half + written)
        self._texts["content"].append(text)
        self._texts["refusal"].append(delta.refusal or "")
        if isinstance(delta.reasoning_content, str):
            self._texts["reasoning_content"].append(delta.reasoning_content)
        for call in delta.tool_calls or ():
            self._add_call(call)
        self.begun = self.begun or bool(text or delta.tool_calls)
        if text:
            self._draft.feed(text)

    def _add_call(self, call: CallDelta) -> None:
        """A new one has a place, or an id, of its own; what has neither goes on with the last."""
        last = max(self._calls, default=-1)
        place = call.index if call.index is not None else last + (last < 0 or bool(call.id))
        if len(self._calls) >= CALLS and place not in self._calls:
            return
        number, name, given = self._calls.get(place, ("", "", []))
        function = call.function or FunctionDelta()
        arguments = function.arguments
        given.append(json.dumps(arguments) if isinstance(arguments, dict) else arguments or "")
        self._calls[place] = (number or call.id or "", name or function.name or "", given)


def _split_half(text: str) -> tuple[str, str]:
    """A text that can be shown, and the first half of a character that it ends with."""
    half = text[-1:] if "\ud800" <= text[-1:] < "\udc00" else ""
    return _mend(text[: len(text) - len(half)]), half


def _mend(text: str) -> str:
    """A character beyond the first plane that came as two halves in two pieces; half of one is shown by nobody."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
