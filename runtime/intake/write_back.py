"""That the end of a run is to be told to the helpdesk that it came from: kept in one transaction with that end."""

from collections.abc import Callable, Sequence

import msgspec

from actors.workflow.outcome import Outcome
from runtime.intake.writes import SENT_ON, What, Write, WriteState
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
    saw_no_tag: bool = False
    """
    The ticket was seen without the tag that approves, as the suggestion stood in it or later: only then is the tag a
    word on this suggestion, and no leftover of an earlier one.
    """

    @property
    def waits(self) -> bool:
        """Whether a person's word is waited for."""
        return any(each.state == "waiting" for each in self.writes)

    @property
    def is_told(self) -> bool:
        """Whether people can see the suggestion: its note stands in the ticket, or there is none to write."""
        return all(each.state == "confirmed" for each in self.writes if each.what == "note" and not each.reminds)

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
    text: str = ""
    """What the customer is told instead of what was suggested; empty: that."""
    tag: str = ""
    """The tag that the word was given by."""


REFUSED = "Refused by "


def decide(write_back: WriteBack, decision: Decision) -> WriteBack:
    """What waited for a person's word has it."""
    if not decision.approved:
        return settle(write_back, "failed", f"{REFUSED}{decision.by}.", decision)
    return settle(write_back, "planned", "", decision)


def is_refused(write_back: WriteBack) -> bool:
    """Whether a person has refused what waited."""
    return any(each.state == "failed" and each.said.startswith(REFUSED) for each in write_back.writes)


def settle(write_back: WriteBack, state: WriteState, said: str, word: Decision | None = None) -> WriteBack:
    """
    What waited goes on in another state.

    :param word: that of the person who said so.
    """

    def change(each: Write) -> Write:
        if each.reminds and each.state in SENT_ON:
            return msgspec.structs.replace(each, state="stale", said="It waits no more.")
        if each.state != "waiting":
            return each
        changed = msgspec.structs.replace(each, state=state, said=said)
        return changed if word is None else _give_word(changed, word)

    changed = tuple(map(change, write_back.writes))
    return msgspec.structs.replace(write_back, writes=changed)


def _give_word(write: Write, word: Decision) -> Write:
    edited = write.what == "reply" and bool(word.text) and _list_lines(word.text) != _list_lines(write.text)
    text = word.text if edited else write.text
    return msgspec.structs.replace(write, by=word.by, tag=word.tag, text=text, edited=edited)


def _list_lines(text: str) -> list[str]:
    """Without how its lines end, which forms and browsers do not keep: where they do is what a person wants."""
    return [line.rstrip() for line in text.strip().splitlines()]


def look_at_tags(write_back: WriteBack, tags: Sequence[str], send_tag: str) -> WriteBack:
    """What is known of the tag that approves, once a ticket was read."""
    if write_back.is_told and send_tag not in tags:
        return msgspec.structs.replace(write_back, saw_no_tag=True)
    return write_back


def add_write(write_back: WriteBack, what: What, text: str = "", *, reminds: bool = False) -> WriteBack:
    """What is written in any case, and one thing more."""
    number = max(each.number for each in write_back.writes) + 1
    more = Write(number=number, what=what, text=text, reminds=reminds)
    return msgspec.structs.replace(write_back, writes=(*write_back.writes, more))


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
