"""What a customer reads: the answer, and each place once."""

import msgspec
import pytest

from actors.evidence.claims import Citation, Resolution
from actors.evidence.shortfalls import Shortfall
from runtime.intake.sender import write_note, write_reply
from tests.runtime.intake.test_writes import outcome

PLACE = Citation(1, "kb/vpn.md", "VPN", "VPN > Drops", "Set it to 30.", 0, 13)


@pytest.mark.parametrize(
    ("text", "reply"),
    [
        ("Set it to 30. [1]", "Set it to 30. [1]\n\n[1] VPN > Drops"),
        ("The closest:\n\n[1] VPN › Drops\nSet it to 30.", "The closest:\n\n[1] VPN › Drops\nSet it to 30."),
    ],
)
def test_a_place_that_the_answer_names_itself_is_not_named_again(text: str, reply: str) -> None:
    told = msgspec.structs.replace(outcome(), resolution=Resolution(text, (PLACE,)))

    assert write_reply(told) == reply


def test_a_note_says_that_a_search_was_not_complete_rather_than_that_nothing_is_there() -> None:
    lacks = (Shortfall("no_vectors", "Some documents have no vectors yet."),)
    nothing = msgspec.structs.replace(outcome(), status="not_found", incomplete=lacks, language="en", detail="")
    answered = msgspec.structs.replace(outcome(), status="suggested", incomplete=lacks, language="en")

    assert write_note(nothing, 1).startswith("Nothing found, but the search was not complete\n")
    assert "Not found" not in write_note(nothing, 1)
    for each in (nothing, answered):
        assert "The search was not complete: some documents could be looked for by their words only" in (
            write_note(each, 1)
        )


def test_a_note_says_when_the_ticket_is_due_where_the_helpdesk_does() -> None:
    assert "Due: 2026-12-01" in write_note(outcome(), 1, due="2026-12-01")
    assert "Due" not in write_note(outcome(), 1)
