"""What is worked on: words of customers that nobody has answered; never our own, a machine's, or what a person took."""

from typing import Any

import pytest

from runtime.intake.events import HelpdeskEvent, HelpdeskTicket
from runtime.intake.loop_rules import History, judge_event, judge_ticket
from tests.runtime.intake.helpdesks import said, settings, ticket

NOW = 1_000_000.0


def event(**more: Any) -> HelpdeskEvent:
    return HelpdeskEvent(**({"source": "rt", "id": "1", "kind": "created", "ticket": "7", "actor": "ann"} | more))


@pytest.mark.req("SY-6")
@pytest.mark.parametrize(
    ("told", "rule"),
    [
        (event(), ""), (event(kind="replied"), ""), (event(actor=""), ""),
        (event(actor="bot"), "L1"), (event(kind="other"), "L2"), (event(automatic=True), "L3"),
    ],
)  # fmt: skip
def test_what_an_event_tells_by_itself(told: HelpdeskEvent, rule: str) -> None:
    assert judge_event(told, "bot").rule == rule


@pytest.mark.req("SY-6")
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


@pytest.mark.req("SY-6")
def test_each_message_is_worked_on_once_also_when_its_mail_came_twice() -> None:
    again = ticket(said(1, message_id="m@x"), said(2, message_id="m@x"))

    assert judge_ticket(ticket(), History((0.0,), frozenset({"1"})), settings(), NOW).reason == "answered already"
    assert judge_ticket(again, History((0.0,), frozenset({"1", "m@x"})), settings(), NOW).reason == "answered already"
    assert judge_ticket(again, History((0.0,), frozenset({"1"})), settings(), NOW).reason == ""


@pytest.mark.req("SY-6")
def test_one_ticket_gets_so_many_runs_a_day_and_not_at_once() -> None:
    three = History((NOW - 3_000, NOW - 2_000, NOW - 1_000))

    assert judge_ticket(ticket(), three, settings(), NOW).reason == "too many"
    assert judge_ticket(ticket(), three, settings(runs_per_day=4), NOW).reason == ""
    assert judge_ticket(ticket(), three, settings(), NOW + 90_000).reason == ""
    assert judge_ticket(ticket(), History((NOW - 59,)), settings(), NOW).reason == "too soon"
    assert judge_ticket(ticket(), History((NOW - 61,)), settings(), NOW).reason == ""


@pytest.mark.req("SY-6")
def test_who_writes_the_same_three_times_is_a_machine() -> None:
    same = [said(n, text=text) for n, text in enumerate(["I am away", "I am  AWAY", "I am away\n"])]

    assert judge_ticket(ticket(*same), History(), settings(), NOW).reason == "repeats itself"
    assert judge_ticket(ticket(*same[:2]), History(), settings(), NOW).reason == ""
