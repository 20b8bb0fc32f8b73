"""One process with many runs: they share nothing, are submitted once, watched, cancelled, and remembered tomorrow."""

import asyncio
import contextlib
import math
import random
import re
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from structlog.testing import capture_logs

from actors.drafting.drafts import Draft, HandoverRequest, SecondReading
from actors.evidence.claims import Claim
from actors.evidence.passages import Passage, SearchHits
from actors.helpdesk.output_schemas import Analysis, Summary
from actors.ports import Completion, ModelRequest, Recall
from actors.workflow.outcome import EndReason, Outcome, RunEnded, Spent
from actors.workflow.tables import MAX_RESUMES
from actors.workflow.verify import TooFewHandoffs, verify
from bus.turns import TURNS
from runtime.cli.diagnostics import checks
from runtime.config import ConfigError, load
from runtime.engine.node import Node
from runtime.engine.run import LiveRun, ResumeState
from runtime.engine.runs import Busy, RunHandle
from runtime.families import FAMILIES
from runtime.families import helpdesk as helpdesk_family
from runtime.families.limits import configure
from runtime.memory.ticket_text import digest
from runtime.settings import RunSettings, ServerSettings, Settings, StorageSettings
from runtime.storage.errors import StorageError
from runtime.storage.records import StoredRun
from runtime.storage.work_mark import RunTurns
from runtime.tickets import Ticket
from tests.clock import settle
from tests.fakes import PLAIN, Knows, Thinks, approve, targets
from tests.patience import HANGS_SECONDS

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
    node.memory.documents = None  # the passages of its knowledge stand in no index
    same = node.memory._find_same

    async def recall(text: str, *, within: float) -> Recall:
        return await same(text, digest(text), math.inf) or Recall("miss")

    node.memory.recall = recall  # type: ignore[method-assign] # the same texts only: no process is needed for that
    try:
        yield node
    finally:
        await node.close()


class Gate(Model):
    """Thinks when it is let to."""

    def __init__(self) -> None:
        super().__init__()
        self.go, self.asked = asyncio.Event(), asyncio.Event()

    async def fill(self, shape: type[Any], task: ModelRequest, *, within: float) -> Completion:
        self.asked.set()
        await self.go.wait()
        return await super().fill(shape, task, within=within)


VPN = Ticket(id="T-1", text="My VPN drops every hour.")


class Echoes(Model):
    """Says in all that it says what it was shown, after some turns of the loop, so that a thousand interleave."""

    def __init__(self) -> None:
        super().__init__()
        self._dice = random.Random(5)

    async def fill(self, shape: type[Any], task: ModelRequest, *, within: float) -> Completion:
        self.tasks.append(task)
        for _ in range(self._dice.randrange(8)):
            await asyncio.sleep(0)
        shown = str(task.material)
        (word,) = set(CANARY.findall(shown))
        number = int(word.split("-")[1])
        if shape is Analysis:
            return Completion(Analysis("incident", "normal", f"{word} what is it?"))
        if shape is SecondReading:
            return Completion(approve(task), judged=True)
        if shape is Summary:
            return Completion(Summary(f"{word} is solved."))
        if number % 11 == 0:
            return Completion(
                Draft(pass_on=HandoverRequest("network" if task.agent == "worker" else "worker", f"{word} is for you"))
            )
        if number % 13 == 0:
            raise OSError(f"{word} broke it")
        assert task.findings is not None
        passages = task.findings.passages
        return Completion(
            Draft(tuple(Claim(p.text, n, p.text) for n, p in enumerate(passages, 1))), passages, judged=True
        )


class KnowsAll(Knows):
    async def search(self, question: str, *, within: float, limit: int | None = None, **_: object) -> SearchHits:
        await asyncio.sleep(0)
        (word,) = set(CANARY.findall(question))
        text = f"The answer to {word} is to switch it off and on again."
        passage = Passage(f"kb/{word}#1", f"kb/{word}.md", word, word, text, 0, len(text))
        return SearchHits((passage,))


