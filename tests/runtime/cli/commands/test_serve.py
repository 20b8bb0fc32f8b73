"""The daemon as its user runs it: started, asked, told to stop, killed, and started again."""

import datetime
import fcntl
import json
import os
import pty
import re
import resource
import signal
import socket
import subprocess
import sys
import termios
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.patience import promised
from tests.runtime.cli.commands.program import SECONDS, Place, read_until, silent_server

TOKEN = "correct-horse-battery-staple"


PRINTING = """\
---
name: printing
description: Solves tickets about printers.
handles: printers, toner, scanners
intents:
  printing:
    means: printing and scanning
    words:
      en: printers?; toner
---
You solve support tickets about printers.
"""


class Daemon:
    """A server process and where it listens."""

    def __init__(self, popen: "subprocess.Popen[str]") -> None:
        assert popen.stdout is not None
        self.popen = popen
        self.hello = popen.stdout.readline()
        found = re.search(r"http://\S+?:(\d+)", self.hello)
        assert found, (self.hello, popen.stderr.read() if popen.stderr and popen.poll() is not None else "")
        self.url, self.port = found[0], int(found[1])

    def ask(self, path: str, body: Any = None, *, method: str = "", **headers: str) -> tuple[int, Any]:
        data = None if body is None else json.dumps(body).encode()
        usual = {"Content-Type": "application/json"} if data else {}
        method = method or ("POST" if data else "GET")
        request = urllib.request.Request(self.url + path, data, {**usual, **headers}, method=method)  # noqa: S310 - ours
        try:
            with urllib.request.urlopen(request, timeout=SECONDS) as response:  # noqa: S310 - ours
                return response.status, json.load(response)
        except urllib.error.HTTPError as error:
            with error:
                return error.code, json.load(error)

    def stop(self, how: int = signal.SIGTERM) -> tuple[int, str, str]:
        """Exit status, the rest of stdout, and stderr."""
        self.popen.send_signal(how)
        out, err = self.popen.communicate(timeout=SECONDS)
        return self.popen.returncode, out, err


@contextmanager
def daemon(place: Place, *words: str, **environ: str) -> Iterator[Daemon]:
    with place.running("serve", "--port", "0", *words, **environ) as popen:
        yield Daemon(popen)


@pytest.mark.req("SY-4", "HD-1.4")
def test_it_answers_tickets_and_stops_when_told(fresh_place: Place) -> None:
    with daemon(fresh_place) as server:
        status, outcome = server.ask("/tickets?wait=30", {"text": "My printer smokes."})
        received = time.time()
        _, standing = server.ask(f"/runs/{outcome['run']}")
        assert (status, outcome["status"], outcome["by"]) == (200, "not_found", "ticketing")
        assert received - datetime.datetime.fromisoformat(standing["ended"]).timestamp() < promised(2.0)
        assert server.ask("/health")[1]["ready"] is True

        exit_status, out, err = server.stop()

    assert (exit_status, out) == (0, "Stopped\n")
    for line in err.splitlines():
        json.loads(line)
    assert "Traceback" not in err
    assert fresh_place.run("status", outcome["ticket"], "--json").json["status"] == "not_found"


def test_a_sentence_model_that_is_asked_for_and_not_installed_is_told_at_the_start_and_not_per_ticket(
    place: Place,
) -> None:
    with daemon(place, TERMINUS_EMBEDDINGS_PROVIDER="builtin") as server:
        for _ in range(2):
            assert server.ask("/tickets?wait=30", {"text": "My printer smokes."})[0] == 200
        err = server.stop()[2]

    (told,) = [json.loads(line) for line in err.splitlines() if "sentence model" in line]
    assert (told["event"], told["level"]) == ("embeddings.not_installed", "warning")
    assert "model install` takes it" in told["detail"]


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_what_runs_when_it_is_stopped_goes_on_at_the_next_start(place: Place, how: int) -> None:
    with silent_server() as model, daemon(place, TERMINUS_SERVER_STOP_SECONDS="0.2", **model) as server:
        _, receipt = server.ask("/tickets", {"text": "My printer smokes.", "id": "HD-1"})
        exit_status, out, _ = server.stop(how)
    assert (exit_status, receipt["status"]) == (0, "running")
    assert "1 ticket that was running goes on at the next start" in out

    with daemon(place) as server:
        assert "1 ticket that was running goes on" in server.hello
        status, outcome = server.ask("/tickets?wait=30", {"text": "My printer smokes.", "id": "HD-1"})
        assert (status, outcome["run"], outcome["status"]) == (200, receipt["run"], "not_found")


