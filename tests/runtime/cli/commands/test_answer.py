"""`answer`: what a ticket asks is shown, asked on a terminal or taken from options, and the ticket goes on."""

import os
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from tests import ROOT
from tests.forked import FORK_SERVER
from tests.runtime.cli.commands.program import Done
from tests.runtime.cli.view.terminal import Terminal, plain

PROGRAM = """
import sys
from runtime import families
from tests.runtime.families.asking import RENTAL
families.FAMILIES += (RENTAL,)
from runtime.__main__ import main
sys.exit(main(sys.argv[1:]))
"""
"""The command line with one more line in `runtime.families`."""
ASKED = "I want to be on the water."


def environment(folder: Path) -> dict[str, str]:
    return {**os.environ, "TERMINUS_STORAGE_FOLDER": str(folder / "data"), "PYTHONPATH": str(ROOT)}


def terminus(folder: Path, *words: str, stdin: str = "") -> Done:
    popen = FORK_SERVER.popen(
        [sys.executable, "-c", PROGRAM, *words], cwd=folder, env=environment(folder), stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    with popen:
        out, err = popen.communicate(stdin.encode(), timeout=60)
    return Done(popen.returncode, out, err)


def submit(folder: Path, text: str = ASKED) -> None:
    done = terminus(folder, "submit", "--quiet", "--workflow", "rental", "--id", "B-1", text)
    assert done.status == 5, done.err
    assert done.out.splitlines()[:9] == [
        "Needs your answers",
        "",
        "  1. boat: Which boat is it to be?",
        "     one of: canoe, dinghy",
        "  2. hours: For how many hours?",
        "     for example: 3",
        "  3. name: On whose name?",
        "     may be left empty",
        "`python -m runtime answer B-1` answers them.",
    ]


def test_questions_are_shown_and_options_answer_them(tmp_path: Path) -> None:
    submit(tmp_path)
    shown = terminus(tmp_path, "status", "B-1")
    assert (shown.status, "1. boat: Which boat is it to be?" in shown.out) == (0, True)
    assert terminus(tmp_path, "status", "B-1", "--json").json["outcome"]["questions"][1]["name"] == "hours"

    asked = terminus(tmp_path, "answer", "B-1")
    assert (asked.status, asked.err) == (
        2, "B-1 asks for boat, hours, name: answer with --set NAME=VALUE, --file or --text, or on a terminal.\n",
    )  # fmt: skip
    wrong = terminus(tmp_path, "answer", "B-1", "--set", "boat")
    assert (wrong.status, wrong.err) == (2, "--set takes name=value, not 'boat'.\n")
    (tmp_path / "answers.toml").write_text('hours = 2\nboat = "dinghy"\n', encoding="utf-8")
    words = ("answer", "B-1", "--file", "answers.toml", "--set", "boat=canoe", "--text", "-", "--quiet")
    done = terminus(tmp_path, *words, stdin="With a dog.\n")

    assert (done.status, done.err) == (0, "")
    assert "With a dog. / boat canoe, hours 2 / north" in done.out
    assert "boat canoe, hours 2" in terminus(tmp_path, "report", "B-1").out
    written = terminus(tmp_path, "report", "B-1", "--out", "lease.docx")
    assert (written.status, (tmp_path / "lease.docx").read_bytes()[:2]) == (0, b"PK"), written.err
    page = terminus(tmp_path, "report", "B-1", "--out", "lease.html")
    assert (page.status, "A document is written as .md or .docx, not as .html." in page.err) == (1, True)
    again = terminus(tmp_path, *words, stdin="With a dog.\n")
    assert (again.status, "boat canoe, hours 2" in again.out) == (0, True)
    refused = terminus(tmp_path, "answer", "B-1", "--text", "More.")
    assert (refused.status, "waits for no answers: it ended as resolved" in refused.err) == (1, True)


def test_what_asks_again_ends_with_the_same_status(tmp_path: Path) -> None:
    submit(tmp_path)
    first = terminus(tmp_path, "answer", "B-1", "--text", "Well.", "--json")
    assert (first.status, first.json["status"]) == (5, "needs_input")
    again = terminus(tmp_path, "answer", "B-1", "--text", "Well.")
    assert "These answers were given before" in again.err
    run = first.json["run"]
    assert f"answer run:{run}`" in again.err
    third = terminus(tmp_path, "answer", f"run:{run}", "--text", "Well.", "--json")
    assert third.json["run"] != run


def test_after_kill_9_the_same_answers_go_on_where_they_were(tmp_path: Path) -> None:
    submit(tmp_path)
    words = ("answer", "B-1", "--set", "boat=canoe", "--set", "hours=1", "--text", "One that dies once.", "--json")

    assert terminus(tmp_path, *words).status == -signal.SIGKILL
    killed = terminus(tmp_path, "status", "B-1", "--json").json
    assert killed["status"] == "interrupted"
    done = terminus(tmp_path, *words)

    assert (done.status, done.json["run"]) == (0, killed["run"]), done.err
    assert "boat canoe, hours 1" in done.json["resolution"]["text"]


def _asks(times: int, seen: str) -> bool:
    return seen.count("> ") == times


def test_a_terminal_asks_one_question_after_the_other(tmp_path: Path) -> None:
    submit(tmp_path)
    with Terminal(["-c", PROGRAM, "answer", "B-1"], {**environment(tmp_path), "TERM": "dumb"}) as terminal:
        for number, said in enumerate((b"ship\n", b"2\n", b"\n", b"4\n", b"\n"), 1):
            terminal.until(partial(_asks, number))
            terminal.press(said)
        status = terminal.end()
    text = plain(terminal.drawn)
    assert status == 0
    assert text.index("1/3  Which boat") < text.index("2/3  For how many") < text.index("3/3  On whose name?")
    assert "boat dinghy, hours 4" in text


@pytest.mark.parametrize("words", [("--file", "a.yaml"), ("--file", "gone.json"), ("--set", "a=1", "--set", "a=2")])
def test_what_cannot_be_read_is_refused(tmp_path: Path, words: tuple[str, ...]) -> None:
    done = terminus(tmp_path, "answer", "B-1", *words)
    assert (done.status, done.err.count("\n")) == (2, 1), done.err
