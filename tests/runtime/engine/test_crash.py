"""Kill -9 at each durable write of a run, then resume: the same end, nothing journalled again, no limit anew."""

import asyncio
import contextlib
import itertools
import json
import random
import subprocess
import sys
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from structlog.testing import capture_logs

from actors.helpdesk.messages import SummaryCompleted
from actors.workflow.outcome import EndReason, Outcome
from actors.workflow.tables import MAX_RESUMES
from runtime.engine.node import Node
from runtime.processes.pool import ROOT
from runtime.storage.errors import UnknownRun
from tests.fakes import PLAIN, targets
from tests.runtime.crashing import CROWD, TICKET, Notes, node_on

Kills = Callable[..., int]
MOST_WRITES = 40
OUTSIDE_KILLS = 20


@pytest.fixture(scope="module")
def kills() -> Iterator[Kills]:
    """Play something in a process that dies; returns 0 when it did not come to that."""
    with subprocess.Popen(
        [sys.executable, "-m", "tests.runtime.crashing"],
        cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as nursery:  # fmt: skip
        orders, deaths = nursery.stdin, nursery.stdout
        assert orders is not None
        assert deaths is not None

        def play(
            folder: Path, *, what: str = "submit", scenario: str = "plain", kill: int = 0, after: bool = False,
            seconds: float = 0.0,
        ) -> int:  # fmt: skip
            folder.mkdir(exist_ok=True)
            order = {"folder": str(folder), "what": what, "scenario": scenario, "kill": kill, "after": after,
                     "seconds": seconds}  # fmt: skip
            orders.write(json.dumps(order) + "\n")
            orders.flush()
            return int(deaths.readline())

        yield play
        orders.close()


@contextlib.asynccontextmanager
async def opened(folder: Path, scenario: str = "plain") -> AsyncIterator[Node]:
    node = node_on(folder, scenario)
    try:
        yield node
    finally:
        await node.close()


async def resumed(folder: Path, scenario: str = "plain") -> Outcome | None:
    """The end of the one run in a folder, gone on with if need be; nothing if it never was accepted."""
    async with opened(folder, scenario) as node:
        handles = await node.resume()
        assert len(handles) <= 1
        for handle in handles:
            await handle.outcome()
        assert await node.journal.list_open() == []
        try:
            return (await node.status("T-1"))[1]
        except UnknownRun:
            return None


def rows(node: Node, sql: str) -> list[Any]:
    return node.database.rows(sql)


def untimed(outcome: Outcome) -> Outcome:
    """Without what differs from run to run."""
    handoffs = tuple(msgspec.structs.replace(each, at=0.0) for each in outcome.handoffs)
    return msgspec.structs.replace(outcome, run="", seconds=0.0, handoffs=handoffs)


DONE = {  # what was asked to get an event: once that is journalled, it must not be asked again
    "ResolutionRecalled": ["memory:recall"], "TicketAnalyzed": ["ticketing:Analysis"],
    "ResolutionObtained": ["knowledge:search", "worker:Draft"], "ResolutionStored": ["memory:store"],
    "WORKFLOW_COMPLETE": ["summarization:Summary"],
}  # fmt: skip


async def journalled(folder: Path) -> list[str]:
    async with opened(folder) as node:
        return [msgspec.msgpack.decode(body)["type"] for (body,) in rows(node, "SELECT event FROM event ORDER BY n")]


async def test_killed_at_each_durable_write_a_run_comes_to_the_same_end(tmp_path: Path, kills: Kills) -> None:
    assert kills(tmp_path / "whole") == 0
    whole = await resumed(tmp_path / "whole")
    assert whole is not None
    assert (whole.why, targets(whole)) == (EndReason.COMPLETED, PLAIN)
    deaths = 0
    for n, after in itertools.product(range(1, MOST_WRITES), (False, True)):
        folder = tmp_path / f"{n}-{after}"
        if kills(folder, kill=n, after=after) == 0:
            break
        deaths += 1
        known, asked = await journalled(folder), Counter(Notes(folder).lines())

        outcome = await resumed(folder)

        if outcome is None:
            assert (n, after) == (1, False), "only what was never accepted is lost"
            continue
        assert untimed(outcome) == untimed(whole), (n, after)
        again = Counter(Notes(folder).lines()) - asked
        repeated = {what for kind in known for what in DONE.get(kind, ()) if again[what]}
        assert repeated == set(), (n, after)
        assert max(Counter(Notes(folder).lines()).values()) <= 2
        async with opened(folder) as node:
            assert rows(node, "SELECT status FROM ticket") == [("resolved",)]
            assert rows(node, "SELECT count(*) FROM remembered") == [(1,)], "the same key again changes nothing"
            assert rows(node, "SELECT count(*) FROM run WHERE ended IS NOT NULL") == [(1,)]
    assert deaths >= 2 * 7, "accepted, five events, the end"


@pytest.mark.req("HD-3.1")
async def test_the_window_of_the_loop_detection_survives(tmp_path: Path, kills: Kills) -> None:
    """Each death comes a write later than the one before, so that every run lives through many."""
    assert kills(tmp_path / "whole", scenario="circle") == 0
    whole = await resumed(tmp_path / "whole")
    assert whole is not None
    assert whole.why is EndReason.LOOP_DETECTED
    for n in (4, 6, 8):
        folder = tmp_path / str(n)
        assert kills(folder, scenario="circle", kill=n, after=True) == -9
        assert kills(folder, what="resume", scenario="circle", kill=3, after=True) == -9

        outcome = await resumed(folder, "circle")

        assert outcome is not None
        assert untimed(outcome) == untimed(whole), n
        assert (outcome.loop, len(outcome.handoffs)) == (whole.loop, len(whole.handoffs))


@pytest.mark.req("HD-3.5")
async def test_the_deadline_is_not_set_anew(tmp_path: Path, kills: Kills) -> None:
    assert kills(tmp_path, kill=3, after=True) == -9
    async with opened(tmp_path) as node:
        await node.database.run(("UPDATE run SET started = started - 700, boot = 'an earlier one'", ()))

    outcome = await resumed(tmp_path)

    assert outcome is not None
    assert (outcome.why, outcome.by, outcome.status) == (EndReason.TIMED_OUT, "ticketing", "error")
    assert outcome.seconds == pytest.approx(700, abs=30)


@pytest.mark.parametrize("scenario", ["deadly", "exiting"])
async def test_a_run_that_ends_its_process_does_so_a_few_times_only(
    tmp_path: Path, kills: Kills, scenario: str
) -> None:
    deaths = 0
    what = "submit"
    while kills(tmp_path, what=what, scenario=scenario) != 0:
        deaths, what = deaths + 1, "resume"
        assert deaths <= MAX_RESUMES + 1

    async with opened(tmp_path) as node:
        _, outcome = await node.status("T-1")
        assert outcome is not None
        assert (outcome.by, outcome.status) == ("ticketing", "error")
        assert rows(node, "SELECT status FROM ticket") == [("error",)]
    assert Counter(Notes(tmp_path).lines())["worker:Draft"] == deaths
    if scenario == "deadly":
        assert (outcome.why, deaths) == (EndReason.CRASHED_REPEATEDLY, MAX_RESUMES + 1)
    else:  # there was time to note the failure
        assert outcome.why is EndReason.STEP_FAILED
    assert Counter(Notes(tmp_path).lines())["ticketing:Analysis"] == 1


@pytest.mark.req("HD-2.5", "SY-4")
async def test_one_poison_ticket_and_many_kills_from_outside_end_no_innocent_one(tmp_path: Path, kills: Kills) -> None:
    dice = random.Random(5)
    assert kills(tmp_path, what="crowd", scenario="crowd") == -9, "the poison kills the process that reads it"
    for _ in range(OUTSIDE_KILLS):
        kills(tmp_path, what="resume", scenario="crowd", seconds=dice.uniform(0.1, 0.5))
    deaths = 0
    while kills(tmp_path, what="resume", scenario="crowd") != 0:
        deaths += 1
        assert deaths <= MAX_RESUMES + 1

    async with opened(tmp_path) as node:
        ends = dict(rows(node, "SELECT ticket, status FROM run"))
        _, poison = await node.status("T-0")
        outcomes = [(await node.status(ticket))[1] for ticket in ends if ticket != "T-0"]
    assert poison is not None
    assert poison.why is EndReason.CRASHED_REPEATEDLY
    assert Counter(Notes(tmp_path).lines())["poison"] == MAX_RESUMES + 1
    assert Counter(each.why for each in outcomes if each) == {EndReason.COMPLETED: CROWD}


@pytest.mark.req("HD-2.5", "HD-7.3")
async def test_a_run_whose_journal_is_damaged_is_given_up_and_the_others_go_on(tmp_path: Path, kills: Kills) -> None:
    assert kills(tmp_path, kill=3, after=True) == -9
    async with opened(tmp_path) as node:
        await node.database.run(("UPDATE run SET id = 'R-bad', ticket = 'T-bad', initial = x'00'", ()))
    assert kills(tmp_path, kill=3, after=True) == -9

    with capture_logs() as lines:
        outcome = await resumed(tmp_path)

    assert outcome is not None
    assert outcome.why is EndReason.COMPLETED
    (line,) = [each for each in lines if each["event"] == "workflow.terminated" and each["run"] == "R-bad"]
    assert (line["reason"], line["agent"], line["ticket"]) == ("orchestrator_failed", "orchestrator", "T-bad")
    async with opened(tmp_path) as node:
        assert rows(node, "SELECT status FROM run WHERE id = 'R-bad'") == [("error",)]


@pytest.mark.req("HD-2.5")
async def test_a_run_that_is_open_although_its_journal_holds_the_end_is_ended_and_not_waited_for(
    tmp_path: Path,
) -> None:
    async with opened(tmp_path) as node:
        outcome = await (await node.submit(TICKET)).outcome()
        assert outcome.why is EndReason.COMPLETED
        await node.database.run(("UPDATE run SET ended = NULL, ending = NULL, status = 'running', owner = ''", ()))

    async with opened(tmp_path) as node, asyncio.timeout(20):
        for handle in await node.resume():
            await handle.outcome()
        _, found = await node.status("T-1")
        assert found is not None
        assert (found.why, found.status) == (EndReason.ORCHESTRATOR_FAILED, "error")

        again = await (await node.submit(TICKET)).outcome()

        assert again.why is EndReason.COMPLETED


async def test_a_process_that_lives_keeps_its_runs(tmp_path: Path) -> None:
    """Two processes on one database: neither takes what the other still works on."""
    async with opened(tmp_path, "silent") as first, opened(tmp_path) as second:
        handle = await first.submit(TICKET)

        assert await second.resume() == []
        assert await second.cancel("T-1")
        outcome = await handle.outcome()

        assert (outcome.why, outcome.status) == (EndReason.CANCELLED, "cancelled")


def test_what_is_journalled_by_name_is_what_is_looked_for() -> None:
    assert msgspec.to_builtins(SummaryCompleted(summary=""))["type"] in DONE
