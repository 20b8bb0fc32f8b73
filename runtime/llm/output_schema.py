"""
The JSON of an answer: its schema as strict as structured output wants it, and the way back from
what models really write.

JSON is found behind thoughts and in code blocks, a little broken; texts that people will see are
read while they are written.
"""

import functools
import json
import re
from collections.abc import Iterator
from typing import Any, Generic, Literal, TypeVar

import msgspec
from msgspec import inspect

from actors.workflow.outcome import TERMINATE
from runtime.user_text import safe

Path = tuple[str | None, ...]
"""Where a text stands in an answer: a key, or None for any item of a list."""

SEPARATOR = "\n"
"""Between one text and the next."""
DRAFT_CHARACTERS = 20_000
"""So much of an answer is read."""
DEPTH = 32
KEY_CHARACTERS = 100
_PLAIN = re.compile(r'[^"\\]*')
_LITERAL = re.compile(r"[-+.\w]")
_SPACE = frozenset(" \t\r\n")
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
UNICODE_ESCAPE = 6
"""Characters of one, its backslash included."""


class TextReader:
    """
    Fed with pieces of an answer, cut anywhere. What is no JSON, such as a thought before it, is passed over.

    Where a second object has such texts, it is the answer, and what was read of the first is dropped.
    """

    __slots__ = (
        "_escape", "_expects", "_high", "_key", "_new_object", "_new_text", "_parts", "_room", "_shown", "_stack",
        "_string", "drafts",
    )  # fmt: skip

    def __init__(self, shown: frozenset[Path]) -> None:
        """:param shown: where the texts stand."""
        self._shown = shown
        self._stack: list[str | None] = []
        """Of each object that is open its key, of each list None."""
        self._expects: Literal["key", "colon", "value", "more"] = "value"
        self._string: Literal["", "key", "shown", "hidden"] = ""
        """What string is being read."""
        self._escape = ""
        """An escape sequence that has begun."""
        self._high = 0
        """The first half of a surrogate pair."""
        self._key = ""
        self._new_object = self._new_text = True
        """Nothing was read of it as yet."""
        self._parts: list[str] = []
        self._room = DRAFT_CHARACTERS
        self.drafts = 0
        """How often an object with such texts was begun."""

    @property
    def text(self) -> str:
        """What was read of the latest."""
        text = "".join(self._parts)
        self._parts = [text]
        return text

    def feed(self, piece: str) -> None:
        """Read on."""
        at = 0
        while at < len(piece):
            at = self._read_string(piece, at) if self._string else self._read_structure(piece, at)

    def _read_structure(self, piece: str, at: int) -> int:
        """:returns: where to read on."""
        if not self._stack:
            start = piece.find("{", at)
            if start < 0:
                return len(piece)
            self._new_object = True
            self._open("")
            return start + 1
        char = piece[at]
        if char not in _SPACE:
            self._take(char)
        return at + 1

    def _take(self, char: str) -> None:
        inside = self._stack[-1] is not None
        match self._expects, char:
            case "key", '"':
                self._string, self._key = "key", ""
            case "colon", ":":
                self._expects = "value"
            case "value", '"':
                self._string = "shown" if self._is_shown() else "hidden"
                self._new_text = True
            case "value", "{" | "[" if len(self._stack) < DEPTH:
                self._open("" if char == "{" else None)
            case "more", ",":
                self._expects = "key" if inside else "value"
            case (("key" | "more"), "}") if inside:
                self._close()
            case (("value" | "more"), "]") if not inside:
                self._close()
            case (("value" | "more"), _) if _LITERAL.match(char):
                self._expects = "more"
            case _:
                self._stack.clear()  # that was no JSON

    def _open(self, key: str | None) -> None:
        self._stack.append(key)
        self._expects = "value" if key is None else "key"

    def _close(self) -> None:
        self._stack.pop()
        self._expects = "more"

    def _is_shown(self) -> bool:
        """Also of an answer that stands under some name in another object."""
        path = tuple(self._stack)
        return path in self._shown or path[1:] in self._shown

    def _read_string(self, piece: str, at: int) -> int:
        if self._escape:
            return self._read_escape(piece, at)
        end = at + len(_PLAIN.match(piece, at)[0])  # type: ignore[index] # it matches nothing, too
        self._put(piece[at:end])
        if end < len(piece):
            if piece[end] == "\\":
                self._escape = "\\"
            else:
                self._end_string()
        return end + 1

    def _end_string(self) -> None:
        self._put_half()
        if self._string == "key":
            self._stack[-1], self._expects = self._key, "colon"
        else:
            self._expects = "more"
        self._string = ""

    def _read_escape(self, piece: str, at: int) -> int:
        escape = self._escape = self._escape + piece[at]
        if escape[1] != "u":
            self._put(_ESCAPED.get(escape[1], escape[1]))
        elif len(escape) < UNICODE_ESCAPE:
            return at + 1
        else:
            self._put_code(escape[2:])
        self._escape = ""
        return at + 1

    def _put_code(self, digits: str) -> None:
        try:
            code = int(digits, 16)
        except ValueError:
            return
        if 0xDC00 <= code < 0xE000 and self._high:
            code, self._high = 0x10000 + ((self._high - 0xD800) << 10) + code - 0xDC00, 0
        if 0xD800 <= code < 0xDC00:
            self._put_half()
            self._high = code
        else:
            self._put("?" if 0xDC00 <= code < 0xE000 else chr(code))

    def _put_half(self) -> None:
        """Half a pair can be shown by nobody."""
        if self._high:
            self._high = 0
            self._put("?")

    def _put(self, text: str) -> None:
        if not text or self._string == "hidden":
            return
        self._put_half()
        if self._string == "key":
            self._key = (self._key + text)[:KEY_CHARACTERS]
            return
        separator = ""
        if self._new_object:
            self._parts, self._room, self._new_object = [], DRAFT_CHARACTERS, False
            self.drafts += 1
        elif self._new_text:
            separator = SEPARATOR
        self._new_text = False
        self._parts.append((separator + text)[: self._room])
        self._room -= len(self._parts[-1])


