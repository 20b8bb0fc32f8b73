"""
Whether a ticket of a helpdesk is worked on: nothing of our own, of machines, of people who have taken over. Pure.

The names L1 to L8 are those of docs/helpdesks.md. A machine that answers a machine is stopped by the first rule that
sees it, and by the budgets of L5 and L7 in any case.
"""

import hashlib
from typing import Literal, NamedTuple

import msgspec

from runtime.intake.events import BEFORE_SECONDS, HelpdeskEvent, HelpdeskTicket, parse_time
from runtime.intake.helpdesk_settings import HelpdeskSettings
from runtime.times import DAY

HOUR = 3_600.0
EQUAL_TEXTS = 3
"""So often the same from the same requester is a machine."""
Reason = Literal[
    "", "own writing", "not a message", "no customer wrote", "automatic", "closed", "assigned", "switched off", "queue",
    "before connecting", "answered already", "too soon", "too many", "repeats itself", "sender too often",
    "sender repeats itself",
]  # fmt: skip
OF_SENDER: frozenset[Reason] = frozenset({"sender too often", "sender repeats itself"})
"""Reasons that hold for whatever its sender writes now: people are told once, not in each ticket."""
TO_PEOPLE: frozenset[Reason] = OF_SENDER.union({"too many", "repeats itself"})
"""Reasons for which a person is to look at the ticket."""


class Heard(msgspec.Struct, frozen=True, array_like=True):
    """A message of a sender that a run was about, by digests: what it said is nobody's business here."""

    at: float
    """Unix seconds."""
    ticket: str
    message: str
    words: str


class History(msgspec.Struct, frozen=True):
    """What we did about a ticket so far."""

    runs: tuple[float, ...] = ()
    """When each of our runs began, Unix seconds."""
    answered: frozenset[str] = frozenset()
    """The ids of the customer's messages that a run has been about, and of their mails."""
    connected: float = 0.0
    """When we began to look after the helpdesk, Unix seconds; 0: all of its tickets count."""
    heard: tuple[Heard, ...] = ()
    """What the ticket's sender wrote of late, in whatever ticket."""


class Verdict(NamedTuple):
    """Why a ticket is left alone; empty: it is worked on."""

    reason: Reason = ""
    rule: str = ""


def judge_event(event: HelpdeskEvent, bot: str, connected: float = 0.0) -> Verdict:
    """
    What an event alone tells, before anything is fetched.

    :param connected: as `History.connected`.
    """
    if bot and event.actor == bot:
        return Verdict("own writing", "L1")
    if event.kind == "other":
        return Verdict("not a message", "L2")
    if event.automatic:
        return Verdict("automatic", "L3")
    return Verdict("before connecting", "L4") if _is_before(event.at, connected) else Verdict()


def judge_ticket(ticket: HelpdeskTicket, history: History, settings: HelpdeskSettings, now: float) -> Verdict:
    """
    What the ticket as it stands tells.

    :param now: Unix seconds.
    """
    latest = next((each for each in reversed(ticket.messages) if each.public), None)
    if latest is None or latest.role in {"agent", "system"}:
        return Verdict("no customer wrote", "L2")
    if latest.role == "bot":
        return Verdict("own writing", "L1")
    if ticket.closed:
        return Verdict("closed", "L4")
    if _is_before(latest.at, history.connected):
        return Verdict("before connecting", "L4")
    if ticket.assignee and ticket.assignee != settings.bot:
        return Verdict("assigned", "L4")
    if settings.off_tag in ticket.tags:
        return Verdict("switched off", "L4")
    if settings.queues and ticket.queue not in settings.queues:
        return Verdict("queue", "L4")
    if {latest.id, latest.message_id} & history.answered:
        return Verdict("answered already", "L5")
    return _judge_pace(ticket, history, settings, now)


def _is_before(at: str, connected: float) -> bool:
    """Whether something was written before we began to look after the helpdesk; in doubt it was not."""
    written = parse_time(at)
    return written is not None and written < connected - BEFORE_SECONDS


def _judge_pace(ticket: HelpdeskTicket, history: History, settings: HelpdeskSettings, now: float) -> Verdict:
    if _count_equal(ticket) >= EQUAL_TEXTS:
        return Verdict("repeats itself", "L6")
    if reason := _judge_sender(ticket, history, settings, now):
        return Verdict(reason, "L8" if reason == "sender repeats itself" else "L7")
    recent = [at for at in history.runs if now - at < DAY]
    if len(recent) >= settings.runs_per_day:
        return Verdict("too many", "L5")
    if recent and now - max(recent) < settings.spacing_seconds:
        return Verdict("too soon", "L5")
    return Verdict()


def _count_equal(ticket: HelpdeskTicket) -> int:
    """How often the customer wrote what they wrote last."""
    texts = [_fold(each.text) for each in ticket.messages if each.role == "customer"]
    return texts.count(texts[-1]) if texts else 0


def _judge_sender(ticket: HelpdeskTicket, history: History, settings: HelpdeskSettings, now: float) -> Reason:
    """Whether a sender goes round in circles from ticket to ticket: two machines may each open a new one."""
    new = make_heard(ticket, now)
    others = [each for each in history.heard if each.message != new.message]
    same = {each.ticket for each in others if each.words == new.words and now - each.at < DAY} | {new.ticket}
    if len(same) >= EQUAL_TEXTS:
        return "sender repeats itself"
    recent = [each for each in others if now - each.at < HOUR]
    tickets = {each.ticket for each in recent} | {new.ticket}
    most_mails, most_tickets = settings.sender_mails_per_hour, settings.sender_tickets_per_hour
    is_much = 0 < most_mails <= len(recent) or 0 < most_tickets < len(tickets)
    return "sender too often" if is_much else ""


def find_sender(ticket: HelpdeskTicket) -> str:
    """Whose budget a ticket is of; empty: the helpdesk does not say who wrote."""
    latest = ticket.latest_of_customer()
    return ticket.requester or (latest.author if latest else "")


def make_heard(ticket: HelpdeskTicket, now: float) -> Heard:
    """What is kept of a ticket's latest words; `now`: Unix seconds."""
    latest = ticket.latest_of_customer()
    text, message = (latest.text, latest.id) if latest else ("", "")
    return Heard(now, _digest(ticket.id), _digest(f"{ticket.id}/{message}"), _digest(_fold(text)))


def _fold(text: str) -> str:
    """Words without what they quote: the same however they are wrapped."""
    return " ".join(" ".join(line for line in text.splitlines() if not line.startswith(">")).casefold().split())


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()[:16]
