"""Runs of every family are replayed: with a model, with runs within them, with several agents side by side."""

import asyncio
from pathlib import Path

import msgspec
import pytest

from actors.research.models import ResearchOptions
from runtime.engine.node import Node
from runtime.observe.replay import Recording, Replay, load_recording, replay
from runtime.settings import Settings, StorageSettings
from runtime.tickets import Ticket
from tests.actors.legal.answering import TWO_FIELDS
from tests.actors.legal.test_contract_review import LEASE
from tests.fake_openai import FakeOpenAI
from tests.runtime.families.test_research_runs import QUESTION, knowing
from tests.runtime.observe.recorded import settings
from tests.runtime.tools import test_legal_tools as law
from tests.solving import Finds, alter_numbers, keep, solves


async def run_on(node: Node, ticket: Ticket) -> Recording:
    await (await node.submit(ticket)).outcome()
    return await load_recording(node.journal, node.recordings, await node.journal.find(ticket.id))


async def replay_now(recording: Recording, its: Settings) -> Replay:
    return await asyncio.to_thread(replay, recording, its)


async def test_a_ticket_that_a_model_answered_is_the_same_without_its_server(tmp_path: Path) -> None:
    async with FakeOpenAI(solves(alter_numbers, keep)) as server:
        its = settings(tmp_path, server.url)
        async with Node.open(its) as node:
            node.knowledge = Finds()
            recording = await run_on(node, Ticket(id="T-1", text="What must I know about the press?"))
        asked = len(server.bodies)
        done = await replay_now(recording, its)

        assert (done.differences, done.asked) == ((), ())
        assert done.is_same
        assert done.then.spent.calls == asked
        assert len(server.bodies) == asked, "no model was asked again"


@pytest.mark.parametrize("text", [QUESTION, "Please write a report that compares eviction and pins in Halyard."])
async def test_a_research_is_the_same_by_itself_and_within_a_ticket(tmp_path: Path, text: str) -> None:
    alone = text == QUESTION
    ticket = Ticket(
        id="T-1", text=text, workflow="research" if alone else "helpdesk", options=ResearchOptions() if alone else None
    )
    async with knowing(tmp_path) as node:
        recording = await run_on(node, ticket)
        its = node.settings

    done = await replay_now(recording, msgspec.structs.replace(its, storage=StorageSettings(folder="nowhere")))

    assert len(recording.runs) == (1 if alone else 2)
    assert (done.differences, done.asked) == ((), ())
    assert done.then.status == "suggested"
    assert done.is_same


async def test_specialists_side_by_side_end_in_the_order_in_which_they_did(tmp_path: Path) -> None:
    async with Node.open(settings(tmp_path)) as node:
        recording = await run_on(node, Ticket(id="T-1", text=TWO_FIELDS, workflow="legal"))

    done = await replay_now(recording, settings(tmp_path / "elsewhere"))

    asked = [call.agent for call in recording.calls if call.name == "Tool.regulation_search"]
    assert len(set(asked)) == 2
    assert (done.differences, done.asked) == ((), ())
    assert done.is_same


async def test_an_answer_from_the_statutes_is_the_same_without_them(tmp_path: Path) -> None:
    async with law.opened(tmp_path, law.claim(1, law.NINTH)) as (node, _):
        recording = await run_on(node, Ticket(id="T-1", text="《租赁法》第九条规定了什么？", workflow="legal"))
        its = node.settings

    done = await replay_now(recording, msgspec.structs.replace(its, storage=StorageSettings(folder="nowhere")))

    assert (done.differences, done.asked) == ((), ())
    assert done.is_same


async def test_a_review_of_an_indexed_contract_is_the_same_without_the_document(tmp_path: Path) -> None:
    folder = tmp_path / "contracts"
    folder.mkdir()
    (folder / "lease.md").write_text(LEASE, encoding="utf-8")
    async with Node.open(settings(tmp_path)) as node:
        await node.index([str(folder)])
        ticket = Ticket(id="T-1", text="请审查合同 contracts/lease.md，有什么风险？", workflow="legal")
        recording = await run_on(node, ticket)

    done = await replay_now(recording, settings(tmp_path / "elsewhere"))

    assert done.then.resolution is not None
    assert done.then.resolution.text.count("第四条 押金概不退还。") == 1
    assert "(contracts/lease.md)" in done.then.resolution.text
    assert (done.differences, done.asked) == ((), ())
