"""Those who watch hear everything in order, and harm nobody; winding down reaches everybody once."""

import asyncio
from typing import Any

from structlog.testing import capture_logs

from bus import Context, LocalBus, Message
from tests.bus.parts import Does, Start
from tests.clock import settle


async def test_watchers_hear_what_is_published_in_order_until_they_stop() -> None:
    def speaks(message: Any, ctx: Context) -> None:
        assert ctx.has_watchers
        ctx.publish(message)

    first: list[tuple[str, Message]] = []
    second: list[Message] = []
    bus = LocalBus({"a": lambda: Does(speaks)})
    stop = bus.subscribe(lambda sender, message: first.append((sender, message)))
    bus.subscribe(lambda _, message: second.append(message))
    bus.post("a", Start(what="1"))
    bus.post("a", Start(what="2"))
    await settle()
    stop()
    stop()
    bus.post("a", Start(what="3"))
    await settle()

    assert first == [("a", Start(what="1")), ("a", Start(what="2"))]
    assert second == [Start(what="1"), Start(what="2"), Start(what="3")]


async def test_an_actor_can_tell_whether_anybody_watches() -> None:
    seen: list[bool] = []
    bus = LocalBus({"a": lambda: Does(lambda _, ctx: seen.append(ctx.has_watchers))})
    bus.post("a", Start())
    await settle()
    stop = bus.subscribe(lambda *_: None)
    bus.post("a", Start())
    await settle()
    stop()
    bus.post("a", Start())
    await settle()

    assert seen == [False, True, False]


async def test_an_actor_can_tell_whether_anybody_looks_on() -> None:
    seen: list[bool] = []
    bus = LocalBus({"a": lambda: Does(lambda _, ctx: seen.append(ctx.has_live_watchers))})
    bus.subscribe(lambda *_: None)
    bus.post("a", Start())
    await settle()
    stops = [bus.subscribe(lambda *_: None, live=True) for _ in range(2)]
    for stop in stops:
        bus.post("a", Start())
        await settle()
        stop()
        stop()
    bus.post("a", Start())
    await settle()

    assert seen == [False, True, True, False]


async def test_a_watcher_that_fails_harms_nobody() -> None:
    heard: list[Message] = []

    def fails(sender: str, message: Message) -> None:
        raise OSError("the terminal is gone")

    def unsubscribes(sender: str, message: Message) -> None:
        stop()

    bus = LocalBus({"a": lambda: Does(lambda message, ctx: ctx.publish(message))})
    bus.subscribe(fails)
    stop = bus.subscribe(unsubscribes)
    bus.subscribe(lambda _, message: heard.append(message))
    with capture_logs() as lines:
        for what in "12":
            bus.post("a", Start(what=what))
        await settle()

    assert heard == [Start(what="1"), Start(what="2")]
    assert [line["event"] for line in lines] == ["watcher.failed"] * 2


async def test_winding_down_is_seen_by_all_and_called_once() -> None:
    calls: list[str] = []
    seen: list[bool] = []

    async def listens(message: Any, ctx: Context) -> None:
        stopping = asyncio.Event()
        ctx.on_stop(stopping.set)
        ctx.on_stop(lambda: calls.append(message.what))
        seen.append(ctx.stopping)
        await stopping.wait()
        seen.append(ctx.stopping)
        ctx.on_stop(lambda: calls.append("at once"))

    bus = LocalBus({"a": lambda: Does(listens), "b": lambda: Does(listens)})
    bus.place("hub", Does(lambda _, ctx: ctx.request_stop()))
    bus.post("a", Start(what="a"))
    bus.post("b", Start(what="b"))
    await settle()
    assert calls == []

    for _ in range(2):
        bus.post("hub", Start())
        await settle()

    assert calls == ["a", "b", "at once", "at once"]
    assert seen == [False, False, True, True]


async def test_a_wish_that_cannot_be_heard_is_heard_by_the_others() -> None:
    calls: list[str] = []

    def breaks() -> None:
        raise OSError("no line")

    def listens(message: Any, ctx: Context) -> None:
        ctx.on_stop(breaks)
        ctx.on_stop(lambda: calls.append("heard"))

    bus = LocalBus({"a": lambda: Does(listens)})
    bus.post("a", Start())
    await settle()

    bus.request_stop()

    assert bus.stopping
    assert calls == ["heard"]