def only(word: str, where: Any) -> None:
    """Of all canaries, only this one is there."""
    text = where if isinstance(where, str) else repr(where)
    assert set(CANARY.findall(text)) <= {word}, text


@pytest.mark.req("HD-1.5", "SY-1")
async def test_a_thousand_tickets_at_once_never_see_each_others_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for grace in ("transitions.CLOSING_SECONDS", "advance.CLOSING_SECONDS", "orchestrator.RECORDING_SECONDS"):
        monkeypatch.setattr(f"actors.workflow.{grace}", 60.0)  # how fast this machine is now is not what is tried here
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
            rows = node.database.rows("SELECT id, text, note FROM ticket")
            events = node.database.rows("SELECT run, event FROM event")
            remembered = node.database.rows("SELECT ticket_id, text, resolution FROM remembered")
            for n in range(0, TICKETS, 97):
                assert (await node.status(f"T-{n}"))[1] is not None

    for n, (outcome, heard) in enumerate(ends):
        word = f"canary-{n}-"
        expected = (
            EndReason.LOOP_DETECTED if n % 11 == 0 else EndReason.STEP_FAILED if n % 13 == 0 else EndReason.COMPLETED
        )
        assert outcome.why is expected, (n, outcome)
        only(word, outcome)
        only(word, heard)
        assert heard[-1] == RunEnded(outcome=outcome)
        if expected is EndReason.COMPLETED:
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
        assert (await later.outcome()).why is EndReason.COMPLETED
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

        assert outcome.why is EndReason.COMPLETED
        assert node.database.rows("SELECT count(*) FROM run") == [(1,)]


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
        assert isinstance(handle, RunHandle)
        heard = await asyncio.wait_for(all_of(handle), HANGS_SECONDS)
        assert heard == [*handle._live.so_far(), RunEnded(outcome=outcome)]
        gate.go.clear()
        left = asyncio.ensure_future(all_of(await node.submit(Ticket(id="T-2", text="other"))))
        await settle()

    heard = await asyncio.wait_for(left, HANGS_SECONDS)
    assert heard
    assert not any(isinstance(each, RunEnded) for each in heard)


async def test_a_slow_watcher_loses_the_oldest_and_holds_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("runtime.engine.runs.WATCH_LIMIT", 5)
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

        assert (outcome.why, outcome.ticket, targets(outcome)) == (EndReason.COMPLETED, "T-1", PLAIN)
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
        assert (await resumed[0].outcome()).why is EndReason.COMPLETED
        await handles[3].outcome()


async def test_a_node_closes_though_an_agent_blocks_a_worker_process(tmp_path: Path) -> None:
    class Blocks(Knows):
        async def search(self, question: str, *, within: float, limit: int | None = None, **_: object) -> SearchHits:
            calling.set()
            return await node.workers.call("tests.runtime.jobs:sleep", 1000.0, within=600, returns=SearchHits)

    calling = asyncio.Event()
    async with opened(tmp_path, knowledge=Blocks()) as node:
        await node.submit(VPN)
        await asyncio.wait_for(calling.wait(), HANGS_SECONDS)
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

        assert (outcome.why, outcome.status) == (EndReason.CANCELLED, "cancelled")
        assert node.database.rows("SELECT status FROM ticket") == [("cancelled",)]
        assert node.runs.live.of_ticket("T-1") is None


def test_the_configuration_sets_the_bounds_of_every_run() -> None:
    run = RunSettings(max_handoffs=33, max_seconds=44.0, agent_seconds=5.0, retries=2, cancel_seconds=6.0)
    flow = configure(helpdesk_family.FAMILY, Settings(run=run))

    assert (flow.max_handoffs, flow.max_seconds, flow.cancel_seconds) == (33, 44, 6)
    assert (flow.default_limits.within, flow.default_limits.retries) == (5, 2)


