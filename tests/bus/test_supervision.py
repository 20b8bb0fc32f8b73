"""Let it crash: a failure is told, the actor begins anew with its mailbox, and one that fails too often is stopped."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from structlog.testing import capture_logs

from bus import Actor, ActorFailed, ActorStopped, Context, Failed, LocalBus, UserFacingError
from bus.supervision import ERROR_CHARACTERS, RESTART_SECONDS, RESTARTS
from tests.bus.parts import Does, Hears, Said, Say, Start
from tests.clock import Jumping, settle


class Fragile(Actor[Any]):
    """Breaks at the word "break"; counts what it has heard since it was made."""

    made = 0

    def __init__(self) -> None:
        type(self).made += 1
        self.heard: list[str] = []

    def receive(self, message: Any, ctx: Context) -> Said:
        self.heard.append(message.what)
        if message.what == "break":
            raise ValueError("broken")
        return Said(what=" ".join(self.heard))


class FragileAsync(Fragile):
    async def receive(self, message: Any, ctx: Context) -> Said:  # type: ignore[override]
        await asyncio.sleep(0)
        return super().receive(message, ctx)


@pytest.fixture(params=[Fragile, FragileAsync])
def fragile(request: pytest.FixtureRequest) -> Any:
    request.param.made = 0
    return request.param


async def test_a_failed_actor_begins_anew_and_keeps_its_mailbox(fragile: type[Fragile]) -> None:
    bus = LocalBus({"fragile": fragile})
    asked = [asyncio.ensure_future(bus.ask("fragile", Say(what=what), within=5)) for what in ("a", "break", "b", "c")]

    first, broken, second, third = await asyncio.gather(*asked, return_exceptions=True)

    assert (first, second, third) == (Said(what="a"), Said(what="b"), Said(what="b c"))
    assert isinstance(broken, ActorFailed)
    assert fragile.made == 2


async def test_the_sender_is_told_of_a_failure_with_the_number_of_its_request(fragile: type[Fragile]) -> None:
    bus = LocalBus({"fragile": fragile}, hub="hub")
    bus.place("hub", hub := Hears())

    bus.post("fragile", Say(what="break"), sender="hub", number=4)
    with capture_logs() as lines:
        await settle()

    assert hub.heard == [("Failed", "fragile", 4)]
    assert [(line["event"], line["actor"]) for line in lines] == [("actor.failed", "fragile")]


async def test_an_actor_that_fails_too_often_is_stopped_and_answers_what_is_left(fragile: type[Fragile]) -> None:
    bus = LocalBus({"fragile": fragile})
    told: list[Failed] = []
    bus.place("hub", Does(lambda message, _: told.append(message)))
    for _ in range(RESTARTS + 1):
        bus.post("fragile", Start(what="break"), sender="hub", number=1)
    bus.post("fragile", Start(what="left"), sender="hub", number=2)
    left: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
    bus.post("fragile", Say(what="left, too"), answer=left)
    await settle()

    with pytest.raises(ActorStopped, match="failed too often"):
        await left
    with pytest.raises(ActorStopped, match="failed too often"):
        bus.post("fragile", Start(what="more"))
    assert [each.error for each in told].count("fragile: it failed too often") == 1
    assert len(told) == RESTARTS + 2
    assert bus.stopped == {"fragile"}
    assert bus.dead_letters == 2
    assert fragile.made == RESTARTS + 1


async def test_failures_that_are_long_ago_are_forgiven(fragile: type[Fragile]) -> None:
    clock = Jumping()
    bus = LocalBus({"fragile": fragile}, clock=clock)

    for _ in range(3 * RESTARTS):
        with pytest.raises(ActorFailed):
            await bus.ask("fragile", Say(what="break"), within=5)
        await clock.jump(RESTART_SECONDS / RESTARTS)

    assert bus.stopped == frozenset()


async def test_an_actor_that_cannot_be_made_fails_like_one_that_breaks() -> None:
    def make() -> Hears:
        raise OSError("no disk")

    bus = LocalBus({"never": make})
    for _ in range(RESTARTS + 1):
        with pytest.raises(ActorFailed, match="no disk"):
            await bus.ask("never", Say(), within=1)

    with pytest.raises(ActorStopped):
        await bus.ask("never", Say(), within=1)


async def test_the_failure_of_a_placed_actor_goes_up() -> None:
    broken: list[BaseException] = []

    def breaks(message: Any, ctx: Context) -> None:
        raise LookupError("the state is gone")

    bus = LocalBus({}, on_failure=broken.append)
    bus.place("hub", Does(breaks))
    bus.post("hub", Start())
    await settle()

    assert [repr(error) for error in broken] == ["LookupError('the state is gone')"]


async def test_a_failure_that_cannot_be_told_is_counted() -> None:
    def breaks(message: Any, ctx: Context) -> None:
        raise ValueError

    bus = LocalBus({"a": lambda: Does(breaks)})
    bus.post("a", Start(), sender="nobody")
    await settle()

    assert bus.dead_letters == 1


class Strange(BaseException):
    """Not an Exception."""


@pytest.mark.parametrize("make", [asyncio.CancelledError, Strange, GeneratorExit], ids=lambda each: each.__name__)
@pytest.mark.parametrize("plain", [True, False], ids=["plain", "async"])
async def test_whatever_an_actor_raises_the_bus_goes_on(make: Callable[[], BaseException], *, plain: bool) -> None:
    def breaks(message: Any, ctx: Context) -> None:
        raise make()

    async def breaks_later(message: Any, ctx: Context) -> None:
        await asyncio.sleep(0)
        raise make()

    bus = LocalBus({"odd": lambda: Does(breaks if plain else breaks_later), "hears": Hears})

    with pytest.raises((ActorFailed, ActorStopped)):
        await bus.ask("odd", Say(), within=1)
    assert await bus.ask("hears", Say(what="x"), within=1) == Said(what="x")


@pytest.mark.parametrize("answer", ["text", 42, object(), [Said()]], ids=lambda each: type(each).__name__)
async def test_what_is_no_message_is_no_answer(answer: Any) -> None:
    async def later(message: Any, ctx: Context) -> Any:
        return answer

    bus = LocalBus({"plain": lambda: Does(lambda _message, _ctx: answer), "async": lambda: Does(later)})
    bus.place("hub", hub := Hears())
    for to in ("plain", "async"):
        bus.post(to, Start(), sender="hub", number=1)
        with pytest.raises(ActorFailed):
            await bus.ask(to, Say(), within=1)

    assert hub.heard == [("Failed", "plain", 1), ("Failed", "async", 1)]


async def test_what_is_told_of_an_error_is_bounded_and_never_fails_itself() -> None:
    class Mute(UserFacingError):
        def __str__(self) -> str:
            raise RuntimeError

    errors: list[Exception] = [UserFacingError("x" * 100_000), Mute(), ValueError("of line 42")]

    def breaks(message: Any, ctx: Context) -> None:
        raise errors.pop(0)

    told: list[Failed] = []
    bus = LocalBus({"a": lambda: Does(breaks)})
    bus.place("hub", Does(lambda message, _: told.append(message)))
    for _ in range(3):
        bus.post("a", Start(), sender="hub")
    await settle()

    assert len(told[0].error) == ERROR_CHARACTERS
    assert told[1].error == "Mute"
    assert told[2].error == "An internal error (ValueError); the log says more."


async def test_a_context_that_is_logged_does_not_show_the_message() -> None:
    shown: list[str] = []
    bus = LocalBus({"worker": lambda: Does(lambda _, ctx: shown.append(repr(ctx)))})

    bus.post("worker", Start(what="a secret"))
    await settle()

    assert shown == ["<Start to worker>"]
