"""What would have been said about past tickets: their questions are asked again, and nothing is written to them."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Literal

import msgspec

from actors.workflow.outcome import Outcome
from runtime.intake.adapter import Adapter
from runtime.intake.events import HelpdeskEvent, HelpdeskTicket
from runtime.intake.helpdesk_settings import HelpdeskSettings
from runtime.intake.helpdesk_ticket import make_id, make_ticket
from runtime.intake.helpdesk_times import parse_time
from runtime.intake.loop_rules import History, judge_ticket
from runtime.intake.reply_texts import write_reply
from runtime.intake.write_back import PREFIX
from runtime.service_error import ServiceError
from runtime.tickets import Ticket

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
