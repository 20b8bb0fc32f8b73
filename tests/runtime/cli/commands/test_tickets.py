"""What is asked of tickets that were submitted: status, trace, feedback, cancel, resume."""

import contextlib
import datetime
import json
import signal
import sqlite3
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.patience import HANGS_SECONDS
from tests.runtime.cli.commands.program import QUESTION, Place, out_of_time, read_until, silent_server


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
    assert [(line.split()[:3], line.split()[-1]) for line in listed[1:]] == [
        (["HD-2", "not", "found"], "two"),
        (["HD-1", "not", "found"], "one"),
    ]
    assert place.run("status", "--count", "1", "--json").json["runs"] == runs[:1]
    assert one.out.startswith(f"Ticket HD-1, run {first}: not found\n")
    assert "\nNot found in the sources\n" in one.out
    assert (same["ticket"], same["status"], same["outcome"]["run"]) == ("HD-1", "not_found", first)
    assert same["handoffs"] == same["outcome"]["handoffs"]


KIM = ("--subject", "Drucker", "--requester", "kim@example.org")


def test_the_question_stands_wherever_a_ticket_is_named(place: Place) -> None:
    place.article()
    before = datetime.datetime.now(datetime.UTC)
    outcome = place.run("submit", "--quiet", "--json", "--id", "HD-1", *KIM, QUESTION).json
    expected = {"question": QUESTION, "subject": "Drucker", "requester": "kim@example.org", "ticket": "HD-1"}

    listed = place.run("status", "--json").json["runs"][0]
    told = [listed, outcome, *(place.run(name, "HD-1", "--json").json for name in ("status", "trace", "cancel"))]
    noted = place.run("feedback", "HD-1", "--right", "--json").json
    for said in [*told, noted]:
        assert {key: said[key] for key in expected} == expected
    for said in told:
        moments = [datetime.datetime.fromisoformat(said[key]) for key in ("created", "started", "ended")]
        assert moments == sorted(moments)
        assert before - datetime.timedelta(seconds=1) < moments[0]
    assert listed["seconds"] == pytest.approx(outcome["seconds"], abs=0.01)

    for name, *more in (["status"], ["status", "HD-1"], ["trace", "HD-1"], ["cancel", "HD-1"], ["feedback", "HD-1"]):
        shown = place.run(name, *more, *(["--wrong"] if name == "feedback" else []))
        assert (shown.status, "Drucker" in shown.out, QUESTION[:40] in shown.out) == (0, True, True), shown.out
    assert "by kim@example.org" in place.run("status", "HD-1").out


def test_status_of_one_ticket_ends_with_its_answer_and_shows_handoffs_when_asked(place: Place) -> None:
    place.article()
    submitted(place, QUESTION, "--id", "HD-1")

    shown, verbose = place.run("status", "HD-1").out, place.run("status", "HD-1", "--verbose").out

    assert "Handoffs" not in shown
    assert "Handoffs (11)" in verbose
    assert verbose.index("Handoffs (11)") < verbose.index("[1] Printer › Paper jams")
    assert "\nNote: " in shown
    assert place.run("status", "HD-1", "--json").json["note"]


def test_status_finds_tickets_by_their_words_and_by_how_they_ended(place: Place) -> None:
    submitted(place, "재택 근무 장비", "--id", "HD-1", "--requester", "KIM@example.org")
    submitted(place, "The   Printer\njams.", "--id", "HD-2", "--subject", "Straße 7")
    with out_of_time() as bounds:
        broken = place.run("submit", "--quiet", "--json", "--id", "HD-3", "x", **bounds).json

    def found(*words: str) -> list[str]:
        return [each["ticket"] for each in place.run("status", "--json", *words).json["runs"]]

    assert broken["status"] == "error"
    assert found() == ["HD-3", "HD-2", "HD-1"]
    assert found("--search", "printer jams") == ["HD-2"]
    assert found("--search", "STRASSE") == ["HD-2"]
    assert found("--search", "장비") == ["HD-1"]
    assert found("--search", "kim@") == ["HD-1"]
    assert found("--search", "hd-") == ["HD-3", "HD-2", "HD-1"]
    assert found("--search", "hd-", "--limit", "2") == ["HD-3", "HD-2"]
    assert found("--failed") == ["HD-3"]
    assert found("--workflow", "research") == []
    assert found("--since", "1h") == ["HD-3", "HD-2", "HD-1"]
    assert found("--since", "9999-01-01") == []
    assert place.run("status", "--search", "fax").out.startswith("No ticket is like that")


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["--since", "soon"], "--since must be such as 30m"),
        (["--limit", "0"], "--limit must be a whole number from 1 to 1,000, not 0."),
        (["HD-1", "--failed"], "--failed picks from the list"),
    ],
    ids=str,
)
def test_status_refuses_what_it_cannot_mean(place: Place, words: list[str], part: str) -> None:
    done = place.run("status", *words)

    assert (done.status, done.out, done.err.count("\n")) == (2, "", 1)
    assert part in done.err


