"""The events of a run, or of all, for whoever listens: each once, and a sign of life in between."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import NamedTuple, TypeVar

from actors.workflow.outcome import RunEnded
from actors.workflow.progress import HEARTBEAT_SECONDS, ProgressEvent
from runtime.event_feed import FeedEvent, number_of
from runtime.run_handle import RunHandle
from runtime.service import TicketService
from runtime.storage.journal import StoredRun

T = TypeVar("T")
Sees = Callable[[set[str]], Awaitable[set[str]]]
"""Which of these runs a listener may know of."""


class Cursor(NamedTuple):
    """The numbered event that a listener heard last."""

    run: str
    number: int


class NumberedEvent(NamedTuple):
    """What happened on a run."""

    event: ProgressEvent
    number: int | None
    """Nothing for what no journal has: it is told again, or not, to whoever comes back."""
    is_new: bool = True
    """The listener has not heard it before."""


async def has_heard_all(desk: TicketService, stored: StoredRun, cursor: Cursor) -> bool:
    """Whether a run has ended, and a listener has heard that."""
    outcome = await desk.node.journal.outcome(stored)
    return outcome is not None and cursor.number >= (number_of(RunEnded(outcome=outcome)) or 0)


async def watch_run(
    desk: TicketService, run_id: str, after: int = -1, *, drafts: bool = True
) -> AsyncGenerator[NumberedEvent | None, None]:  # fmt: skip
    """
    What happened on a run and happens until it ends, new from an event of this number on; None when nothing does.

    :param drafts: answers' texts, too, while models write them.
    :raises WatcherTooSlow: more waits than is kept for one listener.
    """
    handle, at = await desk.handle(run_id), -1
    events = handle.watch(drafts=drafts, whole=True) if isinstance(handle, RunHandle) else desk.feed.follow(run_id)
    async with contextlib.aclosing(_with_heartbeat(desk, events)) as told:
        async for event in told:
            if event is None:
                yield None
                continue
            number = number_of(event)
            if isinstance(event, RunEnded):
                yield NumberedEvent(event, number)
                return
            if number is not None:
                if number <= at:
                    continue  # it was being written down when the past was asked for
                at = number
            yield NumberedEvent(event, number, at > after or (number is None and at == after))


async def watch_all(
    desk: TicketService, place: int, cursor: Cursor | None = None, sees: Sees | None = None
) -> AsyncGenerator[list[FeedEvent] | None, None]:
    """
    What the journal has of all runs after a place, but what a listener has heard; None when nothing happens.

    :param sees: which of them the listener may know of; nothing: all. A page of others alone is empty.
    """
    async with contextlib.aclosing(_with_heartbeat(desk, desk.feed.pages(place))) as pages:
        async for page in pages:
            if page is not None and sees is not None:
                seen = await sees({each.run for each in page})
                page = [each for each in page if each.run in seen]
            if page is None or cursor is None:
                yield page
            else:
                yield [each for each in page if each.run != cursor.run or each.number > cursor.number]


async def _with_heartbeat(desk: TicketService, events: AsyncGenerator[T, None]) -> AsyncGenerator[T | None, None]:
    """What comes, until this process ends or nothing comes any more, and None after some seconds without."""
    upcoming: asyncio.Future[T | None] | None = None
    try:
        while not desk.closed:
            upcoming = upcoming or desk.wait_for(anext(events, None))
            await asyncio.wait([upcoming], timeout=HEARTBEAT_SECONDS)
            if not upcoming.done():
                yield None
                continue
            if upcoming.cancelled() or (event := upcoming.result()) is None:
                return
            upcoming = None
            yield event
    finally:
        if upcoming is not None:
            upcoming.cancel()
            await asyncio.wait([upcoming])
        await events.aclose()  # the subscription ends with it
