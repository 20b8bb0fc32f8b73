"""The daemon lets go of old tickets by itself, at once and every day, and tickets do not wait for it."""

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest
from structlog.testing import capture_logs

from actors.evidence.claims import Resolution
from bench.solved_tickets import SolvedTicket, remember_all
from runtime.engine.node import Node
from runtime.observe.replay import load_recording
from runtime.service_error import ServiceError
from runtime.settings import DAY, MemorySettings, Settings, StorageSettings, TraceSettings
from runtime.storage.effects import Effects
from runtime.tickets import Ticket
from runtime.upkeep import purge as daily
from runtime.upkeep.purge import keep_to_age, run_daily
from tests.runtime.observe import recorded

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


@pytest.mark.req("LG-29")
async def test_recordings_go_sooner_than_their_tickets(tmp_path: Path) -> None:
    its = recorded.settings(tmp_path)
    await recorded.run_and_record(its, tmp_path)
    async with Node.open(its) as node:
        await (await node.submit(Ticket(id="T-2", text="My mouse is broken."))).outcome()
        old, young = await node.journal.find("T-1"), await node.journal.find("T-2")
        before = await node.recordings.load(young.id)
        await node.database.run(("UPDATE run SET ended = ? WHERE id = ?", (time.time() - 40 * DAY, old.id)))
        async with run_daily(node), asyncio.timeout(SECONDS):
            while await node.recordings.load(old.id):  # noqa: ASYNC110 - by a task that tells nobody
                await asyncio.sleep(0.01)

        assert await node.recordings.load(young.id) == before != b""
        assert (await node.journal.find("T-1")).id == old.id
        with pytest.raises(ServiceError, match=r"more than \[trace\] replay_days ago"):
            await load_recording(node.journal, node.recordings, old)


async def test_parts_go_with_the_last_recording_that_needs_them(tmp_path: Path) -> None:
    its = recorded.settings(tmp_path)
    await recorded.run_and_record(its, tmp_path)
    async with Node.open(its) as node:
        assert node.database.rows("SELECT count(*) FROM part") != [(0,)]
        await node.database.run(("UPDATE part SET used = used - 7200", ()))
        await daily.forget_old_recordings(node, time.time() + DAY)
        assert node.database.rows("SELECT count(*) FROM part") == [(0,)]


async def test_without_days_recordings_stay_as_long_as_their_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    called: list[float] = []

    async def forget(_: Node, before: float) -> None:
        called.append(before)

    monkeypatch.setattr(daily, "forget_old_recordings", forget)
    async with Node.open(recorded.settings(tmp_path)) as node:
        for days in (0.0, 1.0):
            node.settings = msgspec.structs.replace(node.settings, trace=TraceSettings(replay_days=days))
            async with run_daily(node):
                await asyncio.sleep(0)
    assert [time.time() - each for each in called] == [pytest.approx(DAY, abs=60.0)]


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
