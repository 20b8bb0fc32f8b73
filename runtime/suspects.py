"""
Runs at whose work a process died: each is tried alone, after all others, so that what kills once kills few.

Who is in question is a matter of the journal: such a run has had no answer since. It is no proof, for processes are
killed from outside, too; only if they die at its work again and again does `advance` close it.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from typing import NamedTuple

import structlog

from runtime.run import LiveRun, ResumeState
from runtime.storage.background import Background
from runtime.storage.records import StoredRun
from runtime.storage.work_mark import WorkMark

log = structlog.get_logger()

OTHERS_SECONDS = 5.0
"""How long they wait at most for the runs that were taken up with them, so that those get on in any case."""
ALONE_SECONDS = 30.0
"""How long the next one waits at most for one to have an answer: what waits for so long does not kill by its work."""
LOOK_SECONDS = 0.05
CLOSE_SECONDS = 1.0


class Suspect(NamedTuple):
    """A run that waits to be tried."""

    stored: StoredRun
    state: ResumeState

    @property
    def deaths(self) -> int:
        return self.state.run.resumed


def next_suspect(waiting: Iterable[Suspect]) -> Suspect:
    """The one that is tried first: of whom least is known against, then the oldest."""
    return min(waiting, key=lambda each: (each.deaths, each.stored.seq))


class Suspects:
    """Those of one process."""

    def __init__(
        self, mark: WorkMark, begin: Callable[[Suspect], Awaitable[LiveRun]], is_resuming: Callable[[], bool]
    ) -> None:
        """
        :param begin: puts a run to work.
        :param is_resuming: whether other runs are being taken up at this moment.
        """
        self._mark = mark
        self._begin = begin
        self._is_resuming = is_resuming
        self._waiting: dict[str, Suspect] = {}
        self._others: set[LiveRun] = set()
        self._trying: asyncio.Task[None] | None = None
        self._disk = Background("work mark")

    def __contains__(self, run_id: str) -> bool:
        return run_id in self._waiting

    def add(self, suspect: Suspect) -> None:
        """Have a run tried when it is its turn."""
        self._waiting[suspect.stored.id] = suspect
        log.warning("run.suspected", run=suspect.stored.id, ticket=suspect.stored.ticket, deaths=suspect.deaths)
        if self._trying is None or self._trying.done():
            self._trying = asyncio.get_running_loop().create_task(self._try_all(), name="suspects")

    def wait_for(self, other: LiveRun) -> None:
        """A run that goes on as well, and before them."""
        self._others.add(other)
        other.when_over(partial(self._others.discard, other))

    async def close(self) -> None:
        if self._trying is not None:
            self._trying.cancel()
            await asyncio.wait([self._trying])
        self._waiting.clear()
        self._disk.close(CLOSE_SECONDS)

    async def _try_all(self) -> None:
        await self._until(lambda: not self._others and not self._is_resuming(), OTHERS_SECONDS)
        while self._waiting:
            suspect = next_suspect(self._waiting.values())
            await self._note(suspect.stored.id)
            try:
                live = await self._begin(suspect)
            except Exception:  # the others have their turn all the same
                log.exception("run.not_resumed", run=suspect.stored.id)
            else:
                await self._until(partial(_is_cleared, live), ALONE_SECONDS)
            finally:
                self._waiting.pop(suspect.stored.id, None)
            await self._note("")

    async def _until(self, is_so: Callable[[], bool], seconds: float) -> None:
        until = time.monotonic() + seconds
        while not is_so() and time.monotonic() < until:  # noqa: ASYNC110 - runs do not tell what they lived through
            await asyncio.sleep(LOOK_SECONDS)

    async def _note(self, run: str) -> None:
        try:
            await self._disk.run(partial(self._mark.set_alone, run))
        except OSError as error:  # only the death of the whole machine is not known for its then
            log.warning("run.not_marked", run=run, error=repr(error))


def _is_cleared(live: LiveRun) -> bool:
    """Whether the process has lived through a turn of it."""
    return live.is_over or not live.where.resumed
