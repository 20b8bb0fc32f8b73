"""Records as nested lists and back: a person reads labels, and what is read is what is parsed."""

import functools
import types
import typing
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar

import msgspec

from actors.evidence.sources import Statement
from runtime.state_files.markdown_escape import EMPTY, NOTHING, clean, fence, inline
from runtime.state_files.parser import Item, Unreadable

S = TypeVar("S", bound=msgspec.Struct)
Labelled = tuple[str, Any]
ACRONYMS = {"url": "URL", "sha256": "SHA-256", "swot": "SWOT"}
PARAGRAPH_LINES = 12
ECHOES: Mapping[type, tuple[str, str]] = {Statement: ("quote", "text")}
"""Fields that are left out where they say what another field of the same record says: words quoted as they are."""


def label(name: str) -> str:
    """A field's name for a person."""
    return ACRONYMS.get(name) or name.replace("_", " ").capitalize()


def render_item(value: Any, depth: int = 0, name: str = "", place: int = 1) -> Iterator[str]:
    """The lines of one item, and of all that belongs to it."""
    head, below = _taken_apart(value)
    bullet = "  " * depth + "-" + (f" **{name}:**" if name else "")
    if value is None:
        yield f"{bullet} {NOTHING}"
    elif head is not None and "\n" in head:
        yield from _several(head, bullet, "  " * (depth + 1))
    else:
        text = inline(head or "") or ("" if name else EMPTY if head is not None else f"*{place}*")
        yield f"{bullet} {text}".rstrip(" ")
    for number, (sub, each) in enumerate(below, 1):
        yield from render_item(each, depth + 1, sub, number)


def _several(text: str, bullet: str, indent: str) -> Iterator[str]:
    """A text of several lines: a paragraph if it is one, else a block."""
    lines = clean(text).split("\n")
    if len(lines) <= PARAGRAPH_LINES and all(lines) and not any(line.startswith("    ") for line in lines):
        yield f"{bullet} {inline(lines[0])}"
        yield from (f"{indent}{inline(line)}" for line in lines[1:])
    else:
        yield bullet
        yield from fence(text, indent)


def fields(record: msgspec.Struct, *, but: Sequence[str] = ()) -> Iterator[str]:
    """A record's fields, each an item with its label. What has its default is left out."""
    for name, value in _list_fields(record, but):
        yield from render_item(value, 0, name)


def built(item: Item, type_: Any) -> Any:
    """
    The value of this type that an item stands for.

    :raises Unreadable: it is none.
    """
    origin = typing.get_origin(type_)
    if origin in {types.UnionType, typing.Union}:
        if item.markdown == NOTHING:
            return None
        (type_,) = (each for each in typing.get_args(type_) if each is not types.NoneType)
        origin = typing.get_origin(type_)
    if origin is tuple:
        return _tuple(item, typing.get_args(type_))
    if isinstance(type_, type) and issubclass(type_, msgspec.Struct):
        head = _headline(type_)
        return record(
            item.items, type_, item.line, **({head: scalar(item.text, _types(type_)[head], item.line)} if head else {})
        )
    return _scalar(item, type_)


def record(items: Sequence[Item], type_: type[S], line: int, **known: Any) -> S:
    """
    The record whose fields these items are.

    :param line: where it begins, for the error.
    :raises Unreadable: a label is unknown, a value is missing or not of its type.
    """
    known |= values(items, {name: each for name, each in _types(type_).items() if name not in known})
    if (echo := ECHOES.get(type_)) and echo[1] in known:
        known.setdefault(echo[0], known[echo[1]])
    try:
        return type_(**known)
    except TypeError:
        missing = (f.name for f in _fields(type_) if f.required and f.name not in known)
        raise Unreadable(line, f'"{label(next(missing, "value"))}" is missing here.') from None


def values(items: Sequence[Item], types_: Mapping[str, Any]) -> dict[str, Any]:
    """
    The values that labelled items give, by the names of their fields.

    :raises Unreadable: a label is none of these, or its value is not of its type.
    """
    by_label, found = {label(name): name for name in types_}, {}
    for item in items:
        if (name := by_label.get(item.label)) is None:
            said = item.label or item.text[:40]
            raise Unreadable(item.line, f'"{said}" is not known here; these are: {", ".join(by_label)}.')
        found[name] = built(item, types_[name])
    return found


def _taken_apart(value: Any) -> tuple[str | None, list[Labelled]]:
    """What stands on an item's own line, and what below it."""
    match value:
        case None:
            return None, []
        case bool():
            return "yes" if value else "no", []
        case str():
            return value, []
        case tuple():
            return None, [("", each) for each in value]
        case msgspec.Struct():
            head = _headline(type(value))
            return (getattr(value, head) if head else None), list(_list_fields(value, (head,)))
        case _:
            return repr(value), []


def _list_fields(record: msgspec.Struct, but: Sequence[str]) -> Iterator[Labelled]:
    echo, said = ECHOES.get(type(record), ("", ""))
    for field in _fields(type(record)):
        value = getattr(record, field.name)
        if field.name == echo and value == getattr(record, said):
            continue
        if field.name not in but and (field.required or value != field.default):
            yield label(field.name), value


def _tuple(item: Item, of: tuple[Any, ...]) -> tuple[Any, ...]:
    if len(of) == 2 and of[1] is Ellipsis:
        return tuple(built(each, of[0]) for each in item.items)
    if len(item.items) != len(of):
        raise Unreadable(item.line, f"{len(of)} items must stand below this one, not {len(item.items)}.")
    return tuple(built(each, type_) for each, type_ in zip(item.items, of, strict=True))


def _scalar(item: Item, type_: Any) -> Any:
    if item.items:
        raise Unreadable(item.items[0].line, "nothing may stand below a plain text or number.")
    return scalar(item.text, type_, item.line)


def scalar(text: str, type_: Any, line: int) -> Any:
    """A text, number, or yes and no, as this type."""
    if type_ is bool and text in {"yes", "no"}:
        return text == "yes"
    try:
        return msgspec.convert(text, type_, strict=type_ is str)
    except msgspec.ValidationError as error:
        raise Unreadable(line, f"{str(error).rstrip('.')}.") from None


_fields = functools.cache(msgspec.structs.fields)


@functools.cache
def _types(type_: type[msgspec.Struct]) -> dict[str, Any]:
    return {field.name: field.type for field in _fields(type_)}


@functools.cache
def _headline(type_: type[msgspec.Struct]) -> str:
    """The field that stands on the item's own line: the first one, when it is a text."""
    first = _fields(type_)[0]
    return first.name if first.type is str or typing.get_origin(first.type) is typing.Literal else ""
