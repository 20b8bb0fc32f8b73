"""That the end of a run is to be told to the helpdesk that it came from: kept in one transaction with that end."""

from collections.abc import Callable, Sequence

import msgspec

from actors.workflow.outcome import Outcome
from runtime.intake.writes import SENT_ON, Write, WriteState
from runtime.storage.records import Record

WRITE_BACK = "write-back"
"""The kind of what is still to be told; its id is the run."""
WRITTEN = "written-back"
"""The kind of what has been told, or was left to people."""
PREFIX = "hd."
"""Of the ids of tickets that came from a helpdesk: `hd.NAME.ID`."""


class WriteBack(msgspec.Struct, frozen=True, kw_only=True):
    """What is written to a ticket because of one run."""

    source: str
    ticket: str
    """Of ours."""
    planned: bool = False
    """Whether it is decided what is written."""
    writes: tuple[Write, ...] = ()
    mode: str = ""
    status: str = ""
    """How the run ended."""
    due: str = ""
    """When the ticket is to be answered, as the helpdesk writes it; empty: it did not say, or nobody has looked."""

    @property
    def waits(self) -> bool:
        """Whether a person's word is waited for."""
        return any(each.state == "waiting" for each in self.writes)

    @property
    def has_reminded(self) -> bool:
        """Whether people were told that the ticket is due, or are about to be."""
        return any(each.reminds for each in self.writes)

    def encode(self, run: str, kind: str = WRITE_BACK) -> Record:
        """As it is kept."""
        return Record(kind=kind, id=run, run=run, body=msgspec.msgpack.encode(self), replaces=True)

    @property
    def is_over(self) -> bool:
        """Whether nothing is to be done any more."""
        return self.planned and all(each.state not in {"planned", "sending", "waiting"} for each in self.writes)


class Decision(msgspec.Struct, frozen=True):
    """A person's word on a suggestion."""

    approved: bool
    by: str


def decide(write_back: WriteBack, decision: Decision) -> WriteBack:
    """What waited for a person's word has it."""
    state: WriteState = "planned" if decision.approved else "failed"
    said = "" if decision.approved else f"Refused by {decision.by}."
    return settle(write_back, state, said, decision.by)


def settle(write_back: WriteBack, state: WriteState, said: str = "", by: str = "") -> WriteBack:
    """What waited goes on in another state."""

    def change(each: Write) -> Write:
        if each.reminds and each.state in SENT_ON:
            return msgspec.structs.replace(each, state="stale", said="It waits no more.")
        return msgspec.structs.replace(each, state=state, said=said, by=by) if each.state == "waiting" else each

    changed = tuple(map(change, write_back.writes))
    return msgspec.structs.replace(write_back, writes=changed)


def add_reminder(write_back: WriteBack) -> WriteBack:
    """What is written in any case, and a note that the ticket is due."""
    reminder = Write(number=max(each.number for each in write_back.writes) + 1, what="note", reminds=True)
    return msgspec.structs.replace(write_back, writes=(*write_back.writes, reminder))


def make_write_back(outcome: Outcome) -> tuple[Record, ...]:
    """What is kept with the end of a run whose ticket came from a helpdesk."""
    if not outcome.ticket.startswith(PREFIX):
        return ()
    source = outcome.ticket.removeprefix(PREFIX).partition(".")[0]
    return (WriteBack(source=source, ticket=outcome.ticket).encode(outcome.run),)


def add_write_back(ended: Callable[[Outcome], Sequence[Record]]) -> Callable[[Outcome], Sequence[Record]]:
    """What is kept with the end of a run, and that its helpdesk waits for it."""
    return lambda outcome: (*ended(outcome), *make_write_back(outcome))


def read_write_back(record: Record) -> WriteBack:
    """What was kept."""
    return msgspec.msgpack.decode(record.body, type=WriteBack)
