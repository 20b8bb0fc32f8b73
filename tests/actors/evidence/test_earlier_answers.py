"""An earlier answer as it is told when its places may be gone: its own words, no marks, no more than fit."""

import pytest

from actors.evidence.claims import Citation, Resolution
from actors.evidence.earlier_answers import RETOLD_CHARACTERS, RETOLD_PLACES, retell
from actors.evidence.places import name_place

OPEN, CLOSE = "Open the lid.", "Close it again."


def cited(number: int, quote: str, heading: str = "Scanner > Jams") -> Citation:
    return Citation(number, "kb/scanner.md", "Scanner", heading, quote, 0, len(quote), "jams")


def test_statements_are_told_without_their_numbers_and_their_places_by_name() -> None:
    citations = (cited(1, OPEN), cited(2, CLOSE, "Scanner > Lid"), cited(3, OPEN))
    answer = Resolution(f"{OPEN} [1][3]\n{CLOSE} [2]\nIt holds [4] sheets.", citations)
    assert retell(answer, "en") == (
        f"{OPEN}\n{CLOSE}\nIt holds [4] sheets.\n\nIt rested on: Scanner › Jams; Scanner › Lid."
    )


@pytest.mark.parametrize("lead", ["The answer most likely stands here:", "答案很可能在这里："])
def test_places_are_told_with_their_quotes_and_no_sentence_says_any_more_that_the_answer_stands_there(
    lead: str,
) -> None:
    first, second = cited(1, OPEN), cited(2, CLOSE, "Scanner > Lid")
    answer = Resolution(f"{lead}\n\n{name_place(first)}\n{OPEN}\n\n{name_place(second)}\n{CLOSE}", (first, second))
    assert retell(answer, "en") == f"Scanner › Jams\n{OPEN}\n\nScanner › Lid\n{CLOSE}"


def test_a_long_answer_is_cut_at_a_paragraph_and_says_so_and_so_are_its_places() -> None:
    citations = tuple(cited(number, OPEN, f"Part {number}") for number in range(1, 41))
    told = retell(Resolution("\n\n".join(f"{OPEN * 5} [{each.number}]" for each in citations), citations), "en")
    text, _, places = told.rpartition("\n\n")
    assert len(text) <= RETOLD_CHARACTERS + 2
    assert text.endswith(f"{OPEN} …")
    assert places.endswith(f"Part {RETOLD_PLACES}; and {40 - RETOLD_PLACES} more.")


def test_what_a_person_wrote_stays_as_it_is() -> None:
    assert retell(Resolution("Ask at the gate [1].\n\n    then wait"), "en") == "Ask at the gate [1].\n\n    then wait"
