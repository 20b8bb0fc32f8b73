"""Daemon threads for what may hang with the disk: nobody waits for them for long when the process ends."""

import asyncio
import contextlib
import queue
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
Then = Callable[[Exception | None], None]


async def wait_until(call: Callable[[Then], None]) -> None:
    """Return when what was called says that it is done; raise what it says instead."""
    done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def then(error: Exception | None) -> None:
        if done.done():
            return
        if error is None:
            done.set_result(None)
        else:
            done.set_exception(error)

    call(then)
    await done


class Background:
    """Runs jobs outside of the loop; with one thread, in the order of the calls."""

    def __init__(self, name: str, threads: int = 1) -> None:
        self._name = name
        self._most = threads
        self._loop = asyncio.get_running_loop()
        self._jobs: queue.SimpleQueue[tuple[Callable[[], object], Then] | None] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []

    def call(self, job: Callable[[], object], then: Then) -> None:
        """Have something done, and say on the loop how it went."""
        if len(self._threads) < self._most:
            thread = threading.Thread(target=self._work, name=self._name, daemon=True)
            self._threads.append(thread)
            thread.start()
        self._jobs.put((job, then))

    async def run(self, job: Callable[[], T]) -> T:
        """What a job returns or raises. Cancelling the wait leaves the job as it is."""
        result: list[T] = []
        await wait_until(lambda then: self.call(lambda: result.append(job()), then))
        return result[0]

    def close(self, within: float) -> bool:
        """Whether all threads have ended, which do what was asked of them before."""
        for _ in self._threads:
            self._jobs.put(None)
        for thread in self._threads:
            thread.join(within)
        return not any(thread.is_alive() for thread in self._threads)

    def _work(self) -> None:
        while (each := self._jobs.get()) is not None:
            job, then = each
            failure: Exception | None = None
            try:
                job()
            except Exception as error:
                failure = error
            with contextlib.suppress(RuntimeError):  # the loop is closed, nobody listens any more
                self._loop.call_soon_threadsafe(then, failure)
