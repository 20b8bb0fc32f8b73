"""What the benchmarks compare is the same work: twelve turns in order, and six questions to the model."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog

from bench import ours, raw


class Counts:
    """A model that answers at once and knows who asked."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()

    async def __call__(self, agent: str, prompt: str) -> str:
        assert prompt
        self.asked[agent] += 1
        return "The spooler was restarted."


SIX = {"memory": 2, "ticketing": 2, "worker": 1, "summarization": 1}


@pytest.fixture(autouse=True)
def python_collects_as_before(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("GC", "default")
    yield
    structlog.reset_defaults()


@pytest.mark.parametrize("store", ["none", "sqlite"])
async def test_our_tickets_take_the_turns_that_are_compared(store: str, tmp_path: Path) -> None:
    model = Counts()
    runner = await ours.open(llm=model, store=store, path=str(tmp_path / "bench.db"))

    turns = await asyncio.gather(*(runner.run(f"T-{number}") for number in range(20)))

    assert turns == [raw.TURNS] * 20
    assert model.asked == {agent: 20 * times for agent, times in SIX.items()}
    if runner.database is not None:
        ended = runner.database.rows("SELECT count(*) FROM run WHERE status = 'suggested' AND ended IS NOT NULL")
        assert ended == [(20,)]
        assert runner.database.rows("SELECT count(*) FROM event") == [(20 * 6,)]
    await runner.close()


@pytest.mark.parametrize("durable", [False, True])
async def test_the_raw_limit_takes_the_same_turns(durable: bool, tmp_path: Path) -> None:
    model = Counts()
    runner = raw.Runner(model, str(tmp_path / "raw.db") if durable else None)

    turns = await asyncio.gather(*(runner.run(f"T-{number}") for number in range(20)))

    assert turns == [raw.TURNS] * 20
    assert model.asked == {agent: 20 * times for agent, times in SIX.items()}
    await runner.close()


async def test_a_worker_that_has_a_passage_verifies_it(tmp_path: Path) -> None:
    runner = ours.Runner(Counts(), str(tmp_path / "bench.db"), "Restart the spooler, then print a test page.")

    assert await runner.run("T-1") == raw.TURNS

    assert runner.database is not None
    assert runner.database.rows("SELECT status FROM ticket") == [("suggested",)]
    await runner.close()


async def test_a_ticket_that_is_alone_takes_one_commit_an_event_and_one_to_be_accepted(tmp_path: Path) -> None:
    runner = await ours.open(llm=Counts(), store="sqlite", path=str(tmp_path / "bench.db"))
    assert runner.database is not None

    await runner.run("T-1")

    assert runner.database.commits <= 7
    await runner.close()


async def test_agents_that_only_answer_take_the_same_turns() -> None:
    model = Counts()
    runner = ours.Runner(model, None, plain=True)

    assert await runner.run("T-1") == raw.TURNS

    assert model.asked == SIX


async def test_a_store_that_is_not_offered_is_refused() -> None:
    with pytest.raises(ValueError, match="redis"):
        await ours.open(llm=Counts(), store="redis")
