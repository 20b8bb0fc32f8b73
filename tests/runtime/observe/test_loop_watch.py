"""An event loop that stands still is noticed, counted and located, whatever holds it."""

import asyncio
import functools
import re
import time
from collections.abc import Callable
from typing import Any

import pytest
from structlog.testing import capture_logs

from runtime.observe import loop_watch
from runtime.observe.loop_watch import BEAT_SECONDS, STALL_SECONDS, LoopWatch
from runtime.observe.meters import Meters
from tests.patience import HANGS_SECONDS

ENOUGH_SECONDS = 3 * STALL_SECONDS
SECRET = "a ticket's own words"


def sleep_on_the_loop(_: str) -> None:
    time.sleep(ENOUGH_SECONDS)


def count_on_the_loop(_: str) -> None:
    until = time.monotonic() + ENOUGH_SECONDS
    while time.monotonic() < until:
        pass


def match(length: int) -> float:
    """Seconds that one call takes which holds the interpreter all the time."""
    began = time.monotonic()
    re.match(r"(?:a|a)*b", "a" * length)
    return time.monotonic() - began


def match_on_the_loop(_: str) -> None:
    match(long_enough())


@functools.cache
def long_enough() -> int:
    return next(length for length in range(16, 40) if match(length) > ENOUGH_SECONDS)


async def watched(hold: Callable[[str], None] | None) -> tuple[Meters, list[Any]]:
    """What was counted and logged of one stall."""
    counted, beats = Meters(), list[int]()
    with capture_logs() as lines:
        watch = LoopWatch(lambda: beats.append(1), counted)
        try:
            async with asyncio.timeout(HANGS_SECONDS):
                while len(beats) < 3:  # noqa: ASYNC110 - a loop that waits for an event beats as well
                    await asyncio.sleep(0.01)
                if hold is not None:
                    hold(SECRET)
                known = len(beats)
                while len(beats) < known + 3:  # noqa: ASYNC110
                    await asyncio.sleep(0.01)
        finally:
            watch.close()
    return counted, [line for line in lines if line["event"].startswith("loop.")]


@pytest.mark.parametrize("hold", [sleep_on_the_loop, count_on_the_loop, match_on_the_loop])
async def test_a_loop_that_stands_still_is_counted_and_told_with_its_place(hold: Callable[[str], None]) -> None:
    long_enough()  # found out before anybody watches
    counted, lines = await watched(hold)

    assert counted.stalls == len([each for each in lines if each["event"] == "loop.stalled"]) == 1
    assert counted.longest_stall >= ENOUGH_SECONDS - BEAT_SECONDS
    assert counted.stall_seconds >= counted.longest_stall
    told = lines[-1]
    assert (told["event"], told["log_level"]) == ("loop.stalled", "warning")
    assert told["seconds"] == pytest.approx(counted.longest_stall, abs=0.01)
    assert (told["cpu_seconds"] > 0.05) == (hold is not sleep_on_the_loop)
    # What held the interpreter may have let go of it, and the loop gone on, before anybody could look.
    assert hold is match_on_the_loop or any("test_loop_watch.py" in place for place in told["where"])
    assert hold is match_on_the_loop or any(hold.__name__ in place for place in told["where"])
    assert told["held"] == (hold is match_on_the_loop)
    assert SECRET not in repr(lines)


async def test_a_loop_that_goes_on_is_left_in_peace() -> None:
    counted, lines = await watched(None)

    assert (counted.stalls, counted.stall_seconds, lines) == (0, 0.0, [])


async def test_what_lasts_is_told_before_it_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop_watch, "LASTING_SECONDS", STALL_SECONDS)
    _, lines = await watched(sleep_on_the_loop)

    assert [line["event"] for line in lines] == ["loop.stalls", "loop.stalled"]
    assert any("sleep_on_the_loop" in place for place in lines[0]["where"])
