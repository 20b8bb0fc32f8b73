"""What is being written stands in the live view as what it is, until it was checked; a pipe never gets it."""

import io
from functools import reduce

import pytest

from actors.evidence.claims import Resolution
from actors.workflow.outcome import AnswerReady, HandoffMade, RunBegan
from actors.workflow.progress import AgentSelected, AnswerText, DraftChecked, ProgressEvent, StatusChanged
from runtime.cli.view.board import Drafts, PlainSeveral, PlainView, Row, View, board, fold_board, fold_drafts, fold_row
from runtime.cli.view.live import BoardView, SeveralView, picture
from runtime.cli.view.printing import console
from tests.actors.legal.answering import FLOW
from tests.runtime.cli.view.runs import HOSTILE

BEGAN = RunBegan(run="R-1", ticket="T-1", workflow="legal", agent="intent_classifier", language="en")
TRUE, FALSE = "Notice is thirty days.", "It costs 4711 yuan."
WRITING: list[ProgressEvent] = [
    AnswerText("legal_research", 0, TRUE), AnswerText("legal_research", len(TRUE), f"\n{FALSE}"),
]  # fmt: skip
CHECKED = DraftChecked("legal_research", (FALSE,))
READY = AnswerReady(resolution=Resolution(f"{TRUE} [1]"), unverified=(FALSE,))
FIELDS = ("social_labor_law", "criminal_law")


def handoff(target: str, number: int = 1, source: str = "orchestrator", state: str = "answering") -> HandoffMade:
    return HandoffMade(number=number, source=source, target=target, reason="x", state=state, seconds=0.1)


def read(*events: ProgressEvent) -> Drafts:
    return reduce(fold_drafts, events, Drafts())


def draw(*events: ProgressEvent) -> str:
    stream = io.StringIO()
    console(stream).print(picture(reduce(fold_board, events, board(FLOW)), 1.0, 600.0, 20))
    return stream.getvalue()


@pytest.fixture(autouse=True)
def _a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "100")


@pytest.mark.req("LG-16")
def test_pieces_are_one_draft_until_it_was_checked() -> None:
    assert read(*WRITING).texts == (("legal_research", f"{TRUE}\n{FALSE}"),)
    assert read(*WRITING, CHECKED) == Drafts((), (("legal_research", FALSE),))
    assert read(*WRITING, CHECKED, READY) == read(*WRITING, CHECKED)


def test_a_draft_that_was_put_right_takes_back_what_the_one_before_had_wrong() -> None:
    other = DraftChecked("legal_general", ("Else.",))

    assert read(*WRITING, CHECKED, other, *WRITING, DraftChecked("legal_research")) == read(other)


def test_a_draft_that_begins_anew_takes_the_place_of_the_one_before() -> None:
    assert read(*WRITING, AnswerText("legal_research", 0, "")).texts == ()
    assert read(*WRITING, AnswerText("legal_research", 0, "Else.")).texts == (("legal_research", "Else."),)


def test_an_agent_that_has_answered_has_no_draft_any_more() -> None:
    other = AnswerText("legal_general", 0, "Else.")

    assert read(*WRITING, other, handoff("orchestrator", 2, "legal_research")).texts == (("legal_general", "Else."),)
    assert read(*WRITING, other, READY).texts == ()


@pytest.mark.req("LG-16")
def test_the_live_view_says_what_of_it_nobody_has_checked_then_gives_the_answer_and_what_was_left_out() -> None:
    writing = draw(BEGAN, *WRITING)
    assert writing.index("Being written, not checked yet") < writing.index(TRUE) < writing.index(FALSE)

    checked = draw(BEGAN, *WRITING, CHECKED, READY)
    assert "Being written" not in checked
    assert checked.index(f"{TRUE} [1]") < checked.index("Written, but not verified and left out") < checked.index(FALSE)


def test_a_draft_is_written_in_the_language_of_the_ticket_and_its_end_is_seen() -> None:
    chinese = RunBegan(run="R-1", ticket="T-1", workflow="legal", agent="intent_classifier", language="zh")
    long = AnswerText("legal_research", 0, "x " * 5000 + "the end")

    shown = draw(chinese, long)

    assert "尚未核实" in shown
    assert "the end" in shown
    assert len(shown.splitlines()) < 30, "what is taller than the screen cannot be redrawn"


def test_what_a_model_writes_cannot_break_out_of_the_view() -> None:
    shown = draw(BEGAN, AnswerText("legal_research", 0, HOSTILE), DraftChecked("b", (HOSTILE,)))

    assert [line for line in shown.splitlines() if not line.isprintable()] == []


@pytest.mark.req("LG-16")
def test_a_pipe_never_gets_what_nobody_has_checked() -> None:
    stream = io.StringIO()
    views: list[View] = [PlainView(stream), PlainSeveral(["a.md"], stream), View()]
    for view in views:
        for event in (BEGAN, *WRITING, CHECKED, READY):
            view.show(event)
        assert not view.shows_drafts, "so that nothing is streamed for it"

    assert TRUE not in stream.getvalue()
    assert FALSE not in stream.getvalue()
    assert BoardView.shows_drafts
    assert not SeveralView.shows_drafts


@pytest.mark.req("LG-16", "LG-18")
def test_of_specialists_side_by_side_each_has_a_line_with_what_it_does() -> None:
    asked = [handoff(each, number, state="consulting") for number, each in enumerate(FIELDS, 1)]
    doing = [StatusChanged("searching", FIELDS[0]), StatusChanged("thinking", FIELDS[1])]
    lines = draw(BEGAN, *asked, *doing).splitlines()

    assert [line.split() for line in lines if FIELDS[0] in line and "Looking" in line] == [
        ["●", FIELDS[0], "Looking", "up", "sources"]
    ]
    assert any(FIELDS[1] in line and "Writing the answer" in line for line in lines)

    later = draw(BEGAN, *asked, *doing, handoff("orchestrator", 3, FIELDS[0]), StatusChanged("checking", FIELDS[1]))
    assert any(line.split() == ["✔", FIELDS[0]] for line in later.splitlines())
    assert any(FIELDS[1] in line and "Checking the statements" in line for line in later.splitlines())


@pytest.mark.req("LG-14", "LG-15", "LG-16")
def test_of_several_tickets_each_row_says_what_its_agents_do() -> None:
    row = Row("a.md")
    seen = []
    for event in (BEGAN, StatusChanged("classifying"), AgentSelected("legal_research", 0.9), *WRITING):
        row = fold_row(row, event, 1.0)
        seen.append(row.doing)

    assert seen == ["", "Finding out what is asked", *["Goes to legal_research, 90 % sure"] * 3]
