"""Runs are found by what they asked for, who worked on them, how they ended and how long they took."""

import sqlite3
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest

from actors.workflow.outcome import Child, EndReason, Handoff, Outcome
from runtime.engine.node import Node
from runtime.engine.run_filter import RunFilter, make_wanted
from runtime.service_error import ServiceError
from runtime.settings import Settings, StorageSettings
from runtime.storage.private import DATABASE
from runtime.storage.sqlite import run_store as listing
from tests.actors.legal.answering import TWO_FIELDS
from tests.runtime.http.kit import interface

HOUR = 3600.0


def outcome(run: str, seconds: float, agent: str, within: str = "") -> bytes:
    handoffs = (Handoff("orchestrator", agent, "asked"),)
    below = (Child(f"{run}.1", "research", 1, (Handoff("orchestrator", within, "asked"),)),) if within else ()
    return msgspec.msgpack.encode(
        Outcome(
            run=run, ticket=run, workflow="helpdesk", status="resolved", why=EndReason.COMPLETED, by=agent, state="",
            seconds=seconds, handoffs=handoffs, children=below,
        )
    )  # fmt: skip


@pytest.fixture
async def node(tmp_path: Path) -> Any:
    """Eight runs: intent, workflow, status, agent, hours ago, seconds."""
    rows = (
        ("R-1", "printing", "helpdesk", "resolved", "worker", 30.0, 1.0),
        ("R-2", "printing", "helpdesk", "error", "worker", 20.0, 40.0),
        ("R-3", "network", "helpdesk", "resolved", "network", 10.0, 2.0),
        ("R-4", "contract", "legal", "suggested", "labor_law", 9.0, 12.0),
        ("R-5", "contract", "legal", "cancelled", "labor_law", 8.0, 0.5),
        ("R-6", "", "research", "resolved", "planner", 1.0, 100.0),
    )
    async with Node.open(Settings(storage=StorageSettings(folder=str(tmp_path)))) as node:
        now = time.time()
        for run, intent, workflow, status, agent, hours, seconds in rows:
            begun = now - hours * HOUR
            ending = outcome(run, seconds, agent, "searcher" if run == "R-6" else "")
            row = (run, run, workflow, b"", begun, "", begun + seconds, status, ending, intent, seconds)
            columns = "id, ticket, workflow, initial, started, owner, ended, status, ending, intent, seconds"
            await node.database.run((f"INSERT INTO run ({columns}) VALUES ({', '.join('?' * 11)})", row))
        going = (
            "INSERT INTO run (id, ticket, workflow, initial, started, owner) VALUES ('R-7', 'R-7', 'legal', '', ?, '')"
        )
        await node.database.run((going, (now - 0.5 * HOUR,)))
        event = "INSERT INTO event VALUES (?, 1, 1.0, ?, 1, '')"
        await node.database.run((event, ("R-7", "intent_classifier")), (event, ("R-7.3", "searcher")))
        yield node


@pytest.mark.req("LG-29")
@pytest.mark.parametrize(
    ("given", "found"),
    [
        ({}, "R-7 R-6 R-5 R-4 R-3 R-2 R-1"),
        ({"intent": "printing"}, "R-2 R-1"),
        ({"workflow": "legal"}, "R-7 R-5 R-4"),
        ({"failed": True}, "R-5 R-2"),
        ({"since": "9.5h"}, "R-7 R-6 R-5 R-4"),
        ({"slow": "10s"}, "R-7 R-6 R-4 R-2"),
        ({"slow": "60m"}, ""),
        ({"agent": "labor_law"}, "R-5 R-4"),
        ({"agent": "searcher"}, "R-7 R-6"),
        ({"agent": "intent_classifier"}, "R-7"),
        ({"intent": "contract", "failed": True, "since": "1d", "agent": "labor_law"}, "R-5"),
        ({"workflow": "legal", "slow": "10s", "since": "1d"}, "R-7 R-4"),
        ({"limit": "2"}, "R-7 R-6"),
        ({"intent": "nobody asks this"}, ""),
    ],
)
async def test_filters_find_what_is_so_in_all_of_them(node: Node, given: dict[str, Any], found: str) -> None:
    listed = await node.journal.store.search(make_wanted(RunFilter(**given)))

    assert " ".join(run.id for run, _ in listed.runs) == found
    assert not listed.stopped


async def test_an_agent_is_looked_for_in_so_many_runs_and_no_more(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listing, "MOST_DECODED", 3)
    monkeypatch.setattr(listing, "BATCH", 3)

    listed = await node.journal.store.search(make_wanted(RunFilter(agent="worker")))

    assert listed.runs == []
    assert listed.stopped


@pytest.mark.parametrize(
    ("given", "index"),
    [
        ({"intent": "printing"}, "run_of_intent"),
        ({"workflow": "legal"}, "run_of_workflow"),
        ({"failed": True}, "run_of_status"),
        ({"status": "needs_input"}, "run_of_status"),
        ({"since": "1d"}, "run_by_start"),
        ({"slow": "10s"}, "run_by_seconds"),
    ],
)
async def test_each_filter_has_its_index(node: Node, given: dict[str, Any], index: str) -> None:
    where, values = listing._make_conditions(make_wanted(RunFilter(**given)))
    with sqlite3.connect(node.folder / DATABASE) as db:
        plan = db.execute(f"EXPLAIN QUERY PLAN {listing._FITTING.format(where)}", (9, *values)).fetchall()
    db.close()

    assert index in str(plan)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"slow": "quickly"}, "--slow must be a duration such as 10s, 2m or 1h, not 'quickly'."),
        ({"slow": "0s"}, "--slow must be a duration such as 10s, 2m or 1h, not '0s'."),
        ({"since": "soon"}, "--since must be such as 30m, 12h, 2d, 1w or 2026-01-31, not 'soon'."),
        ({"limit": "all"}, "--limit must be a whole number from 1 to 1,000, not 'all'."),
        ({"limit": "0"}, "--limit must be a whole number from 1 to 1,000, not '0'."),
        ({"workflow": "leagl"}, "There is no workflow 'leagl'. Did you mean"),
    ],
)
def test_a_filter_that_cannot_be_meant_gets_a_sentence(given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ServiceError) as refused:
        make_wanted(RunFilter(**given))
    assert str(refused.value).startswith(sentence)


@pytest.mark.req("LG-29")
async def test_traces_are_found_over_http(tmp_path: Path) -> None:
    async with interface(tmp_path) as web:
        legal = await web.submit(TWO_FIELDS, wait=20, workflow="legal")
        await web.submit(wait=20)
        _, standing = await web.ask("GET", f"/runs/{legal['run']}")
        path = f"/traces?workflow=legal&intent={standing['intent']}&since=1h&agent=intent_classifier"

        status, found = await web.ask("GET", path)
        _, every = await web.ask("GET", "/traces?limit=5")

        assert status == 200
        assert [(each["run"], each["trace"]) for each in found["traces"]] == [(legal["run"], standing["trace"])]
        assert len(every["traces"]) == 2
        assert await web.refusal("GET", "/traces?slow=x") == (
            400,
            "slow must be a duration such as 10s, 2m or 1h, not 'x'.",
        )
        status, said = await web.refusal("GET", "/traces?colour=red")
        assert (status, said.startswith("There is no filter 'colour'; there are failed, workflow,")) == (400, True)
        assert (await web.refusal("GET", "/traces?failed=maybe"))[0] == 400