Plain = Any  # whatever JSON can be

PLACES = 50
"""Braces at which an object is looked for: each takes time."""
_THOUGHTS = re.compile(
    r"</(?:think|thinking|thought|reasoning|analysis)>\s*|<\|channel\|>\s*final\b.{0,200}?<\|message\|>"
)
"""What stands before the answer ends with one of these."""
_END = re.compile(r"<\|(?:end|return|im_end|eot_id|end_of_text)\|>")
_COMMA = re.compile(r'("(?:[^"\\]|\\.)*+")|,(?=\s*[}\]])')
"""A comma before the end of a list or object, where no text stands."""
_NUMBER = re.compile(r"[\s\[(#]*(-?\d{1,9})[\s\]).]*")
_DECODER = json.JSONDecoder()


def objects_in(text: str) -> Iterator[dict[str, Plain]]:
    """The JSON objects of a text, the last one first: what stands before it may be a thought, or an example."""
    behind = _END.split(_THOUGHTS.split(text)[-1], maxsplit=1)[0]
    yield from reversed([*_scan(behind)])
    mended = _COMMA.sub(lambda match: match[1] or "", behind)
    if mended != behind:
        yield from reversed([*_scan(mended)])


def _scan(text: str) -> Iterator[dict[str, Plain]]:
    """Objects that are no part of another one."""
    start = text.find("{")
    for _ in range(PLACES):
        if start < 0:
            return
        try:
            value, end = _DECODER.raw_decode(text, start)
            yield value
        except (ValueError, RecursionError):
            end = start + 1
        start = text.find("{", end)


def fit(value: Plain, shape: type[msgspec.Struct]) -> Plain:
    """
    An object in the form of a struct where it only differs in how something is written.

    Null for a list is an empty list, null for a text an empty text, "[3]" the number 3; an object that holds nothing
    but the answer, under some name, is the answer.
    """
    fields = [each.encode_name for each in msgspec.structs.fields(shape)]
    if not any(name in value for name in fields):
        value = next((each for each in value.values() if isinstance(each, dict) and fields[0] in each), value)
    return _fit(value, _type_of(shape))


@functools.lru_cache(maxsize=256)
def _type_of(shape: type[msgspec.Struct]) -> inspect.Type:
    return inspect.type_info(shape)


def _fit(value: Plain, kind: inspect.Type) -> Plain:
    match kind:
        case inspect.Metadata(type=bare):
            return _fit(value, bare)
        case inspect.StructType(fields=fields) if isinstance(value, dict):
            kinds = {each.encode_name: each.type for each in fields}
            return {key: _fit(each, kinds[key]) for key, each in value.items() if key in kinds}
        case inspect.VarTupleType(item_type=item) | inspect.ListType(item_type=item):
            items = [] if value is None else [value] if isinstance(value, dict) else value
            return [_fit(each, item) for each in items] if isinstance(items, list) else items
        case inspect.UnionType(types=types):
            wanted = next((each for each in types if isinstance(each, inspect.StructType)), types[0])
            return value if value is None and kind.includes_none else _fit(value, wanted)
        case inspect.IntType() if isinstance(value, str) and (number := _NUMBER.fullmatch(value)):
            return int(number[1])
        case inspect.StrType():
            return "" if value is None else _encodable(value) if isinstance(value, str) else value
    return value


def _encodable(text: str) -> str:
    """Half a surrogate pair can neither be stored nor shown."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


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
