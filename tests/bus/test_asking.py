"""Telling, asking, reminding: every wait has an end, and who speaks is known to the bus alone."""

import asyncio
import gc
import math
from collections.abc import Callable
from typing import Any

import pytest

from bus import (
    ActorFailed,
    ActorStopped,
    AskTimedOut,
    Context,
    LocalBus,
    NotConnected,
    UnknownAddress,
    counters,
)
from tests.bus.parts import Does, Hears, Said, Say, Start, Waits
from tests.clock import Jumping, settle
from tests.fakes import Hangs, Stubborn


async def test_an_answer_goes_to_who_asked() -> None:
    bus = LocalBus({"hears": Hears})

    assert await bus.ask("hears", Say(what="hello"), within=1) == Said(what="hello")


async def test_ask_never_waits_longer_than_it_said() -> None:
    clock = Jumping()
    bus = LocalBus({"hangs": Hangs}, clock=clock)
    asking = asyncio.ensure_future(bus.ask("hangs", Say(), within=2))
    await settle()

    await clock.jump(1.99)
    assert not asking.done()
    await clock.jump(0.01)

    with pytest.raises(AskTimedOut):
        await asking
    assert clock.waiting == 0
    bus.seal()
    await settle()


async def test_ask_is_bounded_against_an_actor_that_swallows_its_cancellation() -> None:
    clock, stubborn = Jumping(), Stubborn(Said(what="after all"))
    bus = LocalBus({"stubborn": lambda: stubborn}, clock=clock)
    asking = asyncio.ensure_future(bus.ask("stubborn", Say(), within=2))
    await settle()

    await clock.jump(2)

    with pytest.raises(AskTimedOut):
        await asking
    bus.seal()
    await stubborn.release()


async def test_two_actors_that_ask_each_other_both_get_an_end() -> None:
    clock, ends = Jumping(), []

    def asks(whom: str, within: float) -> Does:
        async def play(message: Any, ctx: Context) -> Said:
            try:
                await ctx.ask(whom, Say(), within=within)
                ends.append(f"{ctx.address} was answered")
            except AskTimedOut:
                ends.append(f"{ctx.address} gave up")
            return Said()

        return Does(play)

    bus = LocalBus({"a": lambda: asks("b", 5), "b": lambda: asks("a", 4)}, clock=clock)
    bus.post("a", Start())
    await settle()
    await clock.jump(4)

    assert ends == ["b gave up", "a was answered"]
    bus.seal()
    await settle()


async def test_an_asker_that_gives_up_leaves_no_timer_and_the_answer_is_nobodys() -> None:
    clock, waits = Jumping(), Waits()
    bus = LocalBus({"waits": lambda: waits}, clock=clock)
    asking = asyncio.ensure_future(bus.ask("waits", Say(what="x"), within=5))
    await settle()

    asking.cancel()
    await settle()
    waits.go.set()
    await settle()

    assert clock.waiting == 0
    assert waits.finished == ["x"]


async def test_ask_fails_with_the_cause_when_the_actor_raises() -> None:
    def breaks(message: Any, ctx: Context) -> None:
        raise LookupError("no such shelf")

    bus = LocalBus({"breaks": lambda: Does(breaks)})

    with pytest.raises(ActorFailed, match="no such shelf") as caught:
        await bus.ask("breaks", Say(), within=1)
    assert isinstance(caught.value.__cause__, LookupError)


async def test_ask_fails_when_the_actor_is_interrupted_or_stopped() -> None:
    waits = Waits()
    bus = LocalBus({"waits": lambda: waits})
    first = asyncio.ensure_future(bus.ask("waits", Say(what="first"), within=5))
    await settle()
    second = asyncio.ensure_future(bus.ask("waits", Say(what="second"), within=5))
    await settle()

    bus.post("waits", Start(what="control"), urgent=True)
    with pytest.raises(ActorStopped, match="interrupted"):
        await first
    bus.seal()
    with pytest.raises(ActorStopped, match="sealed"):
        await second
    with pytest.raises(ActorStopped, match="sealed"):
        await bus.ask("waits", Say(), within=5)


async def test_a_receiver_knows_how_long_its_answer_is_of_use() -> None:
    clock, left = Jumping(), []
    bus = LocalBus({"actor": lambda: Does(lambda _, ctx: left.append(ctx.remaining_seconds()))}, clock=clock)

    bus.post("actor", Start(), until=30)
    clock.now = 12
    await settle()
    bus.post("actor", Start())
    bus.post("actor", Start(), until=42)
    clock.now = 99
    await settle()

    assert left == [18, math.inf, 0]


async def test_nobody_of_that_name() -> None:
    bus = LocalBus({})

    with pytest.raises(UnknownAddress, match="'nobody'"):
        bus.post("nobody", Start())


async def test_the_bus_stamps_the_sender_and_the_answer_carries_the_number_back() -> None:
    hears = Hears()

    def forwards(message: Any, ctx: Context) -> Any:
        if isinstance(message, Start):
            ctx.tell("other", Say(what=message.what), number=7)
        return None

    bus = LocalBus({"a": lambda: Does(forwards), "other": lambda: hears})
    bus.place("hub", hub := Hears())
    bus.post("a", Start(what="x"))
    bus.post("other", Say(what="from outside"))
    bus.post("other", Say(what="y"), sender="hub", number=3)
    await settle()

    assert sorted(hears.heard) == [("from outside", "", 0), ("x", "a", 7), ("y", "hub", 3)]
    assert hub.heard == [("y", "other", 3)]


