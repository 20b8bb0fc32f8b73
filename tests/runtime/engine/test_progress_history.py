"""Who begins to watch late hears what was said before, in its place, and nothing grows without a bound."""

import pytest

from actors.workflow.outcome import AnswerReady, HandoffMade, RunBegan, RunEvent
from actors.workflow.progress import AgentSelected, AnswerText, DraftChecked, RoundBegan, StageProgress, StatusChanged
from runtime.engine.run import LIMIT, ProgressHistory
from tests.fakes import RESOLUTION

BEGAN = RunBegan(run="R-1", ticket="T-1", workflow="research", agent="planner")


def handoff(number: int) -> HandoffMade:
    return HandoffMade(number=number, source="a", target="b", reason="c", state="d", seconds=0.0)


def test_what_was_said_stands_between_the_handoffs_where_it_was_said() -> None:
    said, round_, worked = ProgressHistory(), RoundBegan(1, 2, "trams", 0), StageProgress("planning", "Planned", 1, 1)
    later = StageProgress("searching", "Searching", 1, 1)
    for event in (BEGAN, handoff(1), round_, worked, handoff(2), handoff(3), later):
        said.hear(event)

    made: list[RunEvent] = [BEGAN, handoff(1), handoff(2), handoff(3)]
    assert list(said.among(made)) == [BEGAN, handoff(1), round_, worked, handoff(2), handoff(3), later]
    assert list(said.among(made[:2])) == [BEGAN, handoff(1), round_, worked, later]


@pytest.mark.req("LG-14", "LG-15")
def test_what_agents_turned_to_and_who_was_chosen_is_kept_in_its_place_and_in_full() -> None:
    said, chosen = ProgressHistory(), AgentSelected("legal_research", 0.9)
    doing = [StatusChanged(each) for each in ("classifying", "searching", "thinking")]
    for event in (BEGAN, handoff(1), doing[0], chosen, handoff(2), handoff(3), *doing[1:]):
        said.hear(event)

    made: list[RunEvent] = [BEGAN, handoff(1), handoff(2), handoff(3)]
    assert list(said.among(made)) == [BEGAN, handoff(1), doing[0], chosen, handoff(2), handoff(3), *doing[1:]]


def test_within_a_stage_only_the_last_is_kept() -> None:
    said = ProgressHistory()
    for done in range(5):
        said.hear(StageProgress("extracting", "Reading", done, 5))

    assert list(said.among([])) == [StageProgress("extracting", "Reading", 4, 5)]


def test_a_run_that_says_no_end_of_things_is_not_kept_in_full() -> None:
    said = ProgressHistory()
    for number in range(3 * LIMIT):
        said.hear(RoundBegan(number, 2, "trams", 0))

    assert len(list(said.among([]))) == LIMIT


@pytest.mark.req("LG-16")
def test_who_comes_late_gets_what_is_being_written_in_one_piece_until_it_was_checked() -> None:
    said = ProgressHistory()
    for event in (AnswerText("a", 0, "One "), AnswerText("b", 0, "Other"), AnswerText("a", 4, "two.")):
        said.hear(event)

    assert list(said.among([BEGAN])) == [BEGAN, AnswerText("a", 0, "One two."), AnswerText("b", 0, "Other")]
    said.hear(AnswerText("b", 0, ""))
    said.hear(DraftChecked("a", ("two.",)))
    assert list(said.among([BEGAN])) == [BEGAN]


@pytest.mark.req("LG-16")
def test_who_comes_after_the_answer_gets_no_draft_of_who_was_interrupted() -> None:
    said, ready = ProgressHistory(), AnswerReady(resolution=RESOLUTION)
    for event in (BEGAN, AnswerText("a", 0, "One "), ready):
        said.hear(event)

    assert list(said.among([BEGAN, ready])) == [BEGAN, ready]
