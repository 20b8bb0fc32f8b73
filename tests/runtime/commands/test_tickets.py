"""What is asked of tickets that were submitted: status, trace, feedback, cancel, resume."""

import contextlib
import json
import signal
import sqlite3
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.runtime.commands.program import QUESTION, Place, read_until, silent_server


def submitted(place: Place, text: str = QUESTION, *more: str) -> str:
    """The run of a ticket that has ended."""
    return str(place.run("submit", "--quiet", "--json", *more, text).json["run"])


def test_without_tickets_status_says_how_to_get_one(place: Place) -> None:
    done = place.run("status")

    assert (done.status, done.err) == (0, "")
    assert "No tickets yet" in done.out
    assert place.run("status", "--json").json == {"runs": []}


def test_status_lists_the_latest_tickets_and_shows_one(place: Place) -> None:
    first, second = submitted(place, "one", "--id", "HD-1"), submitted(place, "two", "--id", "HD-2")

    runs = place.run("status", "--json").json["runs"]
    listed = place.run("status").out.splitlines()
    one = place.run("status", "HD-1")
    same = place.run("status", first, "--json").json

    assert [each["run"] for each in runs] == [second, first]
    assert [line.split()[2] for line in listed[1:]] == ["HD-2", "HD-1"]
    assert place.run("status", "--count", "1", "--json").json["runs"] == runs[:1]
    assert one.out.startswith("Not found in the sources\n")
    assert (same["ticket"], same["status"], same["outcome"]["run"]) == ("HD-1", "not_found", first)
    assert same["handoffs"] == same["outcome"]["handoffs"]


def test_trace_shows_events_and_handoffs(place: Place) -> None:
    place.article()
    run = submitted(place)

    shown = place.run("trace", run)
    data = place.run("trace", run, "--json").json

    assert shown.status == 0
    assert "worker: resolution obtained" in shown.out
    assert "Handoffs (11)" in shown.out
    assert data["events"][0]["event"] == "ResolutionRecalled"
    assert data["events"][-1]["said"]["status"] == data["outcome"]["status"]
    assert len(data["handoffs"]) == 11


@pytest.mark.parametrize(
    "words", [["status"], ["trace"], ["cancel"], ["feedback", "--right"], ["status", "--json"]], ids=" ".join
)
def test_an_unknown_id_is_three_and_one_harmless_sentence(place: Place, words: list[str]) -> None:
    done = place.run(*words, "T-\x1b[2J")

    assert (done.status, done.out) == (3, "")
    assert done.err.startswith("There is no ticket or run 'T-\\x1b[2J'")
    assert done.err.count("\n") == 1


def test_an_answer_that_a_person_called_wrong_does_not_come_back(place: Place) -> None:
    place.article()
    run = submitted(place)
    again = place.run("submit", "--json", QUESTION).json

    noted = place.run("feedback", run, "--wrong")
    after = place.run("submit", "--json", QUESTION).json

    assert noted.status == 0
    assert noted.out.startswith("Noted as wrong: 1 remembered answer of T-")
    assert "worker" not in {each["target"] for each in again["handoffs"]}
    assert "worker" in {each["target"] for each in after["handoffs"]}


def test_feedback_on_an_answer_from_memory_is_about_the_ticket_it_came_from(place: Place) -> None:
    place.article()
    place.run("submit", "--quiet", "--id", "HD-1", QUESTION)
    place.run("submit", "--quiet", "--id", "HD-2", QUESTION)

    noted = place.run("feedback", "HD-2", "--right")
    after = place.run("submit", "--json", QUESTION).json

    assert noted.out.startswith("Noted as right: 1 remembered answer of HD-1.")
    assert after["status"] == "resolved"


def test_feedback_on_a_ticket_without_an_answer_is_three(place: Place) -> None:
    done = place.run("feedback", submitted(place, "no answer to this"), "--right")

    assert done.status == 3
    assert "Memory holds no answer" in done.err


