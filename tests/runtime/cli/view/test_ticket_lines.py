"""Tickets as people see them: by their words, in the room that there is, harmless."""

import io

import pytest

from runtime.cli.view.printing import console, paragraphs, write
from runtime.cli.view.ticket_lines import head, question, table
from runtime.cli.view.width import columns
from runtime.engine.run_record import Record
from runtime.times import iso
from tests.runtime.cli.view.runs import HOSTILE

NOW = 1_769_860_800.0


def record(**more: object) -> Record:
    known = {
        "ticket": "T-1a2b3c4d", "run": "R-1", "workflow": "helpdesk", "status": "resolved",
        "question": "My VPN drops every hour.\nPlease help.", "subject": "", "requester": "",
        "created": iso(NOW - 200), "started": iso(NOW - 200), "ended": iso(NOW - 199), "seconds": 0.42,
    }  # fmt: skip
    return Record(**{**known, **more})  # type: ignore[arg-type]


def listed(*records: Record, width: int = 80) -> list[str]:
    stream = io.StringIO()
    write(table([(each, "") for each in records], NOW, width), stream)
    return stream.getvalue().splitlines()


def test_a_ticket_is_a_row_with_its_first_words() -> None:
    header, first, second = listed(record(), record(ticket="HD-7", status="not_found", subject="Printer"))

    assert header.split() == ["ticket", "status", "when", "took", "question"]
    assert first == "T-1a2b3c4d  resolved   3 min ago  0.4 s  My VPN drops every hour."
    assert second.startswith("HD-7        not found  3 min ago  0.4 s  Printer: My VPN drops")


@pytest.mark.parametrize("width", [40, 60, 80, 120, 200])
@pytest.mark.parametrize(
    "text", ["打印机卡纸了怎么办" * 9, "프린터에 용지가 걸렸습니다 " * 9, "VPN " * 60_000, HOSTILE * 9]
)
def test_a_row_never_takes_more_columns_than_there_are(width: int, text: str) -> None:
    rows = listed(record(question=text), record(question=text, ended=None, seconds=None, status="running"), width=width)

    assert all(columns(line) <= max(width, 46) for line in rows)
    assert all(line.isprintable() for line in rows)


def test_where_a_long_id_leaves_no_room_the_question_has_its_own_line() -> None:
    header, row, words = listed(record(ticket="4f9c2f9e-5f0e-4b5e-9c3e-0a1b2c3d4e5f"))

    assert not header.endswith("question")
    assert row.endswith("0.4 s")
    assert words == "    My VPN drops every hour."


def test_the_status_is_coloured_and_suggested_is_not_green() -> None:
    lines = list(table([(record(status="suggested"), ""), (record(), ""), (record(status="error"), "")], NOW, 80))

    styled = {line.text[start:end]: style for line in lines[1:] for start, end, style in line.spans}
    assert styled == {"suggested": "unsure", "resolved": "good", "error": "bad"}


def test_the_head_tells_who_asked_what_and_when_and_how_long_it_took() -> None:
    stream = io.StringIO()
    known = record(subject="VPN", requester="kim@example.org", created=iso(NOW - 86_400))
    write(head(known, NOW, "It was solved."), stream)
    first, asked, *rest = stream.getvalue().splitlines()

    assert first == "Ticket T-1a2b3c4d, run R-1: resolved"
    assert asked.startswith("Asked 3 min ago, on ")
    assert " by kim@example.org, for the first time on " in asked
    assert asked.endswith("; it took 0.4 s.")
    assert rest == ["Subject: VPN", "“My VPN drops every hour. Please help.”", "Note: It was solved."]


def test_a_question_of_any_size_is_short_and_harmless_where_something_is_done_to_it() -> None:
    for text in ("VPN " * 60_000, HOSTILE, ""):
        line = question(record(question=text, subject=HOSTILE, requester=HOSTILE))
        assert columns(line.text) <= 202
        assert line.text.isprintable()
    stream = io.StringIO()
    lines = head(record(ticket=HOSTILE, question=HOSTILE * 99, requester=HOSTILE), NOW, HOSTILE)
    console(stream).print(*paragraphs(lines))
    assert [line for line in stream.getvalue().split("\n") if not line.isprintable()] == []
