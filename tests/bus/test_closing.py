"""A bus is sealed at once, whatever its actors do; what hangs on is abandoned, counted and heard no more."""

import asyncio
from typing import Any

import pytest

from bus import ActorStopped, Context, LocalBus, Message, counters
from bus.dispatcher import BURST
from bus.local import CLOSING_SECONDS
from tests.bus.parts import Does, Hears, Said, Say, Start, Waits
from tests.clock import Jumping, settle
from tests.fakes import MOST_SWALLOWED, Hangs, Stubborn


@pytest.mark.req("HD-5.5")
async def test_sealing_cancels_every_turn_and_answers_everybody() -> None:
    waits = Waits()
    bus = LocalBus({"waits": lambda: waits, "hangs": Hangs})
    asking = [asyncio.ensure_future(bus.ask("waits", Say(what=str(n)), within=5)) for n in range(3)]
    asking.append(asyncio.ensure_future(bus.ask("hangs", Say(), within=5)))
    await settle()

    bus.seal()

    for each in asking:
        with pytest.raises(ActorStopped):
            await each
    assert waits.interrupted == ["0"]
    assert waits.heard == ["0"]
    await settle()
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_an_actor_that_swallows_its_cancellation_is_abandoned_counted_and_not_heard() -> None:
    clock, stubborn, before = Jumping(), Stubborn(Said(what="after all")), counters.abandoned
    bus = LocalBus({"stubborn": lambda: stubborn}, clock=clock)
    bus.place("hub", hub := Hears())
    bus.post("stubborn", Start(), sender="hub")
    await settle()

    bus.seal()
    await clock.jump(CLOSING_SECONDS)

    assert counters.abandoned == before + 1
    assert stubborn.swallowed == 1
    await stubborn.release()
    await settle()
    assert hub.heard == []
    assert bus.dead_letters == 1


async def test_an_actor_that_lets_itself_be_cancelled_is_not_counted() -> None:
    clock, before = Jumping(), counters.abandoned
    bus = LocalBus({"hangs": Hangs}, clock=clock)
    bus.post("hangs", Start())
    await settle()

    bus.seal()
    await settle()
    await clock.jump(CLOSING_SECONDS)

    assert counters.abandoned == before


async def test_a_turn_that_was_interrupted_may_not_speak_any_more() -> None:
    said: list[str] = []
    stop = asyncio.Event()

    async def speaks_on(message: Any, ctx: Context) -> None:
        if message.what == "control":
            return
        while not stop.is_set() and len(said) < MOST_SWALLOWED:
            try:
                await stop.wait()
            except asyncio.CancelledError:
                ctx.publish(Said(what="psst"))
                try:
                    ctx.tell("hears", Said(what="psst"))
                except ActorStopped as error:
                    said.append(str(error))
                with pytest.raises(ActorStopped):
                    await ctx.ask("hears", Say(), within=1)

    hears = Hears()
    watched: list[Message] = []
    bus = LocalBus({"a": lambda: Does(speaks_on), "hears": lambda: hears})
    bus.subscribe(lambda _, message: watched.append(message))
    bus.post("a", Start(what="work"))
    await settle()
    bus.post("a", Start(what="control"), urgent=True)
    await settle()

    assert said == ["the turn of a is over"]
    assert hears.heard == []
    assert watched == []
    stop.set()
    await settle()


async def test_what_is_left_behind_after_a_turn_is_not_heard_once_the_bus_is_sealed() -> None:
    left: list[Context] = []
    watched: list[Message] = []
    bus = LocalBus({"a": lambda: Does(lambda _, ctx: left.append(ctx)), "hears": Hears})
    bus.subscribe(lambda _, message: watched.append(message))
    bus.post("a", Start())
    await settle()
    bus.seal()
    (ctx,) = left

    ctx.publish(Said(what="psst"))
    ctx.tell_self(Said(what="psst"))
    with pytest.raises(ActorStopped):
        ctx.tell("hears", Said(what="psst"))
    with pytest.raises(ActorStopped):
        await ctx.ask("hears", Say(), within=1)

    assert watched == []
    assert bus.dead_letters == 3