@pytest.mark.parametrize(
    "words", [["status"], ["trace"], ["cancel"], ["feedback", "--right"], ["report"]], ids=" ".join
)
def test_an_id_that_is_nearly_right_is_met_with_those_that_are(place: Place, words: list[str]) -> None:
    submitted(place, "one", "--id", "HD-2041")
    submitted(place, "two", "--id", "INC-7")

    done = place.run(*words, "hd-2401")

    assert (done.status, done.out, done.err.count("\n")) == (3, "", 1)
    assert done.err.startswith("There is no ticket or run 'hd-2401'. Did you mean HD-2041? ")


@pytest.mark.req("HD-2.1", "HD-2.3", "HD-7.5")
def test_trace_shows_events_and_handoffs(place: Place) -> None:
    place.article()
    run = submitted(place)

    shown = place.run("trace", run, "--full")
    data = place.run("trace", run, "--json").json

    assert shown.status == 0
    assert "worker: resolution obtained" in shown.out
    assert "Handoffs (11)" in shown.out
    assert data["events"][0]["event"] == "ResolutionRecalled"
    assert data["events"][-1]["said"]["status"] == data["outcome"]["status"]
    assert [each["marker"] for each in data["events"] if each["marker"]] == ["WORKFLOW_COMPLETE", "TERMINATE_WORKFLOW"]
    assert "summarization: summary completed, WORKFLOW_COMPLETE" in shown.out
    assert "ticketing: ticket closed, TERMINATE_WORKFLOW" in shown.out
    assert (data["outcome"]["marker"], data["outcome"]["children"]) == ("TERMINATE_WORKFLOW", [])
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
    for ticket in ("HD-1", "HD-2"):
        assert "and a person confirmed that it helped" in place.run("status", ticket).out
        assert "nobody has confirmed" not in place.run("status", ticket).out
    place.run("feedback", "HD-1", "--wrong")
    assert "but a person said that it did not help" in place.run("status", "HD-2").out


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
    assert done.err.startswith("One of the arguments --right --wrong --answer is required.")


def test_cancel_reaches_a_run_in_another_process(place: Place) -> None:
    with silent_server() as server, place.running("submit", "--json", "--id", "HD-9", "anything", **server) as popen:
        read_until(popen, "orchestrator → ticketing")
        cancelled = place.run("cancel", "HD-9")
        out, _ = popen.communicate(timeout=HANGS_SECONDS)

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
    assert (outcome["ticket"], outcome["why"], outcome["question"]) == ("HD-9", "completed", QUESTION)
    assert outcome["created"] <= outcome["started"] < outcome["ended"]
    assert done.status == 0
    assert [line.split()[:2] for line in done.err.splitlines()] == [["Ticket", "HD-9:"], ["Ticket", "HD-9:"]]
    assert place.run("resume", "--json").json == {"outcomes": []}


@pytest.mark.parametrize("words", [(), ("--no-wait",), ("--now",)], ids=" ".join)
def test_a_run_whose_process_died_is_cancelled_by_who_asks_for_it(place: Place, words: tuple[str, ...]) -> None:
    with silent_server() as server, place.running("submit", "--id", "HD-9", "anything", **server) as popen:
        read_until(popen, "orchestrator → ticketing")
        popen.send_signal(signal.SIGKILL)
        popen.wait(30)

        asked = place.run("cancel", "HD-9", *words, **server)

    assert asked.status == 0
    assert "of the ticket HD-9 has ended: cancelled." in asked.out
    assert place.run("status", "HD-9", "--json").json["status"] == "cancelled"
    assert place.run("resume").out == "Nothing to resume: no run was interrupted.\n"
    assert list((place.folder / "task-data" / "owners").iterdir()) == []


def test_a_ticket_that_is_called_like_a_run_can_be_read_and_the_run_too(place: Place) -> None:
    first = place.run("submit", "--json", "--quiet", "--id", "HD-1", "anything").json
    named = place.run("submit", "--json", "--quiet", "--id", first["run"], "something else").json

    assert place.run("status", first["run"], "--json").json["run"] == named["run"]
    assert place.run("status", f"run:{first['run']}", "--json").json["ticket"] == "HD-1"
    assert place.run("trace", f"run:{first['run']}", "--json").json["ticket"] == "HD-1"


def test_ctrl_c_while_resuming_cancels_what_goes_on(place: Place) -> None:
    with silent_server() as server:
        with place.running("submit", "--id", "HD-9", "anything", **server) as killed:
            read_until(killed, "orchestrator → ticketing")
            killed.send_signal(signal.SIGKILL)
            killed.wait(30)
        with place.running("resume", "--json", **server) as popen:
            read_until(popen, "goes on")
            popen.send_signal(signal.SIGINT)
            out, err = popen.communicate(timeout=HANGS_SECONDS)

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

    (row,) = place.run("status", "--json").json["runs"]
    listed = place.run("status").out.splitlines()[1]

    assert (row["run"], row["seconds"] > 0) == (run, True)
    assert " -" not in listed
