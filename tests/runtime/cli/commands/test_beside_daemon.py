"""Commands beside a daemon on the same folder: it does the work, and they say what they say without one."""

import json
import os
import re
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from runtime.engine.actions import name_user
from tests.forked import FORK_SERVER
from tests.patience import promised
from tests.runtime.cli.commands import test_answer
from tests.runtime.cli.commands.program import QUESTION, Done, Place, read_until, silent_server
from tests.runtime.cli.commands.test_serve import Daemon, daemon

INFO = {"TERMINUS_LOG_LEVEL": "info"}


def accepted(err: str) -> list[str]:
    """The tickets that a daemon took in, as its log has them."""
    lines = (json.loads(line) for line in err.splitlines())
    return [line["ticket"] for line in lines if line["event"] == "ticket.accepted"]


def same(done: Done) -> tuple[int, str, str]:
    """What a command said, but for what differs each time: made-up ids, and times."""
    out, err = (re.sub(r"\b[TR]-[0-9a-f]{16}\b|\d+\.\d+", "-", text) for text in (done.out, done.err))
    return done.status, out, err


@pytest.mark.req("SY-4")
@pytest.mark.parametrize("folder", ["task-data", "/".join(["deep" * 20] * 3)], ids=["short", "too long for a socket"])
def test_a_daemon_works_on_what_is_submitted_and_it_is_told_as_without_one(
    fresh_place: Place, tmp_path: Path, folder: str
) -> None:
    fresh_place.environ["TERMINUS_STORAGE_FOLDER"] = str(tmp_path / folder)
    fresh_place.article()
    words = ("submit", "--id", "HD-1", "--verbose", QUESTION)
    fresh_place.run(*words)
    alone = fresh_place.run(*words)  # what memory has by now, it has below
    with daemon(fresh_place, **INFO) as server:
        (sock,) = (tmp_path / folder / "owners").glob("*.sock")
        assert stat.S_IMODE(sock.stat().st_mode) == 0o600
        beside = fresh_place.run(*words)  # it has ended, so it runs again
        unnamed = fresh_place.run("submit", "--json", "-q", "The printer smokes, what is it?").json
        refused = fresh_place.run("submit", "--workflow", "helpdesk", "--id", "HD 1", "x")
        _, _, err = server.stop()

    assert same(beside) == same(alone)
    assert (beside.status, beside.err.count("orchestrator")) == (0, 3)
    assert accepted(err) == ["HD-1", unnamed["ticket"]]
    assert (refused.status, refused.err.count("\n")) == (2, 1)
    told = fresh_place.run("status", "HD-1", "--json").json
    assert {each["by"] for each in told["actions"]} == {f"shell:{name_user()}"}
    assert not list((tmp_path / folder / "owners").iterdir())


def test_a_research_has_its_options_there_too(place: Place) -> None:
    place.article()
    words = ("submit", "--research", "--breadth", "2", "--depth", "1", "--sources", "knowledge", "--id", "R-1", "-q")
    alone = place.run(*words, "How is a paper jam solved?")
    with daemon(place, **INFO) as server:
        beside = place.run(*words, "How is a paper jam solved?")
        assert accepted(server.stop()[2]) == ["R-1"]
    assert same(beside) == same(alone)
    assert "rear cover" in beside.out


def test_what_another_terminal_watches_in_a_daemon_is_cancelled_there(place: Place) -> None:
    with silent_server() as model, daemon(place, **model) as server:
        with place.running("submit", "--id", "HD-1", "My printer smokes.") as submitting:
            read_until(submitting, "1  orchestrator")  # told while it happens
            assert place.run("status", "HD-1", "--json").json["status"] == "running"
            stopped = place.run("cancel", "HD-1")
            assert (stopped.status, "has ended: cancelled" in stopped.out) == (0, True), stopped.err
            submitting.communicate(timeout=60)
            assert submitting.returncode == 130
        assert server.ask("/tickets/HD-1")[1]["status"] == "cancelled"


