"""Past tickets are seen as they stood before anybody answered."""

import pytest

from runtime.intake.past_tickets import cut_at_answer, parse_time
from tests.runtime.intake.helpdesks import said, ticket


def test_a_ticket_is_cut_before_the_first_answer() -> None:
    whole = ticket(
        said(1), said(2, "agent", public=False), said(3), said(4, "agent", text="Do this"), said(5),
        closed=True, assignee="helen",
    )  # fmt: skip

    asked, people = cut_at_answer(whole)

    assert [each.id for each in asked.messages] == ["1", "2", "3"]
    assert (asked.closed, asked.assignee, people) == (False, "", "Do this")


def test_an_answer_of_ours_is_none_of_peoples() -> None:
    asked, people = cut_at_answer(ticket(said(1), said(2, "bot"), said(3, "agent", text="And this")))

    assert ([each.id for each in asked.messages], people) == (["1"], "And this")


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("2026-11-21T20:31:18Z", 1795293078.0), ("2026-11-21T21:31:18.000+0100", 1795293078.0),
        ("1795293078", 1795293078.0), ("2026-11-21.20:31:18", 1795293078.0), ("yesterday", None), ("", None),
    ],
)  # fmt: skip
def test_times_of_helpdesks_are_read(text: str, seconds: float | None) -> None:
    assert parse_time(text) == seconds
