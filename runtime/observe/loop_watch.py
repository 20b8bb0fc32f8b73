"""
Notices an event loop that stands still: counts it, and says where it stood.

The loop itself measures for how long, by a timer that comes too late. A thread looks meanwhile where the loop's thread
is; where one call of C code holds the interpreter, as a regular expression does, the thread comes when that call is
over, and says so.
"""

import asyncio
import contextlib
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from types import FrameType
from typing import NamedTuple

import structlog

from runtime.observe.meters import Meters, meters

log = structlog.get_logger()

BEAT_SECONDS = 0.1
"""How often the loop says that it goes on. With the thread and `http.liveness` that takes 0.2 % of a processor."""
STALL_SECONDS = 0.25
"""Who waits for an answer notices from about here on."""
LASTING_SECONDS = 2.0
"""A loop that stands still for so long is told of before it goes on again: it may never."""
MOST_FRAMES = 12
"""Of the stack, the innermost."""


class Standstill(NamedTuple):
    """What the thread saw of one."""

    beaten: float
    """When the loop had gone on last."""
    where: tuple[str, ...]
    """The loop's stack, outermost first: files, lines and functions, nothing of what they work on."""
    held: bool
    """The interpreter was held so that the thread came late: this is where that call came back to."""


class LoopWatch:
    """One for the loop of a process."""

    def __init__(self, beat: Callable[[], None], count: Meters = meters) -> None:
        """:param beat: is called by the loop at each beat; it must not block."""
        self._loop = asyncio.get_running_loop()
        self._thread_id = threading.get_ident()
        self._tell = beat
        self._meters = count
        self._stopped = threading.Event()
        self._beaten = time.monotonic()
        self._cpu = time.thread_time()
        self._seen: Standstill | None = None
        beat()  # from here on it is expected to go on
        self._timer = self._loop.call_later(BEAT_SECONDS, self._beat)
        self._thread = threading.Thread(target=self._look, name="loop watch", daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._timer.cancel()
        self._stopped.set()
        self._thread.join()

    def _beat(self) -> None:
        now, cpu = time.monotonic(), time.thread_time()
        stood = _stood(now, self._beaten)
        if stood >= STALL_SECONDS:
            self._meters.count_stall(stood)
            seen = self._seen if self._seen and self._seen.beaten == self._beaten else None
            log.warning(
                "loop.stalled", seconds=round(stood, 3), cpu_seconds=round(cpu - self._cpu, 3),
                where=seen.where if seen else (), held=bool(seen and seen.held),
            )  # fmt: skip
        self._beaten, self._cpu = now, cpu
        self._tell()
        self._timer = self._loop.call_later(BEAT_SECONDS, self._beat)

    def _look(self) -> None:
        told = 0.0
        asleep = time.monotonic()
        while not self._stopped.wait(BEAT_SECONDS):
            now, beaten = time.monotonic(), self._beaten
            held = now - asleep - BEAT_SECONDS >= STALL_SECONDS / 2
            stood = _stood(now, beaten)
            if stood >= STALL_SECONDS - BEAT_SECONDS and (self._seen is None or self._seen.beaten != beaten):
                frame = sys._current_frames().get(self._thread_id)  # noqa: SLF001 - there is no other way to it
                self._seen = Standstill(beaten, _describe_stack(frame), held)
            if stood >= LASTING_SECONDS and told != beaten and self._seen is not None:
                told = beaten
                log.error("loop.stalls", seconds=round(stood, 3), where=self._seen.where, held=self._seen.held)
            asleep = time.monotonic()


@contextlib.asynccontextmanager
async def watch_loop(beat: Callable[[], None] = lambda: None) -> AsyncIterator[None]:
    """Watch the running loop while this is open."""
    watch = LoopWatch(beat)
    try:
        yield
    finally:
        watch.close()


def _stood(now: float, beaten: float) -> float:
    """For how many seconds, give or take half a beat: at any moment between two of them it may have come to stand."""
    return now - beaten - BEAT_SECONDS / 2


def _describe_stack(frame: FrameType | None) -> tuple[str, ...]:
    found: list[str] = []
    while isinstance(frame, FrameType) and len(found) < MOST_FRAMES:  # a running thread gave another thing once
        code = frame.f_code
        found.append(f"{'/'.join(Path(code.co_filename).parts[-3:])}:{frame.f_lineno} {code.co_name}")
        frame = frame.f_back
    return tuple(reversed(found))
