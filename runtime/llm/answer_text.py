"""Finds the JSON of an answer in what models really write: behind thoughts, in code blocks, a little broken."""

import functools
import json
import re
from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import inspect

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
