"""
Whether a ticket of a helpdesk is worked on: nothing of our own, of machines, of people who have taken over. Pure.

The names L1 to L6 are those of docs/helpdesks.md. A machine that answers a machine is stopped by the first rule that
sees it, and by the budget of L5 in any case.
"""

from typing import Literal, NamedTuple

import msgspec

from runtime.intake.events import HelpdeskEvent, HelpdeskTicket
from runtime.intake.helpdesk_settings import HelpdeskSettings
from runtime.intake.helpdesk_times import BEFORE_SECONDS, parse_time
from runtime.times import DAY

EQUAL_TEXTS = 3
"""So often the same from the same requester is a machine."""
Reason = Literal[
    "", "own writing", "not a message", "no customer wrote", "automatic", "closed", "assigned", "switched off", "queue",
    "before connecting", "answered already", "too soon", "too many", "repeats itself",
]  # fmt: skip
TO_PEOPLE: frozenset[Reason] = frozenset({"too many", "repeats itself"})
"""Reasons for which a person is to look at the ticket."""


class History(msgspec.Struct, frozen=True):
    """What we did about a ticket so far."""

    runs: tuple[float, ...] = ()
    """When each of our runs began, Unix seconds."""
    answered: frozenset[str] = frozenset()
    """The ids of the customer's messages that a run has been about, and of their mails."""
    connected: float = 0.0
    """When we began to look after the helpdesk, Unix seconds; 0: all of its tickets count."""


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
    recent = [at for at in history.runs if now - at < DAY]
    if len(recent) >= settings.runs_per_day:
        return Verdict("too many", "L5")
    if recent and now - max(recent) < settings.spacing_seconds:
        return Verdict("too soon", "L5")
    return Verdict()


def _count_equal(ticket: HelpdeskTicket) -> int:
    """How often the customer wrote what they wrote last."""
    texts = [" ".join(each.text.casefold().split()) for each in ticket.messages if each.role == "customer"]
    return texts.count(texts[-1]) if texts else 0
