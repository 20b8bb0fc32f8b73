"""
What a helpdesk tells, in our words: that something happened to a ticket, how it stands, and when it
is to be answered. Pure.
"""

import datetime
import math
from typing import Literal

import msgspec

from runtime.times import DAY, is_day

BEFORE_SECONDS = 300.0
"""What was written so shortly before a helpdesk was connected still counts: clocks differ, and people try it then."""


def parse_time(text: str) -> float | None:
    """Unix seconds, of ISO 8601, of seconds, or of `2026-11-21.22:31:18`; None: it is none of these."""
    if text.isdecimal() and len(text) <= 12:
        return float(text)
    try:
        at = datetime.datetime.fromisoformat(text.replace(".", "T", 1) if text[10:11] == "." else text)
    except ValueError:
        return None
    return (at if at.tzinfo else at.replace(tzinfo=datetime.UTC)).timestamp()


def read_due(text: str) -> float:
    """Unix seconds by which a ticket is to be answered: of a day, its end; infinity: nobody said."""
    if (at := parse_time(text.strip())) is None:
        return math.inf
    return at + DAY if is_day(text.strip()) else at


def needs_reminder(due: str, began: float, now: float, minutes: float) -> bool:
    """
    Whether people should be told once more that a ticket is due.

    Not in the first half of the time that they have, and not where it was due before: the suggestion says so itself.

    :param began: when our run began, Unix seconds.
    :param minutes: before it is due.
    """
    at = read_due(due)
    return began < at < math.inf and at - now <= min(minutes * 60, (at - began) / 2)


EventKind = Literal["created", "replied", "other"]
"""`replied`: a customer or a person of the helpdesk wrote; `other`: it starts nothing."""
Role = Literal["customer", "agent", "bot", "system", "unknown"]


class HelpdeskEvent(msgspec.Struct, frozen=True, kw_only=True):
    """Something happened to a ticket. It is a doorbell only: what the ticket says is read from the helpdesk."""

    source: str
    """The name of the helpdesk in config.toml."""
    id: str
    """The same whenever the same thing is told again."""
    kind: EventKind
    ticket: str
    """The helpdesk's own id of it."""
    actor: str = ""
    """Who did it, as the helpdesk names people; empty: not told."""
    message_id: str = ""
    """Of the mail that it came by."""
    automatic: bool = False
    """A machine wrote it, as its headers say."""
    at: str = ""
    """When something was last written to the ticket, as the helpdesk writes it; empty: not told."""


class Attachment(msgspec.Struct, frozen=True, kw_only=True):
    """A file that came with a message."""

    name: str
    text: str = ""
    """Its beginning, where it is text."""


class Message(msgspec.Struct, frozen=True, kw_only=True):
    """One contribution to a ticket."""

    id: str
    author: str = ""
    role: Role = "unknown"
    public: bool = True
    """Whether the customer sees it."""
    text: str = ""
    at: str = ""
    """When, as the helpdesk writes it."""
    message_id: str = ""
    attachments: tuple[Attachment, ...] = ()

    @property
    def is_answer(self) -> bool:
        """Whether a person of the helpdesk, or we, told the customer something by it."""
        return self.public and self.role in {"agent", "bot"}


class HelpdeskTicket(msgspec.Struct, frozen=True, kw_only=True):
    """A ticket as the helpdesk has it at this moment."""

    id: str
    subject: str = ""
    status: str = ""
    closed: bool = False
    queue: str = ""
    category: str = ""
    requester: str = ""
    assignee: str = ""
    """The person who has it; empty: nobody."""
    tags: tuple[str, ...] = ()
    due: str = ""
    """By when the customer is to be answered (ISO 8601); empty: nobody said."""
    version: str = ""
    """Another one: it has changed; empty: the helpdesk has none."""
    messages: tuple[Message, ...] = ()
    """The oldest first."""

    def latest_of_customer(self) -> Message | None:
        """The contribution that an answer would be to."""
        return next((each for each in reversed(self.messages) if each.role == "customer"), None)

    def list_asked(self) -> tuple[Message, ...]:
        """
        The contributions that an answer would be to: the customer's since they were told anything, or we had our say.

        What nobody has looked at yet is one question; behind a suggestion of ours, though only people see it, the next
        message asks anew, and what came before is what it is about.
        """
        latest = self.latest_of_customer()
        known = self.messages[: self.messages.index(latest) + 1] if latest else ()
        answered = max((n for n, each in enumerate(known) if each.is_answer or each.role == "bot"), default=-1)
        return tuple(e for e in known[answered + 1 :] if e is latest or (e.role == "customer" and e.public))
