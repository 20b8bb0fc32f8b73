"""A ticket of a helpdesk as a ticket of ours: its id, and what the customer wrote."""

import hashlib
import re
from collections.abc import Sequence
from typing import Literal, TypeVar

import msgspec

from actors.workflow.earlier_messages import NEXT_MESSAGE, EarlierMessage
from runtime.intake.events import HelpdeskTicket, Message, Role
from runtime.intake.helpdesk_settings import HelpdeskSettings
from runtime.intake.write_back import PREFIX
from runtime.intake.writes import Origin
from runtime.tickets import SHORT_CHARACTERS, Ticket

S = TypeVar("S")
PLAIN = re.compile(r"[A-Za-z0-9_-]{1,60}")
QUOTED = re.compile(r"(?m)^>.*\n?")
MOST_CHARACTERS = 60_000
MOST_SAID, SAID_CHARACTERS, TIME_CHARACTERS = 12, 2_000, 40
"""Of a conversation: so many messages, so much of each, so much of when it was."""
ROLES: dict[Role, Literal["customer", "person", "terminus"]] = {
    "customer": "customer", "agent": "person", "bot": "terminus",
}  # fmt: skip


def make_id(source: str, ticket: str) -> str:
    """Our id of a ticket: the helpdesk's own behind its name, or a digest of it where that holds other characters."""
    name = ticket if PLAIN.fullmatch(ticket) else hashlib.sha256(ticket.encode()).hexdigest()[:24]
    return f"{PREFIX}{source}.{name}"


def make_ticket(source: str, ticket: HelpdeskTicket, settings: HelpdeskSettings, now: float) -> Ticket:
    """What is submitted: what the customer wrote since they were last answered, and as its context what came before."""
    asked = ticket.list_asked()
    latest = asked[-1] if asked else None
    message, mail = (latest.id, latest.message_id) if latest else ("", "")
    origin = Origin(
        source=source, ticket=ticket.id, message=message, mail=mail, version=ticket.version, queue=ticket.queue,
        category=ticket.category, tags=ticket.tags, at=now,
    )  # fmt: skip
    return Ticket(
        id=make_id(source, ticket.id), subject=_clean(ticket.subject[:SHORT_CHARACTERS]),
        text=_clean(_join(asked)), said_before=_list_before(ticket, asked[0]) if asked else (),
        requester=_clean(ticket.requester[:SHORT_CHARACTERS]), workflow=settings.workflow,
        origin=msgspec.msgpack.encode(origin),
    )  # fmt: skip


def _join(asked: Sequence[Message]) -> str:
    """The first of some messages and the latest as one text, of each the end; what was sent twice stands there once."""
    texts = list(dict.fromkeys(filter(None, map(_render, asked))))
    shown = _take(texts)
    return NEXT_MESSAGE.join(each[-MOST_CHARACTERS // len(shown) :] for each in shown)


def _take(said: Sequence[S]) -> tuple[S, ...]:
    return (*said[:1], *said[1:][1 - MOST_SAID :])


def _list_before(ticket: HelpdeskTicket, asked: Message) -> tuple[EarlierMessage, ...]:
    """What the customer wrote or has seen before a message: the first of it, and the latest."""
    before = ticket.messages[: ticket.messages.index(asked)]
    said = [
        EarlierMessage(ROLES[each.role], _clean(each.at[:TIME_CHARACTERS]), _clean(text[:SAID_CHARACTERS]))
        for each in before
        if each.public and each.role in ROLES and (text := _render(each))
    ]
    return _take(said)


def _clean(text: str) -> str:
    return text.replace("\0", "")


def _render(message: Message) -> str:
    """What was written, without what it quotes, and what was attached: by name, and its beginning where it is text."""
    attached = (f"[{each.name}]\n{each.text}".strip() for each in message.attachments)
    return "\n\n".join(filter(None, (QUOTED.sub("", message.text.replace("\r\n", "\n")).strip(), *attached)))
