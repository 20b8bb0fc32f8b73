"""
Connecting a helpdesk: the file to begin with, whether it can be spoken to, what it said, and what
past tickets would have got.

Nothing is written to the helpdesk by any of it.
"""

import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec

from actors.workflow.outcome import Outcome
from runtime.intake.adapter import Adapter, UnreadablePayload, read_event, read_events, read_ticket
from runtime.intake.adapter_file import AdapterError, AdapterFile, explain, load_tables, read_adapter
from runtime.intake.connections import NAME, Connection
from runtime.intake.events import HelpdeskEvent, HelpdeskTicket, parse_time
from runtime.intake.helpdesk_client import HelpdeskError, HelpdeskUnavailable
from runtime.intake.helpdesk_settings import HelpdeskSettings
from runtime.intake.helpdesk_watcher import make_id, make_ticket
from runtime.intake.loop_rules import History, judge_ticket
from runtime.intake.sender import write_reply
from runtime.intake.writes import PREFIX
from runtime.processes.atomic_files import write_whole
from runtime.service_error import ServiceError
from runtime.tickets import Ticket
from runtime.user_text import pluralize

FILE_BYTES = 8_000_000
NEEDED = frozenset({"id", "kind", "ticket", "subject", "status", "closed", "messages", "events"})
"""Where an expression for one of these gives nothing, the payload cannot be used."""


