"""A run, as who submitted it sees it: of this process, or of another one on the same database."""

import asyncio
import itertools
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from typing import Any

import msgspec
import structlog

from actors.workflow.broadcast import list_past
from actors.workflow.outcome import AnswerReady, Outcome, RunEnded
from actors.workflow.progress import AnswerText, DraftChecked, ProgressEvent
from runtime.run import LiveRun
from runtime.storage.records import NewRun

log = structlog.get_logger()

WATCH_LIMIT = 1_000
"""News that may wait for a slow watcher; older is dropped then."""
LOOK_SECONDS = 0.5
"""How often a run that another process works on is looked at."""


class WatcherTooSlow(Exception):
    """More waits for a watcher than is kept for one, and it wanted all or nothing."""


class _ToldDrafts:
    """
    The drafts that one watcher was told of: each of them is concluded at the latest when the answer or the end is told.

    Who is interrupted while its model writes cannot do so itself.
    """

    __slots__ = ("_open", "_unverified")

    def __init__(self) -> None:
        self._open: dict[str, str] = {}
        """By agent what nobody has checked yet."""
        self._unverified: dict[str, tuple[str, ...]] = {}
        """Of the last draft of each agent."""

    def hear(self, event: Any) -> Iterator[ProgressEvent]:
        """What is to be told in the place of an event."""
        match event:
            case AnswerText(agent=agent, start=start, text=text):
                self._open[agent] = self._open.get(agent, "")[:start] + text
            case DraftChecked(agent=agent, unverified=unverified):
                self._open.pop(agent, None)
                self._unverified[agent] = unverified
            case AnswerReady():
                yield from self.conclude()
                event = msgspec.structs.replace(event, unverified=tuple(itertools.chain(*self._unverified.values())))
        yield event

    def conclude(self) -> Iterator[DraftChecked]:
        """That nothing stays of what is open."""
        for agent in [agent for agent, text in self._open.items() if text]:
            self._unverified[agent] = tuple(dict.fromkeys(self._open.pop(agent).splitlines()))
            yield DraftChecked(agent, self._unverified[agent])


class RunHandle:
    """A run of this process."""

    __slots__ = ("_live", "new", "run", "ticket")

    def __init__(self, live: LiveRun, new: NewRun | None = None) -> None:
        """:param new: what was stored of it, where it has begun just now."""
        self._live = live
        self.new = new
        self.run = live.id
        self.ticket = live.ticket

    def watch(self, *, drafts: bool = False, whole: bool = False) -> AsyncGenerator[ProgressEvent, None]:
        """
        All news from the beginning, then as they happen, `RunEnded` last. A slow watcher loses the oldest.

        It ends without `RunEnded` when this process stops before the run has ended.

        :param drafts: tell the answers' texts, too, while models write them: `AnswerText`, `DraftChecked`.
        :param whole: a slow watcher loses nothing, but gets `WatcherTooSlow` in the place of what it would lose.
        """
        waiting: asyncio.Queue[ProgressEvent | WatcherTooSlow | None] = asyncio.Queue()
        told = _ToldDrafts()

        def hear(event: Any) -> None:
            if isinstance(event, RunEnded):
                return  # told below, to those too who come after it
            if isinstance(event, AnswerText | DraftChecked) and not drafts:
                return
            for each in told.hear(event):
                put(each)

        def put(event: ProgressEvent) -> None:
            if waiting.qsize() < WATCH_LIMIT:
                waiting.put_nowait(event)
            elif not whole:
                waiting.get_nowait()
                waiting.put_nowait(event)
            elif waiting.qsize() == WATCH_LIMIT:
                waiting.put_nowait(WatcherTooSlow())

        for event in self._live.so_far():
            hear(event)
        stops = (self._live.watch(hear, live=drafts), self._live.when_over(lambda: waiting.put_nowait(None)))
        return self._until_over(waiting, told, stops)

    async def _until_over(
        self, waiting: "asyncio.Queue[ProgressEvent | WatcherTooSlow | None]", told: _ToldDrafts,
        stops: tuple[Callable[[], object], ...],
    ) -> AsyncGenerator[ProgressEvent, None]:  # fmt: skip
        try:
            while (event := await waiting.get()) is not None:
                if isinstance(event, WatcherTooSlow):
                    raise event
                yield event
            if (outcome := self._live.outcome_so_far()) is not None:
                for each in told.conclude():
                    yield each
                yield RunEnded(outcome=outcome)
        finally:
            for stop in stops:
                stop()

    async def outcome(self) -> Outcome:
        """Wait for the end. Cancelling the wait leaves the run as it is."""
        return await self._live.outcome()

    def cancel(self) -> None:
        """Gently; a second time, at once."""
        self._live.cancel()


class FollowedRun:
    """A run that another process works on, or has ended. It goes on here when that process dies with it."""

    def __init__(
        self, run: str, ticket: str, look: Callable[[], Awaitable[Outcome | RunHandle | None]],
        ask_to_cancel: Callable[[], Awaitable[object]],
    ) -> None:  # fmt: skip
        """:param look: how it has ended, or where it goes on if that is here by now."""
        self.run = run
        self.ticket = ticket
        self._look = look
        self._ask_to_cancel = ask_to_cancel
        self._asking: set[asyncio.Future[object]] = set()

    async def watch(self, *, drafts: bool = False) -> AsyncGenerator[ProgressEvent, None]:
        """What happened, once it has ended: only the process that works on it knows sooner."""
        while not isinstance(found := await self._look(), Outcome):
            if isinstance(found, RunHandle):
                async for event in found.watch(drafts=drafts):
                    yield event
                return
            await asyncio.sleep(LOOK_SECONDS)
        for event in list_past(found):
            yield event
        yield RunEnded(outcome=found)

    async def outcome(self) -> Outcome:
        while not isinstance(found := await self._look(), Outcome):
            if isinstance(found, RunHandle):
                return await found.outcome()
            await asyncio.sleep(LOOK_SECONDS)
        return found

    def cancel(self) -> None:
        """Leave word for the process that works on it; a second time, it is not gentle."""
        asking: asyncio.Future[object] = asyncio.ensure_future(self._ask_to_cancel())
        self._asking.add(asking)
        asking.add_done_callback(self._log_failure)

    def _log_failure(self, asking: "asyncio.Future[object]") -> None:
        self._asking.discard(asking)
        if not asking.cancelled() and (error := asking.exception()) is not None:
            log.error("run.not_cancelled", run=self.run, error=repr(error))


Handle = RunHandle | FollowedRun
"""A run, wherever it goes on."""
