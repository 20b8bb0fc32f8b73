"""
What is to be written to a ticket after its run, and how far each writing has come. Pure.

That it is to be written is kept in one transaction with the run's end.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Literal

import msgspec

from actors.workflow.outcome import Outcome
from runtime.intake.events import HelpdeskTicket, Message
from runtime.intake.helpdesk_settings import HelpdeskSettings, Mode
from runtime.storage.records import Record

WriteState = Literal["planned", "sending", "confirmed", "waiting", "stale", "failed", "left"]
"""`waiting`: for a person's approval; `stale`: the ticket had moved on; `left`: to a person, for it may have come."""
CAREFUL: tuple[Mode, ...] = ("off", "dry_run", "draft", "approve", "auto")
"""The most careful first."""
SENT_ON: frozenset[WriteState] = frozenset({"planned", "sending"})
"""What is still to be done."""


What = Literal["note", "reply", "status", "assign", "untag"]


class Origin(msgspec.Struct, frozen=True):
    """Where a run's ticket came from, kept with the run."""

    source: str
    ticket: str
    message: str
    """The customer's message that the run is about."""
    mail: str
    """The id of the mail that it came by, if any: the same mail may become two messages."""
    version: str
    queue: str
    category: str
    tags: tuple[str, ...]
    at: float
    """Unix seconds."""


class Write(msgspec.Struct, frozen=True, kw_only=True):
    """One writing."""

    number: int
    """Among those of its run, from 1."""
    what: What
    text: str = ""
    """Of an answer: its words; of a status, a person or a tag: their name."""
    state: WriteState = "planned"
    tries: int = 0
    next_at: float = 0.0
    said: str = ""
    """Why it is as it is, in a sentence."""
    by: str = ""
    """Who approved it; empty: nobody had to, or the helpdesk does not tell who set the tag."""
    tag: str = ""
    """By which it was approved; empty: by another way, or not."""
    edited: bool = False
    """Who approved it wrote its words."""
    reminds: bool = False
    """It is a note that only says that the ticket is due."""


def make_marker(run: str, number: int) -> str:
    """What a note is found again by; nothing in it is a reference to another ticket anywhere."""
    return f"[terminus {run}.{number}]"


def has_marker(text: str, run: str, number: int) -> bool:
    """Whether a text is the note of this number, also as earlier versions marked it."""
    return make_marker(run, number) in text or f"[terminus {run}#{number}]" in text


def choose_mode(settings: HelpdeskSettings, origin: Origin) -> Mode:
    """The most careful mode of those that fit a ticket; what is to be reviewed is never sent by itself."""
    places = {origin.queue, origin.category, *origin.tags} - {""}
    fitting = [mode for place, mode in settings.modes.items() if place in places] or [settings.mode]
    if places & set(settings.review):
        fitting.append("approve")
    return min(fitting, key=CAREFUL.index)


def may_send(outcome: Outcome) -> bool:
    """
    Whether an answer is good enough for a customer without a person.

    A model judged that it resolves the ticket, now or when memory took it in, or a person approved it for an earlier
    ticket with this question.
    """
    is_judged = outcome.vouched or outcome.spent.calls > 0
    return outcome.status == "resolved" and is_judged and not outcome.degraded


def plan(outcome: Outcome, mode: Mode, settings: HelpdeskSettings, solved: str) -> Iterator[tuple[What, WriteState]]:
    """
    What is written, in its order: what, and in which state it begins.

    :param solved: the status of a solved ticket, where it may be set.
    """
    if mode in {"off", "dry_run"} or outcome.status == "cancelled":
        return
    if outcome.status not in {"resolved", "suggested", "needs_input"}:
        yield "note", "planned"
        if settings.fallback:
            yield "assign", "planned"
        return
    if mode == "auto" and may_send(outcome):
        yield "reply", "planned"
    else:
        yield "note", "planned"
        if mode != "approve":
            return
        yield "reply", "waiting"
    if solved and outcome.status != "needs_input":
        yield "status", "waiting" if mode != "auto" else "planned"


def find_first_answer(ticket: HelpdeskTicket) -> Message | None:
    """The last that a person said to the customer, unless that may be an answer to a follow-up."""
    said = next((n for n, each in reversed([*enumerate(ticket.messages)]) if each.role == "agent" and each.public), -1)
    asked = [each for each in ticket.messages[: max(said, 0)] if each.role == "customer"]
    return ticket.messages[said] if len(asked) == 1 else None


def find_stale(ticket: HelpdeskTicket, origin: Origin, settings: HelpdeskSettings) -> str:
    """Why the answer of a run is not said to the customer any more; empty: it still fits."""
    latest = ticket.latest_of_customer()
    if latest is None or latest.id != origin.message:
        return "The customer has written again since."
    after = ticket.messages[ticket.messages.index(latest) + 1 :]
    if any(each.role == "agent" and each.public for each in after):
        return "Somebody of the helpdesk has answered."
    if ticket.assignee and ticket.assignee != settings.bot:
        return f"{ticket.assignee} has taken the ticket."
    if ticket.closed:
        return "The ticket is closed."
    return "Terminus is switched off for the ticket." if settings.off_tag in ticket.tags else ""


def is_written(write: Write, run: str, ticket: HelpdeskTicket, origin: Origin) -> bool:
    """Whether a ticket, as it was read back, holds what was to be written."""
    ours = [each for each in ticket.messages if each.role == "bot"]
    match write.what:
        case "note":
            return any(has_marker(each.text, run, write.number) for each in ours)
        case "reply":
            latest = next((n for n, each in enumerate(ticket.messages) if each.id == origin.message), -1)
            after = ticket.messages[latest + 1 :]
            return any(each.role == "bot" and each.public for each in after)
        case "status":
            return ticket.status == write.text
        case "assign":
            return ticket.assignee == write.text
        case "untag":
            return write.text not in ticket.tags


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
