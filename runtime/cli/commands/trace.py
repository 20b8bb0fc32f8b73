"""`trace`: why the answer of a ticket is as it is, and what happened on it, step by step."""

import argparse
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from runtime.cli import Exit, utf8
from runtime.cli.view.printing import Line, print_result
from runtime.user_text import spell_out

if TYPE_CHECKING:
    from runtime.settings import Settings
    from runtime.storage.journal import RunJournal
    from runtime.storage.records import StoredRun

SUMMARY = "show why an answer is as it is: searches, claims, model calls, and what happened"
VALUE_CHARACTERS = 160
"""A longer value of an event is cut on the screen; `--json` has it whole."""

WHY = ("searches", "answers", "calls", "tools", "omitted", "notes")
"""What `--json` tells of the trace beside what is said of the run."""

INDENT = 4
"""How much further in a round stands than the one above it."""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = "exit status: 0 it is known, 3 there is no such ticket or run."
    parser.add_argument("id", type=utf8, help="a ticket, a run, or the 32 digits of a trace")
    parser.add_argument("--full", action="store_true", help="show all that is known, with the quotes and all values")
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")


async def run(arguments: argparse.Namespace, settings: "Settings") -> int:
    import msgspec

    from runtime.cli.child_runs import below
    from runtime.cli.view.ticket_lines import head
    from runtime.cli.view.trace_lines import span_lines, why_lines
    from runtime.engine.service import open_service
    from runtime.observe.trace_record import read_trace

    async with open_service(settings) as service:
        stored, journal = await service.find(arguments.id), service.node.journal
        asked = await service.read_question(stored)
        record = await service.describe(stored, asked)
        course = await _course(journal, stored)
        rounds = [await _course(journal, each) for each in await below(journal, stored)]
        trace = await read_trace(service.node, stored)
    value = {**msgspec.to_builtins(record), **course, **({"rounds": rounds} if rounds else {})}
    value["why"] = {name: msgspec.to_builtins(getattr(trace, name)) for name in WHY}
    value["spans"] = msgspec.to_builtins(trace.spans)
    why = [*span_lines(trace.spans, full=arguments.full), *why_lines(trace, full=arguments.full)]
    course_lines = _all(course, rounds, full=arguments.full)
    lines = [*head(record, time.time(), asked.note), *_trace_line(trace.trace), Line(""), *why, *course_lines]
    print_result(lines, value, json=arguments.json)
    return Exit.DONE


def _trace_line(trace: str) -> Iterator[Line]:
    if trace:
        yield Line(f"Trace {trace}", "faint")


async def _course(journal: "RunJournal", stored: "StoredRun") -> dict[str, Any]:
    """The course of a run, under the names that `--json` prints; what was asked is the same for all rounds."""
    from runtime.cli.child_runs import round_of
    from runtime.times import iso

    round_ = round_of(stored.workflow, journal.case(stored))
    explored = {"round": round_.number, "direction": round_.direction} if round_ is not None else {}
    return {
        **explored,
        "run": stored.id,
        "ticket": stored.ticket,
        "workflow": stored.workflow,
        "status": stored.status,
        "started": iso(stored.started),
        "ended": None if stored.ended is None else iso(stored.ended),
        "events": [_event(entry) for entry in await journal.entries(stored)],
        "handoffs": (await journal.fold(stored)).handoffs,
        "outcome": await journal.outcome(stored),
    }


def _event(entry: Any) -> dict[str, Any]:
    """A journalled event, under the names that `--json` prints."""
    import msgspec

    from actors.workflow.outcome import marker

    said = msgspec.to_builtins(entry.event)
    return {
        "n": entry.n,
        "at": entry.at,
        "sender": entry.sender,
        "handoff": entry.number,
        "event": type(entry.event).__name__,
        "marker": marker(type(entry.event)),
        "said": {key: value for key, value in said.items() if key != "type"},
    }


def _unfold(name: str, value: Any) -> Iterator[str]:
    """What an event says, a line for each value that is not empty."""
    import json

    from actors.text.truncate import shorten

    if isinstance(value, dict):
        for key, each in value.items():
            yield from _unfold(f"{name} {key}", each)
    elif value not in (None, "", [], ()):
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        yield f"{spell_out(name)}: {shorten(text, VALUE_CHARACTERS)}"


def _all(found: dict[str, Any], rounds: list[dict[str, Any]], *, full: bool) -> Iterator[Line]:
    """The run, and the rounds below it, each further in."""
    yield from _lines(found, full=full)
    for each in rounds:
        indent = INDENT * (each["run"].count(".") - found["run"].count("."))
        yield Line("")
        yield from (line._replace(indent=line.indent + indent) for line in _lines(each, full=full))


def _lines(found: dict[str, Any], *, full: bool) -> Iterator[Line]:
    from runtime.cli.view.board import cut
    from runtime.cli.view.result import ending, handoffs

    outcome = found["outcome"]
    if found.get("direction"):
        yield Line(f"Round {found['round']}, run {found['run']}: {spell_out(found['status'])}", "strong")
        yield Line(f"It explores: {cut(found['direction'])}")
        yield Line("")
    if full:
        yield from _describe_events(found["events"])
        yield from handoffs(found["handoffs"])
    if outcome is None:
        yield Line("It has not ended.", "poor")
    else:
        yield from ending(outcome, named=False)


def _describe_events(events: list[dict[str, Any]]) -> Iterator[Line]:
    yield Line(f"Events ({len(events)})", "strong")
    for event in events:
        sender = event["sender"] or "outside"
        marked = f", {event['marker']}" if event["marker"] else ""
        yield Line(f"{event['n']:>3}  {event['at']:8.3f} s  {sender}: {spell_out(event['event'])}{marked}", indent=1)
        for name, value in event["said"].items():
            yield from (Line(text, "faint", 22) for text in _unfold(name, value))
    yield Line("")
