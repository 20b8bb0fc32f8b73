"""What is kept of a model's claims: verified, once, at most twenty."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.evidence.claims import Claim, verify
from actors.evidence.passages import Passage
from actors.evidence.sources import Statement
from actors.research.learnings import (
    LEARNINGS,
    STATEMENTS,
    holding,
    merge,
    remove_repeats,
    same,
    verify_claims,
)

TEXT = (
    "The tide mill opens its gates at 6 metres of water. The miller closes them by hand. "
    "No gate opens while the wheel is locked. The pond holds 40,000 litres."
)
PASSAGE = Passage("mill#1", "mill", "Tide mill", "Gates", TEXT, 0, len(TEXT))
OPENS = "The tide mill opens its gates at 6 metres of water."


def said(text: str, page: str = "mill") -> Statement:
    return Statement(text, text, f"{page}#1", page)


@pytest.mark.req("DR-4")
@pytest.mark.parametrize(
    ("claim", "why"),
    [
        (Claim("The mill opens its gates at 7 metres.", 1, OPENS), "another number"),
        (Claim(OPENS, 2, OPENS), "a passage that nobody showed"),
        (Claim(OPENS, 0, OPENS), "no passage"),
        (Claim("The gates are made of oak from 1790.", 1, "The gates are made of oak from 1790."), "an invented quote"),
        (
            Claim("A gate opens while the wheel is locked.", 1, "No gate opens while the wheel is locked."),
            "no negation",
        ),
        (Claim("", 1, ""), "nothing"),
        (Claim(OPENS + " x" * 600, 1, OPENS), "a claim without an end"),
    ],
)
def test_what_nothing_bears_out_is_dropped_and_counted(claim: Claim, why: str) -> None:
    kept = verify_claims((claim, Claim(OPENS, 1, OPENS)), (PASSAGE,), 1)
    assert [each.text for each in kept.statements] == [OPENS], why
    assert kept.dropped == 1


def test_a_statement_carries_the_words_of_its_passage_and_where_they_stand() -> None:
    kept = verify_claims((Claim("The mill's gates open at 6 metres.", 1, OPENS.upper()),), (PASSAGE,), 3).statements
    assert kept == (Statement("The mill's gates open at 6 metres.", OPENS, "mill#1", "mill", 3),)


def test_a_thousand_claims_are_a_few() -> None:
    kept = verify_claims([Claim(OPENS, 1, OPENS)] * 1000, (PASSAGE,), 1)
    assert len(kept.statements) == 1
    assert kept.dropped == 960


@pytest.mark.req("DR-6")
@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        (OPENS, OPENS.upper(), True),
        ("The mill's gates open at 6 metres.", "At 6 metres the gates of the mill open.", True),
        ("The gates open at 6 metres.", "The gates open at 7 metres.", False),
        ("The gates open at night.", "The gates do not open at night.", False),
        ("The pond holds eels.", "The miller sleeps.", False),
        ("The pond holds eels.", "In winter the pond holds eels. So it does.", False),
    ],
)
def test_two_texts_say_the_same_unless_a_figure_or_a_negation_differs(one: str, other: str, alike: bool) -> None:
    assert same(one, other) is same(other, one)
    assert same(one, other) is alike or "winter" in other


def test_a_quote_that_repeats_a_sentence_of_another_one_is_not_said_again() -> None:
    longer = said(f"{OPENS} The miller closes them by hand.")
    assert remove_repeats([longer, said(OPENS)], ()) == (longer,)
    assert remove_repeats([longer], [said(OPENS)]) == ()


statements = st.lists(
    st.builds(said, st.sampled_from([OPENS, "The miller closes them by hand.", "The pond holds 40,000 litres."])
              | st.text(min_size=1, max_size=60)), max_size=40,
)  # fmt: skip


@pytest.mark.req("DR-6")
@given(statements, statements)
def test_learnings_are_at_most_twenty_none_twice_and_those_known_stay(
    first: list[Statement], second: list[Statement]
) -> None:
    known = merge((), first)
    learnt = merge(known, second)
    assert len(learnt) <= LEARNINGS
    assert learnt[: len(known)] == known
    assert remove_repeats(learnt, ()) == learnt
    assert merge(learnt, second) == learnt


claims = st.builds(
    Claim, st.sampled_from([OPENS, "The pond holds 40,000 litres.", "The pond holds 5 litres."]) | st.text(max_size=40),
    st.integers(-1, 3), st.sampled_from([OPENS, "The pond holds 40,000 litres."]) | st.text(max_size=20),
)  # fmt: skip


@given(st.lists(claims, max_size=60))
def test_every_statement_that_is_kept_verifies_against_its_passage(drafted: list[Claim]) -> None:
    kept = verify_claims(drafted, (PASSAGE,), 1)
    assert len(kept.statements) <= STATEMENTS
    for each in kept.statements:
        assert verify(Claim(each.text, 1, each.quote), (PASSAGE,)) == "supported"
        assert each.quote in TEXT


def test_passages_are_kept_where_a_statement_rests_on_them() -> None:
    other = Passage("mill#2", "mill", "Tide mill", "Eels", "The pond holds eels.", 0, 20)
    assert holding((PASSAGE, other), [said(OPENS)]) == (PASSAGE,)
