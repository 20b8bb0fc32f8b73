"""Of an answer that shows several places a person says which was right: that one is kept, as it was shown."""

import msgspec
import pytest

from actors.evidence.claims import Citation, Claim, Resolution
from actors.evidence.confirmed_places import keep_places, shown_places
from actors.evidence.earlier_answers import cite_ticket
from actors.evidence.passages import Passage
from actors.evidence.places import render_places, strip_leads
from actors.text.catalogue import say

CODE = "Open the lid:\n\n    lid --open <now>"
FIRST = Passage("m/a.md#0", "m/a.md", "Scanner", "Scanner > Lid", CODE, 0, len(CODE), "lid")
SECOND = msgspec.structs.replace(FIRST, id="m/b.md#0", source="m/b.md", title="Printer", heading="", text="Wait.")
CLAIMS = (Claim(CODE, 1, CODE), Claim("Wait.", 2, "Wait."))
ANSWER = Resolution(*render_places(CLAIMS, [FIRST, SECOND], "en"))


def test_the_places_of_an_answer_are_those_that_its_text_shows() -> None:
    assert [each.number for each in shown_places(ANSWER)] == [1, 2]
    assert shown_places(Resolution("Open the lid. [1]", ANSWER.citations)) == ()
    assert shown_places(Resolution("Ask Ann.")) == ()


@pytest.mark.parametrize("language", ["en", "de", "zh", "ko"])
def test_only_the_chosen_place_is_kept_with_all_its_words(language: str) -> None:
    kept = keep_places(ANSWER, [1], language)
    assert kept.text == (
        f"{say('places_confirmed', language)}\n\n[1] Scanner › Lid\nOpen the lid:\n\n    lid --open <now>"
    )
    assert [(each.number, each.source, each.quote) for each in kept.citations] == [(1, "m/a.md", CODE)]
    assert strip_leads(kept.text).startswith("[1] Scanner › Lid"), "the sentence above it is known as one"


def test_a_place_gets_a_number_that_counts_what_is_kept() -> None:
    kept = keep_places(ANSWER, [2], "en")
    assert kept.text.endswith("\n\n[1] Printer\nWait.")
    assert kept.citations[0].number == 1
    assert keep_places(kept, [1], "en") is kept
    assert [each.number for each in keep_places(ANSWER, [2, 1], "en").citations] == [1, 2]


def test_an_earlier_answer_that_is_told_below_a_place_can_be_the_right_one() -> None:
    (place,) = (each for each in ANSWER.citations if each.number == 2)
    place = msgspec.structs.replace(place, number=1)
    told = cite_ticket("T-0", Resolution("Pull the sheet out.", (place,)), "en")
    answer = Resolution(f"Perhaps:\n\n[1] Printer\nWait.\n\nIt was so. [2]\n\n{told.quote}", (place, told))
    assert shown_places(answer) == (place, told)
    assert keep_places(answer, [2], "en").text == "Pull the sheet out."
    assert keep_places(answer, [1], "en").text.endswith("[1] Printer\nWait.")


def test_an_earlier_answer_that_is_repeated_is_no_place_beside_its_own() -> None:
    told = cite_ticket("T-0", ANSWER, "en")
    repeated = Resolution(f"{ANSWER.text} [{told.number}]", (*ANSWER.citations, told))
    assert shown_places(repeated) == ANSWER.citations


def test_a_citation_that_no_line_names_is_no_place() -> None:
    beside = Citation(3, "m/c.md", "Fax", "", "Wait.", 0, 5)
    assert shown_places(Resolution(ANSWER.text, (*ANSWER.citations, beside))) == ANSWER.citations
