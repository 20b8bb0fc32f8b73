"""What a report says of itself."""

import pytest

from actors.reporting.markdown import render_markdown
from actors.reporting.report import Report, body
from actors.research.models import ResearchOptions
from actors.text.catalogue import say
from tests.actors.research import cases as c
from tests.actors.research.cases import compose


def texts(report: Report) -> list[str]:
    return [line.text for line in body(report)]


@pytest.mark.parametrize(
    ("more", "further"),
    [
        ({}, ("Prices of lamps",)),
        ({"directions": ()}, ("What does it cost?",)),
        ({"directions": (), "sections": c.SECTIONS[:1]}, (say("as_a_whole", ""),)),
        ({"directions": (), "sections": ()}, ("How long does the Lumo lamp burn?",)),
        ({"directions": (), "sections": (), "plan": None}, (say("as_a_whole", ""),)),
        ({"rounds": 1, "brief": ResearchOptions(depth=1)}, ("Prices of lamps",)),
        ({"rounds": 1, "brief": ResearchOptions(depth=3)}, ("Prices of lamps",)),
        ({"partial": "The budget of 3 pages is used up."}, ("Prices of lamps",)),
        ({"reason": "cancelled"}, ("Prices of lamps",)),
        ({"reason": "deadline", "detail": "Its time was over."}, ("Prices of lamps",)),
    ],
)
def test_dr_3_what_is_not_complete_needs_further_exploration_whatever_ended_the_search(
    more: dict[str, object], further: tuple[str, ...]
) -> None:
    report, complete = compose(c.case(**more)), compose(c.case(**more, is_complete=True))

    assert report.further == further
    assert "Further exploration needed" in render_markdown(report)
    assert complete.further == ()
    assert "Further exploration needed" not in render_markdown(complete)


@pytest.mark.req("PR-30", "PR-31")
def test_a_research_that_was_cut_short_says_why() -> None:
    cancelled = compose(c.case(reason="cancelled", partial="2 pages were not read"))
    failed = compose(c.case(reason="step_failed", detail="The analyzer failed."))

    assert cancelled.partial == "It was cancelled. 2 pages were not read."
    assert failed.partial == "The analyzer failed."
    assert texts(cancelled) == texts(compose(c.case())), "what was found is told"
    assert compose(c.case(reason="a new reason")).partial == "It ended before it was finished."
    assert compose(c.case()).partial == ""


def test_the_notes_say_how_it_was_made() -> None:
    report = compose(c.case(degraded="model_failed", unavailable=("tavily",)))

    assert report.notes[0] == "2 rounds of at most 2; 5 pages read, 2 not obtained."
    assert "A model reworded some sentences" in report.notes[1]
    assert report.notes[2] == "Not every answer was found to stand in a second reading beside its source."
    assert report.notes[3:] == (say("model_failed", "en"), "Unavailable: tavily.")


def test_a_report_of_quotes_says_that_it_is_one() -> None:
    report = compose(c.case(analysis=None))

    assert "Every sentence on the topic is quoted word for word from its source." in report.notes
