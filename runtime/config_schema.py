"""What there is to set: every key with its section, its type and the environment variable that sets it."""

from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple, cast

from msgspec import inspect

from runtime.settings import AgentSettings, Settings

PREFIX = "TERMINUS_"
AGENTS = "agents"
"""The section that has a table for each agent."""


class Key(NamedTuple):
    """One setting: what it may be, and how it is to be handled."""

    section: str
    name: str
    type: inspect.Type
    secret: bool
    folder: bool

    @property
    def variable(self) -> str:
        return f"{PREFIX}{self.section}_{self.name}".upper()


@cache
def keys() -> Mapping[tuple[str, str], Key]:
    """Every setting there is, by section and name, save those of single agents."""
    return {(section, name): key for section in sections() for name, key in keys_of(section).items()}


@cache
def sections() -> Mapping[str, inspect.StructType]:
    fields = cast("inspect.StructType", inspect.type_info(Settings)).fields
    return {field.encode_name: cast("inspect.StructType", field.type) for field in fields}


@cache
def type_of(section: str) -> inspect.StructType:
    """What a section holds; a table `[agents.NAME]` the same whoever that is: a node that opens knows its agents."""
    if section.startswith(f"{AGENTS}."):
        return cast("inspect.StructType", inspect.type_info(AgentSettings))
    return sections()[section]


@cache
def keys_of(section: str) -> Mapping[str, Key]:
    return {each.encode_name: _key(section, each) for each in type_of(section).fields if not _has_tables(each.type)}


def _has_tables(kind: inspect.Type) -> bool:
    """Whether a setting is tables of their own, as `[agents.NAME]`."""
    return isinstance(kind, inspect.DictType) and isinstance(kind.value_type, inspect.StructType)


def _key(section: str, field: inspect.Field) -> Key:
    kind, extra = _bare(field.type)
    if isinstance(kind, inspect.VarTupleType):
        extra = {**extra, **_bare(kind.item_type)[1]}
    return Key(section, field.encode_name, kind, "secret" in extra, "folder" in extra)


def _bare(kind: inspect.Type) -> tuple[inspect.Type, dict[str, Any]]:
    if isinstance(kind, inspect.Metadata):
        return kind.type, kind.extra or {}
    return kind, {}


def describe_type(kind: inspect.Type) -> str:
    """What a setting may be, in plain words."""
    kind = _bare(kind)[0]
    match kind:
        case inspect.IntType(ge=low, le=high):
            return f"a whole number from {low} to {high}"
        case inspect.FloatType(ge=low, le=high):
            return f"a number from {low:g} to {high:.15g}"
        case inspect.BoolType():
            return "true or false"
        case inspect.LiteralType(values=values):
            return "one of " + ", ".join(f'"{value}"' for value in values)
        case inspect.StrType(min_length=low, max_length=high):
            return f"a text of {low or 0} to {high} characters"
        case inspect.VarTupleType(item_type=item):
            return f"a list, each {describe_type(item)}"
        case inspect.DictType(value_type=value):
            return f"a table of names, each {describe_type(value)}"
    raise TypeError(f"a setting has a type that nobody can explain to a user: {kind}")
