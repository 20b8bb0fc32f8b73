"""What is set for one connected helpdesk: the keys of its file."""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

Mode = Literal["off", "dry_run", "draft", "approve", "auto"]
Short = Annotated[str, Meta(max_length=200)]
Long = Annotated[str, Meta(max_length=4096)]


class HelpdeskSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a file says."""

    system: Annotated[str, Meta(min_length=1, max_length=4096)]
    """A system that ships, or the path of an adapter file of your own."""
    url: Long
    """Where it is, such as `https://rt.example.org`; nothing else is ever asked. Of a mailbox: `imaps://HOST/FOLDER`."""
    smtp: Long = ""
    """Of a mailbox: what its mails are sent by, such as `smtps://mail.example.org`."""
    team: Short = ""
    """Of a mailbox: who gets notes by mail; empty: they are laid into its folder of drafts."""
    sent: Short = "Sent"
    drafts: Short = "Drafts"
    user: Short = ""
    """Whose password the token is, where the helpdesk has passwords."""
    token: Long = ""
    """`env:NAME` or `file:PATH`, as every secret here."""
    client: Short = ""
    client_secret: Long = ""
    """As whom tokens are asked for, where the helpdesk gives them by OAuth 2."""
    secret: Long = ""
    """With which it signs what it sends to /intake/NAME; empty: it is polled only."""
    bot: Short = ""
    """The account that the token is of, as the helpdesk names it in tickets."""
    workflow: Short = "helpdesk"
    mode: Mode = "draft"
    modes: dict[str, Mode] = {}
    """By queue, category or tag, over `mode`; the most careful of those that fit holds."""
    queues: tuple[Short, ...] = ()
    """Only these; empty: all."""
    review: tuple[Short, ...] = ("billing", "legal", "security")
    """Queues, categories and tags of which a person sees each answer before the customer does."""
    off_tag: Short = "ai-off"
    send_tag: Short = "ai-send"
    """A person who sets it approves the suggestion."""
    fallback: Short = ""
    """Who gets what nobody could answer; empty: it stays where it is."""
    solve: bool = False
    """Whether a ticket that was answered is set to the system's solved status; never more than that."""
    remind_minutes: Annotated[float, Meta(ge=0.0, le=100_000.0)] = 60.0
    """So long before a ticket is due, a note says that its suggestion still waits for a person; 0: none does."""
    poll_seconds: Annotated[float, Meta(ge=1.0, le=86_400.0)] = 60.0
    runs_per_day: Annotated[int, Meta(ge=1, le=100)] = 3
    """Of one ticket."""
    spacing_seconds: Annotated[float, Meta(ge=0.0, le=86_400.0)] = 60.0
    sender_mails_per_hour: Annotated[int, Meta(ge=0, le=1_000)] = 20
    """So many messages of one customer are worked on within an hour, in all tickets together; 0: any number."""
    sender_tickets_per_hour: Annotated[int, Meta(ge=0, le=1_000)] = 10
    """In so many tickets of one customer; 0: any number."""
    adapter: dict[str, Any] = {}
    """Over the adapter file, table by table."""
