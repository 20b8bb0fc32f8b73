"""Which open ends are worth another round."""

from hypothesis import given
from hypothesis import strategies as st

from actors.evidence.sources import Statement
from actors.research.follow_ups import CHARACTERS, DIRECTIONS, limit

TASK = "How does a tide mill store water?"


@given(st.lists(st.text(max_size=200), max_size=40))
def test_directions_are_few_short_and_none_twice_whoever_named_them(named: list[str]) -> None:
    kept = limit(named, (TASK,), ())
    assert len(kept) <= DIRECTIONS
    assert all(0 < len(each) <= CHARACTERS for each in kept)
    assert limit(kept, kept, ()) == ()


def test_what_was_explored_or_learnt_leads_nowhere() -> None:
    learnt = Statement("The pond holds 40,000 litres.", "", "p#1", "p")
    assert limit(("Store water", "the pond  holds 40,000 litres.", "Silt"), (TASK,), (learnt,)) == ("Silt",)
