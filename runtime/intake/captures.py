"""What a helpdesk said, kept as a file, and what is made of it: each value with the expression that it came from."""

from pathlib import Path
from typing import Any

import msgspec

from runtime.intake.adapter_file import AdapterFile
from runtime.intake.payload_map import UnreadablePayload, read_event, read_events, read_ticket
from runtime.intake.queries import explain

FILE_BYTES = 8_000_000
NEEDED = frozenset({"id", "kind", "ticket", "subject", "status", "closed", "messages", "events"})
"""Where an expression for one of these gives nothing, the payload cannot be used."""


class Capture(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """One of these; a file that is none holds the body of a delivery."""

    delivery: dict[str, Any] | None = None
    """`{headers, body}`, the names of headers in lower case."""
    poll: dict[str, Any] | None = None
    """The answer: `{status, headers, body}`."""
    fetch: dict[str, Any] | None = None
    """The answers, by the names of their calls."""
    ticket: str = ""
    """Which was fetched."""


class MappedValue(msgspec.Struct, frozen=True):
    """What an expression gave."""

    name: str
    expression: str
    value: Any
    problem: str
    """Why it cannot be used; empty: it can."""


class Mapping(msgspec.Struct, frozen=True):
    """What was made of a capture."""

    kind: str
    """delivery, poll or fetch."""
    values: tuple[MappedValue, ...]
    made: Any
    """The event, the events or the ticket; None: nothing can be made of it."""
    problem: str
    """Why; empty: all is well."""


def read_capture(path: Path) -> Capture:
    """
    Read a file.

    :raises UnreadablePayload: it cannot be read, or is no JSON.
    """
    try:
        with path.open("rb") as file:
            content = file.read(FILE_BYTES + 1)
    except OSError as error:
        raise UnreadablePayload(f"{path} cannot be read ({error.strerror}).") from None
    if len(content) > FILE_BYTES:
        raise UnreadablePayload(f"{path} is larger than {FILE_BYTES // 1_000_000} MB.")
    try:
        found = msgspec.json.decode(content)
    except (msgspec.DecodeError, RecursionError):
        raise UnreadablePayload(f"{path} is no JSON.") from None
    try:
        capture = msgspec.convert(found, Capture)
    except msgspec.ValidationError:
        capture = Capture()
    return capture if capture != Capture() else Capture(delivery={"headers": {}, "body": found})


def map_capture(adapter: AdapterFile, source: str, capture: Capture) -> Mapping:
    """What an adapter makes of a capture, and of which expression each value is."""
    made: Any = None
    problem = ""
    if capture.fetch is not None:
        kind, payload, queries = "fetch", capture.fetch, msgspec.structs.asdict(adapter.ticket)
        made = read_ticket(adapter, capture.ticket, capture.fetch)
    elif capture.poll is not None:
        kind, payload = "poll", capture.poll
        queries = {"events": adapter.poll.events, "more": adapter.poll.more} if adapter.poll else {}
        made = [event for event, _ in read_events(adapter, source, capture.poll)]
    else:
        kind, payload, queries = "delivery", capture.delivery or {}, msgspec.structs.asdict(adapter.event)
        try:
            made = read_event(adapter, source, payload.get("headers") or {}, payload.get("body"))
        except UnreadablePayload as error:
            problem = str(error)
    values = tuple(_map_value(name, query, payload) for name, query in queries.items() if query is not None)
    wrong = [each.name for each in values if each.problem]
    return Mapping(kind, values, made, problem or (f"No value for {', '.join(wrong)}." if wrong else ""))


def _map_value(name: str, query: str, payload: Any) -> MappedValue:
    value, problem = explain(query, payload)
    if not problem and value is None and name in NEEDED:
        problem = "It gives nothing."
    return MappedValue(name, " ".join(query.split()), value, problem)
