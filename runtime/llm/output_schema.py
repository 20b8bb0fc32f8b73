"""The JSON schema of an answer, as strict as structured output wants it, and the way back from text into the struct."""

import functools
from collections.abc import Iterator
from typing import Any, Generic, TypeVar

import msgspec

from actors.workflow.outcome import TERMINATE
from runtime.llm.answer_text import fit, objects_in
from runtime.llm.text_reader import Path
from runtime.user_text import safe

T = TypeVar("T", bound=msgspec.Struct)

REASON_CHARACTERS = 300
_encode = msgspec.json.Encoder().encode

Choices = tuple[tuple[str, tuple[str, ...]], ...]
Node = Any  # a node of a JSON schema: whatever JSON can be

ORDER = "order"
"""The keyword by which a field says where it stands: evidence is written before what rests on it."""
SHOWN = "shown"
"""The keyword by which a field says that people may read it while the answer is being written."""
DROPPED = frozenset({"default", "discriminator", "title", ORDER, SHOWN})
"""Keywords that strict servers refuse, or that say nothing to a model."""


class Malformed(Exception):
    """A model's text is not the answer that was asked for. The text says where it differs."""


class OutputSchema(Generic[T]):
    """What is asked of a model: a shape, its schema, and how its text becomes an instance."""

    __slots__ = ("_descriptions", "_first", "_shape", "json_object", "json_schema", "name", "outline", "text")

    def __init__(self, shape: type[T], choices: Choices = ()) -> None:
        self.name = shape.__name__
        self._shape = shape
        self._first = msgspec.structs.fields(shape)[0].encode_name
        schema, strict = strict_schema(shape)
        self._descriptions = frozenset(_list_texts(schema, "description"))
        self.outline = _outline(schema, set())
        """Its keys and what they hold, in one line."""
        self.text = min((_encode(each).decode() for each in (schema, strict_schema(shape, inline=False)[0])), key=len)
        """The schema as text, for servers that take none beside the messages. The choices stand in the material."""
        for field, values in choices:
            _restrict(schema, field, values)
        wanted = {"type": "json_schema", "json_schema": {"name": self.name, "strict": strict, "schema": schema}}
        self.json_schema = msgspec.Raw(_encode(wanted))
        self.json_object = msgspec.Raw(b'{"type":"json_object"}')

    @property
    def shown(self) -> frozenset[Path]:
        """Where the texts stand that people may read while it is being written."""
        return list_shown(self._shape)

    def decode(self, text: str) -> T:
        """
        Read an answer, also out of a code block, behind a visible train of thought, or with text around it.

        :raises Malformed: with what is wrong, as the model may be told.
        """
        try:
            without = text.strip() and "{" not in text
            problem = "malformed: there is no JSON object" if without else "truncated: there is no whole JSON object"
            text.encode()
            for found in objects_in(text):
                plain = fit(found, self._shape)
                if self._lacks_what_counts(plain):
                    problem = f"the key `{self._first}` is missing"
                    continue
                if self._descriptions.intersection(_list_texts(plain)):
                    problem = "a text is nothing but the description of its field"
                    continue
                try:
                    return msgspec.convert(plain, self._shape, strict=False)
                except msgspec.ValidationError as error:
                    problem = _reason(error)
        except (UnicodeEncodeError, RecursionError) as error:
            problem = _reason(error)
        raise Malformed(problem)

    def _lacks_what_counts(self, plain: dict[str, Node]) -> bool:
        """
        Whether an answer says nothing in the form that was asked for.

        Servers that enforce no schema let keys be left out. Without its first key an answer only counts for what
        another one says: an empty object is no "not found".
        """
        return self._first not in plain and not any(plain.values())


def _list_texts(node: Node, key: str = "") -> Iterator[str]:
    """
    The texts in a node, however deep.

    :param key: only those below it.
    """
    for name, each in node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ():
        if isinstance(each, str):
            if not key or name == key:
                yield each
        else:
            yield from _list_texts(each, key)


def ends_run(text: str) -> bool:
    """Whether an answer gives itself out for the event that ends a run. What its texts say is not looked at."""
    return TERMINATE in text and any(each.get("type") == TERMINATE for each in objects_in(text))


def says_nothing(value: msgspec.Struct) -> bool:
    """Whether an answer is what an empty object would be."""
    return all(field.default == getattr(value, field.name) for field in msgspec.structs.fields(value))


