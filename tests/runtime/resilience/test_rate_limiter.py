"""Places and rates are given in order, never in excess, and never lost."""

import asyncio

from hypothesis import given, settings
from hypothesis import strategies as st

from runtime.resilience.limiters import Permit, RateLimiter
from tests.clock import Jumping, settle


def take(limiter: RateLimiter, tokens: int = 0) -> "asyncio.Task[Permit]":
    return asyncio.create_task(limiter.acquire(tokens))


async def test_places_are_given_in_the_order_of_asking() -> None:
    limiter = RateLimiter(Jumping(), concurrency=2)
    tasks = [take(limiter) for _ in range(5)]
    await settle()
    assert [task.done() for task in tasks] == [True, True, False, False, False]
    # when one place becomes free, the one who waited longest has it
    limiter.release(tasks[1].result())
    await settle()
    assert [task.done() for task in tasks] == [True, True, True, False, False]
    # and nobody overtakes those who wait
    late = take(limiter)
    limiter.release(tasks[0].result())
    await settle()
    assert tasks[3].done()
    assert not late.done()
    for task in (tasks[4], late):
        task.cancel()
    await settle()
    assert limiter.waiting == 0


async def test_who_is_cancelled_while_waiting_leaves_no_trace() -> None:
    limiter = RateLimiter(Jumping(), concurrency=1)
    first, second, third = take(limiter), take(limiter), take(limiter)
    await settle()
    second.cancel()
    await settle()
    limiter.release(first.result())
    await settle()
    assert third.done()
    limiter.release(third.result())
    assert limiter.running == 0


async def test_who_is_cancelled_when_just_served_gives_the_place_back() -> None:
    limiter = RateLimiter(Jumping(), concurrency=1)
    first, second, third = take(limiter), take(limiter), take(limiter)
    await settle()
    # given: the place has been promised to the second, which has not heard of it yet
    limiter.release(first.result())
    second.cancel()
    await settle()
    assert third.done()
    assert limiter.running == 1


async def test_no_more_requests_begin_within_a_minute_than_allowed() -> None:
    clock = Jumping()
    limiter = RateLimiter(clock, concurrency=100, requests_per_minute=3)
    tasks = [take(limiter) for _ in range(7)]
    await settle()
    assert sum(task.done() for task in tasks) == 3
    await clock.jump(59.9)
    assert sum(task.done() for task in tasks) == 3
    await clock.jump(0.2)
    assert sum(task.done() for task in tasks) == 6
    await clock.jump(60)
    assert all(task.done() for task in tasks)


async def test_tokens_are_counted_as_estimated_and_corrected_after() -> None:
    clock = Jumping()
    limiter = RateLimiter(clock, concurrency=100, tokens_per_minute=1000)
    first = take(limiter, 900)
    await settle()
    second = take(limiter, 300)
    await settle()
    assert not second.done()
    # when the first turns out to be small, the second need not wait
    limiter.release(first.result(), 100)
    await settle()
    assert second.done()
    # what is larger than the whole limit still gets its turn, alone
    third = take(limiter, 5000)
    await settle()
    await clock.jump(59)
    assert not third.done()
    await clock.jump(2)
    assert third.done()
    # and a correction that comes after its minute changes nothing
    await clock.jump(120)
    limiter.release(third.result(), 999_999)
    fourth = take(limiter, 1000)
    await settle()
    assert fourth.done()


async def test_a_large_one_is_not_overtaken_for_ever_by_small_ones() -> None:
    clock = Jumping()
    limiter = RateLimiter(clock, concurrency=100, tokens_per_minute=1000)
    take(limiter, 600)
    await settle()
    large, small = take(limiter, 900), take(limiter, 10)
    await settle()
    assert not large.done()
    assert not small.done()
    await clock.jump(61)
    assert large.done()
    small.cancel()
    await settle()
    limiter.close()


async def test_when_the_first_in_the_line_gives_up_the_next_one_is_served_at_once() -> None:
    clock = Jumping()
    limiter = RateLimiter(clock, concurrency=100, tokens_per_minute=1000)
    first = take(limiter, 600)
    await settle()
    large, small = take(limiter, 900), take(limiter, 10)
    await settle()
    large.cancel()
    await settle()
    assert small.done()
    assert (first.done(), limiter.running, clock.waiting) == (True, 2, 0)


async def test_a_pause_holds_back_all() -> None:
    clock = Jumping()
    limiter = RateLimiter(clock, concurrency=5)
    limiter.pause(10)
    tasks = [take(limiter) for _ in range(3)]
    await settle()
    await clock.jump(9)
    assert not any(task.done() for task in tasks)
    await clock.jump(1)
    assert all(task.done() for task in tasks)


Step = tuple[str, int]
STEPS = st.lists(
    st.tuples(st.sampled_from(["ask", "done", "cancel", "jump"]), st.integers(0, 400)), min_size=5, max_size=60
)


@settings(max_examples=60, deadline=None)
@given(steps=STEPS)
def test_in_whatever_order_things_happen_no_limit_is_broken(steps: list[Step]) -> None:
    asyncio.run(_happens(steps))


async def _happens(steps: list[Step]) -> None:
    clock = Jumping()
    limiter = RateLimiter(clock, concurrency=3, requests_per_minute=5, tokens_per_minute=1000)
    tasks: list[asyncio.Task[Permit]] = []
    running: list[asyncio.Task[Permit]] = []
    begun: list[tuple[float, int]] = []
    for what, number in steps:
        if what == "ask":
            tasks.append(take(limiter, number))
        elif what == "done" and running:
            limiter.release(running.pop(number % len(running)).result())
        elif what == "cancel" and tasks:
            tasks.pop(number % len(tasks)).cancel()
        elif what == "jump":
            await clock.jump(number / 10)
        await settle()
        for task in [each for each in tasks if each.done()]:
            tasks.remove(task)
            running.append(task)
            begun.append((task.result().at, task.result().tokens))
        assert len(running) == limiter.running <= 3
        for at, _ in begun:
            inside = [tokens for other, tokens in begun if at <= other < at + 60]
            assert len(inside) <= 5
            assert sum(inside) <= 1000
    # nobody is forgotten: in the end each gets its turn
    for _ in range(200):
        if not tasks:
            break
        for task in running:
            limiter.release(task.result())
        running.clear()
        await clock.jump(61)
        await settle()
        running = [each for each in tasks if each.done()]
        tasks = [each for each in tasks if not each.done()]
    assert not tasks
    limiter.close()
