"""The daemon lets go of old tickets by itself, at once and every day, and tickets do not wait for it."""

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from actors.evidence.claims import Resolution
from bench.solved_tickets import SolvedTicket, remember_all
from runtime.node import Node
from runtime.settings import DAY, MemorySettings, Settings, StorageSettings
from runtime.storage.effects import Effects
from runtime.storage.journal import Ticket
from runtime.upkeep import daily
from runtime.upkeep.daily import keep_to_age, run_daily

SECONDS = 60.0


@pytest.fixture
async def node(tmp_path: Path) -> AsyncIterator[Node]:
    storage = StorageSettings(folder=str(tmp_path), keep_days=30.0)
    async with Node.open(Settings(storage=storage, memory=MemorySettings(learn_after=1_000_000))) as opened:
        yield opened


async def old_ticket(node: Node, ticket_id: str) -> None:
    handle = await node.submit(Ticket(id=ticket_id, text=f"My scanner {ticket_id} is broken."))
    await handle.outcome()
    await node.database.run(("UPDATE run SET ended = ? WHERE id = ?", (time.time() - 40 * DAY, handle.run)))


async def gone(node: Node, ticket_id: str) -> None:
    async with asyncio.timeout(SECONDS):
        while node.database.rows("SELECT 1 FROM ticket WHERE id = ?", (ticket_id,)):  # noqa: ASYNC110 - by another process
            await asyncio.sleep(0.01)


async def test_old_tickets_go_at_once_and_again_the_next_day(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(daily, "DAY", 0.05)
    await old_ticket(node, "T-1")
    await Effects(node.effects, "R-gone").put("page", "a", "what was read")
    async with run_daily(node):
        await gone(node, "T-1")
        await old_ticket(node, "T-2")
        await gone(node, "T-2")
    assert node.database.rows("SELECT count(*) FROM effect") == [(0,)]


async def test_without_an_age_everything_stays(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[Node] = []

    async def keep(each: Node) -> None:
        called.append(each)

    monkeypatch.setattr(daily, "keep_to_age", keep)
    async with run_daily(node):
        await asyncio.sleep(0)
    node.settings = Settings(storage=StorageSettings(folder=str(node.folder)))
    async with run_daily(node):
        await asyncio.sleep(0)
    assert called == [node]


async def test_tickets_go_on_while_old_ones_go(node: Node) -> None:
    for number in range(30):
        await old_ticket(node, f"T-{number}")
    with capture_logs() as logs:
        keeping = asyncio.create_task(keep_to_age(node))
        outcome = await (await node.submit(Ticket(id="T-new", text="My mouse is broken."))).outcome()
        await keeping

    assert outcome.status == "not_found"
    assert node.database.rows("SELECT id FROM ticket") == [("T-new",)]
    assert [each["tickets"] for each in logs if each["event"] == "retention.done"] == [30]


async def test_the_model_of_memory_does_not_outlive_what_it_was_learnt_from(node: Node) -> None:
    await remember_all(node.memory, [SolvedTicket(f"T-{n}", f"scanner {n}", Resolution("A."), False) for n in range(5)])
    await node.memory.learn()
    assert node.memory.model.exists()
    await old_ticket(node, "T-1")

    await keep_to_age(node)

    assert not node.memory.model.exists()
    assert node.memory._counts == (4, 0)


async def test_a_disk_that_fails_is_tried_again_the_next_day(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(daily, "RETAIN", "runtime.upkeep.purge:nothing_of_this_name")
    with capture_logs() as logs:
        await keep_to_age(node)
    assert [each["event"] for each in logs] == ["retention.failed"]
