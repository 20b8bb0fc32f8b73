"""One process with many runs: they share nothing, are submitted once, watched, cancelled, and remembered tomorrow."""

import asyncio
import contextlib
import random
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from structlog.testing import capture_logs

from actors.evidence import Claim, Findings, Passage, Slice
from actors.helpdesk.drafts import Analysis, Draft, PassOn, Summary
from actors.outcome import Outcome, RunEnded, Spent, Why
from actors.ports import Filled, Recall, Task
from runtime.cast import configured
from runtime.node import Busy, Node
from runtime.settings import RunSettings, ServerSettings, Settings, StorageSettings
from runtime.storage.journal import Ticket
from tests.clock import settle
from tests.fakes import PLAIN, Knows, Thinks, targets

TICKETS = 1_000
CANARY = re.compile(r"canary-\d+-")


class Model(Thinks):
    """The model of every run, which the models of a node would hand out."""

    def for_run(self, run_id: str, *_: Any, **__: Any) -> tuple[Any, Any]:
        return self, Spent

    async def close(self) -> None: ...


@contextlib.asynccontextmanager
async def opened(folder: Path, model: Any = None, knowledge: Any = None, **sections: Any) -> AsyncIterator[Node]:
    node = Node(Settings(storage=StorageSettings(folder=str(folder)), **sections))
    node.models = model or Model()  # type: ignore[assignment] # they are ports
    node.knowledge = knowledge or Knows()
    same = node.memory._same

    async def recall(text: str, *, within: float) -> Recall:
        return same(text) or Recall("miss")

    node.memory.recall = recall  # type: ignore[method-assign] # the same texts only: no process is needed for that
    try:
        yield node
    finally:
        await node.close()


class Gate(Model):
    """Thinks when it is let to."""

    def __init__(self) -> None:
        super().__init__()
        self.go = asyncio.Event()

    async def fill(self, shape: type[Any], task: Task, *, within: float) -> Filled:
        await self.go.wait()
        return await super().fill(shape, task, within=within)


VPN = Ticket(id="T-1", text="My VPN drops every hour.")


class Echoes(Model):
    """Says in all that it says what it was shown, after some turns of the loop, so that a thousand interleave."""

    def __init__(self) -> None:
        super().__init__()
        self._dice = random.Random(5)

    async def fill(self, shape: type[Any], task: Task, *, within: float) -> Filled:
        self.tasks.append(task)
        for _ in range(self._dice.randrange(8)):
            await asyncio.sleep(0)
        shown = " ".join(text for _, text in task.material)
        (word,) = set(CANARY.findall(shown))
        number = int(word.split("-")[1])
        if shape is Analysis:
            return Filled(Analysis("incident", "normal", f"{word} what is it?"))
        if shape is Summary:
            return Filled(Summary(f"{word} is solved."))
        if number % 11 == 0:
            return Filled(
                Draft(pass_on=PassOn("network" if task.agent == "worker" else "worker", f"{word} is for you"))
            )
        if number % 13 == 0:
            raise OSError(f"{word} broke it")
        assert task.findings is not None
        passages = task.findings.passages
        return Filled(Draft(tuple(Claim(p.text, n, p.text) for n, p in enumerate(passages, 1))), passages, judged=True)


class KnowsAll(Knows):
    async def search(self, question: str, *, within: float, limit: int | None = None, **_: object) -> Findings:
        await asyncio.sleep(0)
        (word,) = set(CANARY.findall(question))
        text = f"The answer to {word} is to switch it off and on again."
        passage = Passage(
            f"kb/{word}#1", f"kb/{word}.md", word, word, text, 0, len(text), quotes=(Slice(0, len(text), 0.9),)
        )
        return Findings((passage,), "", 0.9)


def only(word: str, where: Any) -> None:
    """Of all canaries, only this one is there."""
    text = where if isinstance(where, str) else repr(where)
    assert set(CANARY.findall(text)) <= {word}, text


