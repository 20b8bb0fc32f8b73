"""What a task compares, and what stands of its sides beside each other."""

import pytest

from actors.evidence.passages import Passage
from actors.evidence.sources import Statement
from actors.research.comparison import Compared, choose_for_cell, find_compared, question_on, set_side_by_side, tabulate
from actors.research.models import Cell, Section

SIDES = ("oak wheels", "elm wheels")


def passage(name: str, heading: str, text: str) -> Passage:
    return Passage(f"{name}#1", name, "Wheels", heading, text, 0, len(text))


@pytest.mark.parametrize(
    ("task", "sides", "criteria"),
    [
        ("Compare oak wheels and elm wheels in terms of price.", SIDES, ("price",)),
        ("What is the difference between the oak wheels and elm wheels?", SIDES, ()),
        ("Lumo vs. Glim vs. Orbit: warranty, weight", ("Lumo", "Glim", "Orbit"), ("warranty", "weight")),
        ("对比橡木轮和榆木轮的价格", ("橡木轮", "榆木轮"), ("价格",)),
        ("How do I compare two dates?", (), ()),
        ("How does a wheel and its axle turn?", (), ()),
        ("Compare the price and speed of oak wheels and elm wheels", (), ()),
    ],
)
def test_two_things_that_a_task_names_are_its_sides(
    task: str, sides: tuple[str, ...], criteria: tuple[str, ...]
) -> None:
    assert find_compared(task) == (sides, criteria)


SAID = Statement("They are cheap.", "The price of elm wheels is low.", "p#1", "p")
PLACE = Statement("The price of oak wheels is low.", "The price of oak wheels is low.", "p#1", "p")
COMPARED = Compared(SIDES, ("price", "speed"))


def test_a_cell_is_what_was_answered_to_its_question() -> None:
    asked, other = question_on("elm wheels", "price"), question_on("oak wheels", "price")
    table = tabulate(COMPARED, (Section(asked, (SAID,)), Section(other, (PLACE,))))
    assert table is not None
    assert [(row.attribute, row.cells) for row in table.rows] == [
        ("price", (Cell(PLACE), Cell(SAID))),
        ("speed", (None, None)),
    ]
    assert tabulate(COMPARED, (Section("Which wheels?", (SAID,)), Section(asked))) is None


def test_of_places_a_cell_takes_those_that_name_its_side_and_its_criterion() -> None:
    asked, other = question_on("elm wheels", "price"), question_on("oak wheels", "price")
    assert choose_for_cell(COMPARED, asked, (PLACE, SAID), {}) == (SAID,)
    assert choose_for_cell(COMPARED, other, (PLACE,), {}) == (PLACE,)
    assert choose_for_cell(COMPARED, question_on("oak wheels", "speed"), (PLACE,), {}) == ()
    assert choose_for_cell(COMPARED, asked, (PLACE,), {"p#1": "Elm wheels"}) == (PLACE,)
    assert choose_for_cell(COMPARED, "Which wheels?", (PLACE, SAID), {}) == (PLACE, SAID)


def test_sections_of_both_sides_on_the_same_point_stand_side_by_side() -> None:
    oak, elm = (
        passage("oak", "Oak wheels > Limits", "They are heavy."),
        passage("elm", "Elm wheels > Limits", "They rot."),
    )
    alone = passage("care", "Oak wheels > Care", "Oil them.")
    both = passage("both", "Oak wheels and elm wheels > Limits", "Both crack.")

    table = set_side_by_side(SIDES, (both, alone, oak, elm), 1)

    assert table is not None
    assert [(row.attribute, [cell and cell.said.text for cell in row.cells]) for row in table.rows] == [
        ("Limits", ["They are heavy.", "They rot."])
    ]
    assert set_side_by_side(SIDES, (both, alone, oak), 1) is None
