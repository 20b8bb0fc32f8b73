"""A comparison has a row a criterion and a column a side."""

from actors.evidence.sources import Statement
from actors.research.comparison import on_criteria
from actors.research.models import Section
from actors.text.comparison_targets import question_on

SIDES = ("oak wheels", "elm wheels")


def said(text: str, passage: str = "p#1") -> Statement:
    return Statement(text, text, passage, "p")


OAK = said("Oak wheels cost twice the price of a cart.")
ELM = said("The price of elm wheels is low.")
ELM_FAST = said("Elm wheels are fast.")


def on(*statements: Statement) -> tuple[Section, ...]:
    return (Section("Which wheels?", statements),)


def test_each_criterion_is_a_row_with_a_cell_for_each_side() -> None:
    table = on_criteria(SIDES, ("price", "speed"), on(OAK, ELM, ELM_FAST), {})
    assert table is not None
    assert [(row.attribute, row.cells) for row in table.rows] == [("price", (OAK, ELM)), ("speed", (None, ELM_FAST))]


def test_without_criteria_or_sides_there_is_no_table() -> None:
    assert on_criteria(SIDES, (), on(OAK, ELM), {}) is None
    assert on_criteria((), ("price",), on(OAK, ELM), {}) is None


def test_a_sentence_on_both_sides_speaks_for_neither_unless_it_answers_the_question_of_a_cell() -> None:
    both = said("Oak wheels and elm wheels have one price.")
    table = on_criteria(SIDES, ("price",), on(both), {})
    assert table is not None
    assert table.rows[0].cells == (None, None)
    asked = on_criteria(SIDES, ("price",), (Section(question_on("oak wheels", "price"), (both,)),), {})
    assert asked is not None
    assert asked.rows[0].cells == (both, None)


def test_a_sentence_speaks_of_the_side_whose_heading_it_stands_under() -> None:
    under = said("They cost twice the price of a cart.", "oak#1")
    table = on_criteria(SIDES, ("price",), on(under, ELM), {"oak#1": "Wheels > Oak wheels"})
    assert table is not None
    assert table.rows[0].cells == (under, ELM)
