"""Where a replayed run went another way than then: event by event, field by field, and how it ended."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from actors.ports import Entry
from actors.workflow.codec import decoder
from actors.workflow.tables import Workflow
from runtime.replay.recorded_run import RecordedRun, Recording
from runtime.storage.records import StoredEvent

if TYPE_CHECKING:
    from runtime.replay.replay_node import ReplayJournal

VALUE_CHARACTERS = 200
NOTHING = "nothing"


class Difference(msgspec.Struct, frozen=True):
    """One value that is another one than then."""

    run: str
    event: int
    """Its number in the run; 0: the outcome."""
    sender: str
    kind: str
    """Of the event, as it was then, or is now where there was none; `outcome`."""
    field: str
    """Where in it, such as `resolution.text`; empty: all of it."""
    then: str
    now: str


def read_events(events: Sequence[StoredEvent], flow: Workflow) -> list[Entry]:
    """Events of a run, decoded."""
    decode = decoder(flow).decode
    return [Entry("", n, at, sender, number, decode(body)) for n, at, sender, number, body in events]


def find_differences(
    recording: Recording, journal: "ReplayJournal", flows: Mapping[str, Workflow]
) -> Iterator[Difference]:
    """Everything that is not byte for byte as then, in the order of the runs and their events."""
    for run in recording.runs:
        now = journal.events.get(run.id, [])
        yield from _compare_events(run, now, flows[run.workflow])
        ended = journal.outcomes.get(run.id, b"")
        if ended != run.outcome:
            yield from _compare(run.id, 0, "", "outcome", _to_builtins(run.outcome), _to_builtins(ended))
    for new in journal.events.keys() - {run.id for run in recording.runs}:
        yield Difference(new, 1, "", journal.workflows[new], "", "no such run", "it runs")


def _compare_events(run: RecordedRun, now: Sequence[StoredEvent], flow: Workflow) -> Iterator[Difference]:
    for then, new in itertools.zip_longest(run.events, now):
        if then == new:
            continue
        at = then or new
        kind = _name_kind(at, flow)
        if then is None or new is None or (then.sender, kind) != (new.sender, _name_kind(new, flow)):
            yield Difference(run.id, at.n, at.sender, kind, "", _describe_event(then, flow), _describe_event(new, flow))
            continue
        yield from _compare(run.id, at.n, at.sender, kind, _read_values(then), _read_values(new))


def _name_kind(event: StoredEvent, flow: Workflow) -> str:
    return type(decoder(flow).decode(event.body)).__name__


def _describe_event(event: StoredEvent | None, flow: Workflow) -> str:
    return NOTHING if event is None else f"{event.sender or 'outside'}: {_name_kind(event, flow)}"


def _read_values(event: StoredEvent) -> Any:
    return {"at": event.at, "handoff": event.number, **_to_builtins(event.body)}


def _to_builtins(body: bytes) -> Any:
    return msgspec.msgpack.decode(body) if body else {}


def _compare(run: str, number: int, sender: str, kind: str, then: Any, now: Any) -> Iterator[Difference]:
    for field, before, after in _differ("", then, now):
        yield Difference(run, number, sender, kind, field, show(before), show(after))


_MISSING = object()


def _differ(name: str, then: Any, now: Any) -> Iterator[tuple[str, Any, Any]]:
    """The innermost values that are not alike, each with its place."""
    if then == now and type(then) is type(now):
        return
    pairs: Iterator[tuple[Any, Any, Any]]
    if isinstance(then, dict) and isinstance(now, dict):
        keys = {**then, **now}
        pairs = ((key, then.get(key, _MISSING), now.get(key, _MISSING)) for key in keys)
    elif isinstance(then, list) and isinstance(now, list):
        both = itertools.zip_longest(then, now, fillvalue=_MISSING)
        pairs = ((number, *pair) for number, pair in enumerate(both, start=1))
    else:
        yield name, then, now
        return
    for key, before, after in pairs:
        yield from _differ(f"{name}.{key}" if name else str(key), before, after)


def show(value: Any) -> str:
    """A value in a line."""
    if value is _MISSING or value in (None, "", [], {}):
        return NOTHING
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return text if len(text) <= VALUE_CHARACTERS else f"{text[:VALUE_CHARACTERS]}…"
