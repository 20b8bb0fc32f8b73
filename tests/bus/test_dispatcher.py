"""Many buses share a loop: who has used up its share queues, and timers are heard in between."""

import asyncio
import gc
import weakref
from collections.abc import Callable
from typing import Any

import pytest

from bus import Actor, ActorFactories, Context, LocalBus
from bus.dispatcher import BEGIN_SECONDS, BURST, SHARE, Dispatcher, dispatcher_of
from tests.bus.parts import Does, Hears, Say, Start
from tests.clock import settle


class Piled:
    """Has so many letters, and notes how many it was let serve at a time."""

    def __init__(self, dispatcher: Dispatcher, letters: int) -> None:
        self._dispatcher = dispatcher
        self.letters = letters
        self.served: list[int] = []

    def drain(self, most: int) -> int:
        now = min(most, self.letters)
        self.served.append(now)
        self.letters -= now
        if self.letters:
            self._dispatcher.queue(self)
        return now


async def test_nobody_takes_more_than_its_share_and_all_together_no_more_than_a_burst() -> None:
    dispatcher = Dispatcher()
    long, short = Piled(dispatcher, 10 * BURST), Piled(dispatcher, 1)
    dispatcher.queue(long)
    dispatcher.queue(short)

    await asyncio.sleep(0)

    assert short.served == [1], "it did not have to wait for the long one to be done"
    assert max(long.served) == SHARE
    assert sum(long.served) + 1 <= BURST
    assert dispatcher.left == 0, "what comes now queues behind those that wait"

    while long.letters:
        before = long.letters
        await asyncio.sleep(0)
        assert 0 < before - long.letters <= BURST
    assert dispatcher.left == BURST


class Slow(Piled):
    """Takes as long for a letter as first turns may take together."""

    def drain(self, most: int) -> int:
        until = asyncio.get_running_loop().time() + BEGIN_SECONDS
        while asyncio.get_running_loop().time() < until:
            pass
        return super().drain(most)


async def test_of_a_crowd_those_whose_first_turns_are_slow_begin_one_at_a_time_behind_what_is_under_way() -> None:
    dispatcher = Dispatcher()
    crowd, busy = [Slow(dispatcher, 1) for _ in range(5)], Piled(dispatcher, 3 * SHARE)
    for each in crowd:
        dispatcher.queue(each, begins=True)
    dispatcher.queue(busy)

    for begun in range(1, 6):
        await asyncio.sleep(0)
        assert not busy.letters, "what is under way is done first"
        assert sum(not each.letters for each in crowd) == begun
    assert dispatcher.left == BURST


async def test_of_a_crowd_those_whose_first_turns_are_short_begin_together_up_to_a_burst() -> None:
    dispatcher = Dispatcher()
    crowd = [Piled(dispatcher, 1) for _ in range(2 * BURST)]
    for each in crowd:
        dispatcher.queue(each, begins=True)

    rounds = 0
    while any(each.letters for each in crowd):
        before = sum(each.letters for each in crowd)
        await asyncio.sleep(0)
        rounds += 1
        assert 0 < before - sum(each.letters for each in crowd) <= BURST
    assert rounds < len(crowd), "not one a round of the loop"


async def test_first_turns_are_put_off_while_something_else_is_urgent() -> None:
    dispatcher = Dispatcher()
    crowd, busy = [Piled(dispatcher, 1) for _ in range(3)], Piled(dispatcher, 1)
    with dispatcher.defer_beginnings():
        with dispatcher.defer_beginnings():
            for each in crowd:
                dispatcher.queue(each, begins=True)
            dispatcher.queue(busy)
            await settle()
        await settle()
        assert not busy.letters, "what is under way goes on"
        assert [each.letters for each in crowd] == [1, 1, 1]

    await settle()

    assert [each.letters for each in crowd] == [0, 0, 0]


async def test_a_first_turn_is_not_put_off_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bus.dispatcher.DEFERRED_SECONDS", 0.05)
    dispatcher = Dispatcher()
    crowd = [Piled(dispatcher, 1) for _ in range(3)]
    with dispatcher.defer_beginnings():
        for each in crowd:
            dispatcher.queue(each, begins=True)
            await asyncio.sleep(0.01)
        assert [each.letters for each in crowd] == [1, 1, 1]
        until = asyncio.get_running_loop().time() + 10.0
        while any(each.letters for each in crowd):
            assert asyncio.get_running_loop().time() < until
            await asyncio.sleep(0.001)


async def test_what_is_told_a_bus_before_its_first_turn_is_heard_in_it() -> None:
    heard = Hears()
    others = [LocalBus({"hears": Hears}) for _ in range(10)]
    for bus in others:
        bus.post("hears", Say(what="x"))
    late = LocalBus({})
    late.place("hears", heard)
    for what in "ab":
        late.post("hears", Say(what=what))
    await settle()
    assert heard.words == ["a", "b"]
    for bus in (*others, late):
        bus.seal()


async def test_a_bus_that_breaks_while_it_is_drained_stops_no_other(caplog: pytest.LogCaptureFixture) -> None:
    class Breaks:
        def drain(self, most: int) -> int:
            raise RuntimeError("broken")

    dispatcher = Dispatcher()
    other = Piled(dispatcher, 3)
    dispatcher.queue(Breaks())
    dispatcher.queue(other)

    await settle()

    assert other.letters == 0
    assert dispatcher.left == BURST
    assert "broken" in caplog.text


async def test_a_timer_is_heard_while_many_runs_have_work() -> None:
    talks: list[LocalBus] = []

    def chatter(to: str) -> Callable[[], Actor[Any]]:
        def play(message: Any, ctx: Context) -> None:
            ctx.tell(to, message)

        return lambda: Does(play)

    for _ in range(3 * BURST):
        talks.append(LocalBus({"a": chatter("b"), "b": chatter("a")}))
        talks[-1].post("a", Start(what="bla"))
    heard = asyncio.get_running_loop().create_future()
    asyncio.get_running_loop().call_later(0, heard.set_result, None)

    for _ in range(3):
        await asyncio.sleep(0)

    assert heard.done(), "no run had to end for it"
    for bus in talks:
        bus.seal()
    await settle()


def test_a_dispatcher_does_not_keep_its_loop() -> None:
    async def known() -> weakref.ref[asyncio.AbstractEventLoop]:
        loop = asyncio.get_running_loop()
        assert dispatcher_of(loop) is dispatcher_of(loop)
        bus = LocalBus({"hears": Hears})
        await bus.ask("hears", Say(what="x"), within=5)
        bus.seal()
        return weakref.ref(loop)

    gone = asyncio.run(known())
    gc.collect()
    assert gone() is None


async def test_a_shared_cast_makes_each_actor_of_what_is_its_runs_own() -> None:
    made: list[str] = []

    class Mine(Hears):
        def __init__(self, run: str) -> None:
            super().__init__()
            made.append(run)

    roles: dict[str, Callable[[str], Actor[Any]]] = {"mine": Mine, "other": Mine}
    first, second = (LocalBus(ActorFactories(roles, run)) for run in ("R-1", "R-2"))
    for bus in (second, first):
        await bus.ask("mine", Say(what="x"), within=5)

    assert made == ["R-2", "R-1"], "nobody is made before they are asked"
    cast = ActorFactories(roles, "R-3")
    assert set(cast) == {"mine", "other"}
    assert "nobody" not in cast
    assert len(cast) == 2
    for bus in (first, second):
        bus.seal()
