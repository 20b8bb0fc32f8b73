"""Which open ends are worth another round."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.evidence.heading_types import generic, is_entry
from actors.research.follow_ups import CHARACTERS, DIRECTIONS, limit

TASK = "How does a tide mill store water?"


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
