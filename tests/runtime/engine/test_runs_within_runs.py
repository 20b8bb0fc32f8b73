"""A ticket whose worker is a research: one outcome with all handoffs, also after a replay; one ticket in the log."""

import asyncio
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
import structlog
from structlog.testing import capture_logs

from actors.research.models import ResearchOptions
from actors.workflow.outcome import Child, Handoff, Outcome
from actors.workflow.progress import RoundBegan
from actors.workflow.tables import MAX_HANDOFFS
from runtime.engine.node import Node
from runtime.http.openapi import document
from runtime.http.request_bodies import RunStatus
from runtime.observe import logs
from runtime.settings import LogSettings, ResearchSettings, Settings, StorageSettings
from runtime.tickets import Ticket
from tests.fakes import targets
from tests.runtime.families.test_research_runs import QUESTION, Onward, knowing

COPIED = """
INSERT INTO run (id, ticket, workflow, initial, started, owner, ended, status)
SELECT ?, ticket, workflow, initial, started, owner, ended, status FROM run WHERE id = ?
"""
REPORT = "Please write a report on how Halyard evicts entries of its cache."


async def ended(node: Node, **ticket: Any) -> Outcome:
    handle = await node.submit(Ticket(**ticket))
    async with asyncio.timeout(60):
        return await handle.outcome()


def every(children: tuple[Child, ...]) -> list[Child]:
    return [each for child in children for each in (child, *every(child.children))]


@pytest.mark.req("HD-3.3", "HD-7.5")
async def test_a_tickets_outcome_holds_the_handoffs_of_the_research_that_answered_it(tmp_path: Path) -> None:
    async with knowing(tmp_path, research=ResearchSettings(breadth=1, depth=2)) as node:
        node.models = Onward()  # type: ignore[assignment] # it is a port
        outcome = await ended(node, id="T-7", text=REPORT)

        # the ticket's own sequence, and nested in it the research with its deeper round
        (research,) = outcome.children
        (deeper,) = research.children
        assert outcome.handoffs[research.handoff - 1].target == "researcher"
        assert research.handoffs[deeper.handoff - 1].target == "round"
        assert (research.run, deeper.run) == (f"{outcome.run}.5", f"{outcome.run}.5.{deeper.handoff}")
        assert [each.workflow for each in (research, deeper)] == ["research", "research"]
        for child in (research, deeper):
            assert child.handoffs == (await node.journal.fold(await node.journal.find(child.run))).handoffs
            assert child.handoffs[-1].target == "reporter"
        assert all(len(each.handoffs) <= MAX_HANDOFFS for each in (outcome, research, deeper)), "a bound for each run"

        # the same for who asks later
        assert (await node.status("T-7"))[1] == outcome
    async with knowing_again(tmp_path) as again:
        assert (await again.status("T-7"))[1] == outcome


def knowing_again(folder: Path) -> Any:
    return Node.open(Settings(storage=StorageSettings(folder=str(folder / "store"))))


@pytest.mark.req("HD-7.5")
async def test_they_stand_in_json_in_http_and_in_its_description(tmp_path: Path) -> None:
    async with knowing(tmp_path) as node:
        outcome = await ended(node, id="T-7", text=REPORT)
        stored, known = await node.status("T-7")

    told = json.loads(msgspec.json.encode(outcome))
    assert [each["target"] for each in told["children"][0]["handoffs"]] == [
        each.target for each in outcome.children[0].handoffs
    ]
    assert "outcome" in RunStatus.__struct_fields__
    assert known == outcome
    assert stored.ticket == "T-7"
    schemas = document()["components"]["schemas"]
    assert schemas["Outcome"]["properties"]["children"]["items"] == {"$ref": "#/components/schemas/Child"}
    assert schemas["Child"]["properties"]["handoffs"]["items"] == {"$ref": "#/components/schemas/Handoff"}
    assert schemas["Child"]["properties"]["children"]["items"] == {"$ref": "#/components/schemas/Child"}


@pytest.mark.req("HD-7.5", "PR-10")
@pytest.mark.parametrize("known", [4, 5], ids=["its answer was lost", "its answer is known"])
async def test_a_research_that_was_resumed_tells_of_the_round_that_ended_before(tmp_path: Path, known: int) -> None:
    async with knowing(tmp_path) as node:
        node.models = Onward()  # type: ignore[assignment] # it is a port
        whole = await ended(
            node, id="T-1", text=QUESTION, workflow="research", options=ResearchOptions(breadth=1, depth=2)
        )
        await node.database.run(
            ("DELETE FROM event WHERE run = ? AND n > ?", (whole.run, known)),
            ("UPDATE run SET ended = NULL, ending = NULL, status = 'running', owner = '' WHERE id = ?", (whole.run,)),
        )

        (again,) = await node.resume()
        outcome = await again.outcome()

        assert outcome.children == whole.children
        assert [each.run for each in outcome.children] == [f"{whole.run}.9"]
        assert (await node.status("T-1"))[1] == outcome