@pytest.mark.req("SY-4")
def test_what_ran_when_it_was_killed_ends_after_the_restart(fresh_place: Place) -> None:
    with silent_server() as model, daemon(fresh_place, **model) as server:
        receipts = [server.ask("/tickets", {"text": f"My printer smokes, {n}.", "id": f"HD-{n}"})[1] for n in range(5)]
        server.stop(signal.SIGKILL)

    with daemon(fresh_place) as server:
        assert "5 tickets that were running go on" in server.hello
        for receipt in receipts:
            again = {"text": f"My printer smokes, {receipt['ticket'][3:]}.", "id": receipt["ticket"]}
            _, outcome = server.ask("/tickets?wait=30", again)
            assert (outcome["run"], outcome["status"]) == (receipt["run"], "not_found")
        assert server.stop()[0] == 0

    with daemon(fresh_place) as server:
        assert "running" not in server.hello


def test_a_second_signal_does_not_wait_for_what_runs(place: Place) -> None:
    with silent_server() as model, daemon(place, TERMINUS_SERVER_STOP_SECONDS="600", **model) as server:
        server.ask("/tickets", {"text": "My printer smokes."})
        server.popen.send_signal(signal.SIGTERM)
        assert server.popen.stderr is not None
        for line in server.popen.stderr:
            if "server.stopping" in line:
                break
        assert server.stop()[0] == 0


@pytest.mark.req("SY-4")
def test_told_to_reload_it_takes_over_what_it_can_and_names_the_rest(fresh_place: Place) -> None:
    config, agents = fresh_place.folder / "config.toml", fresh_place.folder / "agents"
    agents.mkdir()
    found = '[agents]\nfolder = "agents"\n'
    config.write_text(f'{found}[log]\nlevel = "warning"\n', encoding="utf-8")
    with daemon(fresh_place) as server:
        changed = f'{found}[log]\nlevel = "info"\n[server]\nfree_megabytes = 1_000_000\ntoken = "{TOKEN}"\n'
        config.write_text(changed, encoding="utf-8")
        server.popen.send_signal(signal.SIGHUP)
        told = read_until(server.popen, "settings.reloaded")
        status, health = server.ask("/health")  # the token waits for a restart
        assert (status, "free_megabytes" in health["why"]) == (503, True)
        (agents / "printing.md").write_text(PRINTING, encoding="utf-8")
        server.popen.send_signal(signal.SIGHUP)
        again = read_until(server.popen, "settings.reloaded")
        _, _, err = server.stop()

    event = json.loads(told.splitlines()[-1])
    assert event["changed"] == ["[log] level", "[server] free_megabytes"]
    assert event["after_restart"] == ["[server] token"]
    assert json.loads(again.splitlines()[-1])["after_restart"] == ["[server] token", "the files of agents"]
    assert "server.started" not in told
    assert "server.stopped" in err  # which is logged from "info" up
    assert TOKEN not in told + err


@pytest.mark.req("SY-4")
@pytest.mark.parametrize("broken", ["config.toml", "an agent"])
def test_a_reload_that_may_not_be_changes_nothing_and_says_why(fresh_place: Place, broken: str) -> None:
    config, agents = fresh_place.folder / "config.toml", fresh_place.folder / "agents"
    agents.mkdir()
    good = '[agents]\nfolder = "agents"\n'
    config.write_text(good, encoding="utf-8")
    with daemon(fresh_place) as server:
        if broken == "an agent":
            (agents / "billing.md").write_text("---\nnonsense: 1\n---\n", encoding="utf-8")
            config.write_text(good + "[server]\nfree_megabytes = 1_000_000\n", encoding="utf-8")
        else:
            config.write_text(good + "[server]\nfree_megabytes = 1_000_000\nprot = 1\n", encoding="utf-8")
        server.popen.send_signal(signal.SIGHUP)
        said = json.loads(read_until(server.popen, "settings.refused").splitlines()[-1])
        assert server.ask("/health/ready")[0] == 200
        assert server.ask("/tickets?wait=30", {"text": "My printer smokes."})[0] == 200
        exit_status = server.stop()[0]

    assert ("billing.md" if broken == "an agent" else "no key 'prot'") in said["reason"]
    assert exit_status == 0


