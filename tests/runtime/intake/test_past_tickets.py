"""Past tickets are seen as they stood before anybody answered."""

from runtime.intake.setup import cut_at_answer
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
