"""The line to a source, on a clock moved by hand."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from actors.ports import PortFailed
from runtime.search.source import FAILURES, REST_SECONDS, SourceClient, SourceFailed
from tests.clock import Jumping, settle

Call = Callable[[float], Awaitable[str]]


def failing(*errors: SourceFailed) -> tuple[Call, list[float]]:
    """A call that fails with each of these, then answers; and the seconds that it was given."""
    given: list[float] = []
    left = list(errors)

    async def call(seconds: float) -> str:
        given.append(seconds)
        if left:
            raise left.pop(0)
        return "answer"

    return call, given


async def hang(seconds: float) -> str:
    await asyncio.Event().wait()
    return ""


async def run(clock: Jumping, line: SourceClient, call: Call, within: float = 100.0) -> str | Exception:
    """Ask, and let time pass until there is an answer."""
    task = asyncio.create_task(line.ask(call, within=within))
    await settle()
    while not task.done():
        await clock.jump(clock.next - clock.now)
    return task.exception() or task.result()  # type: ignore[return-value]  # no BaseException comes here


async def test_a_second_try_gets_only_the_time_that_is_left() -> None:
    clock = Jumping()
    call, given = failing(SourceFailed("rate_limited", "Wait.", retry_after=4.0))

    answer = await run(clock, SourceClient("Source", clock, seconds=15, concurrency=1), call)

    assert answer == "answer"
    assert given == [15, 11]
    assert clock.waiting == 0


async def test_a_pause_that_a_source_asked_for_holds_for_everybody() -> None:
    clock = Jumping()
    line = SourceClient("Source", clock, seconds=15, concurrency=4)
    call, _ = failing(SourceFailed("rate_limited", "Wait.", retry_after=4.0))
    first = asyncio.create_task(line.ask(call, within=15))
    await settle()
    asked: list[float] = []

    async def other(seconds: float) -> str:
        asked.append(clock.time())
        return "other"

    second = asyncio.create_task(line.ask(other, within=15))
    await settle()
    await clock.jump(3.9)
    assert asked == []
    await clock.jump(1.0)

    assert await second == "other"
    assert await first == "answer"
    assert asked == [4.0]


@pytest.mark.parametrize("kind", ["refused", "rejected", "timed_out"])
async def test_what_a_second_try_cannot_cure_is_not_tried_again(kind: str) -> None:
    clock = Jumping()
    call, given = failing(SourceFailed(kind, "No."))  # type: ignore[arg-type]

    assert str(await run(clock, SourceClient("Source", clock, seconds=15, concurrency=1), call)) == "No."
    assert len(given) == 1


@pytest.mark.req("PR-25")
@pytest.mark.parametrize(("within", "after"), [(100.0, 15.0), (3.0, 3.0)])
async def test_no_call_takes_longer_than_its_source_or_its_caller_allows(within: float, after: float) -> None:
    clock = Jumping()

    error = await run(clock, SourceClient("Source", clock, seconds=15, concurrency=1), hang, within)

    assert str(error) == f"Source did not answer within {after:.3g} s."
    assert clock.now == after


async def test_a_call_that_never_got_a_place_says_so() -> None:
    clock = Jumping()
    line = SourceClient("Source", clock, seconds=15, concurrency=1)
    first = asyncio.create_task(line.ask(hang, within=15))
    await settle()

    error = await run(clock, line, hang, within=2)

    assert str(error) == "Source was busy with other queries for 2 s."
    first.cancel()


async def test_a_source_that_keeps_failing_rests_and_is_then_asked_once() -> None:
    clock = Jumping()
    line = SourceClient("Source", clock, seconds=15, concurrency=4, tries=1)
    down = [SourceFailed("refused", "The key is wrong.") for _ in range(FAILURES + 1)]
    call, given = failing(*down)

    for _ in range(FAILURES + 2):
        with pytest.raises(PortFailed, match="The key is wrong"):
            await line.ask(call, within=15)
    assert len(given) == FAILURES

    await clock.jump(REST_SECONDS)
    for _ in range(2):
        with pytest.raises(PortFailed):
            await line.ask(call, within=15)
    assert len(given) == FAILURES + 1, "one looks whether it is well again"

    await clock.jump(REST_SECONDS)
    assert await line.ask(call, within=15) == "answer"
    assert await line.ask(call, within=15) == "answer"


async def test_a_source_that_asks_for_a_long_rest_gets_it_and_nobody_waits_for_it() -> None:
    clock = Jumping()
    line = SourceClient("Source", clock, seconds=15, concurrency=4)
    call, given = failing(SourceFailed("rate_limited", "Come back later.", retry_after=300.0))

    for _ in range(3):
        with pytest.raises(SourceFailed, match="Come back later"):
            await line.ask(call, within=15)
    assert len(given) == 1

    await clock.jump(300)
    assert await line.ask(call, within=15) == "answer"


async def test_different_failures_and_questions_that_are_not_liked_bring_no_rest() -> None:
    clock = Jumping()
    line = SourceClient("Source", clock, seconds=15, concurrency=4, tries=1)
    call, given = failing(*(SourceFailed("rejected", "Not this one.") for _ in range(3 * FAILURES)))

    for _ in range(3 * FAILURES):
        with pytest.raises(SourceFailed):
            await line.ask(call, within=15)

    assert await line.ask(call, within=15) == "answer"
    assert len(given) == 3 * FAILURES + 1


async def test_a_caller_in_haste_does_not_bring_a_source_into_disrepute() -> None:
    clock = Jumping()
    line = SourceClient("Source", clock, seconds=15, concurrency=4)

    for _ in range(2 * FAILURES):
        await run(clock, line, hang, within=0.1)
    call, _ = failing()

    assert await line.ask(call, within=15) == "answer"


@pytest.mark.req("RE-13")
async def test_in_a_minute_no_more_calls_begin_than_allowed() -> None:
    clock = Jumping()
    line = SourceClient("Source", clock, seconds=500, concurrency=10, requests_per_minute=2)
    begun: list[float] = []

    async def call(seconds: float) -> str:
        begun.append(clock.time())
        return ""

    tasks = [asyncio.create_task(line.ask(call, within=500)) for _ in range(5)]
    await settle()
    await clock.jump(400)

    await asyncio.gather(*tasks)
    assert begun == [0, 0, 60, 60, 120]
    line.close()
