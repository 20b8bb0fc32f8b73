"""Competitors, features and SWOT, only where the sources' own headings or verified claims give them."""

import pytest

from actors.evidence.claims import Claim
from actors.evidence.passages import Passage
from actors.research.landscape import is_choice, survey
from actors.research.output_schemas import Landscape, Rival

GOOD, BAD, RISK = "Harbor needs no water.", "Harbor leaks at night.", "Harbor may sink in a storm."


def passage(number: int, heading: str, text: str) -> Passage:
    return Passage(f"p#{number}", "p", "Harbor", heading, text, 0, len(text))


PASSAGES = (
    passage(1, "Harbor > Benefits", GOOD), passage(2, "Harbor > Known limitations", BAD),
    passage(3, "Harbor > Risks", RISK), passage(4, "Harbor > Alternatives > Quay", "Quay is another harbour."),
)  # fmt: skip


def claim(number: int) -> Claim:
    text = PASSAGES[number - 1].text
    return Claim(text, number, text)


@pytest.mark.req("PR-6")
def test_a_swot_carries_the_headings_it_rests_on() -> None:
    draft = Landscape(strengths=(claim(1),), weaknesses=(claim(2),), threats=(claim(3),))
    analysis, checked = survey(draft, PASSAGES, 1)
    assert [(each.statement.text, each.heading) for each in analysis.swot.strengths] == [(GOOD, "Benefits")]
    assert [each.heading for each in analysis.swot.weaknesses] == ["Known limitations"]
    assert [each.fate for each in checked] == ["kept"] * 3


def test_one_quadrant_is_no_swot() -> None:
    analysis, _ = survey(Landscape(strengths=(claim(1),)), PASSAGES, 1)
    assert analysis.swot.strengths == ()


def test_a_sentence_stands_in_one_quadrant() -> None:
    draft = Landscape(strengths=(claim(1),), weaknesses=(claim(1), claim(2)), threats=(claim(3),))
    assert [each.statement.text for each in survey(draft, PASSAGES, 1)[0].swot.weaknesses] == [BAD]


@pytest.mark.req("PR-6")
def test_a_competitor_that_no_passage_names_and_a_claim_that_none_bears_out_are_left_out() -> None:
    invented = Rival("Moonbase", (claim(4),))
    draft = Landscape(
        competitors=(Rival("Quay", (claim(4),)), invented), features=(Claim("It flies.", 1, "It flies."),)
    )
    analysis, checked = survey(draft, PASSAGES, 1)
    assert [each.name for each in analysis.competitors] == ["Quay"]
    assert analysis.features == ()
    assert [each.quote for each in checked if each.fate == "dropped"] == ["It flies."]


@pytest.mark.parametrize(
    ("task", "choice"),
    [
        ("Compare Harbor and Quay", True), ("Should we use Harbor?", True), ("SWOT of Harbor", True),
        ("Harbor 竞品分析", True), ("How does a tide mill store water?", False), ("What is a weir?", False),
    ],
)  # fmt: skip
def test_a_landscape_is_asked_for_by_tasks_on_products_and_choices(task: str, choice: bool) -> None:
    assert is_choice(task) is choice
