"""What is said of a run wherever it is named: what it was asked, by whom, how it stands, since when."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

import msgspec

from actors.reporting.report import Report
from actors.workflow.outcome import Outcome
from runtime.observe.trace_id import TRACE_DIGITS
from runtime.storage.records import Action, Asked, StoredRun
from runtime.times import Moment, iso


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """A run, as command line and HTTP show it."""

    ticket: str
    run: str
    workflow: str
    status: str
    """`running`, or how it ended."""
    question: str
    """The text of the ticket as it came in, without its subject."""
    subject: str
    requester: str
    created: Moment
    """When the ticket came in for the first time."""
    started: Moment
    ended: Moment | None
    seconds: float | None
    """How long it took, once it has ended."""
    trace: str = ""
    """The id of its trace, 32 hexadecimal digits; empty where an earlier version of this program began it."""
    intent: str = ""
    """What it was found to ask for; empty as long as nobody knows."""
    actions: tuple[Action, ...] = ()
    """Who submitted, answered, cancelled or judged it; not told in lists."""


EndedRecord = msgspec.defstruct(
    "EndedRecord",
    [(each.name, each.type) for each in msgspec.structs.fields(Record) if each.name not in Outcome.__struct_fields__],
    bases=(Outcome,), frozen=True, kw_only=True,
)  # fmt: skip
"""The shape of `join_records`, for who describes it."""


class _Ending(msgspec.Struct):
    seconds: float


def make_record(run: StoredRun, asked: Asked, status: str = "") -> Record:
    """:param status: when the caller knows more than the row says."""
    return Record(
        ticket=run.ticket, run=run.id, workflow=run.workflow, status=status or run.status,
        question=asked.question, subject=asked.subject, requester=asked.requester,
        created=iso(asked.created), started=iso(run.started), ended=None if run.ended is None else iso(run.ended),
        seconds=_seconds(run), trace=run.trace[:TRACE_DIGITS], intent=run.intent, actions=asked.actions,
    )  # fmt: skip


def join_records(outcome: Outcome, asked: Record) -> dict[str, object]:
    """How a run ended, with what it was asked, as plain values."""
    said: dict[str, object] = msgspec.to_builtins(outcome)
    more: dict[str, object] = msgspec.to_builtins(asked)
    return said | more | said


class Ended(NamedTuple):
    """What came of a run."""

    outcome: Outcome
    asked: Record
    report: Report | None = None
    """Of a run that writes one, and came so far."""
    judgement: str = ""
    """What a person said of the answer, as `TicketMemory.judgement` names it; or nothing."""
    files: Mapping[str, str] = MappingProxyType({})
    """The paths of those sources of the answer that are files here."""

    def as_json(self) -> dict[str, object]:
        return join_records(self.outcome, self.asked)


def _seconds(run: StoredRun) -> float | None:
    """By the run's own clock, which nobody sets; where that cannot be read, by the calendar's."""
    if run.ended is None:
        return None
    try:
        return round(msgspec.msgpack.decode(run.ending or b"", type=_Ending).seconds, 3)
    except msgspec.MsgspecError:
        return round(max(0.0, run.ended - run.started), 3)
