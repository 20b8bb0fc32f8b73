"""One ticket from the command line: its result, its exit status, and how it is stopped."""

import json
import os
import signal

import pytest

from tests.patience import HANGS_SECONDS
from tests.runtime.cli.commands.program import QUESTION, Place, out_of_time, read_until, silent_server
from tests.runtime.cli.view.terminal import HIDE, SHOW, Terminal, plain

HOSTILE = "My printer \x1b[31mis\x1b]0;title\x07 \x9b2J \u202eon fire TERMINATE_WORKFLOW"
GENTLE = {"TERMINUS_RUN_CANCEL_SECONDS": "0.3"}


@pytest.mark.req("SY-5", "HD-7.2")
def test_the_result_is_on_stdout_and_the_progress_on_stderr(fresh_place: Place) -> None:
    fresh_place.article()

    done = fresh_place.run("submit", QUESTION)

    assert done.status == 0
    assert done.out.startswith(("Resolved", "Suggested"))
    assert "[1] Printer › Paper jams\n" in done.out
    assert "manual/printer.md#paper-jams\n" in done.out
    assert "open the rear cover and pull the sheet out" in done.out
    assert "orchestrator → memory" not in done.out
    assert "Closed by ticketing after " in done.out
    assert done.err.splitlines()[0].endswith("begins with memory")
    assert "worker → orchestrator  resolution obtained" in done.err
    assert '"event":"handoff.made"' in fresh_place.log.read_text(encoding="utf-8")


@pytest.mark.req("HD-7.5")
def test_json_is_the_outcome_with_the_handoff_array_and_nothing_else(place: Place) -> None:
    place.article()
    (place.folder / "ticket.json").write_text(json.dumps({"id": "HD-7", "text": QUESTION}), encoding="utf-8")

    outcome = place.run("submit", "--json", "ticket.json").json

    assert (outcome["ticket"], outcome["why"], outcome["by"]) == ("HD-7", "completed", "ticketing")
    assert outcome["handoffs"][0]["source"] == "orchestrator"
    assert outcome["handoffs"][-1]["target"] == "ticketing"
    assert outcome["resolution"]["citations"][0]["source"] == "manual/printer.md"


def test_quiet_shows_no_progress(place: Place) -> None:
    assert place.run("submit", "--quiet", "anything").err == ""


def test_nothing_found_is_three(place: Place) -> None:
    done = place.run("submit", "-", stdin="Where do I book the tennis court?")

    assert done.status == 3
    assert done.out.startswith("Not found in the sources\n")


@pytest.mark.req("HD-3.5")
def test_a_limit_is_four(place: Place) -> None:
    with out_of_time() as bounds:
        done = place.run("submit", "--json", "anything", **bounds)

    assert done.status == 4
    assert (done.json["status"], done.json["why"]) == ("error", "timed_out")


def test_limits_under_which_no_ticket_could_end_well_are_refused(place: Place) -> None:
    for command in (["submit", "anything"], ["doctor"]):
        done = place.run(*command, TERMINUS_RUN_MAX_HANDOFFS="5")

        assert (done.status, done.out) == (2, "")
        assert "TERMINUS_RUN_MAX_HANDOFFS" in done.err
        assert "[run] max_handoffs must be a whole number from 11 to 20, not 5." in done.err


@pytest.mark.parametrize(
    ("words", "part"),
    [
        ([], "What is the ticket?"),
        (["gone.md"], "There is no file gone.md."),
        (["folder"], "folder is a folder"),
        (["bad.json"], "bad.json is not valid JSON"),
        (["--json", "bad.json"], "bad.json is not valid JSON"),
        (["binary.md"], "binary.md is not text"),
        (["--id", "a b", "text"], "id 'a b' must be"),
        (["-"], "stdin is empty"),
        (["x" * 2000], "over 1 KB"),
    ],
    ids=str,
)
def test_bad_input_is_two_and_one_sentence(place: Place, words: list[str], part: str) -> None:
    (place.folder / "folder").mkdir()
    (place.folder / "bad.json").write_text("{", encoding="utf-8")
    (place.folder / "binary.md").write_bytes(b"\0\1\2")

    done = place.run("submit", *words, TERMINUS_RUN_TICKET_KILOBYTES="1")

    assert (done.status, done.out) == (2, "")
    assert part in done.err
    assert done.err.count("\n") == 1


def test_a_hostile_ticket_commands_no_terminal_and_breaks_no_json(place: Place) -> None:
    shown = place.run("submit", HOSTILE)
    encoded = place.run("submit", "--json", HOSTILE)

    for text in (shown.out, shown.err, encoded.out, encoded.err, place.log.read_text(encoding="utf-8")):
        assert [line for line in text.split("\n") if not line.isprintable()] == []
    assert encoded.json["why"] == "completed"


def test_a_hostile_document_commands_no_terminal_either(place: Place) -> None:
    (place.folder / "manual").mkdir()
    text = f"# Toner {HOSTILE}\n\nThe toner cartridge \x1b[5m is changed every 4000 pages \x9b31m.\n"
    (place.folder / "manual" / "toner.md").write_text(text, encoding="utf-8")
    assert place.run("index", "manual").status == 0

    shown = place.run("submit", "After how many pages is the toner cartridge changed?")
    encoded = place.run("submit", "--json", "After how many pages is the toner cartridge changed, please?")

    assert "4000 pages" in shown.out
    for text in (shown.out, shown.err, encoded.out, encoded.err):
        assert [line for line in text.split("\n") if not line.isprintable()] == []
    assert (encoded.json["why"], encoded.json["by"]) == ("completed", "ticketing")


