"""A ticket as it came in, whichever door it came through."""

import hashlib
import re

import msgspec

from actors.workflow.outcome import AnswerRound
from actors.workflow.tables import EarlierMessage
from runtime.service_error import ServiceError
from runtime.user_text import display

HELPDESK = "helpdesk"
"""The workflow of a ticket that asks for no other."""
RESEARCH = "research"
"""The workflow that has a short form of its own wherever tickets come in."""
ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
SHORT_CHARACTERS = 500
"""What a subject or a requester may have at most."""


class Ticket(msgspec.Struct, frozen=True, kw_only=True):
    """One unit of work as it came in."""

    text: str = ""
    id: str = ""
    """Given by the helpdesk it comes from; made up when empty."""
    subject: str = ""
    requester: str = ""
    workflow: str = HELPDESK
    """The family that works on it."""
    options: msgspec.Struct | None = None
    """How it is to be done, as the type that its family declares; None: as configured."""
    answers: tuple[AnswerRound, ...] = ()
    """What the person behind it answered to the questions of its earlier runs."""
    said_before: tuple[EarlierMessage, ...] = ()
    """Of a follow-up: what was said in the ticket before it, the oldest first; the text is the follow-up alone."""
    origin: bytes = b""
    """What the intake that it came by keeps with its run, as that wrote it."""
    trace: str = ""
    """The trace that its run is part of, as `trace_id.parse_traceparent` tells it; empty: of none but its own."""

    @property
    def whole(self) -> str:
        """What its run is asked."""
        return whole(self.subject, self.text)

    @property
    def story(self) -> str:
        """The same, and below it what was said before, for families that are asked one text."""
        return "\n\n".join((self.whole, *(f"({each.role}) {each.text}" for each in self.said_before)))


def make_id_of_key(key: str) -> str:
    """The id of a ticket that has none but came with a key."""
    return f"K-{hashlib.sha256(key.encode('utf-8', 'surrogateescape')).hexdigest()[:24]}"


def whole(subject: str, text: str) -> str:
    """A ticket as one text, with its subject above it."""
    return f"{subject}\n\n{text}".strip() if subject else text


def validate(ticket: Ticket, place: str, kilobytes: int = 0) -> Ticket:
    """
    The ticket without white space around it, if it says anything, is not too large, and can be stored.

    :param place: where it came from, for the sentence that says why not.
    :param kilobytes: how large its text may be; 0: that was seen to when it was read.
    :raises ServiceError: with that sentence.
    """
    if not ticket.text.strip() and not ticket.subject.strip():
        raise ServiceError(
            f"{place} is empty: there is nothing to resolve. Write what is wrong, in a sentence or more."
        )
    if kilobytes and len(ticket.text.encode("utf-8", "surrogatepass")) > kilobytes * 1024:
        raise too_large(place, kilobytes)
    if ticket.id and not ID.fullmatch(ticket.id):
        raise ServiceError(
            f"{place}: the id {display(ticket.id)} must be 1 to 100 letters, digits, dots, dashes or underscores."
        )
    if "\0" in ticket.text + ticket.subject + ticket.requester:
        raise ServiceError(f"{place} holds the character U+0000, which is in no text. Remove it.")
    for name in ("subject", "requester"):
        if len(getattr(ticket, name)) > SHORT_CHARACTERS:
            raise ServiceError(
                f"{place}: the {name} is over {SHORT_CHARACTERS} characters. Put the rest into the text."
            )
    return msgspec.structs.replace(ticket, text=ticket.text.strip(), subject=" ".join(ticket.subject.split()))


def too_large(place: str, kilobytes: int) -> ServiceError:
    """Says that a ticket is over its limit."""
    return ServiceError(f"{place} is over {kilobytes} KB. Shorten it, or raise [run] ticket_kilobytes.", "too_large")
