"""What of a helpdesk's ticket is asked, and what is only its context: what came before the last answer."""

import re

import msgspec

from runtime.intake.helpdesk_watcher import MOST_CHARACTERS, MOST_SAID, SAID_CHARACTERS, make_ticket
from runtime.intake.writes import Origin
from tests.runtime.intake.helpdesks import SETTINGS, said, ticket


def test_a_first_question_has_no_context() -> None:
    made = make_ticket("rt", ticket(said(1, text="It broke.")), SETTINGS, 0.0)

    assert (made.text, made.subject, made.said_before) == ("It broke.", "It broke", ())


def test_the_latest_message_is_the_question_and_what_the_customer_saw_before_is_context() -> None:
    made = make_ticket(
        "rt",
        ticket(
            said(1, text="It broke.", at="2026-01-01"), said(2, "bot", "Suggestion", public=False),
            said(3, "agent", "Which one?"), said(4, "system", "We have your ticket."), said(5, "bot", "Try this."),
            said(6, text="> Try this.\nThat did not help.\0"), said(7, "agent", "psst", public=False),
        ),
        SETTINGS, 0.0,
    )  # fmt: skip

    assert made.text == "That did not help."
    assert [(each.role, each.text) for each in made.said_before] == [
        ("customer", "It broke."), ("person", "Which one?"), ("terminus", "Try this."),
    ]  # fmt: skip
    assert made.said_before[0].at == "2026-01-01"
    assert made.story.startswith("It broke\n\nThat did not help.\n\n(customer) It broke.")


def test_what_nobody_has_answered_yet_is_one_question() -> None:
    hurry = said(4, text="And please hurry.")
    opened = (said(1, text="It broke."), said(2, "agent", "Who knows?", public=False), said(3, "system", "We have it."))

    made = make_ticket("rt", ticket(*opened, hurry, said(5, text="It broke.")), SETTINGS, 0.0)

    assert (made.text, made.said_before) == ("It broke.\n\n* * *\n\nAnd please hurry.", ())
    assert msgspec.msgpack.decode(made.origin, type=Origin).message == "5"
    suggested = make_ticket("rt", ticket(*opened, said(8, "bot", "Suggestion", public=False), hurry), SETTINGS, 0.0)
    assert (suggested.text, [each.text for each in suggested.said_before]) == ("And please hurry.", ["It broke."])
    answered = make_ticket("rt", ticket(*opened, said(9, "agent", "Which?"), said(7), hurry), SETTINGS, 0.0)
    assert answered.text == "Words 7\n\n* * *\n\nAnd please hurry."
    assert [each.text for each in answered.said_before] == ["It broke.", "Which?"]


def test_of_many_messages_that_nobody_has_answered_the_first_and_the_latest_are_asked() -> None:
    many = [said(number, text=f"{'x' * 90_000} {number}") for number in range(100)]
    text = make_ticket("rt", ticket(*many), SETTINGS, 0.0).text

    assert len(text) < MOST_CHARACTERS + 200
    assert re.findall(r"\d+", text) == ["0", *map(str, range(101 - MOST_SAID, 100))]


def test_a_conversation_is_bounded_and_keeps_its_first_words_and_the_latest() -> None:
    many = [said(number, text=f"{number} {'x' * 9_000}") for number in range(99)]
    before = make_ticket("rt", ticket(*many, said(99, "agent", "99 What?"), said(100)), SETTINGS, 0.0).said_before

    assert [each.text.partition(" ")[0] for each in before] == ["0", *map(str, range(101 - MOST_SAID, 100))]
    assert {len(each.text) for each in before[:-1]} == {SAID_CHARACTERS}