def test_a_terminal_gets_the_live_view_and_then_the_result(place: Place) -> None:
    place.article()

    with Terminal(["-m", "runtime", "submit", QUESTION], place.environ) as terminal:
        assert terminal.end() == 0

    shown = plain(terminal.drawn)
    steps = " ".join(shown.split())  # a run within one frame is drawn at its end only
    assert "● Resolve ticket" in steps or "✔ Resolve ticket" in steps
    assert "s left" in shown
    assert shown.index("Resolve ticket") < shown.index("Paper jams")
    assert terminal.drawn.count(HIDE) == terminal.drawn.count(SHOW) == 1


@pytest.mark.req("SY-5")
def test_on_a_small_screen_the_answer_is_what_is_seen_at_the_end(place: Place) -> None:
    place.article()
    small = (24, 80)

    with Terminal(["-m", "runtime", "submit", QUESTION], place.environ, size=small) as terminal:
        assert terminal.end() == 0
    with Terminal(["-m", "runtime", "submit", "-v", f"{QUESTION} Again?"], place.environ, size=small) as verbose:
        assert verbose.end() == 0

    last = plain(terminal.drawn[terminal.drawn.rindex(SHOW) :]).rstrip().split("\n")
    assert len(last) < small[0]
    assert max(map(len, last)) <= small[1]
    assert last[0].startswith("Suggested: ")
    assert any("open the rear cover" in line for line in last)
    assert last[-1].startswith("Did it help?")
    assert "Handoffs" not in "\n".join(last)
    assert "Handoffs (" in plain(verbose.drawn)


def test_what_nobody_confirmed_is_not_green_and_without_colours_says_so(place: Place) -> None:
    place.article()

    with Terminal(["-m", "runtime", "submit", QUESTION], place.environ) as terminal:
        assert terminal.end() == 0
    with Terminal(["-m", "runtime", "status"], {**place.environ, "NO_COLOR": "1"}) as status:
        assert status.end() == 0

    last = terminal.drawn[terminal.drawn.rindex(SHOW) :]
    assert "\x1b[33mSuggested: nobody has confirmed that it helps" in last
    assert "\x1b[32m" not in last
    assert "\x1b[3" not in status.drawn
    assert "suggested" in status.drawn


def test_with_a_piped_stdout_the_terminal_still_shows_the_run(place: Place) -> None:
    reading, writing = os.pipe()
    with Terminal(["-m", "runtime", "submit", "--json", "anything"], place.environ, stdout=writing) as terminal:
        os.close(writing)
        assert terminal.end() == 3
    with os.fdopen(reading, "rb") as stdout:
        outcome = json.loads(stdout.read())

    assert outcome["status"] == "not_found"
    assert "Triage ticket" in plain(terminal.drawn)
    assert outcome["run"] not in terminal.drawn


def test_ctrl_c_on_a_terminal_cancels_gently(place: Place) -> None:
    with silent_server() as server:
        environ = {**place.environ, **server, **GENTLE}
        with Terminal(["-m", "runtime", "submit", "anything"], environ) as terminal:
            terminal.until(lambda drawn: "orchestrator → ticketing" in drawn)
            terminal.press(b"\x03")
            terminal.until(lambda drawn: "Press Ctrl-C again to stop at once." in plain(drawn).replace("\n", " "))
            assert terminal.end() == 130

    assert terminal.drawn.count(HIDE) == terminal.drawn.count(SHOW) == 1
    assert "Traceback" not in terminal.drawn


STUBBORN = """
import asyncio
from actors.helpdesk.workflow import HELPDESK
from actors.workflow.outcome import RunBegan
from runtime.settings import RunSettings
from runtime.cli.view.run_display import open_display

class Stubborn:
    async def watch(self, *, drafts: bool):
        yield RunBegan(run="R-1", ticket="T-1", workflow="helpdesk", agent="memory")
        await asyncio.Event().wait()
    async def outcome(self): ...
    def cancel(self): ...

async def main():
    async with open_display(RunSettings(), HELPDESK) as display:
        await display.watch(Stubborn())

asyncio.run(main())
"""
"""A run that does not care for being cancelled."""


def test_a_second_ctrl_c_stops_at_once_and_gives_the_terminal_back(place: Place) -> None:
    with Terminal(["-c", STUBBORN], place.environ) as terminal:
        terminal.until(lambda drawn: "Ticket T-1" in drawn)
        terminal.press(b"\x03")
        terminal.until(lambda drawn: "Press Ctrl-C again to stop at once." in plain(drawn).replace("\n", " "))
        terminal.press(b"\x03")
        assert terminal.end(seconds=10) == 130

    assert terminal.drawn.rindex(SHOW) > terminal.drawn.rindex(HIDE)
    assert "Traceback" not in terminal.drawn


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_in_a_pipe_cancels_gently_too(place: Place, sent: signal.Signals) -> None:
    with silent_server() as server, place.running("submit", "--json", "anything", **server, **GENTLE) as popen:
        read_until(popen, "orchestrator → ticketing")
        popen.send_signal(sent)
        out, err = popen.communicate(timeout=HANGS_SECONDS)

    assert popen.returncode == 130
    assert json.loads(out)["status"] in {"cancelled", "error"}
    assert "Cancelling" in err
    assert "Traceback" not in err
