"""A finished run is run again on what was recorded: the same, byte for byte, or it is said where it differs."""

import asyncio
from pathlib import Path
from typing import Any

import msgspec
import pytest

from actors.extractive import Extractive
from actors.helpdesk.output_schemas import Summary
from runtime.engine.node import Node
from runtime.observe.replay import NetworkOff, ReplayLoop, ReplayStalled, load_recording, replay
from runtime.service_error import ServiceError
from runtime.settings import TraceSettings
from runtime.tickets import Ticket
from runtime.upkeep.purge import purge
from tests.runtime.observe.recorded import QUESTION, run_and_record, settings


async def test_an_unchanged_run_is_the_same_byte_for_byte(tmp_path: Path) -> None:
    its = settings(tmp_path)
    recording = await run_and_record(its, tmp_path)

    done = await asyncio.to_thread(replay, recording, its)

    assert done.differences == ()
    assert done.asked == ()
    assert done.is_same
    assert done.now == done.then
    assert [call.name for call in recording.calls] == [
        "Memory.recall", "Knowledge.search", "Memory.store", "Tickets.close",
    ]  # fmt: skip


async def test_what_no_document_says_is_replayed_too(tmp_path: Path) -> None:
    its = settings(tmp_path)
    recording = await run_and_record(its, tmp_path, "Who waters the ficus on the roof?")

    done = await asyncio.to_thread(replay, recording, its)

    assert done.then.status == "not_found"
    assert done.is_same


async def test_nothing_is_read_or_written_and_nothing_started(tmp_path: Path) -> None:
    its = settings(tmp_path)
    recording = await run_and_record(its, tmp_path)
    elsewhere = settings(tmp_path / "nowhere")

    done = await asyncio.to_thread(replay, recording, elsewhere)

    assert done.is_same
    assert not (tmp_path / "nowhere").exists()


async def test_a_rule_that_changed_is_named_by_event_and_field(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    its = settings(tmp_path)
    recording = await run_and_record(its, tmp_path)
    fill = Extractive.fill

    async def fill_otherwise(self: Any, shape: Any, task: Any, *, within: float) -> Any:
        done = await fill(self, shape, task, within=within)
        return msgspec.structs.replace(done, value=Summary(summary="Otherwise.")) if shape is Summary else done

    monkeypatch.setattr(Extractive, "fill", fill_otherwise)
    done = await asyncio.to_thread(replay, recording, its)

    first = done.differences[0]
    assert not done.is_same
    assert (first.sender, first.kind, first.field, first.now) == (
        "summarization", "SummaryCompleted", "summary", "Otherwise.",
    )  # fmt: skip
    assert "ink" in first.then
    assert done.asked[0].name == "Tickets.close", "the note on the ticket would be another one"
    assert {each.field for each in done.differences if not each.event} == {"summary"}


async def test_a_run_of_which_nothing_is_recorded_says_why(tmp_path: Path) -> None:
    its = msgspec.structs.replace(settings(tmp_path), trace=TraceSettings(replay=False))

    with pytest.raises(ServiceError, match=r"\[trace\] replay"):
        await run_and_record(its, tmp_path)


async def test_a_recording_goes_with_its_ticket(tmp_path: Path) -> None:
    its = settings(tmp_path)
    await run_and_record(its, tmp_path)

    await asyncio.to_thread(purge, Path(its.storage.folder), ["T-1"], judged=True)

    async with Node.open(its) as node:
        tables = [node.database.rows(f"SELECT * FROM {table}") for table in ("recording", "part")]
    assert tables == [[], []]


async def test_one_that_goes_on_cannot_be_replayed(tmp_path: Path) -> None:
    async with Node.open(settings(tmp_path)) as node:
        handle = await node.submit(Ticket(id="T-1", text=QUESTION))
        with pytest.raises(ServiceError, match="has not ended yet"):
            await load_recording(node.journal, node.recordings, await node.journal.find("T-1"))
        await handle.outcome()
        assert (await load_recording(node.journal, node.recordings, await node.journal.find("T-1"))).calls


def test_the_network_is_off_and_time_jumps() -> None:
    async def wait() -> float:
        await asyncio.sleep(3600)
        with pytest.raises(NetworkOff):
            await asyncio.open_connection("127.0.0.1", 9)
        return asyncio.get_running_loop().time()

    loop = ReplayLoop()
    try:
        assert loop.run_until_complete(wait()) == pytest.approx(3600)
    finally:
        loop.close()


def test_what_never_comes_ends_a_replay() -> None:
    loop = ReplayLoop()
    never = loop.create_future()
    try:
        with pytest.raises(ReplayStalled):
            loop.run_until_complete(never)
    finally:
        loop.close()