def test_who_waits_is_answered_when_it_stops(place: Place) -> None:
    with silent_server() as model, daemon(place, TERMINUS_SERVER_STOP_SECONDS="0", **model) as server:
        body = json.dumps({"text": "My printer smokes.", "id": "HD-1"}).encode()
        head = "POST /tickets?wait=60 HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        with socket.create_connection(("127.0.0.1", server.port), timeout=SECONDS) as waiting:
            waiting.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
            while server.ask("/tickets/HD-1")[0] != 200:
                pass
            server.popen.send_signal(signal.SIGTERM)
            answer = b"".join(iter(lambda: waiting.recv(65_536), b""))
        assert server.popen.wait(SECONDS) == 0

    assert answer.startswith(b"HTTP/1.1 202 ")
    assert json.loads(answer.partition(b"\r\n\r\n")[2])["status"] == "running"


def _heard(posted: Any, stands: Any) -> Any:
    """What a caller was told of an end; the answer says more than the outcome that stands in the other."""
    return {name: posted[name] for name in stands["outcome"]}, posted["ended"]


def _stored(stands: Any) -> Any:
    return stands["outcome"], stands["ended"]


IDS = 40


def test_two_daemons_that_get_the_same_tickets_at_once_run_each_once(place: Place) -> None:
    """Half by id, half by key; all of it is posted to both at the same moment."""
    quiet = {"TERMINUS_LOG_LEVEL": "error"}  # nobody reads what they log
    with daemon(place, **quiet) as first, daemon(place, **quiet) as second, ThreadPoolExecutor(16) as pool:

        def post(server: Daemon, n: int) -> tuple[int, Any]:
            body: dict[str, str] = {"text": f"My printer smokes, number {n}."}
            if n % 2:
                return server.ask("/tickets?wait=50", body, **{"Idempotency-Key": f"key-{n}"})
            return server.ask("/tickets?wait=50", {**body, "id": f"HD-{n}"})

        asked = [(n, pool.submit(post, server, n)) for n in range(IDS) for server in (first, second)]
        answers: dict[int, list[tuple[int, Any]]] = {}
        for n, answer in asked:
            answers.setdefault(n, []).append(answer.result(SECONDS))

        for n, (one, other) in answers.items():
            assert one == other, n
            assert (one[0], one[1]["status"]) == (200, "not_found")
            stands = first.ask(f"/runs/{one[1]['run']}")[1]
            assert _heard(one[1], stands) == _stored(stands)
    runs = place.run("status", "--json", "--count", "1000").json["runs"]
    assert len(runs) == len({run["ticket"] for run in runs}) == IDS


def test_of_two_daemons_with_other_words_for_a_ticket_one_refuses_and_says_so(place: Place) -> None:
    with silent_server() as model, daemon(place, **model) as first, daemon(place, **model) as second:
        with ThreadPoolExecutor(2) as pool:
            asked = [
                pool.submit(server.ask, "/tickets", {"text": f"My printer smokes, says {n}.", "id": "HD-1"})
                for n, server in enumerate((first, second))
            ]
            answers = sorted(each.result(SECONDS)[0] for each in asked)
        assert answers == [202, 409]


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL], ids=["stopped", "killed"])
def test_what_was_told_when_files_could_not_grow_stands_there_afterwards(place: Place, how: int) -> None:
    """From some moment on no file may grow, as on a full disk; it is told, killed, and asked again."""
    with silent_server() as model, daemon(place, **model) as server, ThreadPoolExecutor(4) as pool:
        tickets = [{"text": f"My printer smokes, {n}.", "id": f"HD-{n}"} for n in range(4)]
        for ticket in tickets:
            assert server.ask("/tickets", ticket)[0] == 202
        wal = place.folder / "task-data" / "terminus.db-wal"
        resource.prlimit(server.popen.pid, resource.RLIMIT_FSIZE, (wal.stat().st_size, resource.RLIM_INFINITY))
        for ticket in tickets:
            server.ask(f"/tickets/{ticket['id']}/cancel", method="POST")
        told = list(pool.map(lambda ticket: server.ask("/tickets?wait=50", ticket)[1], tickets))
        assert {outcome["why"] for outcome in told} == {"storage_failed"}
        for ticket, outcome in zip(tickets, told, strict=True):
            stands = server.ask(f"/tickets/{ticket['id']}")[1]
            assert stands["status"] == "error"
            assert _heard(outcome, stands) == _stored(stands)
            assert server.ask(f"/tickets/{ticket['id']}/cancel", method="POST")[0] == 200
        assert server.ask("/tickets", {"text": "One more."})[0] == 503
        server.stop(how)

    for ticket, outcome in zip(tickets, told, strict=True):
        stands = place.run("status", ticket["id"], "--json").json
        assert stands["status"] == "error"
        assert _heard(outcome, stands) == _stored(stands)
    assert list((place.folder / "task-data" / "owners").iterdir()) == []


