"""Whether a connected helpdesk can be spoken to, and as whom. Nothing is written to it."""

import time
from typing import Literal, NamedTuple

import msgspec

from runtime.intake.adapter import Adapter
from runtime.intake.connections import Connection
from runtime.intake.events import HelpdeskEvent, HelpdeskTicket
from runtime.intake.helpdesk_client import HelpdeskError, HelpdeskUnavailable
from runtime.intake.past_tickets import sort_latest
from runtime.user_text import pluralize

LOOK_BACK_SECONDS = 30 * 86_400.0
"""For tickets to look at."""
FEW_PAGES = 3
REMEDIES = {
    401: "The token is wrong, or of another helpdesk; `user` too, where it has one.",
    403: "Let the account read tickets, and use the interface for programs.",
    404: "Look at `url`: what stands before the paths of the interface belongs to it.",
}
REMEDIES_OF_SENDING = {401: "The server that sends wants another user or password than the mailbox: `user`, `token`."}
CANNOT_SEND = (
    "Look at `smtp`: smtps:// where TLS comes first (465), smtp:// where it is begun behind the greeting (587)."
)


class Finding(NamedTuple):
    """One thing that was looked at."""

    name: str
    state: Literal["ok", "warning", "problem"]
    found: str
    remedy: str = ""


async def check_connection(connection: Connection, storage: str = "") -> list[Finding]:
    """
    Ask a helpdesk for whose the token is, what is new, and one ticket: what came of each, in this order.

    :param storage: as `Connection.open`.
    """
    adapter = connection.open(storage)
    try:
        findings = [await _check_account(adapter, connection)]
        if findings[0].state != "problem":
            polled, events = await _poll(adapter)
            findings += [polled, *([await _read_ticket(adapter, events)] if events else [])]
        findings += await _probe(adapter)
    finally:
        await adapter.close()
    return [*findings, _list_writings(adapter), _describe_deliveries(adapter)]


async def _probe(adapter: Adapter) -> list[Finding]:
    """Whether what is written would be taken, where there is a way to ask."""
    try:
        return (
            [Finding("Sending", "ok", "the server takes the login; no mail was sent")] if await adapter.probe() else []
        )
    except HelpdeskError as error:
        return [Finding("Sending", "problem", str(error), REMEDIES_OF_SENDING.get(error.status, CANNOT_SEND))]


async def _check_account(adapter: Adapter, connection: Connection) -> Finding:
    bot = connection.settings.bot
    if not bot:
        remedy = "Name the account in `bot`: without it, what Terminus writes looks like somebody else's."
        return Finding("Account", "problem", "`bot` is empty", remedy)
    if adapter.file.account is None:
        remedy = f"Look that {adapter.file.title} names the account so in tickets."
        return Finding("Account", "ok", f"{bot}; {adapter.file.title} does not tell whose a token is", remedy)
    try:
        whose = await adapter.whose()
    except HelpdeskError as error:
        return _blame("Account", error)
    if whose != bot:
        return Finding("Account", "problem", f"the token is of {whose!r}, not of {bot!r}", f'Write bot = "{whose}".')
    return Finding("Account", "ok", bot)


async def _poll(adapter: Adapter) -> tuple[Finding, tuple[HelpdeskEvent, ...]]:
    if adapter.file.poll is None:
        return Finding("Poll", "warning", "there is no way to ask for what is new", "Have webhooks sent."), ()
    start, newest_first = adapter.make_cursor(time.time() - LOOK_BACK_SECONDS), adapter.file.poll.newest_first
    try:
        found = await adapter.poll(start, pages=FEW_PAGES)
        if found.beyond and not newest_first:  # as many as a daemon reads
            found = await adapter.poll(start)
    except HelpdeskError as error:
        return _blame("Poll", error), ()
    if not found.events:
        remedy = "If there are tickets, let the account see them."
        return Finding("Poll", "warning", "answered; it tells of no ticket", remedy), ()
    if found.beyond and not newest_first:
        said = f"more tickets are open than the {len(found.events):,} that a poll reads"
        remedy = "Close old tickets, or have webhooks sent: the oldest are not looked at."
        return Finding("Poll", "warning", said, remedy), found.events
    return Finding("Poll", "ok", f"answered with {pluralize(len(found.events), 'event')}"), found.events


async def _read_ticket(adapter: Adapter, events: tuple[HelpdeskEvent, ...]) -> Finding:
    """The latest ticket that the poll named, as it would be worked on."""
    try:
        ticket = await adapter.fetch(sort_latest(events)[0].ticket)
    except HelpdeskError as error:
        return _blame("Ticket", error)
    if not ticket.messages:
        remedy = "`terminus helpdesk record` keeps what the helpdesk says; `test-map` shows what is made of it."
        return Finding("Ticket", "problem", f"{ticket.id}: none of its messages could be read", remedy)
    return Finding("Ticket", "ok", _describe_ticket(ticket))


def _describe_ticket(ticket: HelpdeskTicket) -> str:
    roles = [each.role for each in ticket.messages]
    counts = ", ".join(f"{roles.count(role)} of {role}" for role in dict.fromkeys(roles))
    state = "closed" if ticket.closed else "open"
    return f"{ticket.id}: status {ticket.status or 'unknown'} ({state}), {pluralize(len(roles), 'message')}: {counts}"


def _list_writings(adapter: Adapter) -> Finding:
    able = [name for name, calls in msgspec.structs.asdict(adapter.file.write).items() if calls and name != "claim"]
    if "note" not in able:
        return Finding("Writing", "warning", ", ".join(able) or "nothing", "In the mode `draft` nothing is written.")
    return Finding("Writing", "ok", f"{', '.join(able)} (not tried)")


def _describe_deliveries(adapter: Adapter) -> Finding:
    if adapter.file.signature.scheme == "none":
        return Finding("Webhooks", "ok", "not taken: they are not signed; it is polled")
    if not adapter.has_secret:
        return Finding("Webhooks", "ok", "not taken: there is no `secret`; it is polled")
    return Finding("Webhooks", "ok", f"taken at /intake/{adapter.name}, signed in {adapter.file.signature.header}")


def _blame(name: str, error: HelpdeskError) -> Finding:
    if isinstance(error, HelpdeskUnavailable):
        return Finding(name, "problem", str(error), "Look at `url`, and whether the helpdesk runs.")
    return Finding(name, "problem", str(error), REMEDIES.get(error.status, "See the manual of the helpdesk."))