@functools.lru_cache(maxsize=256)
def schema_of(shape: type[T], choices: Choices = ()) -> OutputSchema[T]:
    """The output schema of a shape, made once; `choices` as in `ModelRequest`."""
    return OutputSchema(shape, choices)


@functools.lru_cache(maxsize=256)
def list_shown(shape: type[msgspec.Struct]) -> frozenset[Path]:
    """Where the texts of a shape stand that people may read while it is being written."""
    whole = msgspec.json.schema(shape)
    return frozenset(_list_shown(_inline(whole, whole.pop("$defs", {}), frozenset()), ()))


def _list_shown(node: Node, path: Path) -> Iterator[Path]:
    if node.get(SHOWN):
        yield path
    for name, each in node.get("properties", {}).items():
        yield from _list_shown(each, (*path, name))
    for each in node.get("anyOf", ()):
        yield from _list_shown(each, path)
    if "items" in node:
        yield from _list_shown(node["items"], (*path, None))


def strict_schema(shape: type[msgspec.Struct], *, inline: bool = True) -> tuple[dict[str, Node], bool]:
    """
    The schema of a struct with its root in the open, no further keys allowed and all keys required.

    The second value says whether it keeps to what strict servers allow: maps with free keys and
    fixed tuples do not.

    :param inline: without references, which some servers refuse, save those of a shape to itself.
    """
    whole = msgspec.json.schema(shape)
    definitions = whole.pop("$defs", {})
    root = str(whole.get("$ref", "")).rpartition("/")[2]
    kept = frozenset[str]() if inline else frozenset(definitions) - {root}
    schema, strict = _strict(_inline(whole, definitions, kept))
    others = {name: _strict(_inline(each, definitions, kept | {name})) for name, each in definitions.items()}
    text = _encode([schema, [each for each, _ in others.values()]])
    if used := {name: each for name, each in others.items() if f'"#/$defs/{name}"'.encode() in text}:
        schema["$defs"] = {name: each for name, (each, _) in used.items()}
        strict = strict and all(fits for _, fits in used.values())
    return schema, strict


def outline_of(shape: type[msgspec.Struct]) -> str:
    """The keys of a struct and what they hold, in one line."""
    return _outline(strict_schema(shape)[0], set())


def _inline(node: Node, definitions: dict[str, Node], kept: frozenset[str], *, nested: bool = False) -> Node:
    """:param kept: the references that stay."""
    if isinstance(node, list):
        return [_inline(each, definitions, kept, nested=nested) for each in node]
    if not isinstance(node, dict):
        return node
    name = str(node.get("$ref", "")).rpartition("/")[2]
    if name and name not in kept:
        rest = {key: each for key, each in node.items() if key != "$ref"}
        whole = _inline(definitions[name], definitions, kept | {name}, nested=True)
        if nested:  # the one of the whole says it, and tokens are paid for each
            whole.pop("description", None)
        return {**whole, **rest}
    return {key: _inline(each, definitions, kept, nested=nested) for key, each in node.items()}


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
            parts = {name: _strict(each) for name, each in sorted(value.items(), key=_place)}
            result[key] = {name: each for name, (each, _) in parts.items()}
            fits = fits and all(part for _, part in parts.values())
        elif key not in DROPPED:
            result[key], part = _strict(value)
            fits = fits and part
    if "properties" in node:
        result["required"] = list(result["properties"])
        result["additionalProperties"] = False
    return result, fits


def _place(field: tuple[str, Node]) -> int:
    return int(field[1].get(ORDER, 0))


def _outline(node: Node, written: set[str]) -> str:
    """What a node of a schema holds, as a person would jot it down: an object in full where it stands first."""
    if "properties" in node:
        fields = (f'"{name}": {_outline(each, written)}' for name, each in node["properties"].items())
        text = "{" + ", ".join(fields) + "}"
        if text in written:
            return "{likewise}"
        written.add(text)
        return text
    if "items" in node:
        return f"[{_outline(node['items'], written)}, ...]"
    if "anyOf" in node:
        return " or ".join(_outline(each, written) for each in node["anyOf"])
    return str(node.get("type", "one of the values" if "enum" in node else "object"))


def _restrict(node: Node, field: str, values: tuple[str, ...]) -> None:
    """Let the texts of a field, wherever it stands, be these and no others."""
    for each in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        _restrict(each, field, values)
    if isinstance(node, dict) and field in (known := node.get("properties", {})) and values:
        known[field] = {**known[field], "enum": list(values)}


def _reason(error: Exception) -> str:
    return safe(" ".join(str(error).split()))[:REASON_CHARACTERS]  # it may quote the model
