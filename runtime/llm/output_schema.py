"""The JSON schema of an answer, as strict as structured output wants it, and the way back from text into the struct."""

import contextlib
import functools
from typing import Any, Generic, TypeVar

import msgspec

from actors.workflow.outcome import TERMINATE
from runtime.user_text import safe

T = TypeVar("T", bound=msgspec.Struct)

REASON_CHARACTERS = 300
Node = Any  # a node of a JSON schema: whatever JSON can be

DROPPED = frozenset({"default", "discriminator"})
"""Keywords that strict servers refuse and that a decoder does not need."""


class Malformed(Exception):
    """A model's text is not the answer that was asked for. The text says where it differs."""


class OutputSchema(Generic[T]):
    """What is asked of a model: a shape, its schema, and how its text becomes an instance."""

    __slots__ = ("_decode", "json_object", "json_schema", "name", "text")

    def __init__(self, shape: type[T]) -> None:
        self.name = shape.__name__
        schema, strict = strict_schema(shape)
        self.text = msgspec.json.encode(schema).decode()
        """The schema as text, for servers that take none beside the messages."""
        wanted = {"type": "json_schema", "json_schema": {"name": self.name, "strict": strict, "schema": schema}}
        self.json_schema = msgspec.Raw(msgspec.json.encode(wanted))
        self.json_object = msgspec.Raw(b'{"type":"json_object"}')
        self._decode = msgspec.json.Decoder(shape, strict=False).decode

    def decode(self, text: str) -> T:
        """
        Read an answer, also out of a code block or behind a visible train of thought.

        :raises Malformed: with what is wrong, as the model may be told.
        """
        try:
            return self._decode(text)
        except (msgspec.DecodeError, UnicodeEncodeError, RecursionError) as error:
            inner = _object_in(text)
            if inner == text:
                raise Malformed(_reason(error)) from None
        try:
            return self._decode(inner)
        except (msgspec.DecodeError, UnicodeEncodeError, RecursionError) as error:
            raise Malformed(_reason(error)) from None


class _Tagged(msgspec.Struct, frozen=True):
    type: str = ""


_tagged = msgspec.json.Decoder(_Tagged).decode


def ends_run(text: str) -> bool:
    """Whether an answer gives itself out for the event that ends a run. What its texts say is not looked at."""
    if TERMINATE not in text:
        return False
    for part in (text, _object_in(text)):
        with contextlib.suppress(msgspec.DecodeError, UnicodeEncodeError, RecursionError):
            return _tagged(part).type == TERMINATE
    return False


def says_nothing(value: msgspec.Struct) -> bool:
    """Whether an answer is what an empty object would be."""
    return all(field.default == getattr(value, field.name) for field in msgspec.structs.fields(value))


@functools.lru_cache(maxsize=256)
def schema_of(shape: type[T]) -> OutputSchema[T]:
    """The output schema of a shape, made once."""
    return OutputSchema(shape)


def strict_schema(shape: type[msgspec.Struct]) -> tuple[dict[str, Node], bool]:
    """
    The schema of a struct with its root in the open, no further keys allowed and all keys required.

    The second value says whether it keeps to what strict servers allow: maps with free keys and
    fixed tuples do not.
    """
    whole = msgspec.json.schema(shape)
    definitions = whole.get("$defs", {})
    name = str(whole.get("$ref", "")).rpartition("/")[2]
    root = definitions.get(name, whole)
    if f'"#/$defs/{name}"'.encode() not in msgspec.json.encode(definitions):  # tokens are paid for each
        definitions.pop(name, None)
    schema, strict = _strict(root)
    others = {name: _strict(each) for name, each in definitions.items()}
    if others:
        schema["$defs"] = {name: each for name, (each, _) in others.items()}
    return schema, strict and all(fits for _, fits in others.values())


def _strict(node: Node) -> tuple[Node, bool]:
    if isinstance(node, list):
        items = [_strict(each) for each in node]
        return [each for each, _ in items], all(fits for _, fits in items)
    if not isinstance(node, dict):
        return node, True
    fits = "prefixItems" not in node and not (node.get("type") == "object" and "properties" not in node)
    result: dict[str, Node] = {}
    for key, value in node.items():
        if key == "properties":
            parts = {name: _strict(each) for name, each in value.items()}
            result[key] = {name: each for name, (each, _) in parts.items()}
            fits = fits and all(part for _, part in parts.values())
        elif key not in DROPPED:
            result[key], part = _strict(value)
            fits = fits and part
    if "properties" in node:
        result["required"] = list(node["properties"])
        result["additionalProperties"] = False
    return result, fits


def _object_in(text: str) -> str:
    """What stands between the first and the last brace, behind the end of a train of thought."""
    answer = text.rpartition("</think>")[2]
    start, end = answer.find("{"), answer.rfind("}")
    return answer[start : end + 1] if 0 <= start < end else text


def _reason(error: Exception) -> str:
    return safe(" ".join(str(error).split()))[:REASON_CHARACTERS]  # it may quote the model