@pytest.mark.parametrize("handoffs", [1, 5, 10, 0, -1])
async def test_limits_under_which_no_run_could_end_well_open_no_node(tmp_path: Path, handoffs: int) -> None:
    """Whoever put the settings together: by their bounds, and by what the tables take."""
    settings = Settings(storage=StorageSettings(folder=str(tmp_path)), run=RunSettings(max_handoffs=handoffs))

    with pytest.raises(ConfigError, match=r"11.*max_handoffs"):
        async with Node.open(settings):
            pytest.fail("it opened")
    with pytest.raises(ConfigError, match="max_handoffs") as refused:
        configure(helpdesk_family.FAMILY, settings)

    sentence = str(refused.value)
    if handoffs > 0:
        assert sentence == (
            f"[run] max_handoffs is {handoffs}, but a run of helpdesk in which all goes well takes 11. "
            "Set it to a whole number from 11 to 20."
        )
    (check,) = [each for each in checks(settings, None, reach=False) if each.name == "Workflows"]
    assert (check.state, check.found) == ("problem", sentence)


LEAST = {"helpdesk": 11, "research": 11, "legal": 7}


def test_what_may_be_configured_is_enough_for_every_table() -> None:
    settings = Settings(run=RunSettings(max_handoffs=11))

    for family in FAMILIES:
        flow = family.flow
        assert configure(family, settings).max_handoffs == 11
        with pytest.raises(TooFewHandoffs) as refused:
            verify(msgspec.structs.replace(flow, max_handoffs=LEAST[family.name] - 1))
        assert refused.value.least == LEAST[family.name]
    (check,) = [each for each in checks(settings, None, reach=False) if each.name == "Workflows"]
    assert (check.state, check.found) == ("ok", "helpdesk, research and legal: at most 11 handoffs and 600 s a run")
    for few in (10, 21):
        with pytest.raises(ConfigError, match="from 11 to 20"):
            load(None, {"TERMINUS_RUN_MAX_HANDOFFS": str(few)})


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
        assert len(await second.journal.latest(10)) == 1


async def test_a_ticket_that_another_process_works_on_is_followed_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("runtime.engine.runs.LOOK_SECONDS", 0.01)
    gate = Gate()
    async with opened(tmp_path, gate) as first, opened(tmp_path) as second:
        handle = await first.submit(VPN)
        followed = await second.submit(VPN)
        heard = asyncio.ensure_future(_all_of(followed))
        assert (followed.run, second.live) == (handle.run, 0)
        gate.go.set()

        outcome = await handle.outcome()
        assert await followed.outcome() == outcome
        assert (await heard)[-1] == RunEnded(outcome=outcome)


async def test_a_run_that_is_followed_goes_on_here_when_its_process_dies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("runtime.engine.runs.LOOK_SECONDS", 0.01)
    async with opened(tmp_path) as second:
        async with opened(tmp_path, Gate()) as first:
            handle = await first.submit(VPN)
            followed = await second.submit(VPN)
            waiting, heard = asyncio.ensure_future(followed.outcome()), asyncio.ensure_future(_all_of(followed))
            await settle()
            _die(first)

        outcome = await asyncio.wait_for(waiting, HANGS_SECONDS)
        assert (outcome.run, outcome.why) == (handle.run, EndReason.COMPLETED)
        assert (await heard)[-1] == RunEnded(outcome=outcome)


async def test_a_run_of_another_process_is_cancelled_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runtime.engine.runs.CANCEL_POLL_SECONDS", 0.01)
    async with opened(tmp_path, Gate()) as first, opened(tmp_path) as second:
        handle = await first.submit(VPN)
        (await second.submit(VPN)).cancel()

        assert (await asyncio.wait_for(handle.outcome(), HANGS_SECONDS)).status == "cancelled"


async def test_a_run_whose_process_is_gone_is_cancelled_by_whoever_is_asked(tmp_path: Path) -> None:
    async with opened(tmp_path, Gate()) as first:
        await first.submit(VPN)
        _die(first)
    async with opened(tmp_path, Gate()) as second:
        assert await second.cancel("T-1")
        handle = second.runs.live.of_ticket("T-1")
        assert handle is not None
        assert (await asyncio.wait_for(handle.outcome(), HANGS_SECONDS)).status == "cancelled"
        assert not await second.cancel("T-1")