def test_an_argument_is_utf8_whatever_the_locale(place: Place) -> None:
    ascii_only = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}

    submitted = place.run("submit", "--json", "--quiet", "--subject", "프린터", "打印机", **ascii_only)
    unknown = place.run("status", "프린터", **ascii_only)
    broken = place.run("status", "caf\udce9")

    assert submitted.json["summary"].startswith("프린터")
    assert (unknown.status, unknown.out) == (3, "")
    assert (broken.status, broken.err.partition("`")[0]) == (2, "Argument id: it is not UTF-8 text. ")


def test_feedback_needs_to_know_which(place: Place) -> None:
    done = place.run("feedback", "T-1")

    assert done.status == 2
    assert done.err.startswith("One of the arguments --right --wrong is required.")


def test_cancel_reaches_a_run_in_another_process(place: Place) -> None:
    with silent_server() as server, place.running("submit", "--json", "--id", "HD-9", "anything", **server) as popen:
        read_until(popen, "orchestrator → ticketing")
        cancelled = place.run("cancel", "HD-9")
        out, _ = popen.communicate(timeout=30)

    assert cancelled.status == 0
    assert "of the ticket HD-9 has ended: cancelled." in cancelled.out
    assert (popen.returncode, json.loads(out)["status"]) == (130, "cancelled")
    assert "has ended already: cancelled." in place.run("cancel", "HD-9").out


def test_resume_goes_on_with_what_a_kill_left(place: Place) -> None:
    place.article()
    assert place.run("resume").out == "Nothing to resume: no run was interrupted.\n"
    with silent_server() as server, place.running("submit", "--id", "HD-9", QUESTION, **server) as popen:
        read_until(popen, "orchestrator → ticketing")
        popen.send_signal(signal.SIGKILL)
        popen.wait(30)

    left = place.run("status", "HD-9")
    done = place.run("resume", "--json")
    (outcome,) = done.json["outcomes"]

    assert "interrupted" in left.out
    assert "`python -m runtime resume` goes on with it" in left.out
    assert (outcome["ticket"], outcome["why"]) == ("HD-9", "completed")
    assert done.status == 0
    assert [line.split()[:2] for line in done.err.splitlines()] == [["Ticket", "HD-9:"], ["Ticket", "HD-9:"]]
    assert place.run("resume", "--json").json == {"outcomes": []}


def test_a_run_whose_process_died_is_cancelled_when_it_is_resumed(place: Place) -> None:
    with silent_server() as server, place.running("submit", "--id", "HD-9", "anything", **server) as popen:
        read_until(popen, "orchestrator → ticketing")
        popen.send_signal(signal.SIGKILL)
        popen.wait(30)

        asked = place.run("cancel", "HD-9")
        done = place.run("resume", **server)

    assert "it is cancelled when `python -m runtime resume` finds it" in asked.out
    assert done.status == 130
    assert "Cancelled\n" in done.out


def test_ctrl_c_while_resuming_cancels_what_goes_on(place: Place) -> None:
    with silent_server() as server:
        with place.running("submit", "--id", "HD-9", "anything", **server) as killed:
            read_until(killed, "orchestrator → ticketing")
            killed.send_signal(signal.SIGKILL)
            killed.wait(30)
        with place.running("resume", "--json", **server) as popen:
            read_until(popen, "goes on")
            popen.send_signal(signal.SIGINT)
            out, err = popen.communicate(timeout=30)

    assert popen.returncode == 130
    assert [each["status"] for each in json.loads(out)["outcomes"]] == ["cancelled"]
    assert "Cancelling" in err


def test_tickets_of_many_processes_share_one_database(place: Place) -> None:
    with ThreadPoolExecutor(4) as pool:
        done = list(pool.map(lambda n: place.run("submit", "--quiet", "--json", f"ticket {n}"), range(6)))

    assert [each.status for each in done] == [3] * 6
    assert {each["run"] for each in place.run("status", "--json").json["runs"]} == {each.json["run"] for each in done}


def test_a_clock_that_was_set_back_makes_no_negative_time(place: Place) -> None:
    run = submitted(place)
    with contextlib.closing(sqlite3.connect(place.folder / "task-data" / "terminus.db")) as database:
        database.execute("UPDATE run SET started = started + 86400 WHERE id = ?", (run,))
        database.commit()

    row = next(line for line in place.run("status").out.splitlines() if run in line)

    assert row.split()[-1] == "0.0"
