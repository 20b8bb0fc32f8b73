"""Researches of a node: over its own documents, as the worker of a ticket, and gone on with after a crash."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from actors.evidence.claims import Claim
from actors.helpdesk.workflow import RESEARCHER
from actors.ports import ModelRequest
from actors.research.models import ResearchOptions
from actors.research.output_schemas import Answer
from actors.workflow.outcome import EndReason, Outcome, RunEnded, Spent
from actors.workflow.progress import RoundBegan, StageProgress
from runtime.engine.node import Node
from runtime.settings import Settings, StorageSettings
from runtime.tickets import Ticket
from tests.fakes import targets
from tests.inquiry import Scripted

DOCUMENTS = {
    "eviction.md": "# Eviction in Halyard\n\nHalyard evicts the entry that was used least recently. "
    "A pinned entry is never evicted by Halyard.\n\n## Limits\n\nThe cache of Halyard holds 4096 entries unless "
    "`max_entries` is raised. When it is full, each write evicts one entry.\n",
    "pins.md": "# Pinned entries\n\nPinned entries of the Halyard cache count towards its limit. Halyard refuses a pin "
    "when half of all entries are pinned.\n\n## Unpinning\n\nAn entry is unpinned with `halyard unpin KEY`.\n",
    "metrics.md": "# Metrics\n\nHalyard reports each eviction as a counter named `halyard_evictions`. The counter is "
    "reset when the process starts.\n",
}
"""Invented."""
QUESTION = "How does Halyard evict entries of its cache?"


@contextlib.asynccontextmanager
async def opened(folder: Path, **sections: Any) -> AsyncIterator[Node]:
    node = Node(Settings(storage=StorageSettings(folder=str(folder)), **sections))
    try:
        yield node
    finally:
        await node.close()


@contextlib.asynccontextmanager
async def knowing(folder: Path, **sections: Any) -> AsyncIterator[Node]:
    """A node that has read the documents."""
    documents = folder / "docs"
    await asyncio.to_thread(_write, documents)
    async with opened(folder / "store", **sections) as node:
        await node.index([str(documents)], lambda _: None)
        yield node


def _write(folder: Path) -> None:
    folder.mkdir()
    for name, text in DOCUMENTS.items():
        (folder / name).write_text(text, encoding="utf-8")


class Onward:
    """Models for a node: quotes what it is shown, and always knows what to look for next."""

    def for_run(self, *_: Any, **__: Any) -> tuple[Scripted, type[Spent]]:
        def answer(task: ModelRequest) -> Answer:
            passages = task.findings.passages if task.findings else ()
            claims = tuple(Claim(each.text, n, each.text) for n, each in enumerate(passages, 1))
            return Answer(claims, ("Pinned entries of the Halyard cache",))

        return Scripted({Answer: answer}), Spent

    async def close(self) -> None: ...


def cited(outcome: Outcome) -> bool:
    assert outcome.resolution is not None
    texts = [" ".join(text.split()) for text in DOCUMENTS.values()]
    quotes = [" ".join(each.quote.split()) for each in outcome.resolution.citations]
    return bool(quotes) and all(any(quote in text for text in texts) for quote in quotes)


@pytest.mark.req("PR-1", "PR-7")
async def test_a_question_becomes_a_report_over_the_own_documents(tmp_path: Path) -> None:
    async with knowing(tmp_path) as node:
        handle = await node.submit(Ticket(id="T-1", text=QUESTION, workflow="research", options=ResearchOptions()))
        heard = [each async for each in handle.watch()]
        outcome = await handle.outcome()

        assert (outcome.workflow, outcome.status, outcome.why) == ("research", "suggested", EndReason.COMPLETED)
        assert cited(outcome)
        assert isinstance(heard[-1], RunEnded)
        assert any(isinstance(each, RoundBegan) for each in heard)
        assert any(isinstance(each, StageProgress) for each in heard)
        assert (await node.status("T-1"))[1] == outcome
        assert [run.id for run in await node.journal.latest(10)] == [outcome.run], (
            "rounds below are not runs of their own"
        )
        await node.database.run()  # what nobody waits for is written by now
        assert node.database.rows("SELECT count(*) FROM effect") == [(0,)], "nothing is kept twice"


async def test_what_the_documents_do_not_say_is_an_honest_not_found(tmp_path: Path) -> None:
    async with knowing(tmp_path) as node:
        handle = await node.submit(
            Ticket(text="Who won the rowing regatta of Lake Muon?", workflow="research", options=ResearchOptions())
        )

        outcome = await handle.outcome()

        assert (outcome.status, outcome.why) == ("not_found", EndReason.COMPLETED)


async def test_a_ticket_that_asks_for_a_report_gets_a_research_for_its_worker(tmp_path: Path) -> None:
    async with knowing(tmp_path) as node:
        text = "Please write a report on how Halyard evicts entries of its cache."
        handle = await node.submit(Ticket(id="T-7", text=text))

        outcome = await handle.outcome()

        assert (outcome.workflow, outcome.by, outcome.status) == ("helpdesk", "ticketing", "suggested")
        assert RESEARCHER in targets(outcome)
        assert cited(outcome)
        child = await node.journal.find(f"{outcome.run}.5")
        assert (child.workflow, child.status) == ("research", "suggested")
        assert [run.ticket for run in await node.journal.latest(10)] == ["T-7"]


async def test_an_ordinary_ticket_has_its_ordinary_worker(tmp_path: Path) -> None:
    async with knowing(tmp_path) as node:
        handle = await node.submit(Ticket(text="How does Halyard evict entries of its cache?"))

        outcome = await handle.outcome()

        assert RESEARCHER not in targets(outcome)
        assert "worker" in targets(outcome)


async def test_a_research_whose_deeper_round_was_interrupted_goes_on_with_it(tmp_path: Path) -> None:
    async with knowing(tmp_path) as node:
        # given
        node.models = Onward()  # type: ignore[assignment] # it is a port
        handle = await node.submit(
            Ticket(id="T-1", text=QUESTION, workflow="research", options=ResearchOptions(breadth=1, depth=3))
        )
        async for each in handle.watch():
            if isinstance(each, RoundBegan) and each.number == 2:
                break
        node.runs.live.abandon()
        below = f"{handle.run}.9"
        rounds = node.database.rows("SELECT id, ended FROM run WHERE id = ?", (below,))
        assert rounds == [(below, None)]
        assert [run.id for run in await node.journal.list_open()] == [handle.run], (
            "a round is resumed by the one above it"
        )

        # when
        (again,) = await node.resume()
        outcome = await again.outcome()

        # then
        assert (outcome.run, outcome.why) == (handle.run, EndReason.COMPLETED)
        assert node.database.rows("SELECT count(*) FROM run WHERE id = ?", (below,)) == [(1,)]
        assert node.database.rows("SELECT count(*) FROM run WHERE ended IS NULL") == [(0,)]


async def test_a_round_that_ended_while_nobody_heard_of_it_is_not_run_again(tmp_path: Path) -> None:
    async with knowing(tmp_path) as node:
        # given a research of which the journal lost all since its deeper round began
        node.models = Onward()  # type: ignore[assignment] # it is a port
        handle = await node.submit(
            Ticket(id="T-1", text=QUESTION, workflow="research", options=ResearchOptions(breadth=1, depth=2))
        )
        whole = await handle.outcome()
        child = await node.journal.outcome(await node.journal.find(f"{handle.run}.9"))
        assert child is not None
        await node.database.run(
            ("DELETE FROM event WHERE run = ? AND n > 4", (handle.run,)),
            ("UPDATE run SET ended = NULL, ending = NULL, status = 'running', owner = '' WHERE id = ?", (handle.run,)),
        )
        events = node.database.rows("SELECT count(*) FROM event WHERE run = ?", (f"{handle.run}.9",))

        # when
        (again,) = await node.resume()
        outcome = await again.outcome()

        # then
        assert outcome.resolution == whole.resolution
        assert node.database.rows("SELECT count(*) FROM event WHERE run = ?", (f"{handle.run}.9",)) == events