@pytest.mark.req("HD-7.5", "PR-10")
async def test_a_round_that_a_crash_interrupted_stands_there_once_and_whole(tmp_path: Path) -> None:
    async with knowing(tmp_path) as node:
        node.models = Onward()  # type: ignore[assignment] # it is a port
        handle = await node.submit(
            Ticket(id="T-1", text=QUESTION, workflow="research", options=ResearchOptions(breadth=1, depth=3))
        )
        async for each in handle.watch():
            if isinstance(each, RoundBegan) and each.number == 2:
                break
        node.runs.live.abandon()

        (again,) = await node.resume()
        outcome = await again.outcome()

        assert [each.run for each in outcome.children] == [f"{outcome.run}.9"]
        assert outcome.children[0].handoffs[-1].target == "reporter"
        assert (await node.status("T-1"))[1] == outcome


@pytest.mark.req("HD-7.5")
async def test_what_a_child_had_done_when_its_parent_was_cut_short_is_told_too(tmp_path: Path) -> None:
    async with knowing(tmp_path) as node:
        node.models = Onward()  # type: ignore[assignment] # it is a port
        handle = await node.submit(Ticket(id="T-7", text=REPORT))
        async for each in handle.watch():
            if isinstance(each, RoundBegan):
                handle.cancel()
        outcome = await handle.outcome()

        assert outcome.status == "cancelled"
        assert [each.target for each in outcome.children[0].handoffs][:1] == ["planner"]
        assert "researcher" in targets(outcome)


async def test_a_child_that_cannot_be_read_any_more_hides_nothing_else(tmp_path: Path) -> None:
    async with knowing(tmp_path) as node:
        outcome = await ended(node, id="T-7", text=REPORT)
        child = outcome.children[0].run
        await node.database.run(("UPDATE event SET event = x'c1' WHERE run = ?", (child,)))

        assert (await node.status("T-7"))[1] == outcome
        known = await node.journal.children(outcome.run)
        assert [(each.run, each.handoffs) for each in known] == [(child, ())]


async def test_a_run_whose_id_only_looks_alike_is_no_child(tmp_path: Path) -> None:
    async with knowing(tmp_path) as node:
        outcome = await ended(node, id="T-1", text="How does Halyard evict entries of its cache?")
        for alike in (f"{outcome.run}0.5", f"{outcome.run}-5", f"{outcome.run}.x"):
            await node.database.run((COPIED, (alike, outcome.run)))

        assert await node.journal.children(outcome.run) == outcome.children == ()


@pytest.mark.req("HD-7.1", "HD-7.2", "HD-7.3")
async def test_every_line_of_a_child_bears_the_tickets_id(tmp_path: Path) -> None:
    with capture_logs() as lines:
        async with knowing(tmp_path) as node:
            outcome = await ended(node, id="T-7", text=REPORT)

    child = outcome.children[0].run
    of_child = [each for each in lines if each.get("run") == child]
    assert {each["event"] for each in of_child} >= {"workflow.started", "handoff.made", "workflow.terminated"}
    assert {each["ticket"] for each in of_child} == {"T-7"}
    made = [Handoff(e["source"], e["target"], e["reason"]) for e in of_child if e["event"] == "handoff.made"]
    assert made == [Handoff(e.source, e.target, e.reason) for e in outcome.children[0].handoffs]


@pytest.mark.req("HD-7.2")
async def test_so_does_what_others_log_of_its_work(tmp_path: Path) -> None:
    """Agents and ports know no ticket; what they log bears it all the same."""

    class Complains(Onward):
        def for_run(self, *_: Any, **__: Any) -> Any:
            model, spent = super().for_run()
            fill = model.fill

            async def complaining(*args: Any, **more: Any) -> Any:
                structlog.get_logger().warning("model.complained")
                return await fill(*args, **more)

            model.fill = complaining  # type: ignore[method-assign]
            return model, spent

    settings = Settings(storage=StorageSettings(folder=str(tmp_path / "log")), log=LogSettings(format="json"))
    with logs.to_file(settings) as path:
        async with knowing(tmp_path) as node:
            node.models = Complains()  # type: ignore[assignment] # it is a port
            outcome = await ended(node, id="T-7", text=REPORT)
        lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]

    complained = [each for each in lines if each["event"] == "model.complained" and "run" in each]
    assert {each["ticket"] for each in complained} == {"T-7"}
    assert {each["run"] for each in complained} <= {each.run for each in every(outcome.children)}
    assert complained
