"""What agents do at the moment is a short line in the language of the ticket, on a pipe as on a board."""

import io
from functools import reduce
from typing import get_args

import pytest

from actors.legal.workflow import LEGAL
from actors.text.catalogue import CATALOGUES
from actors.workflow.outcome import HandoffMade, RunBegan
from actors.workflow.progress import Activity, AgentSelected, ProgressEvent, StatusChanged
from runtime.cli.view.board import Board, PlainView, board, describe_activity
from runtime.cli.view.board import fold_board as fold

ASKED = HandoffMade(
    number=1, source="orchestrator", target="intent_classifier", reason="classifying", state="classifying", seconds=0.0
)
CHOSEN = AgentSelected("legal_research", 0.934)


def began(language: str) -> RunBegan:
    return RunBegan(run="R-1", ticket="T-1", workflow="legal", agent="intent_classifier", language=language)


def show(*events: ProgressEvent) -> list[str]:
    """What a pipe gets, an event a second."""
    now, stream = 0.0, io.StringIO()
    view = PlainView(stream, clock=lambda: now)
    for event in events:
        view.show(event)
        now += 1.0
    return stream.getvalue().splitlines()


@pytest.mark.req("LG-14", "LG-15", "LG-16")
@pytest.mark.parametrize(
    ("language", "lines"),
    [
        ("zh", ["正在识别问题", "交由 legal_research 处理（把握 93%）", "legal_research: 正在使用 web_search"]),
        ("en", ["Finding out what is asked", "Goes to legal_research, 93 % sure", "legal_research: Using web_search"]),
        ("", ["Finding out what is asked", "Goes to legal_research, 93 % sure", "legal_research: Using web_search"]),
    ],
)
def test_a_pipe_gets_a_line_for_each_in_the_language_of_the_ticket(language: str, lines: list[str]) -> None:
    said = show(
        began(language), StatusChanged("classifying"), CHOSEN,
        StatusChanged("using_tool", "legal_research", "web_search"),
    )  # fmt: skip

    assert said[1:] == [f"    {n}.000 s       {line}" for n, line in enumerate(lines, 1)]


@pytest.mark.parametrize("language", CATALOGUES)
def test_every_status_has_words_of_its_own_in_every_language(language: str) -> None:
    said = [describe_activity(StatusChanged(each, tool="web_search"), language) for each in get_args(Activity)]

    assert len(set(said)) == len(get_args(Activity))


def test_a_line_is_never_earlier_than_the_handoff_above_it() -> None:
    late = HandoffMade(number=3, source="x", target="legal_research", reason="y", state="answering", seconds=7.5)

    assert show(began("en"), late, CHOSEN)[-1].startswith("    7.500 s       Goes to")


def test_what_comes_from_outside_cannot_break_out_of_its_line() -> None:
    (_, line) = show(began("en"), StatusChanged("using_tool", "a\x1b[2J", "b\nc"))

    assert "\x1b" not in line


def test_a_board_shows_it_at_the_stage_that_is_at_work() -> None:
    def items(shown: Board) -> list[str]:
        return [stage.item for stage in shown.stages if stage.item]

    heard: list[ProgressEvent] = [began("zh"), ASKED, StatusChanged("classifying")]
    first = reduce(fold, heard, board(LEGAL))

    assert items(first) == ["正在识别问题"]
    assert items(fold(first, CHOSEN)) == ["交由 legal_research 处理（把握 93%）"]
