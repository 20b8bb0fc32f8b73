"""What is worked on: words of customers that nobody has answered; never our own, a machine's, or what a person took."""

from typing import Any

import msgspec
import pytest

from runtime.intake.events import HelpdeskEvent, HelpdeskTicket
from runtime.intake.loop_rules import Heard, History, judge_event, judge_ticket, make_heard
from tests.runtime.intake.helpdesks import said, settings, ticket

NOW = 1_000_000.0


def event(**more: Any) -> HelpdeskEvent:
    return HelpdeskEvent(**({"source": "rt", "id": "1", "kind": "created", "ticket": "7", "actor": "ann"} | more))


@pytest.mark.parametrize(
    ("told", "rule"),
    [
        (event(), ""), (event(kind="replied"), ""), (event(actor=""), ""),
        (event(actor="bot"), "L1"), (event(kind="other"), "L2"), (event(automatic=True), "L3"),
        (event(at="2020-01-01T00:00:00Z"), ""), (event(at="1970-01-02T00:00:00Z"), "L4"), (event(at="?"), ""),
    ],
)  # fmt: skip
def test_what_an_event_tells_by_itself(told: HelpdeskEvent, rule: str) -> None:
    assert judge_event(told, "bot", NOW).rule == rule


@pytest.mark.parametrize(
    ("seen", "rule"),
    [
        (ticket(), ""),
        (ticket(said(1), said(2, "bot"), said(3)), ""),
        (ticket(said(1), said(2, "agent", public=False)), ""),
        (ticket(assignee="bot"), ""),
        (ticket(said(1), said(2, "bot")), "L1"),
        (ticket(said(1), said(2, "agent")), "L2"),
        (ticket(said(1, "system")), "L2"),
        (ticket(said(1, "agent", public=False)), "L2"),
        (ticket(closed=True), "L4"),
        (ticket(assignee="ann"), "L4"),
        (ticket(tags=("x", "ai-off")), "L4"),
        (ticket(queue="Sales"), "L4"),
        (ticket(queue="Support"), ""),
    ],
)  # fmt: skip
def test_what_a_ticket_tells_as_it_stands(seen: HelpdeskTicket, rule: str) -> None:
    mine = settings(queues=("Support", "")) if seen.queue else settings()

    assert judge_ticket(seen, History(), mine, NOW).rule == rule


def test_each_message_is_worked_on_once_also_when_its_mail_came_twice() -> None:
    again = ticket(said(1, message_id="m@x"), said(2, message_id="m@x"))

    assert judge_ticket(ticket(), History((0.0,), frozenset({"1"})), settings(), NOW).reason == "answered already"
    assert judge_ticket(again, History((0.0,), frozenset({"1", "m@x"})), settings(), NOW).reason == "answered already"
    assert judge_ticket(again, History((0.0,), frozenset({"1"})), settings(), NOW).reason == ""


def test_one_ticket_gets_so_many_runs_a_day_and_not_at_once() -> None:
    three = History((NOW - 3_000, NOW - 2_000, NOW - 1_000))

    assert judge_ticket(ticket(), three, settings(), NOW).reason == "too many"
    assert judge_ticket(ticket(), three, settings(runs_per_day=4), NOW).reason == ""
    assert judge_ticket(ticket(), three, settings(), NOW + 90_000).reason == ""
    assert judge_ticket(ticket(), History((NOW - 59,)), settings(), NOW).reason == "too soon"
    assert judge_ticket(ticket(), History((NOW - 61,)), settings(), NOW).reason == ""


def test_who_writes_the_same_three_times_is_a_machine() -> None:
    same = [said(n, text=text) for n, text in enumerate(["I am away", "I am  AWAY", "I am away\n"])]

    assert judge_ticket(ticket(*same), History(), settings(), NOW).reason == "repeats itself"
    assert judge_ticket(ticket(*same[:2]), History(), settings(), NOW).reason == ""


def hear(number: int, text: str = "", ago: float = 60.0) -> Heard:
    """A message of the same sender, in a ticket of its own."""
    seen = ticket(said(number, text=text or f"Words {number}"))
    return make_heard(msgspec.structs.replace(seen, id=f"other-{number}"), NOW - ago)


def judge(*heard: Heard, text: str = "New words", **more: Any) -> str:
    return judge_ticket(ticket(said(1, text=text)), History(heard=heard), settings(**more), NOW).reason


def test_one_sender_gets_so_many_runs_an_hour_whatever_tickets_they_are_in() -> None:
    ten = [hear(n) for n in range(10)]

    assert judge(*ten[:9]) == ""
    assert judge(*ten) == "sender too often", "ten tickets are the most"
    assert judge(*ten, sender_tickets_per_hour=11) == ""
    assert judge(*ten, sender_tickets_per_hour=0) == ""
    assert judge(*ten, sender_tickets_per_hour=0, sender_mails_per_hour=10) == "sender too often"
    assert judge(*(hear(n, ago=3_601) for n in range(10))) == ""


def test_the_same_words_in_new_tickets_are_a_machines() -> None:
    same = [hear(n, "I am  AWAY\n> you wrote") for n in range(2)]

    assert judge(*same, text="I am away") == "sender repeats itself"
    assert judge(*same, text="I am back") == ""
    assert judge(same[0], text="I am away") == ""
    assert judge(*(hear(n, "I am away", ago=90_000) for n in range(2)), text="I am away") == ""


def test_a_message_does_not_count_against_itself() -> None:
    mine = make_heard(ticket(said(1, text="New words")), NOW)

    assert judge(mine, sender_mails_per_hour=1) == ""
    assert judge(mine, hear(2), sender_mails_per_hour=1) == "sender too often"