@pytest.mark.parametrize("how", ["stopped in order", "killed from outside", "killed at its work"])
async def test_only_deaths_at_its_work_count_however_often_its_process_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    monkeypatch.setattr("runtime.engine.runs.OTHERS_SECONDS", 0.0)
    for n in range(MAX_RESUMES + 2):
        with monkeypatch.context() as dead:
            gate = Gate()
            async with opened(tmp_path, gate) as node:
                (handle,) = await node.resume() if n else [await node.submit(VPN)]
                if n <= MAX_RESUMES or how != "killed at its work":
                    # One that is tried alone comes a little later; what was answered before counts no death.
                    await asyncio.wait_for(gate.asked.wait(), HANGS_SECONDS)
                await settle()
                if how != "stopped in order":
                    _die(node)
                await settle()
                if how == "killed at its work":
                    dead.setattr(RunTurns, "end", lambda _: None)  # whoever is dead ends no turn
                    node.owner.mark.turns_of(handle.run).begin()
    async with opened(tmp_path) as node:
        for handle in await node.resume():
            await handle.outcome()
        outcome = (await node.status("T-1"))[1]
        assert outcome is not None
        at_work = how == "killed at its work"
        assert outcome.why is (EndReason.CRASHED_REPEATEDLY if at_work else EndReason.COMPLETED)


@pytest.mark.parametrize("suspected", [False, True])
async def test_what_kills_while_a_run_is_taken_over_is_held_against_that_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suspected: bool
) -> None:
    async with opened(tmp_path, Gate()) as node:
        handle = await node.submit(VPN)
        await settle()
    async with opened(tmp_path) as node:
        if suspected:
            await node.journal.record_death(handle.run)
        noted, replay, begin = list[str](), node.journal.resume_state, node.runs._begin

        def note() -> None:
            noted.append(bytes(node.owner.mark.now).partition(b"\0")[0].decode())

        async def replay_and_note(stored: StoredRun) -> ResumeState:
            note()
            state = await replay(stored)
            note()
            return state

        async def begin_and_note(*given: Any) -> LiveRun:
            note()
            return await begin(*given)

        monkeypatch.setattr(node.journal, "resume_state", replay_and_note)
        monkeypatch.setattr(node.runs, "_begin", begin_and_note)
        (resumed,) = await node.resume()
        await resumed.outcome()

        assert set(noted) == {handle.run}
        assert len(noted) == (5 if suspected else 3)


async def test_an_open_node_marks_the_work_of_the_tasks_that_its_agents_start(tmp_path: Path) -> None:
    """As `serve` alone did: a program that embeds a node, and `submit`, did not."""
    loop = asyncio.get_running_loop()
    async with Node.open(Settings(storage=StorageSettings(folder=str(tmp_path)))) as node:
        mark, noted = node.owner.mark, list[bytes]()

        async def works() -> None:
            noted.append(bytes(mark.now[:3]))

        TURNS.set(mark.turns_of("R-1"))
        try:
            await asyncio.gather(works(), works())
        finally:
            TURNS.set(None)
        assert noted == [b"R-1", b"R-1"]
        assert mark.now[0] == 0
    assert loop.get_task_factory() is None


async def test_two_processes_that_get_a_ticket_at_once_have_one_run(tmp_path: Path) -> None:
    async with opened(tmp_path) as first, opened(tmp_path) as second:
        for n in range(30):
            ticket = Ticket(id=f"T-{n}", text=f"My VPN drops, number {n}.")
            one, other = await asyncio.gather(first.submit(ticket), second.submit(ticket))
            assert one.run == other.run
            assert await one.outcome() == await other.outcome()

        assert len(await first.journal.latest(99)) == 30


