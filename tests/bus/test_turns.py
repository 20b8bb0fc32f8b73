"""Whose turn it is: at each step of an actor, of the tasks that it starts, and never while all wait."""

import asyncio
from typing import Any

import pytest

from bus import Actor, Context, LocalBus
from bus.turns import Stepwise, mark_tasks
from tests.bus.parts import Said, Say

HANGS_SECONDS = 10.0


class Now:
    """Turns that know whether there is one."""

    def __init__(self) -> None:
        self.is_on = False
        self.count = 0

    def begin(self) -> None:
        self.is_on = True
        self.count += 1

    def end(self) -> None:
        self.is_on = False


class Asks(Actor[Say]):
    """Notes whether it has the turn: as it is called, after it has waited, and in a task of its own."""

    def __init__(self, turns: Now, noted: list[bool]) -> None:
        self._turns, self._noted = turns, noted

    async def receive(self, message: Say, ctx: Context) -> Said:
        self._noted.append(self._turns.is_on)
        await asyncio.sleep(0)
        self._noted.append(self._turns.is_on)
        await asyncio.gather(self._look(), self._look())
        try:
            async with asyncio.timeout(0.0):
                await asyncio.Event().wait()
        except TimeoutError:
            self._noted.append(self._turns.is_on)
        return Said(what=message.what)

    async def _look(self) -> None:
        await asyncio.sleep(0)
        self._noted.append(self._turns.is_on)


async def test_each_step_is_a_turn_and_between_them_there_is_none() -> None:
    turns, noted, outside = Now(), list[bool](), list[bool]()
    loop = asyncio.get_running_loop()
    bus = LocalBus({"a": lambda: Asks(turns, noted)}, turns=turns)

    with mark_tasks(loop):
        asking = asyncio.create_task(bus.ask("a", Say(what="hello"), within=HANGS_SECONDS))
        while not asking.done():
            await asyncio.sleep(0)
            outside.append(turns.is_on)

    assert (await asking).what == "hello"
    assert noted == [True] * 5
    assert not any(outside)
    assert turns.count >= 6


async def test_an_error_and_a_cancellation_end_the_turn() -> None:
    turns = Now()

    async def fails() -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        await asyncio.Task(Stepwise(turns, fails()))
    waits: asyncio.Task[Any] = asyncio.Task(Stepwise(turns, asyncio.sleep(HANGS_SECONDS)))
    await asyncio.sleep(0)
    waits.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waits
    unbegun: asyncio.Task[Any] = asyncio.Task(Stepwise(turns, asyncio.sleep(0)))
    unbegun.cancel()
    with pytest.raises(asyncio.CancelledError):
        await unbegun
    assert not turns.is_on


async def test_what_is_awaited_has_its_turns_within_the_task_of_another() -> None:
    turns, noted = Now(), list[bool]()

    async def works() -> str:
        for _ in range(2):
            noted.append(turns.is_on)
            await asyncio.sleep(0)
        return "done"

    assert await Stepwise(turns, works()) == "done"
    assert noted == [True, True]
    assert not turns.is_on


async def test_the_task_factory_of_the_host_makes_the_tasks_and_is_there_again_afterwards() -> None:
    loop, made = asyncio.get_running_loop(), list[Any]()
    before = loop.get_task_factory()

    def make(loop: asyncio.AbstractEventLoop, work: Any, **more: Any) -> asyncio.Task[Any]:
        made.append(work)
        return asyncio.Task(work, loop=loop, **more)

    loop.set_task_factory(make)
    try:
        with mark_tasks(loop):
            await asyncio.create_task(asyncio.sleep(0))
        assert len(made) == 1
        assert loop.get_task_factory() is make
    finally:
        loop.set_task_factory(before)