async def test_where_there_is_a_hub_everybody_may_only_speak_with_it() -> None:
    raised: list[str] = []

    async def tries(message: Any, ctx: Context) -> None:
        for to in ("b", "a"):
            try:
                ctx.tell(to, Said(what="psst"))
                raised.append("")
            except NotConnected as error:
                raised.append(str(error))
        try:
            await ctx.ask("b", Say(), within=1)
        except NotConnected as error:
            raised.append(str(error))
        ctx.tell("hub", Said(what="hello"))

    b = Hears()
    cast = {"a": lambda: Does(lambda m, ctx: tries(m, ctx) if isinstance(m, Start) else None), "b": lambda: b}
    bus = LocalBus(cast, hub="hub")
    bus.place("hub", hub := Hears())
    bus.post("a", Start())
    await settle()

    said = "a may only speak with hub, not with b"
    assert raised == [said, "", said]
    assert hub.heard == [("hello", "a", 0)]
    assert b.heard == []
    assert bus.dead_letters == 2
    bus.post("b", Start(), sender="hub")
    await settle()
    assert b.words == ["Start"]


async def test_only_the_hub_may_overtake_and_interrupt() -> None:
    """Else an actor could fill the hub's control lane, and what the clock says would be lost."""

    def floods(message: Any, ctx: Context) -> None:
        if isinstance(message, Start):
            ctx.tell("hub", Said(what="important!"), urgent=True)

    bus = LocalBus({"a": lambda: Does(floods)}, hub="hub")
    bus.place("hub", hub := Waits())
    bus.post("hub", Start(what="work"))
    await settle()

    bus.post("a", Start())
    await settle()

    assert hub.heard == ["work"]
    hub.go.set()
    await settle()
    assert hub.finished == ["work", "important!"]


async def test_only_the_hub_may_interrupt_others_and_ask_them_to_hand_in() -> None:
    raised: list[str] = []

    def meddles(message: Any, ctx: Context) -> None:
        ways: list[Callable[[], None]] = [lambda: ctx.interrupt("b"), lambda: ctx.interrupt("hub"), ctx.request_stop]
        for meddle in ways:
            try:
                meddle()
            except NotConnected as error:
                raised.append(str(error))

    b = Waits()
    bus = LocalBus({"a": lambda: Does(meddles), "b": lambda: b}, hub="hub")
    bus.place("hub", Does(lambda _, ctx: ctx.interrupt("b")))
    bus.post("b", Start(what="work"))
    bus.post("b", Start(what="more work"))
    await settle()

    bus.post("a", Start())
    await settle()
    assert raised == ["only hub leads the others, not a"] * 3
    assert (b.interrupted, bus.stopping) == ([], False)

    bus.post("hub", Start())
    await settle()
    assert b.interrupted == ["work"]
    assert b.heard == ["work", "more work"], "its mailbox stays"
    b.go.set()
    await settle()


async def test_a_reminder_overtakes_and_can_be_cancelled() -> None:
    clock, heard = Jumping(), []

    def play(message: Any, ctx: Context) -> None:
        heard.append((message.what, ctx.sender))
        if message.what == "start":
            ctx.schedule(5, Said(what="later"))
            ctx.schedule(6, Said(what="never")).cancel()
            ctx.tell_self(Said(what="now"))
            ctx.tell("a", Said(what="work"))

    bus = LocalBus({"a": lambda: Does(play)}, clock=clock)
    bus.post("a", Start(what="start"))
    await settle()
    await clock.jump(10)

    assert heard == [("start", ""), ("now", "a"), ("work", "a"), ("later", "a")]


async def test_what_nobody_will_read_is_counted() -> None:
    before = counters.dead_letters
    bus = LocalBus({"hears": Hears})
    bus.post("hears", Said(what="left in the mailbox"))

    bus.seal()
    with pytest.raises(ActorStopped):
        bus.post("hears", Said())
    bus.try_post("hears", Said(), "")
    bus.try_post("nobody", Said(), "")

    assert bus.dead_letters == 4
    assert counters.dead_letters - before == 4


async def test_an_idle_bus_holds_no_task() -> None:
    bus = LocalBus({"hears": Hears, "waits": Waits})
    for n in range(50):
        await bus.ask("hears", Say(what=str(n)), within=1)

    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_an_actor_exists_from_its_first_message_on() -> None:
    made: list[str] = []

    def make() -> Hears:
        made.append("hears")
        return Hears()

    bus = LocalBus({"hears": make, "unused": make})
    assert made == []
    await bus.ask("hears", Say(what="a"), within=1)
    await bus.ask("hears", Say(what="b"), within=1)

    assert made == ["hears"]


async def test_an_actor_takes_one_message_at_a_time() -> None:
    waits = Waits()
    bus = LocalBus({"waits": lambda: waits})
    for n in range(3):
        bus.post("waits", Start(what=str(n)))
    await settle()
    assert waits.heard == ["0"]

    waits.go.set()
    await settle()

    assert waits.finished == ["0", "1", "2"]


async def test_a_bus_that_nobody_holds_is_forgotten() -> None:
    bus = LocalBus({"hears": Hears})
    await bus.ask("hears", Say(what="a"), within=1)
    bus.seal()
    gc.collect()
    mine = [each for each in gc.get_objects() if isinstance(each, LocalBus)]
    before = len(mine)

    del bus, mine
    gc.collect()

    assert sum(isinstance(each, LocalBus) for each in gc.get_objects()) == before - 1
