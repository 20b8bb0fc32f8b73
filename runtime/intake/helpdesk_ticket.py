"""A ticket of a helpdesk as a ticket of ours: its id, and what the customer wrote."""

import hashlib
import re

import msgspec

from runtime.intake.events import HelpdeskTicket, Message
from runtime.intake.helpdesk_settings import HelpdeskSettings
from runtime.intake.write_back import PREFIX
from runtime.intake.writes import Origin
from runtime.tickets import SHORT_CHARACTERS, Ticket

PLAIN = re.compile(r"[A-Za-z0-9_-]{1,60}")
QUOTED = re.compile(r"(?m)^>.*\n?")
MOST_CHARACTERS = 60_000


def make_id(source: str, ticket: str) -> str:
    """Our id of a ticket: the helpdesk's own behind its name, or a digest of it where that holds other characters."""
    name = ticket if PLAIN.fullmatch(ticket) else hashlib.sha256(ticket.encode()).hexdigest()[:24]
    return f"{PREFIX}{source}.{name}"


def make_ticket(source: str, ticket: HelpdeskTicket, settings: HelpdeskSettings, now: float) -> Ticket:
    """What is submitted: the customer's words, the oldest first, without what they quote of others."""
    said = [each for each in ticket.messages if each.role == "customer"]
    texts = [_render(each) for each in said]
    latest = ticket.latest_of_customer()
    message, mail = (latest.id, latest.message_id) if latest else ("", "")
    origin = Origin(
        source=source, ticket=ticket.id, message=message, mail=mail, version=ticket.version, queue=ticket.queue,
        category=ticket.category, tags=ticket.tags, at=now,
    )  # fmt: skip
    return Ticket(
        id=make_id(source, ticket.id), subject=ticket.subject[:SHORT_CHARACTERS].replace("\0", ""),
        text="\n\n".join(filter(None, texts))[-MOST_CHARACTERS:].replace("\0", ""),
        requester=ticket.requester[:SHORT_CHARACTERS].replace("\0", ""), workflow=settings.workflow,
        origin=msgspec.msgpack.encode(origin),
    )  # fmt: skip


def _render(message: Message) -> str:
    """What was written, without what it quotes, and what was attached: by name, and its beginning where it is text."""
    attached = (f"[{each.name}]\n{each.text}".strip() for each in message.attachments)
    return "\n\n".join(filter(None, (QUOTED.sub("", message.text.replace("\r\n", "\n")).strip(), *attached)))
