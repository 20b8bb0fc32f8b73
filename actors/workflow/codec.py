"""Which events a workflow knows. An agent's event is checked against its type before it may change anything."""

import functools
import operator
from typing import Any

import msgspec

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