@pytest.mark.req("HD-1.5", "SY-1")
async def test_a_thousand_tickets_at_once_never_see_each_others_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for grace in ("moves.CLOSING_SECONDS", "advance.CLOSING_SECONDS", "orchestrator.RECORDING_SECONDS"):
        monkeypatch.setattr(f"actors.{grace}", 60.0)  # how fast this machine is now is not what is tried here
    model = Echoes()

    async def ticket(node: Node, n: int) -> tuple[Outcome, list[Any]]:
        handle = await node.submit(Ticket(id=f"T-{n}", text=f"canary-{n}- does not work", requester=f"canary-{n}-"))
        heard = [event async for event in handle.watch()]
        return await handle.outcome(), heard

    with capture_logs() as lines:
        async with opened(tmp_path, model, KnowsAll()) as node:
            ends = await asyncio.gather(*(ticket(node, n) for n in range(TICKETS)))
            run_of = {outcome.run: f"canary-{n}-" for n, (outcome, _) in enumerate(ends)}
            assert node.live == 0
            rows = node.database.read("SELECT id, text, note FROM ticket")
            events = node.database.read("SELECT run, event FROM event")
            remembered = node.database.read("SELECT ticket_id, text, resolution FROM remembered")
            for n in range(0, TICKETS, 97):
                assert node.status(f"T-{n}")[1] is not None

    for n, (outcome, heard) in enumerate(ends):
        word = f"canary-{n}-"
        expected = Why.LOOP_DETECTED if n % 11 == 0 else Why.STEP_FAILED if n % 13 == 0 else Why.COMPLETED
        assert outcome.why is expected, (n, outcome)
        only(word, outcome)
        only(word, heard)
        assert heard[-1] == RunEnded(outcome=outcome)
        if expected is Why.COMPLETED:
            assert outcome.resolution is not None
            assert word in outcome.resolution.text
            assert targets(outcome) == PLAIN
    for task in model.tasks:
        assert len(set(CANARY.findall(repr(task)))) == 1
    for line in lines:
        if "run" in line:
            only(run_of[line["run"]], line)
        assert len(set(CANARY.findall(repr(line)))) <= 1
    for ticket_id, text, note in rows:
        only(f"canary-{ticket_id[2:]}-", text + note)
    for run, event in events:
        only(run_of[run], event.decode("utf-8", "replace"))
    for ticket_id, text, resolution in remembered:
        only(f"canary-{ticket_id[2:]}-", text + resolution.decode("utf-8", "replace"))


@pytest.mark.req("HD-5.1", "HD-1.5")
async def test_the_same_ticket_tomorrow_ends_at_memory_with_nobody_asked(tmp_path: Path) -> None:
    async with opened(tmp_path) as node:
        first = await (await node.submit(VPN)).outcome()
    model = Model()
    async with opened(tmp_path, model) as node:
        second = await (await node.submit(msgspec.structs.replace(VPN, id="T-2"))).outcome()

    assert (first.status, second.status, second.state) == ("resolved", "resolved", "memory_checked")
    assert targets(second) == ["memory", "orchestrator", "ticketing"]
    assert model.tasks == []
    assert second.resolution == first.resolution


async def test_an_answer_that_was_rejected_does_not_come_back(tmp_path: Path) -> None:
    async with opened(tmp_path) as node:
        await (await node.submit(VPN)).outcome()
        assert await node.feedback("T-1", right=False) == ("T-1", 1)

        again = await (await node.submit(msgspec.structs.replace(VPN, id="T-2"))).outcome()

    assert targets(again) == PLAIN


async def test_feedback_on_an_answer_from_memory_goes_to_the_ticket_that_it_came_from(tmp_path: Path) -> None:
    async with opened(tmp_path) as node:
        await (await node.submit(VPN)).outcome()
        await (await node.submit(msgspec.structs.replace(VPN, id="T-2"))).outcome()

        assert await node.feedback("T-2", right=True) == ("T-1", 1)


async def test_a_ticket_that_is_being_worked_on_is_not_run_twice(tmp_path: Path) -> None:
    gate = Gate()
    async with opened(tmp_path, gate) as node:
        at_once = await asyncio.gather(*(node.submit(VPN) for _ in range(5)))
        later = await node.submit(VPN)

        assert {each.run for each in (*at_once, later)} == {later.run}
        assert node.live == 1
        gate.go.set()
        assert (await later.outcome()).why is Why.COMPLETED
        again = await node.submit(VPN)
        assert again.run != later.run
        await again.outcome()


async def test_who_goes_away_while_submitting_leaves_the_run_behind(tmp_path: Path) -> None:
    async with opened(tmp_path) as node:
        submitting = asyncio.ensure_future(node.submit(VPN))
        await asyncio.sleep(0)
        submitting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await submitting

        outcome = await (await node.submit(VPN)).outcome()

        assert outcome.why is Why.COMPLETED
        assert node.database.read("SELECT count(*) FROM run") == [(1,)]


async def test_more_runs_than_allowed_are_refused_also_at_once(tmp_path: Path) -> None:
    gate = Gate()
    async with opened(tmp_path, gate, server=ServerSettings(max_runs=3)) as node:
        tickets = [Ticket(id=f"T-{n}", text="VPN") for n in range(5)]
        made = await asyncio.gather(*(node.submit(each) for each in tickets), return_exceptions=True)

        assert [type(each).__name__ for each in made] == ["RunHandle"] * 3 + ["Busy"] * 2
        with pytest.raises(Busy, match="3 tickets are being worked on; try again"):
            await node.submit(Ticket(text="one more"))
        assert (await node.submit(tickets[0])).ticket == "T-0", "it has its place already"
        gate.go.set()


