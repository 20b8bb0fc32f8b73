"""What would have come of another model or another prompt, and a recording that becomes a test."""

import asyncio
import importlib.util
from pathlib import Path
from typing import Any

import msgspec
import pytest

from actors.evidence.passages import SearchHits
from actors.extractive import Extractive
from runtime.node import Node, Ticket
from runtime.replay.counterfactual import Change, read_change
from runtime.replay.recorded_run import Recording
from runtime.replay.regression import write_test
from runtime.replay.replay import replay
from runtime.service_error import ServiceError
from runtime.settings import Settings
from tests.fake_openai import FakeOpenAI
from tests.runtime.replay.recorded import read_back, run_and_record, settings
from tests.solving import Finds, alter_numbers, keep, solves


async def solve(its: Settings) -> Recording:
    async with Node.open(its) as node:
        node.knowledge = Finds()
        await (await node.submit(Ticket(id="T-1", text="What must I know about the press?"))).outcome()
    return await read_back(its)


async def test_another_model_is_asked_and_both_answers_are_there(tmp_path: Path) -> None:
    async with FakeOpenAI(solves(alter_numbers)) as server:
        recording = await solve(settings(tmp_path, server.url))
    async with FakeOpenAI(solves(keep)) as server:
        its = settings(tmp_path, server.url)
        done = await asyncio.to_thread(replay, recording, its, Change(model="other-2"))

    assert {body["model"] for body in server.bodies} == {"other-2"}
    assert done.now is not None
    assert (done.then.status, done.now.status) == ("suggested", "resolved")
    assert not done.answers_same
    assert "ResolutionObtained" in {each.kind for each in done.differences}
    assert {each.name for each in done.asked} == {"Memory.store", "Tickets.close"}, "documents are asked the same"


async def test_only_the_agent_with_the_edited_prompt_asks_a_model(tmp_path: Path) -> None:
    async with FakeOpenAI(solves()) as server:
        its = settings(tmp_path, server.url)
        recording = await solve(its)
        before = len(server.bodies)
        (tmp_path / "worker.md").write_text("Solve it in the manner of a captain.\n", encoding="utf-8")
        change = read_change([f"prompt=worker:{tmp_path / 'worker.md'}"], its)

        done = await asyncio.to_thread(replay, recording, its, change)

    systems = [body["messages"][0]["content"] for body in server.bodies[before:]]
    assert "manner of a captain" in systems[0]
    assert len(systems) == 2 < before, "a draft and its second reading; the rest is the recorded one"
    assert done.answers_same
    assert done.asked == ()


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("speed=2", "takes model=NAME or prompt=AGENT:FILE"), ("model=", "takes model=NAME"),
        ("prompt=wroker:x.md", "Did you mean 'worker'"), ("prompt=worker:nowhere.md", "cannot be read"),
    ],
)  # fmt: skip
def test_a_change_that_makes_no_sense_is_refused(tmp_path: Path, word: str, said: str) -> None:
    with pytest.raises(ServiceError, match=said):
        read_change([word], settings(tmp_path, "http://127.0.0.1:9/v1"))


def test_without_a_model_nothing_can_be_asked(tmp_path: Path) -> None:
    with pytest.raises(ServiceError, match="none is configured"):
        read_change(["model=large-1"], settings(tmp_path))


def load_test(file: Path) -> Any:
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


async def test_a_recording_becomes_a_test_that_fails_when_the_answer_is_another_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    its = settings(tmp_path)
    recording = await run_and_record(its, tmp_path)
    file, beside = write_test(recording, its, tmp_path / "test_press.py")
    test = load_test(file).test_t_1_is_answered_as_it_was

    await asyncio.to_thread(test)

    assert str(tmp_path) not in beside.read_text(encoding="utf-8")
    fill = Extractive.fill

    async def fill_nothing(self: Any, shape: Any, task: Any, *, within: float) -> Any:
        empty = SearchHits(abstain="No.") if task.findings else None
        return await fill(self, shape, msgspec.structs.replace(task, findings=empty), within=within)

    monkeypatch.setattr(Extractive, "fill", fill_nothing)
    with pytest.raises(AssertionError, match=r"it differs\.\nThen: suggested\. Now: not found\."):
        await asyncio.to_thread(test)