def test_a_port_in_use_is_one_sentence_and_nothing_is_begun(place: Place) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = place.run("serve", "--port", str(taken.getsockname()[1]))

    assert (done.status, done.out) == (2, "")
    assert re.fullmatch(r"127\.0\.0\.1 port \d+ is in use\..*\n", done.err)
    assert not (place.folder / "task-data" / "terminus.db").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--host", "0.0.0.0"), "token"),  # noqa: S104 - it is refused
        (("--host", "::"), "token"),
        (("--host", "helpdesk.example"), "IP address"),
        (("--port", "65536"), "65535"),
        (("--port", "-1"), "65535"),
    ],
    ids=str,
)
def test_an_address_that_may_not_be_is_one_sentence(place: Place, words: tuple[str, ...], said: str) -> None:
    done = place.run("serve", *words)

    assert (done.status, done.out) == (2, "")
    assert (done.err.count("\n"), said in done.err) == (1, True)


def test_a_token_is_asked_for_and_never_shown(place: Place) -> None:
    with daemon(place, "--host", "0.0.0.0", TERMINUS_SERVER_TOKEN=TOKEN) as server:  # noqa: S104 - with a token
        server.url = f"http://127.0.0.1:{server.port}"
        assert server.ask("/tickets/T-1")[0] == 401
        assert server.ask("/tickets/T-1", Authorization=f"Bearer {TOKEN}")[0] == 404
        assert server.ask("/health") == (200, {"live": True, "ready": True})
        _, out, err = server.stop()

    assert TOKEN not in server.hello + out + err


def test_help_says_how_to_ask_it_and_loads_nothing_heavy(place: Place) -> None:
    program = (
        "import sys\nfrom runtime.__main__ import main\n"
        "try: main(['serve', '--help'])\nexcept SystemExit: pass\n"
        "sys.stderr.write(' '.join(sys.modules))"
    )
    done = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", program], env=place.environ, capture_output=True, text=True, timeout=SECONDS, check=True
    )

    assert "/openapi.json" in done.stdout
    assert "stop_seconds" in done.stdout
    assert {"aiohttp", "asyncio", "msgspec", "structlog"} & set(done.stderr.split()) == set()


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="the limits of another process cannot be set here")
def test_out_of_files_it_says_so_once_waits_and_goes_on_when_there_are_some(place: Place) -> None:
    with daemon(place) as server:
        before = resource.prlimit(server.popen.pid, resource.RLIMIT_NOFILE)
        used = {int(each.name) for each in Path(f"/proc/{server.popen.pid}/fd").iterdir()}
        free = [number for number in range(max(used) + 4) if number not in used]
        resource.prlimit(server.popen.pid, resource.RLIMIT_NOFILE, (max(used) + 4, before[1]))

        held = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(len(free) + 20)]
        seen = read_until(server.popen, "connections.exhausted")
        spent = cpu_seconds(server.popen.pid)
        time.sleep(2.0)  # it would write some 25,000 lines meanwhile
        assert cpu_seconds(server.popen.pid) - spent < 1.0

        for each in held:
            each.close()
        assert server.ask("/health")[0] == 200
        resource.prlimit(server.popen.pid, resource.RLIMIT_NOFILE, before)
        assert server.ask("/tickets?wait=30", {"text": "My printer smokes."})[0] == 200
        exit_status, _, rest = server.stop()

    assert exit_status == 0
    assert (seen + rest).count("connections.exhausted") == 1
    assert len((seen + rest).splitlines()) < 50


def cpu_seconds(pid: int) -> float:
    """What a process has used of the processors."""
    times = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(times[11]) + int(times[12])) / os.sysconf("SC_CLK_TCK")


@pytest.mark.req("SY-4")
def test_closing_its_terminal_ends_it(fresh_place: Place) -> None:
    leader, follower = pty.openpty()
    popen = subprocess.Popen(
        [sys.executable, "-m", "runtime", "serve", "--port", "0"], cwd=fresh_place.folder, env=fresh_place.environ,
        stdin=follower, stdout=follower, stderr=follower, start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
    )  # fmt: skip
    late = threading.Timer(SECONDS, popen.kill)
    late.start()
    try:
        os.close(follower)
        _read_terminal(leader, b"server.started")
        popen.send_signal(signal.SIGHUP)  # the terminal is there: a reload
        _read_terminal(leader, b"settings.reloaded")
        os.close(leader)
        assert popen.wait() == 0
    finally:
        late.cancel()
        popen.kill()
        popen.wait()


def _read_terminal(leader: int, word: bytes) -> None:
    said = b""
    while word not in said:
        said += os.read(leader, 1 << 16)  # fails when the process is gone