async def test_an_actor_that_never_stops_streaming_holds_nothing() -> None:
    """It goes on as long as it can speak: once its turn was interrupted, that is never."""
    words, refused, stop = 0, 0, asyncio.Event()

    async def streams(message: Any, ctx: Context) -> None:
        nonlocal words, refused
        while not stop.is_set() and refused < MOST_SWALLOWED:
            try:
                ctx.tell("hears", Said(what="word"))
                words += 1
                await asyncio.sleep(0)
            except (asyncio.CancelledError, ActorStopped):
                refused += 1
                await asyncio.sleep(0)

    hears = Hears()
    bus = LocalBus({"streams": lambda: Does(streams), "hears": lambda: hears})
    bus.post("streams", Start())
    await settle()
    assert len(hears.heard) > 10

    bus.seal()
    heard, spoken = len(hears.heard), words
    await settle()

    assert (len(hears.heard), words) == (heard, spoken)
    assert 0 < refused < MOST_SWALLOWED, "it tries still"
    stop.set()
    await settle()


async def test_sealing_in_the_middle_of_a_turn_ends_that_turn_quietly() -> None:
    hears = Hears()

    def seals(message: Any, ctx: Context) -> Said:
        bus.seal()
        return Said(what="too late")

    bus = LocalBus({"a": lambda: Does(seals), "hears": lambda: hears})
    bus.post("a", Start(), sender="hears")
    bus.post("hears", Said(what="not read"))
    await settle()

    assert hears.heard == []
    assert asyncio.all_tasks() == {asyncio.current_task()}


class Talk:
    """What two actors that always answer each other have said."""

    def __init__(self) -> None:
        self.words = 0

    def plain(self, partner: str) -> Does:
        def play(message: Any, ctx: Context) -> None:
            self.words += 1
            ctx.tell(partner, message)

        return Does(play)

    def later(self, partner: str) -> Does:
        async def play(message: Any, ctx: Context) -> None:
            self.words += 1
            ctx.tell(partner, message)

        return Does(play)


@pytest.mark.parametrize("kind", ["plain", "later"])
async def test_a_pair_that_never_stops_talking_starves_no_other_bus(kind: str) -> None:
    talk = Talk()
    loud = LocalBus({"a": lambda: getattr(talk, kind)("b"), "b": lambda: getattr(talk, kind)("a")})
    quiet = LocalBus({"hears": Hears})
    for _ in range(BURST):
        loud.post("a", Start(what="bla"))

    for n in range(20):
        assert await quiet.ask("hears", Say(what=str(n)), within=5) == Said(what=str(n))

    before = talk.words
    await settle()
    assert talk.words > before > 20, "they talk still"
    loud.seal()
    await settle()


@pytest.mark.parametrize("kind", ["plain", "later"])
async def test_however_many_talk_the_loop_comes_round_after_a_bounded_number_of_turns(kind: str) -> None:
    """So that timers ring and sockets are read: what a deadline rests on."""
    talk = Talk()
    buses = [
        LocalBus({"a": lambda: getattr(talk, kind)("b"), "b": lambda: getattr(talk, kind)("a")}) for _ in range(40)
    ]
    for bus in buses:
        for _ in range(20):
            bus.post("a", Start(what="bla"))

    most = 0
    for _ in range(60):
        before = talk.words
        await asyncio.sleep(0)
        most = max(most, talk.words - before)

    assert 0 < most <= 2 * BURST
    for bus in buses:
        bus.seal()
    await settle()


async def test_a_pair_that_never_stops_talking_starves_nobody_on_its_own_bus() -> None:
    talk = Talk()
    bus = LocalBus({"a": lambda: talk.plain("b"), "b": lambda: talk.plain("a"), "hears": Hears})
    bus.post("a", Start(what="bla"))

    assert await bus.ask("hears", Say(what="x"), within=5) == Said(what="x")
    bus.seal()
