"""Runs at whose work a process died go on one by one, after the others, each behind a mark of its own."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.engine import runs as suspects
from runtime.engine.run import LiveRun
from runtime.engine.runs import Suspect, Suspects, next_suspect
from runtime.storage.work_mark import WorkMark
from tests.patience import HANGS_SECONDS


class Live:
    """A run in progress, as far as suspects know one."""

    def __init__(self, name: str = "", resumed: int = 1) -> None:
        self.name, self.is_over = name, False
        self.where = SimpleNamespace(resumed=resumed)
        self._calls: list[Any] = []

    def when_over(self, call: Any) -> None:
        self._calls.append(call)

    def end(self) -> None:
        self.is_over = True
        for call in self._calls:
            call()


class Alone(WorkMark):
    """Notes what it is told, in order with what else happens."""

    def __init__(self, path: Path, story: list[str]) -> None:
        super().__init__(path)
        self._story = story

    def set_alone(self, run: str) -> None:
        super().set_alone(run)
        self._story.append(f"marked {run}" if run else "cleared")


def suspect(name: str, deaths: int = 1, seq: int = 1) -> Suspect:
    state = SimpleNamespace(run=SimpleNamespace(resumed=deaths))
    return Suspect(cast("Any", SimpleNamespace(id=name, ticket=name, seq=seq)), cast("Any", state))


class Trial:
    """Suspects, those that were begun, and what happened in which order."""

    def __init__(self, folder: Path) -> None:
        self.story: list[str] = []
        self.begun: dict[str, Live] = {}
        (folder / "one.lock").touch()
        self.resuming = False
        self.suspects = Suspects(Alone(folder / "one.lock", self.story), self._begin, lambda: self.resuming)

    async def _begin(self, each: Suspect) -> LiveRun:
        name = each.stored.id
        self.story.append(f"begun {name}")
        if name == "R-broken":
            raise OSError("it cannot be begun")
        self.begun[name] = Live(name)
        return cast("LiveRun", self.begun[name])

    async def until(self, line: str) -> None:
        async with asyncio.timeout(HANGS_SECONDS):
            while line not in self.story:  # noqa: ASYNC110 - the story has no event
                await asyncio.sleep(0.001)


@pytest.fixture
async def trial(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Trial]:
    monkeypatch.setattr(suspects, "LOOK_SECONDS", 0.001)
    one = Trial(tmp_path)
    yield one
    await one.suspects.close()


async def test_each_waits_for_the_others_and_for_the_one_before_to_have_an_answer(trial: Trial) -> None:
    other = Live()
    trial.suspects.wait_for(cast("LiveRun", other))
    for name, deaths in (("R-worst", 4), ("R-broken", 2), ("R-first", 1)):
        trial.suspects.add(suspect(name, deaths))
    for _ in range(20):
        await asyncio.sleep(0.001)
    assert trial.story == [], "the others come first"
    assert "R-first" in trial.suspects

    other.end()
    await trial.until("begun R-first")
    for _ in range(20):
        await asyncio.sleep(0.001)
    assert trial.story == ["marked R-first", "begun R-first"], "one at a time"
    trial.begun["R-first"].where.resumed = 0
    await trial.until("begun R-worst")
    trial.begun["R-worst"].end()
    await trial.until("marked R-worst")
    async with asyncio.timeout(HANGS_SECONDS):
        while trial.story[-1] != "cleared":  # noqa: ASYNC110
            await asyncio.sleep(0.001)

    assert trial.story == [
        "marked R-first", "begun R-first", "cleared", "marked R-broken", "begun R-broken", "cleared",
        "marked R-worst", "begun R-worst", "cleared",
    ]  # fmt: skip
    assert "R-worst" not in trial.suspects


async def test_nobody_waits_for_ever(trial: Trial, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(suspects, "OTHERS_SECONDS", 0.01)
    monkeypatch.setattr(suspects, "ALONE_SECONDS", 0.01)
    trial.suspects.wait_for(cast("LiveRun", Live()))
    trial.resuming = True
    trial.suspects.add(suspect("R-1", seq=1))
    trial.suspects.add(suspect("R-2", seq=2))

    await trial.until("begun R-1")
    await trial.until("begun R-2")


async def test_what_waits_when_the_process_ends_is_left_to_the_next(trial: Trial) -> None:
    trial.suspects.wait_for(cast("LiveRun", Live()))
    trial.suspects.add(suspect("R-1"))

    await trial.suspects.close()

    assert "R-1" not in trial.suspects
    assert trial.story == []


@given(st.lists(st.tuples(st.integers(1, 5), st.integers(1, 99)), min_size=1, unique_by=lambda each: each[1]))
def test_the_one_against_whom_least_is_known_goes_first(known: list[tuple[int, int]]) -> None:
    waiting = [suspect(f"R-{seq}", deaths, seq) for deaths, seq in known]

    chosen = next_suspect(waiting)

    assert (chosen.deaths, chosen.stored.seq) == min(known)
