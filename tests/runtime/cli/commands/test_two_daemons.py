"""Two daemons on one folder, one of which is killed: the other goes on with its runs, while it runs, unasked."""

import json
import signal
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.patience import HANGS_SECONDS
from tests.runtime.cli.commands.program import Place, silent_server
from tests.runtime.cli.commands.test_serve import Daemon, daemon

CLIENTS = 4
BEFORE = 24
"""Tickets that are accepted before the kill, by both together."""


def submit_until_killed(server: Daemon, client: int) -> list[str]:
    """The tickets that a daemon accepted from one client, until it answered no more."""
    accepted = list[str]()
    try:
        for n in range(10_000):
            ticket = f"HD-{server.port}-{client}-{n}"
            status, receipt = server.ask("/tickets", {"text": f"My printer smokes, {ticket}.", "id": ticket})
            if status != 202:
                break
            accepted.append(receipt["ticket"])
    except OSError:
        """It was killed while it was asked."""
    return accepted


def list_runs(place: Place) -> list[dict[str, Any]]:
    runs: list[dict[str, Any]] = place.run("status", "--json", "--count", "1000").json["runs"]
    return runs


def wait_until(place: Place, over: Any) -> list[dict[str, Any]]:
    until = time.monotonic() + HANGS_SECONDS
    while not over(runs := list_runs(place)):
        assert time.monotonic() < until, Counter(run["status"] for run in runs)
    return runs


@pytest.mark.req("SY-4")
def test_what_a_killed_daemon_accepted_ends_once_in_the_other(place: Place) -> None:
    with (
        silent_server() as model,
        daemon(place, TERMINUS_LOG_LEVEL="info") as other,
        daemon(place, **model, TERMINUS_LOG_LEVEL="error", TERMINUS_SERVER_MAX_RUNS="100000") as killed,
        ThreadPoolExecutor(CLIENTS + 1) as pool,
    ):
        logged = pool.submit(list, other.popen.stderr or ())
        clients = [pool.submit(submit_until_killed, killed, n) for n in range(CLIENTS)]
        wait_until(place, lambda runs: len(runs) >= BEFORE)
        killed.popen.send_signal(signal.SIGKILL)
        accepted = {ticket for client in clients for ticket in client.result(HANGS_SECONDS)}
        runs = wait_until(place, lambda runs: all(run["ended"] for run in runs))
        outcomes = [other.ask(f"/runs/{run['run']}")[1]["outcome"] for run in runs]
        other.popen.send_signal(signal.SIGTERM)
        lines = [json.loads(line) for line in logged.result(HANGS_SECONDS)]

    assert len(accepted) >= BEFORE - CLIENTS
    assert accepted <= {run["ticket"] for run in runs}
    assert len({run["ticket"] for run in runs}) == len(runs), "none was run twice"
    assert Counter(outcome["status"] for outcome in outcomes) == {"not_found": len(runs)}
    for outcome in outcomes:
        assert [each["marker"] for each in outcome["handoffs"]].count("TERMINATE_WORKFLOW") <= 1
    resumed = Counter(line["run"] for line in lines if line["event"] == "run.resumed")
    ended = Counter(line["run"] for line in lines if line["event"] == "workflow.terminated")
    assert resumed == ended == Counter(run["run"] for run in runs), "each went on there, and ended there, once"
