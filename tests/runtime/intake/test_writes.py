"""What is written, in which mode, and when it no longer fits: as data."""

from typing import Any

import pytest

from actors.evidence.claims import Resolution
from actors.workflow.outcome import EndReason, Outcome, Spent
from runtime.intake.events import HelpdeskTicket
from runtime.intake.writes import (
    Decision,
    Origin,
    Write,
    WriteBack,
    choose_mode,
    decide,
    find_first_answer,
    find_stale,
    is_written,
    make_marker,
    may_send,
    plan,
)
from tests.runtime.intake.helpdesks import said, settings, ticket

JUDGED = Spent(calls=3)


def outcome(status: Any = "resolved", **more: Any) -> Outcome:
    known: dict[str, Any] = {
        "run": "R-1",
        "ticket": "hd.rt.7",
        "workflow": "helpdesk",
        "why": EndReason.COMPLETED,
        "by": "ticketing",
    }
    return Outcome(**(known | {"status": status, "state": "closing", "resolution": Resolution("Do this."), **more}))


def origin(**more: Any) -> Origin:
    known: dict[str, Any] = {
        "source": "rt",
        "ticket": "7",
        "message": "1",
        "mail": "",
        "version": "1",
        "queue": "Support",
    }
    return Origin(**(known | {"category": "", "tags": (), "at": 0.0} | more))


def planned(mode: Any, ended: Outcome, solved: str = "") -> list[tuple[str, str]]:
    return list(plan(ended, mode, settings(), solved))


def test_each_mode_writes_what_it_may() -> None:
    good, weak, none = outcome(spent=JUDGED), outcome("suggested", spent=JUDGED), outcome("not_found", resolution=None)
    note, reply, assign = ("note", "planned"), ("reply", "planned"), ("assign", "planned")

    assert planned("off", good) == planned("dry_run", good) == planned("dry_run", none) == []
    assert planned("draft", good) == planned("draft", weak) == [note]
    assert planned("approve", good) == planned("approve", weak) == [note, ("reply", "waiting")]
    assert planned("auto", good) == [reply]
    assert planned("auto", good, "resolved") == [reply, ("status", "planned")]
    assert planned("approve", good, "resolved")[-1] == ("status", "waiting")
    assert planned("auto", weak) == [note]
    for mode in ("draft", "approve", "auto"):
        assert planned(mode, none) == planned(mode, outcome("error")) == [note, assign]
        assert planned(mode, outcome("cancelled")) == []


def test_nothing_goes_to_a_customer_by_itself_that_no_model_judged() -> None:
    assert may_send(outcome(spent=JUDGED))
    assert may_send(outcome(vouched=True)), "remembered, and a person approved it or a model judged it"
    assert not may_send(outcome("suggested", vouched=True))
    assert not may_send(outcome())
    assert not may_send(outcome("suggested", spent=JUDGED))
    assert not may_send(outcome(spent=JUDGED, degraded="The model did not answer."))
    assert ("reply", "planned") not in planned("auto", outcome())


def test_the_most_careful_mode_of_a_tickets_places_holds() -> None:
    modes = settings(mode="auto", modes={"Sales": "off", "vip": "approve", "Support": "auto"})

    assert choose_mode(modes, origin()) == "auto"
    assert choose_mode(modes, origin(queue="Other")) == "auto"
    assert choose_mode(modes, origin(tags=("vip",))) == "approve"
    assert choose_mode(modes, origin(queue="Sales", tags=("vip",))) == "off"
    assert choose_mode(modes, origin(category="billing")) == "approve"
    assert choose_mode(settings(mode="draft"), origin(category="billing")) == "draft"


@pytest.mark.parametrize(
    ("seen", "fits"),
    [
        (ticket(), True),
        (ticket(said(1), said(2, "agent", public=False)), True),
        (ticket(said(1), said(2, "bot", public=False)), True),
        (ticket(said(1), said(2)), False),
        (ticket(said(1), said(2, "agent")), False),
        (ticket(assignee="ann"), False),
        (ticket(assignee="bot"), True),
        (ticket(closed=True), False),
        (ticket(tags=("ai-off",)), False),
    ],
)  # fmt: skip
def test_an_answer_is_not_sent_once_anybody_did_anything(seen: HelpdeskTicket, fits: bool) -> None:
    assert (find_stale(seen, origin(), settings()) == "") is fits


@pytest.mark.parametrize(
    ("seen", "answer"),
    [
        (ticket(said(1)), None),
        (ticket(said(1), said(2, "agent")), "Words 2"),
        (ticket(said(1), said(2, "agent"), said(3, "agent", public=False), said(4)), "Words 2"),
        (ticket(said(1), said(2, "agent"), said(3), said(4, "agent")), None),
        (ticket(said(1, "agent"), said(2)), None),
    ],
)  # fmt: skip
def test_what_a_person_said_to_a_follow_up_is_no_answer_to_the_first_question(
    seen: HelpdeskTicket, answer: str | None
) -> None:
    found = find_first_answer(seen)

    assert (found.text if found else None) == answer


def test_what_was_written_is_found_again_by_reading_the_ticket() -> None:
    note, reply = Write(number=1, what="note"), Write(number=2, what="reply")
    noted = ticket(said(1), said(2, "bot", text=f"Try this\n\n{make_marker('R-1', 1)}", public=False))

    assert is_written(note, "R-1", noted, origin())
    assert not is_written(note, "R-2", noted, origin())
    assert not is_written(note, "R-1", ticket(said(1), said(2, text=make_marker("R-1", 1))), origin())
    assert not is_written(reply, "R-1", noted, origin())
    assert is_written(reply, "R-1", ticket(said(1), said(2, "bot")), origin())
    assert not is_written(reply, "R-1", ticket(said(0), said(9, "bot"), said(1)), origin())
    assert is_written(Write(number=3, what="status", text="solved"), "R-1", ticket(status="solved"), origin())
    assert is_written(Write(number=3, what="assign", text="ann"), "R-1", ticket(assignee="ann"), origin())


@pytest.mark.parametrize(
    ("words", "edited"),
    [
        ("", False),
        ("\nOne.\r\nTwo.  \r\n\r\nThree. ", False),
        ("One. Two.\n\nThree.", True),
        ("One.\n\nTwo.\n\nThree.", True),
        ("One.\nTwo.\n\n\nThree.", True),
        ("One.\n  Two.\n\nThree.", True),
        ("One.\nTwo.\n\nFour.", True),
    ],
)
def test_who_approves_may_change_where_lines_end(words: str, edited: bool) -> None:
    waiting = Write(number=1, what="reply", text="One.\nTwo.\n\nThree.", state="waiting")
    write_back = WriteBack(source="rt", ticket="hd.rt.7", writes=(waiting,))
    (decided,) = decide(write_back, Decision(True, "ann", words)).writes

    assert (decided.edited, decided.text) == (edited, words if edited else waiting.text)