def test_ctrl_c_at_the_command_ends_the_run_in_the_daemon(place: Place) -> None:
    with silent_server() as model, daemon(place, **model) as server:
        with place.running("submit", "--id", "HD-1", "My printer smokes.") as submitting:
            read_until(submitting, "1  orchestrator")
            submitting.send_signal(signal.SIGINT)
            submitting.communicate(timeout=60)
            assert submitting.returncode == 130
        assert server.ask("/tickets/HD-1")[1]["status"] == "cancelled"


def test_when_the_daemon_is_killed_the_command_goes_on_with_its_ticket(place: Place) -> None:
    with (
        silent_server() as model,
        daemon(place, **model) as server,
        place.running("submit", "--json", "My printer smokes.") as submitting,
    ):
        begun = read_until(submitting, "1  orchestrator")
        server.popen.send_signal(signal.SIGKILL)
        assert submitting.stderr is not None
        told = begun + submitting.stderr.read()
        outcome = json.loads(submitting.communicate(timeout=60)[0])
    assert (submitting.returncode, outcome["status"]) == (3, "not_found")
    numbers = re.findall(r"^ +\d+\.\d+ s +(\d+) ", told, re.MULTILINE)
    assert numbers == [str(n) for n in range(1, len(outcome["handoffs"]) + 1)]
    assert not list((place.folder / "task-data" / "owners").iterdir())


def test_a_daemon_that_hangs_is_done_without(place: Place) -> None:
    with daemon(place) as server:
        os.kill(server.popen.pid, signal.SIGSTOP)
        done = place.run("submit", "--json", "My printer smokes.")
        os.kill(server.popen.pid, signal.SIGCONT)
        assert (done.status, done.json["status"]) == (3, "not_found")
        assert server.ask(f"/tickets/{done.json['ticket']}")[1]["run"] == done.json["run"]


def test_a_socket_that_says_something_else_is_passed_over(place: Place) -> None:
    owners = place.folder / "task-data" / "owners"
    with daemon(place, **INFO) as server:
        (sock,) = owners.glob("*.sock")
        (owners / "0.sock").touch()
        sock.with_name("1.sock").symlink_to(owners / "gone")
        assert place.run("submit", "--id", "HD-1", "My printer smokes.").status == 3
        assert accepted(server.stop()[2]) == ["HD-1"]


def test_answers_go_to_the_daemon(tmp_path: Path) -> None:
    test_answer.submit(tmp_path)
    serving = FORK_SERVER.popen(
        [sys.executable, "-c", test_answer.PROGRAM, "serve", "--port", "0"], cwd=tmp_path,
        env={**test_answer.environment(tmp_path), **INFO}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        server = Daemon(serving)
        wrong = test_answer.terminus(tmp_path, "answer", "B-1", "--set", "boat=ship")
        done = test_answer.terminus(tmp_path, "answer", "B-1", "--set", "boat=canoe", "--set", "hours=2")
        again = test_answer.terminus(tmp_path, "answer", "B-1", "--set", "boat=canoe", "--set", "hours=2")
        _, _, err = server.stop()
    finally:
        serving.kill()
        serving.communicate()
    assert (wrong.status, wrong.err.count("\n")) == (2, 1), wrong.err
    assert (done.status, "boat canoe, hours 2" in done.out) == (0, True), done.err
    assert (again.status, "These answers were given before" in again.err) == (0, True)
    assert [json.loads(line)["event"] for line in err.splitlines()].count("ticket.answered") == 1


def test_help_loads_none_of_it(fresh_place: Place) -> None:
    seconds = list[float]()
    for _ in range(3):
        began = time.perf_counter()
        assert fresh_place.run("submit", "--help").status == 0
        seconds.append(time.perf_counter() - began)
    assert min(seconds) < promised(0.3)
