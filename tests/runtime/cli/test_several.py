"""Several files are several tickets: side by side, told one after another, with the exit status of the worst."""

import json
import signal

import pytest

from tests.patience import HANGS_SECONDS
from tests.runtime.cli.commands.program import QUESTION, Place, out_of_time, read_until, silent_server
from tests.runtime.cli.view.terminal import HIDE, SHOW, Terminal, plain

GENTLE = {"TERMINUS_RUN_CANCEL_SECONDS": "0.3"}


def files(place: Place, *texts: str) -> list[str]:
    names = [f"{chr(97 + number)}.md" for number in range(len(texts))]
    for name, text in zip(names, texts, strict=True):
        (place.folder / name).write_text(text, encoding="utf-8")
    return names


def test_each_file_is_a_ticket_of_its_own(place: Place) -> None:
    place.article()
    names = files(
        place, QUESTION, "Where do I book the tennis court?", "---\nid: HD-3\n---\nHow often is the toner changed?"
    )

    done = place.run("submit", "--json", *names)
    outcomes = [json.loads(line) for line in done.out.splitlines()]

    assert done.status == 3, "that of the one that was not found"
    assert [each["file"] for each in outcomes] == names
    assert [each["question"] for each in outcomes][:2] == [QUESTION, "Where do I book the tennis court?"]
    assert [each["status"] for each in outcomes] == ["suggested", "not_found", "suggested"]
    assert outcomes[2]["ticket"] == "HD-3"
    assert len({each["run"] for each in outcomes}) == 3
    assert done.err.splitlines()[-1] == "3 tickets: 2 suggested, 1 not found."
    assert {"a.md: suggested after", "b.md: not found after"} <= {
        line.rpartition(" after")[0] + " after" for line in done.err.splitlines()
    }


def test_what_came_of_each_is_printed_one_after_another(place: Place) -> None:
    place.article()
    names = files(place, QUESTION, "Where do I book the tennis court?")

    done = place.run("submit", "--quiet", *names)

    assert done.err == ""
    assert done.out.startswith("=== a.md\nSuggested: ")
    assert "\n\n=== b.md\nNot found in the sources\n" in done.out
    assert place.run("submit", "--quiet", names[0], names[0]).status == 0


def test_a_limit_weighs_more_than_what_was_not_found(place: Place) -> None:
    with out_of_time() as bounds:
        done = place.run("submit", "--json", *files(place, "one", "two"), **bounds)

    assert done.status == 4


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["--id", "HD-1", "a.md", "b.md"], "--id is for one ticket, and these are 2"),
        (["--subject", "VPN", "a.md", "b.md"], "--subject is for one ticket"),
        (["--research", "--out", "r.md", "a.md", "b.md"], "--out is for one ticket"),
        (["a.md", "gone.md"], "There is no file gone.md."),
        (["a.md", "is", "wrong"], "a.md is a file, but is does not exist"),
    ],
    ids=str,
)
def test_what_is_not_for_several_is_refused_before_anything_runs(place: Place, words: list[str], part: str) -> None:
    files(place, "one", "two")

    done = place.run("submit", *words)

    assert (done.status, done.out, done.err.count("\n")) == (2, "", 1)
    assert part in done.err
    assert place.run("status", "--json").json == {"runs": []}


def test_no_more_run_at_once_than_is_set(place: Place) -> None:
    done = place.run("submit", *files(place, "one", "two", "three"), TERMINUS_RUN_SIDE_BY_SIDE="1")

    happened = [line.split(":")[0] + line.rpartition(" ")[2] for line in done.err.splitlines()[:-1]]
    assert [each[:4] for each in happened] == ["a.md", "a.md", "b.md", "b.md", "c.md", "c.md"]
    assert [each[4:] for each in happened][::2] == ["begins"] * 3


def test_ctrl_c_ends_those_that_run_and_begins_no_more(place: Place) -> None:
    names = files(place, "one", "two", "three")
    with silent_server() as server, place.running(
        "submit", "--json", *names, **server, **GENTLE, TERMINUS_RUN_SIDE_BY_SIDE="2"
    ) as popen:  # fmt: skip
        read_until(popen, "b.md: ticket")
        popen.send_signal(signal.SIGINT)
        out, err = popen.communicate(timeout=HANGS_SECONDS)

    assert popen.returncode == 130
    assert [json.loads(line)["file"] for line in out.splitlines()] == ["a.md", "b.md"]
    assert "c.md: it was not begun" in err
    assert "3 tickets: " in err
    assert "Traceback" not in err


def test_a_terminal_shows_a_board_and_then_the_answers(place: Place) -> None:
    place.article()
    names = [str(place.folder / name) for name in files(place, QUESTION, "Where do I book the tennis court?")]

    with Terminal(["-m", "runtime", "submit", *names], place.environ) as terminal:
        assert terminal.end() == 3

    board, shown = terminal.drawn.rsplit(SHOW, 1)
    assert "2 tickets: " in plain(board)
    assert all(name[-4:] in plain(board) for name in names)
    assert [line.rstrip() for line in plain(shown).splitlines() if line.startswith("===")] == [
        f"=== {name}" for name in names
    ]
    assert plain(shown).rstrip().endswith("2 tickets: 1 suggested, 1 not found.")
    assert terminal.drawn.count(HIDE) == terminal.drawn.count(SHOW) == 1
