"""Which open ends are worth another round."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.evidence.heading_types import generic, is_entry
from actors.evidence.passages import Passage
from actors.research.follow_ups import CHARACTERS, DIRECTIONS, found_in, limit, phrase
from actors.text.keywords import terms

TASK = "How does a tide mill store water?"
LONG = "The tide mill stores the water of the tide in a pond behind its gates. " * 5


def passage(heading: str, text: str = LONG, score: float = 10.0) -> Passage:
    return Passage(f"{heading}#1", "mill", "Mills", heading, text, 0, len(text), score=score)


@pytest.mark.req("DR-5")
def test_headings_near_the_subject_that_nobody_quoted_are_directions() -> None:
    passages = [passage("Mills > Upkeep of tide mills"), passage("Mills > Mill ponds for water")]
    found = found_in([*passages, passage("Mills > Tide gates")], TASK, (TASK,), pages={"mill"})
    assert set(found) == {"Upkeep of tide mills", "Mill ponds for water"}


def test_what_was_quoted_or_explored_is_none() -> None:
    passages = [passage("Mills > Tide gates"), passage("Mills > Tide ponds")]
    assert found_in(passages, TASK, ("tide gates",), quoted={"Mills > Tide ponds"}, pages={"mill"}) == ()


@pytest.mark.parametrize(
    ("heading", "direction"),
    [
        ("Mills > Tide mills > Monitoring", "Tide mills: Monitoring"),
        ("Tide mills > 4.2. Upkeep of gates", "Tide mills: Upkeep of gates"),
        ("Tide mills > Examples", ""),
        ("Tide mills > Notes", ""),
        ("Poetry > Rhymes", ""),
        ("Tide mills > open(gate [, ...])", ""),
        ("Tide mills > --force", ""),
        ("", ""),
    ],
)
def test_a_heading_alone_is_no_question_and_keeps_the_words_of_the_subject(heading: str, direction: str) -> None:
    assert phrase(heading, terms(TASK)) == direction


def test_pages_far_behind_the_best_one_and_headings_over_little_text_lead_nowhere() -> None:
    weak, short = passage("Mills > Tide gates", score=2.0), passage("Mills > Tide ponds", "Short.")
    assert found_in([passage("Mills > Tides", score=10.0), weak, short], "tides", ("tides",), pages={"mill"}) == ()


def test_what_a_page_is_about_that_was_not_quoted_leads_away() -> None:
    assert found_in([passage("Mills > Tide gates")], TASK, (TASK,), pages={"another"}) == ()


@given(st.lists(st.text(max_size=200), max_size=40))
def test_directions_are_few_short_and_none_twice_whoever_named_them(named: list[str]) -> None:
    kept = limit(named, (TASK,), ())
    assert len(kept) <= DIRECTIONS
    assert all(0 < len(each) <= CHARACTERS and not generic(each) for each in kept)
    assert limit(kept, kept, ()) == ()


@pytest.mark.parametrize("heading", ["tide_gate (integer)", "OPEN GATE", "SET ( x )", "Gates > --wide", "slot_name"])
def test_entries_of_a_reference_are_told_from_headings(heading: str) -> None:
    assert is_entry(heading)
    assert not is_entry("Gates > How tides are stored")