async def test_an_older_run_that_was_seen_is_not_begun_again_when_another_has_ended_meanwhile(tmp_path: Path) -> None:
    """Both looked before either had begun; the one is done before the other begins."""
    async with opened(tmp_path) as first, opened(tmp_path) as second:
        outcome = await (await first.submit(VPN, seen=0)).outcome()
        late = await second.submit(VPN, seen=0)
        assert (late.run, await late.outcome()) == (outcome.run, outcome)
        again = await second.submit(VPN, seen=(await first.journal.run(outcome.run)).seq)
        assert again.run != outcome.run
        await again.outcome()


async def test_a_made_up_id_overwrites_no_ticket(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = iter(["T-7", "R-1", "T-7", "R-2", "T-8", "R-3"])
    async with opened(tmp_path) as node:
        assert re.fullmatch(r"T-[0-9a-f]{16}", (await node.submit(Ticket(text="VPN"))).ticket)
        monkeypatch.setattr("runtime.engine.runs.make_id", lambda _: next(made))
        first = await node.submit(Ticket(text="VPN, first"))
        await first.outcome()
        second = await node.submit(Ticket(text="VPN, second"))
        await second.outcome()

        assert (first.ticket, second.ticket) == ("T-7", "T-8")
        assert node.database.rows("SELECT text FROM ticket WHERE id = 'T-7'") == [("VPN, first",)]


async def test_a_run_that_cannot_be_put_to_work_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with opened(tmp_path) as node:
        monkeypatch.setattr(node.runs, "_begin", _too_many_files)
        with pytest.raises(OSError, match="Too many"):
            await node.submit(VPN)

        outcome = (await node.status("T-1"))[1]
        assert outcome is not None
        assert outcome.why is EndReason.ORCHESTRATOR_FAILED
        assert await node.journal.list_open() == []


async def test_an_end_that_is_not_recorded_is_all_that_this_process_says_and_the_next_records_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("runtime.engine.runs.RELEASE_SECONDS", 0.05)
    gate = Gate()
    async with opened(tmp_path, gate) as node:
        handle = await node.submit(VPN)
        await settle()
        monkeypatch.setattr(node.database, "_together", _full)
        gate.go.set()
        told = await handle.outcome()

        assert told.why is EndReason.STORAGE_FAILED
        assert await node.status("T-1") == (await node.journal.find("T-1"), told)
        assert (await node.journal.find("T-1")).status == "error"
        again = await node.submit(VPN)
        assert (again.run, await again.outcome()) == (handle.run, told)
        assert (await _all_of(again))[-1] == RunEnded(outcome=told)
        assert not await node.cancel("T-1")
        assert await node.resume() == []
        assert node.live == 0
        with pytest.raises(StorageError):
            await node.submit(Ticket(text="another"))

    async with opened(tmp_path) as node:
        assert await node.resume() == []
        assert (await node.status("T-1"))[1] == told
        assert node.owner.others() == []


async def test_ends_that_are_not_recorded_take_the_place_of_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("runtime.engine.runs.RELEASE_SECONDS", 0.05)
    gate = Gate()
    async with opened(tmp_path, gate, server=ServerSettings(max_runs=1)) as node:
        handle = await node.submit(VPN)
        await settle()
        commit = node.database._together
        monkeypatch.setattr(node.database, "_together", _full)
        gate.go.set()
        await handle.outcome()
        with pytest.raises(Busy):
            await node.submit(Ticket(text="another"))

        monkeypatch.setattr(node.database, "_together", commit)
        assert await node.journal.pending.settle(20)
        assert (await (await node.submit(Ticket(text="VPN"))).outcome()).why is EndReason.COMPLETED


def _die(node: Node) -> None:
    """As a kill does: nobody lets go of anything, but the system of the lock."""
    node.runs.live.abandon()
    node.owner.token, dead = "dead", node.owner.token
    assert dead


def _full(_: Any) -> None:
    raise sqlite3.OperationalError("database or disk is full")


def _too_many_files(*_: Any) -> Any:
    raise OSError(24, "Too many open files")


async def _all_of(handle: Any) -> list[Any]:
    return [event async for event in handle.watch()]
