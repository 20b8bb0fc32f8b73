"""Runs that did not end as planned are replayed, too: stopped, out of time, asking something."""

import asyncio
from pathlib import Path
from typing import Any

import msgspec
import pytest

from actors.evidence.passages import SearchHits
from actors.ports import PortFailed
from runtime.engine.node import Node
from runtime.observe.replay import Recording, load_recording, replay
from runtime.settings import RunSettings, Settings
from runtime.tickets import Ticket
from tests.fakes import Knows
from tests.runtime.observe.recorded import settings

REPORT = "Please write a report that compares eviction and pins in Halyard."


class Hangs(Knows):
    """Never answers, and says when it is asked."""

    def __init__(self) -> None:
        super().__init__()
        self.is_asked = asyncio.Event()

    async def search(self, question: str, *, within: float, limit: int | None = None, **_: object) -> SearchHits:
        self.is_asked.set()
        await asyncio.Event().wait()
        raise AssertionError


class Fails(Knows):
    async def search(self, question: str, *, within: float, limit: int | None = None, **_: object) -> SearchHits:
        raise PortFailed("The index is away. Mend it.")


async def run_on(its: Settings, knowledge: Any, ticket: Ticket, *, cancels: bool = False) -> Recording:
    async with Node.open(its) as node:
        node.knowledge = knowledge
        handle = await node.submit(ticket)
        if cancels:
            await knowledge.is_asked.wait()
            handle.cancel()
        await handle.outcome()
        return await load_recording(node.journal, node.recordings, await node.journal.find(ticket.id))


def limited(folder: Path, **limits: float) -> Settings:
    return msgspec.structs.replace(settings(folder), run=RunSettings(**limits))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("limits", "status", "why"),
    [({"agent_seconds": 0.3}, "error", "step_timed_out"), ({"max_seconds": 1.0}, "error", "timed_out")],
)
async def test_what_was_out_of_time_is_out_of_time_at_the_same_moment(
    tmp_path: Path, limits: dict[str, float], status: str, why: str
) -> None:
    its = limited(tmp_path, **limits)
    recording = await run_on(its, Hangs(), Ticket(id="T-1", text="What about the press?"))

    done = await asyncio.to_thread(replay, recording, its)

    assert (done.then.status, done.then.why) == (status, why)
    assert (done.differences, done.asked) == ((), ())
    assert done.is_same


@pytest.mark.parametrize("text", ["What about the press?", REPORT])
async def test_what_was_cancelled_is_cancelled_where_it_was(tmp_path: Path, text: str) -> None:
    its = settings(tmp_path)
    recording = await run_on(its, Hangs(), Ticket(id="T-1", text=text), cancels=True)

    done = await asyncio.to_thread(replay, recording, its)

    assert done.then.status == "cancelled"
    assert (done.differences, done.asked) == ((), ())
    assert done.is_same


async def test_what_failed_fails_again_with_its_sentence(tmp_path: Path) -> None:
    its = settings(tmp_path)
    recording = await run_on(its, Fails(), Ticket(id="T-1", text="What about the press?"))

    done = await asyncio.to_thread(replay, recording, its)

    assert ("PortFailed", "The index is away. Mend it.") in [call.failure for call in recording.calls]
    assert done.is_same, done.differences


async def test_a_letter_that_lacks_something_asks_the_same(tmp_path: Path) -> None:
    its = settings(tmp_path)
    ticket = Ticket(id="T-1", text="起草一份律师函，催告对方支付货款。", workflow="legal")
    recording = await run_on(its, Knows(), ticket)

    done = await asyncio.to_thread(replay, recording, its)

    assert done.then.status == "needs_input"
    assert done.is_same, done.differences