class Capture(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """One of these; a file that is none holds the body of a delivery."""

    delivery: dict[str, Any] | None = None
    """`{headers, body}`, the names of headers in lower case."""
    poll: dict[str, Any] | None = None
    """The answer: `{status, headers, body}`."""
    fetch: dict[str, Any] | None = None
    """The answers, by the names of their calls."""
    ticket: str = ""
    """Which was fetched."""


class MappedValue(msgspec.Struct, frozen=True):
    """What an expression gave."""

    name: str
    expression: str
    value: Any
    problem: str
    """Why it cannot be used; empty: it can."""


class Mapping(msgspec.Struct, frozen=True):
    """What was made of a capture."""

    kind: str
    """delivery, poll or fetch."""
    values: tuple[MappedValue, ...]
    made: Any
    """The event, the events or the ticket; None: nothing can be made of it."""
    problem: str
    """Why; empty: all is well."""


def read_capture(path: Path) -> Capture:
    """
    Read a file.

    :raises UnreadablePayload: it cannot be read, or is no JSON.
    """
    try:
        with path.open("rb") as file:
            content = file.read(FILE_BYTES + 1)
    except OSError as error:
        raise UnreadablePayload(f"{path} cannot be read ({error.strerror}).") from None
    if len(content) > FILE_BYTES:
        raise UnreadablePayload(f"{path} is larger than {FILE_BYTES // 1_000_000} MB.")
    try:
        found = msgspec.json.decode(content)
    except (msgspec.DecodeError, RecursionError):
        raise UnreadablePayload(f"{path} is no JSON.") from None
    try:
        capture = msgspec.convert(found, Capture)
    except msgspec.ValidationError:
        capture = Capture()
    return capture if capture != Capture() else Capture(delivery={"headers": {}, "body": found})


def map_capture(adapter: AdapterFile, source: str, capture: Capture) -> Mapping:
    """What an adapter makes of a capture, and of which expression each value is."""
    made: Any = None
    problem = ""
    if capture.fetch is not None:
        kind, payload, queries = "fetch", capture.fetch, msgspec.structs.asdict(adapter.ticket)
        made = read_ticket(adapter, capture.ticket, capture.fetch)
    elif capture.poll is not None:
        kind, payload = "poll", capture.poll
        queries = {"events": adapter.poll.events, "more": adapter.poll.more} if adapter.poll else {}
        made = [event for event, _ in read_events(adapter, source, capture.poll)]
    else:
        kind, payload, queries = "delivery", capture.delivery or {}, msgspec.structs.asdict(adapter.event)
        try:
            made = read_event(adapter, source, payload.get("headers") or {}, payload.get("body"))
        except UnreadablePayload as error:
            problem = str(error)
    values = tuple(_map_value(name, query, payload) for name, query in queries.items() if query is not None)
    wrong = [each.name for each in values if each.problem]
    return Mapping(kind, values, made, problem or (f"No value for {', '.join(wrong)}." if wrong else ""))


def _map_value(name: str, query: str, payload: Any) -> MappedValue:
    value, problem = explain(query, payload)
    if not problem and value is None and name in NEEDED:
        problem = "It gives nothing."
    return MappedValue(name, " ".join(query.split()), value, problem)


COMMENTS = 48
"""The column of the comments behind the keys."""


def write_connection(folder: Path, system: str, name: str = "", url: str = "") -> tuple[Path, tuple[str, ...]]:
    """
    Write the file of a new connection.

    :param folder: of all connections; it is made.
    :param name: of the connection; empty: that of the system.
    :param url: the helpdesk's address; empty: an example is written.
    :returns: the file, and what is to be done next, a sentence each.
    :raises AdapterError: there is no such system, or a file already.
    """
    adapter = read_adapter(load_tables(system, folder), system)
    name = name or system
    if not NAME.fullmatch(name):
        raise AdapterError(f"{name!r} is no name of a helpdesk: 1 to 30 small letters, digits and underscores.")
    path = folder / f"{name}.toml"
    if path.exists():
        raise AdapterError(f"{path} is there already. Change it, or choose another name with --name.")
    folder.mkdir(parents=True, exist_ok=True)
    steps = list_steps(adapter, name)
    write_whole(path, _render(adapter, system, name, url, steps))
    return path, steps


def list_steps(adapter: AdapterFile, name: str) -> tuple[str, ...]:
    """What a person has to do for a connection, in its order."""
    setup = adapter.setup
    steps = [each.replace("{name}", name).replace("{NAME}", name.upper()) for each in setup.steps] if setup else []
    variable = name.upper()
    steps.append(f"put the token into the environment as {variable}_TOKEN, or into a file")
    if adapter.signature.scheme != "none":
        steps.append(f"to be told at once, have webhooks sent to /intake/{name}, with a secret in {variable}_SECRET")
    return tuple(steps)


def _render_client(client: str, variable: str) -> list[tuple[str, str]]:
    return [
        (f'client = "{client}"', "as whom tokens are asked for"),
        (f'client_secret = "env:{variable}_CLIENT_SECRET"', ""),
    ]


def _render(adapter: AdapterFile, system: str, name: str, url: str, steps: tuple[str, ...]) -> str:
    setup, variable = adapter.setup, name.upper()
    address = url or (setup.url if setup else "https://helpdesk.example.org")
    keys = [
        (f"system = {json.dumps(system)}", ""),
        (f"url = {json.dumps(address)}", "nothing else is ever asked"),
        (f'token = "env:{variable}_TOKEN"', "or file:PATH; never the secret itself"),
        *([(f'smtp = "{setup.smtp}"', "what mails are sent by")] if setup and setup.smtp else []),
        *([(f'user = "{setup.user}"', "whose token or password it is")] if setup and setup.user else []),
        *(_render_client(setup.client, variable) if setup and setup.client else []),
        (f'bot = "{setup.bot if setup else ""}"', "the account of the token, as the helpdesk names it in tickets"),
        *(
            [(f'# secret = "env:{variable}_SECRET"', f"what webhooks to /intake/{name} are signed with")]
            if adapter.signature.scheme != "none"
            else []
        ),
        ('mode = "draft"', "off, dry_run, draft (private notes only), approve or auto"),
        ("# queues = []", "only these; empty: all"),
        ('# fallback = ""', "who gets what nobody could answer"),
    ]
    todo = [f"# {number}. {step[:1].upper()}{step[1:]}." for number, step in enumerate(steps, 1)]
    lines = [f"{key:<{COMMENTS}}# {comment}" if comment else key for key, comment in keys]
    head = f"# {adapter.title}. What each key means stands in docs/helpdesks.md; to do before the daemon is started:"
    return "\n".join([head, *todo, "", *lines, ""])


MOST_POLLS = 50
Verdict = Literal["answered", "asked back", "not found", "failed", "left alone"]
Answer = Callable[[Ticket], Awaitable[Outcome]]


class PastTicket(msgspec.Struct, frozen=True):
    """What became of one."""

    ticket: str
    subject: str
    verdict: Verdict
    why: str = ""
    """Why it was left alone, or how its run ended."""
    answer: str = ""
    """What would have been suggested."""
    people: str = ""
    """What a person answered then."""


async def replay_past(
    adapter: Adapter, settings: HelpdeskSettings, since: float, most: int, answer: Answer
) -> AsyncIterator[PastTicket]:
    """
    Go through the tickets of a helpdesk, the latest first.

    :param since: Unix seconds: tickets whose first words are older are passed over.
    :param most: so many tickets are looked at.
    :param answer: runs a ticket, where nothing of it goes back to the helpdesk.
    :raises HelpdeskError: the helpdesk could not be asked.
    """
    looked = 0
    for number in await _list_tickets(adapter, since):
        if looked >= most:
            return
        ticket = await adapter.fetch(number)
        first = parse_time(ticket.messages[0].at) if ticket.messages else None
        if first is not None and first < since:
            continue
        looked += 1
        asked, people = cut_at_answer(ticket)
        if reason := judge_ticket(asked, History(), settings, since).reason:
            yield PastTicket(ticket.id, ticket.subject, "left alone", reason, people=people)
        else:
            yield await _answer(adapter, asked, settings, people, answer)


async def _list_tickets(adapter: Adapter, since: float) -> list[str]:
    """Of which something happened since, the latest first."""
    found: list[HelpdeskEvent] = []
    cursor = adapter.make_cursor(since)
    for _ in range(MOST_POLLS):
        polled = await adapter.poll(cursor)
        found += [each for each in polled.events if (parse_time(each.at) or since) >= since]
        if not polled.events or polled.cursor == cursor:
            break
        cursor = polled.cursor
    return list(dict.fromkeys(each.ticket for each in sort_latest(found)))


def sort_latest(events: Sequence[HelpdeskEvent]) -> list[HelpdeskEvent]:
    """Events as a poll tells them, the latest first: by their times, else the last one first."""
    behind_first = events[::-1]
    return sorted(behind_first, key=lambda each: -(parse_time(each.at) or 0.0))


async def _answer(
    adapter: Adapter, ticket: HelpdeskTicket, settings: HelpdeskSettings, people: str, answer: Answer
) -> PastTicket:
    made = make_ticket(adapter.name, ticket, settings, 0.0)
    made = msgspec.structs.replace(made, id=f"past.{make_id(adapter.name, ticket.id).removeprefix(PREFIX)}", origin=b"")
    try:
        outcome = await answer(made)
    except ServiceError as error:
        return PastTicket(ticket.id, ticket.subject, "failed", str(error), people=people)
    verdicts: dict[str, Verdict] = {
        "resolved": "answered", "suggested": "answered", "needs_input": "asked back", "not_found": "not found",
    }  # fmt: skip
    verdict = verdicts.get(outcome.status, "failed")
    reply = write_reply(outcome, adapter.file.references)
    return PastTicket(ticket.id, ticket.subject, verdict, outcome.detail, reply, people)


def cut_at_answer(ticket: HelpdeskTicket) -> tuple[HelpdeskTicket, str]:
    """A ticket as it stood before anybody answered its first words, and what a person answered to them."""
    first = next((n for n, each in enumerate(ticket.messages) if each.role == "customer"), len(ticket.messages))
    behind = [n for n, each in enumerate(ticket.messages) if n > first and each.is_answer]
    end = min(behind, default=len(ticket.messages))
    people = next((each.text for each in ticket.messages[end:] if each.role == "agent" and each.public), "")
    asked = msgspec.structs.replace(ticket, messages=ticket.messages[:end], closed=False, assignee="")
    return asked, people


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
