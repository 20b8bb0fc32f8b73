"""What is counted is what happened, in the format that Prometheus reads."""

import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from actors.evidence.trace_steps import CallStep, Found, SearchStep
from actors.workflow.outcome import EndReason, Outcome
from runtime.observe.meters import ANSWER_BOUNDS, RUN_BOUNDS, Histogram, Meters, meters
from tests import ROOT
from tests.runtime.http.kit import Held, Interface, interface, until

NANOSECONDS_A_TICKET = 200_000
"""Of counting; a ticket takes some milliseconds."""


@pytest.fixture(autouse=True)
def count_anew() -> None:
    """Of a process there is one set of figures."""
    Meters.__init__(meters)


async def read(web: Interface) -> dict[str, dict[str, float]]:
    """Each sample by its name and the values of its labels."""
    async with web.client.get("/metrics") as response:
        assert response.status == 200
        assert response.headers["Content-Type"].startswith("text/plain; version=0.0.4")
        text = await response.text()
    found: dict[str, dict[str, float]] = {}
    for family in text_string_to_metric_families(text):
        assert family.documentation
        for sample in family.samples:
            found.setdefault(sample.name, {})[" ".join(value for _, value in sorted(sample.labels.items()))] = (
                sample.value
            )
    return found


async def test_runs_are_counted_by_state_and_then_by_end(tmp_path: Path) -> None:
    model = Held()
    async with interface(tmp_path, model=model) as web:
        ticket = await web.submit()
        await model.asked.wait()
        going = await read(web)
        model.free.set()
        await web.end(ticket["run"])
        await web.submit("My VPN drops again.", wait=20)
        await until(lambda: web.node.live == 0)
        over = await read(web)

    assert sum(going["terminus_runs"].values()) == 1
    assert all(key.endswith(" helpdesk") for key in going["terminus_runs"])
    assert "terminus_runs_ended_total" not in going
    assert "terminus_runs" not in over
    assert over["terminus_runs_ended_total"] == {"resolved completed helpdesk": 2}
    assert over["terminus_run_seconds_count"] == {"helpdesk": 2}
    assert over["terminus_run_seconds_bucket"]["+Inf helpdesk"] == 2
    assert over["terminus_answer_seconds_count"] == {"": 1}, "only one of them was waited for"
    assert over["terminus_handoffs_total"]["helpdesk"] >= 8
    assert over["terminus_commits_total"][""] > 0
    assert over["terminus_queue_length"] == {"accepting": 0, "recording": 0, "writing": 0}
    assert over["terminus_ready"] == {"": 1}


async def test_an_error_is_an_end_too(tmp_path: Path) -> None:
    model = Held()
    async with interface(tmp_path, model=model) as web:
        ticket = await web.submit()
        await model.asked.wait()
        await web.ask("POST", f"/tickets/{ticket['ticket']}/cancel")
        await until(lambda: web.node.live == 0)
        assert (await read(web))["terminus_runs_ended_total"] == {"cancelled cancelled helpdesk": 1}


def test_calls_and_searches_are_counted_by_what_came_of_them() -> None:
    for failed in ("", "", "It is gone."):
        meters.count_step(
            CallStep("worker", "Draft", "small-1", tokens_in=100, tokens_out=7, seconds=0.3, failed=failed)
        )
    meters.count_step(SearchStep("worker", "vpn", "documents", found=(Found("a.md"),)))
    meters.count_step(SearchStep("worker", "vpn", "documents"))
    meters.count_step(SearchStep("worker", "vpn", "web", failed="No answer."))

    assert dict(meters.calls) == {("small-1", "answered"): 2, ("small-1", "failed"): 1}
    assert dict(meters.tokens) == {("small-1", "in"): 300, ("small-1", "out"): 21}
    assert dict(meters.searches) == {("documents", "found"): 1, ("documents", "nothing"): 1, ("web", "failed"): 1}
    assert meters.call_seconds["small-1"].total == 0.3 * 3


def test_a_histogram_counts_each_value_once_and_a_bound_belongs_to_what_is_below() -> None:
    for bounds in (RUN_BOUNDS, ANSWER_BOUNDS):
        assert list(bounds) == sorted(set(bounds))
    histogram = Histogram((1.0, 2.0))
    for value in (0.0, 1.0, 1.5, 2.0, 9.0):
        histogram.add(value)

    assert list(histogram.buckets()) == [(1.0, 2), (2.0, 4), (float("inf"), 5)]


def test_counting_costs_a_ticket_next_to_nothing() -> None:
    outcome = Outcome(
        run="R", ticket="T", workflow="helpdesk", status="resolved", why=EndReason.COMPLETED, by="ticketing", state="x"
    )
    step = SearchStep("worker", "vpn", "documents")
    best = min(_time_tickets(meters, outcome, step) for _ in range(5))

    assert best < NANOSECONDS_A_TICKET


def _time_tickets(meters: Meters, outcome: Outcome, step: SearchStep, count: int = 1_000) -> float:
    began = time.process_time_ns()
    for _ in range(count):
        meters.count_end(outcome)
        for _ in range(10):
            meters.count_step(step)
    return (time.process_time_ns() - began) / count


def test_the_library_is_loaded_when_figures_are_asked_for_and_not_before() -> None:
    code = "import sys, runtime.http.server; print(any(name.startswith('prometheus_client') for name in sys.modules))"
    program = [sys.executable, "-c", code]
    done = subprocess.run(program, cwd=ROOT, capture_output=True, text=True, check=True)  # noqa: S603 - our own
    assert re.fullmatch(r"False\s*", done.stdout)
