"""The board of several tickets: a row each that says who is at work on it, in the room that there is."""

import io

from rich.console import Console

from actors.workflow.outcome import EndReason
from actors.workflow.progress import HEARTBEAT_SECONDS, StageProgress
from runtime.cli.view.board import PlainSeveral, Row, room_for, short, tally
from runtime.cli.view.board import fold_row as fold
from runtime.cli.view.live import picture_several
from tests.runtime.cli.view.runs import HOSTILE, outcome, progress


def seen(*events: object) -> Row:
    row = Row("a.md")
    for at, event in enumerate(events):
        row = fold(row, event, float(at))  # type: ignore[arg-type]
    return row


def test_a_row_follows_its_ticket_to_the_end() -> None:
    began, *handoffs = progress()

    assert (seen().mark, seen().doing) == ("pending", "")
    assert (seen(began).mark, seen(began).ticket) == ("running", "T-1")
    assert seen(began, *handoffs).doing == "worker"
    assert seen(began, StageProgress(stage="searching", step="", item="", done=1, total=2)).doing == "searching"
    ended = seen(*progress(outcome(status="suggested")))
    assert (ended.mark, ended.doing, ended.seconds) == ("completed", "suggested", 1.25)
    assert seen(*progress(outcome(status="error", why=EndReason.TIMED_OUT))).mark == "failed"


def test_files_are_told_apart_by_as_little_as_that_takes() -> None:
    assert short(["in/a.md", "in/b.md"]) == ["a.md", "b.md"]
    assert short(["in/a.md", "out/a.md"]) == ["in/a.md", "out/a.md"]


def test_where_room_is_short_what_goes_on_stays() -> None:
    rows = [Row(str(n), mark, began=float(n)) for n, mark in enumerate(["completed", "failed", "running", "pending"])]  # type: ignore[arg-type]

    assert [row.name for row in room_for(rows, 4)] == ["0", "1", "2", "3"]
    assert [row.name for row in room_for(rows, 3)] == ["0", "1", "2"]
    assert [row.name for row in room_for(rows, 2)] == ["1", "2"]
    assert [row.name for row in room_for(rows, 1)] == ["2"]
    assert tally(rows) == "4 tickets: 2 done, 1 going on, 1 waiting"


def test_a_board_is_a_line_each_and_harmless() -> None:
    rows = [
        Row(HOSTILE * 9, "running", HOSTILE, HOSTILE),
        Row("打印机.md", "completed", "T-2", "resolved", seconds=0.4),
    ]
    stream = io.StringIO()
    Console(file=stream, width=80, markup=False, highlight=False, emoji=False).print(
        picture_several(rows, 3.0, 10, [HOSTILE])
    )
    lines = stream.getvalue().split("\n")

    assert lines[0].startswith("2 tickets: 1 done, 1 going on, 0 waiting   3.0 s")
    assert [line for line in lines if not line.isprintable()] == []
    assert sum("打印机.md" in line for line in lines) == 1
    assert lines[2].split() == ["✔", "打印机.md", "T-2", "resolved", "0.4", "s"]


def test_a_pipe_gets_a_line_when_one_begins_and_ends_and_one_while_nothing_happens() -> None:
    now = 0.0
    stream = io.StringIO()
    view = PlainSeveral(["a.md", "b.md"], stream, lambda: now)
    for event in progress(outcome()):
        view.show(event, 1)
    view.tick()
    now = HEARTBEAT_SECONDS
    view.tick()
    view.tick()

    assert stream.getvalue().splitlines() == [
        "b.md: ticket T-1 begins",
        "b.md: resolved after 1.2 s",
        "2 tickets: 1 done, 0 going on, 1 waiting",
    ]
