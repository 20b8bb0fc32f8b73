"""
Which events a workflow knows, and the version of its table.

An agent's event is checked against its type before it may change anything. A version is the same as
long as every journal of the table means the same.
"""

import functools
import hashlib
import operator
from typing import Any

import msgspec
from msgspec.inspect import type_info

from actors.workflow.tables import SYSTEM_EVENTS, FanOut, Handover, InvalidAnswer, Workflow
from bus import Event, Failed

_encode = msgspec.msgpack.Encoder().encode
_NO_OTHERS: frozenset[type[Event]] = frozenset()


@functools.lru_cache(maxsize=256)
def decoder(flow: Workflow, others: frozenset[type[Event]] = SYSTEM_EVENTS) -> "msgspec.msgpack.Decoder[Any]":
    """
    Reads every event that may move a run of this workflow; a journal of it holds no other.

    :param others: events besides those of its agents.
    """
    kinds: set[type[Event]] = {flow.closed, Handover, Failed, InvalidAnswer, *others}
    for step in flow.steps.values():
        kinds |= {step.answer} if isinstance(step, FanOut) else set(step.then)
    return msgspec.msgpack.Decoder(functools.reduce(operator.or_, sorted(kinds, key=lambda kind: kind.__name__)))


def validate_event(flow: Workflow, event: Event) -> Event:
    """
    What an agent really said: a copy that it cannot change any more, with the types that the workflow was verified for.

    Structs are not checked when they are made, so a wrong value would only show when the journal is read again.
    """
    try:
        copy: Event = decoder(flow, _NO_OTHERS).decode(_encode(event))
    except Exception:  # whatever keeps it from being written and read again
        return InvalidAnswer(what=type(event).__name__)
    return copy


CHARACTERS = 12
ADDED = frozenset({"on_failed", "at_most"})
"""What steps could not say once: tables that do not say it keep their version."""


@functools.lru_cache(maxsize=256)
def fingerprint(flow: Workflow) -> str:
    """
    Of its states, its steps, its events and the fields of its case, down to the last type.

    Limits do not count: whoever configures them does not change what a journal means.
    """
    steps = [(str(state), _table_of(step)) for state, step in flow.steps.items()]
    said = (
        flow.name,
        flow.terminator,
        str(flow.final),
        steps,
        *(_spell_out(type_info(each), set()) for each in (flow.case, decoder(flow).type)),
    )
    return hashlib.sha256(repr(said).encode()).hexdigest()[:CHARACTERS]


def _table_of(step: Any) -> list[str]:
    """A step of a table: names instead of types, and nothing of its limits."""
    fields = [
        name for name in step.__struct_fields__ if name != "limits" and not (name in ADDED and not getattr(step, name))
    ]
    return [f"{name}={_name_of(getattr(step, name))}" for name in fields]


def _name_of(value: Any) -> str:
    if isinstance(value, type):
        return value.__name__
    if isinstance(value, dict):
        return str({_name_of(key): _name_of(each) for key, each in value.items()})
    return str(sorted(value)) if isinstance(value, frozenset) else str(value)


def _spell_out(part: Any, known: set[type]) -> str:
    """A type with all types in it, each struct once: what it is called when it is encoded, not where it is from."""
    if isinstance(part, type):
        return f"{part.__name__}{[str(each) for each in getattr(part, '__members__', {}).values()]}"
    if isinstance(part, tuple):
        return f"({', '.join(_spell_out(each, known) for each in part)})"
    if isinstance(part, msgspec.inspect.StructType):
        if part.cls in known:
            return part.cls.__name__
        known.add(part.cls)
        fields = [(each.encode_name, each.required, _spell_out(each.type, known)) for each in part.fields]
        return f"{part.cls.__name__}{part.tag}{fields}"
    if isinstance(part, msgspec.inspect.Type):
        parts = (getattr(part, name) for name in getattr(part, "__struct_fields__", ()))
        return f"{type(part).__name__}({', '.join(_spell_out(each, known) for each in parts)})"
    return repr(part)