async def test_a_watcher_comes_to_its_end_when_it_comes_late_and_when_the_node_closes(tmp_path: Path) -> None:
    gate = Gate()

    async def all_of(handle: Any) -> list[Any]:
        return [event async for event in handle.watch()]

    async with opened(tmp_path, gate) as node:
        handle = await node.submit(VPN)
        gate.go.set()
        outcome = await handle.outcome()
        assert await asyncio.wait_for(all_of(handle), 5) == [*handle._live.so_far(), RunEnded(outcome=outcome)]
        gate.go.clear()
        left = asyncio.ensure_future(all_of(await node.submit(Ticket(id="T-2", text="other"))))
        await settle()

    heard = await asyncio.wait_for(left, 5)
    assert heard
    assert not any(isinstance(each, RunEnded) for each in heard)


async def test_a_slow_watcher_loses_the_oldest_and_holds_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("runtime.handle.WATCH_LIMIT", 5)
    async with opened(tmp_path) as node:
        handle = await node.submit(VPN)
        watching = handle.watch()
        outcome = await handle.outcome()

        heard = [event async for event in watching]

    assert len(heard) == 6
    assert heard[-1] == RunEnded(outcome=outcome)


async def test_what_has_not_ended_when_a_node_closes_is_resumed_by_the_next(tmp_path: Path) -> None:
    async with opened(tmp_path, Gate()) as node:
        await node.submit(VPN)
        await settle()
    async with opened(tmp_path) as node:
        (handle,) = await node.resume()
        outcome = await handle.outcome()

        assert (outcome.why, outcome.ticket, targets(outcome)) == (Why.COMPLETED, "T-1", PLAIN)
        assert await node.resume() == []
        assert not await node.cancel("T-1")


async def test_a_run_is_resumed_once_however_many_ask_for_it(tmp_path: Path) -> None:
    async with opened(tmp_path, Gate()) as node:
        await node.submit(VPN)
    async with opened(tmp_path) as node:
        handles = await asyncio.gather(
            node.resume(), node.resume(), node.resume(), node.submit(msgspec.structs.replace(VPN, id="T-2"))
        )

        resumed = [each for some in handles[:3] for each in some]
        assert len(resumed) == 1
        assert (await resumed[0].outcome()).why is Why.COMPLETED
        await handles[3].outcome()


async def test_a_node_closes_though_an_agent_blocks_a_worker_process(tmp_path: Path) -> None:
    class Blocks(Knows):
        async def search(self, question: str, *, within: float, limit: int | None = None, **_: object) -> Findings:
            calling.set()
            return await node.workers.call("tests.runtime.jobs:sleep", 1000.0, within=600, returns=Findings)

    calling = asyncio.Event()
    async with opened(tmp_path, knowledge=Blocks()) as node:
        await node.submit(VPN)
        await asyncio.wait_for(calling.wait(), 10)
        await settle()
        assert len(node.workers._busy) == 1

    await settle()
    assert node.workers._busy == set()
    assert node.workers.killed == 1


async def test_a_run_is_cancelled_by_its_ticket(tmp_path: Path) -> None:
    async with opened(tmp_path, Gate()) as node:
        handle = await node.submit(VPN)
        assert await node.cancel("T-1")
        outcome = await handle.outcome()

        assert (outcome.why, outcome.status) == (Why.CANCELLED, "cancelled")
        assert node.database.read("SELECT status FROM ticket") == [("cancelled",)]
        assert node.handle("T-1") is None


def test_the_configuration_sets_the_bounds_of_every_run() -> None:
    from actors.helpdesk.workflow import HELPDESK

    run = RunSettings(max_handoffs=33, max_seconds=44.0, agent_seconds=5.0, retries=2, cancel_seconds=6.0)
    flow = configured(HELPDESK, Settings(run=run))

    assert (flow.max_handoffs, flow.max_seconds, flow.cancel_seconds) == (33, 44, 6)
    assert (flow.default_limits.within, flow.default_limits.retries) == (5, 2)


async def test_a_ticket_that_comes_again_goes_on_with_the_run_that_a_crash_left(tmp_path: Path) -> None:
    settings = Settings(storage=StorageSettings(folder=str(tmp_path)))
    first = Node(settings)
    handle = await first.submit(Ticket(text="My VPN drops.", id="T-7"))
    await first.close()  # as a crash: nothing of the run has ended

    async with Node.open(settings) as second:
        again = await second.submit(Ticket(text="My VPN drops.", id="T-7"))
        outcome = await again.outcome()

        assert again.run == handle.run
        assert outcome.status in {"not_found", "suggested", "resolved"}
        assert len(second.journal.latest(10)) == 1


async def test_a_ticket_that_another_process_works_on_is_not_run_twice(tmp_path: Path) -> None:
    settings = Settings(storage=StorageSettings(folder=str(tmp_path)))
    async with Node.open(settings) as first, Node.open(settings) as second:
        await first.submit(Ticket(text="My VPN drops.", id="T-7"))

        with pytest.raises(Busy, match="Another process is working on T-7"):
            await second.submit(Ticket(text="My VPN drops.", id="T-7"))
