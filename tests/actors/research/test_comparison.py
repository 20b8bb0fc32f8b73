"""A comparison only where both sides have a sentence on an attribute."""

from actors.evidence.sources import Statement
from actors.research.comparison import compare

SIDES = ("oak wheels", "elm wheels")


def said(text: str, passage: str = "p#1") -> Statement:
    return Statement(text, text, passage, "p")


OAK = said("Oak wheels cost twice the price of a cart.")
ELM = said("The price of elm wheels is low.")
ELM_FAST = said("Elm wheels are fast.")


def test_an_attribute_is_a_row_when_both_sides_have_a_sentence_on_it() -> None:
    table = compare(SIDES, [OAK, ELM, ELM_FAST], {})
    assert table is not None
    assert [(row.attribute, row.cells) for row in table.rows] == [("Cost", (OAK, ELM))]


def test_no_attribute_in_common_is_no_comparison() -> None:
    assert compare(SIDES, [OAK, ELM_FAST], {}) is None
    assert compare(SIDES, [], {}) is None
    assert compare((), [OAK, ELM], {}) is None


def test_a_sentence_on_both_sides_speaks_for_neither() -> None:
    both = said("Oak wheels and elm wheels have one price.")
    assert compare(SIDES, [both, ELM], {}) is None


def test_a_sentence_speaks_of_the_side_whose_heading_it_stands_under() -> None:
    under = said("They cost twice the price of a cart.", "oak#1")
    table = compare(SIDES, [under, ELM], {"oak#1": "Wheels > Oak wheels"})
    assert table is not None
    assert table.rows[0].cells == (under, ELM)


def test_a_sentence_is_used_in_one_row() -> None:
    oak = said("Oak wheels cost a high price and are slow.")
    elm = said("Elm wheels have a low price and are fast.")
    table = compare(SIDES, [oak, elm], {})
    assert table is not None
    assert [row.attribute for row in table.rows] == ["Performance"]
