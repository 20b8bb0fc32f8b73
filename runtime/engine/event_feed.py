"""What the journal has of all runs, in the order in which it became durable, whichever process wrote it."""

import asyncio
import contextlib
import functools
from collections import deque
from collections.abc import AsyncGenerator, Iterator, Sequence

import structlog

from actors.workflow.broadcast import list_made, list_past
from actors.workflow.outcome import HandoffMade, Outcome, RunBegan, RunEnded, RunEvent
from runtime.storage.damage import JournalDamaged
from runtime.storage.errors import StorageError, UnknownRun
from runtime.storage.journal import RunJournal
from runtime.storage.records import FEED_END, FeedPlace, StoredRun

log = structlog.get_logger()

LOOK_SECONDS = 0.25
"""How often the journal is looked at while anybody reads: once for all who do."""
PAGE = 500
"""Places that are read at once."""
KEPT = 1_000
"""Places whose events are kept for those who read on; who is further behind reads the journal, a page at a time."""
KEPT_PAGES = 8
"""Of those: many who were left behind, or come back, are behind by the same."""
LAST = 2**31
"""The number of an end before which nothing could be read; more than any run has."""


class FeedEvent:
    """An event of a run with its number, by which whoever was cut off goes on."""

    __slots__ = ("data", "event", "number", "run", "ticket")

    def __init__(self, run: str, ticket: str, event: RunEvent, number: int) -> None:
        self.run, self.ticket, self.event, self.number = run, ticket, event, number
        self.data = b""
        """As it goes over a line, once somebody has made it so: many readers are sent the same."""


Fed = tuple[int, tuple[FeedEvent, ...]]
"""A place, and the events that became known there."""


def number_of(event: object) -> int | None:
    """The number of an event in its run, rising by one: 0 when it began; nothing for what no journal has."""
    match event:
        case RunBegan():
            return 0
        case HandoffMade(number=number):
            return number
        case RunEnded(outcome=outcome):
            return len(outcome.handoffs) + 1 if outcome.handoffs else LAST
        case _:
            return None


async def list_events(journal: RunJournal, stored: StoredRun) -> list[FeedEvent]:
    """
    All numbered events of a run so far.

    :raises JournalDamaged: it cannot be read.
    """
    if (outcome := await journal.outcome(stored)) is not None:
        events: list[RunEvent] = [*list_past(outcome), RunEnded(outcome=outcome)]
    else:
        flow, _, stood = await journal.course(stored)
        events = list_made(stored.id, flow, stood[-1])
    return [_number(stored, event) for event in events]


def _number(stored: StoredRun, event: RunEvent) -> FeedEvent:
    number = number_of(event)
    assert number is not None  # noqa: S101 - these events have one
    return FeedEvent(stored.id, stored.ticket, event, number)


class EventFeed:
    """One per process: reads the journal for all who listen, and only while anybody does."""

    def __init__(self, journal: RunJournal) -> None:
        self._journal = journal
        self._readers = 0
        self._task: asyncio.Task[None] | None = None
        self._changed = asyncio.Event()
        self._recent: deque[Fed] = deque()
        self._since = LAST
        """`_recent` holds all that came after this place."""
        self._pages: dict[int, asyncio.Task[list[Fed]]] = {}
        self.looks = 0
        """How often the journal was looked at."""

    async def end(self) -> int:
        """The place behind all that there is."""
        return await self._journal.store.feed_end()

    async def find_place(self, run_id: str, number: int) -> int | None:
        """
        Behind which place a reader goes on who has heard this event last; what stands there is heard once more.

        :returns: nothing when the feed does not go back so far.
        :raises UnknownRun: there is no such run.
        """
        stored = await self._journal.run(run_id)
        outcome = await self._journal.outcome(stored)
        n = FEED_END
        if outcome is None or 0 <= number <= len(outcome.handoffs):
            _, entries, stood = await self._journal.course(stored)
            made = zip([0, *(each.n for each in entries)], stood, strict=True)
            n = next((n for n, where in made if len(where.handoffs) >= number), FEED_END)
        place = await self._journal.store.feed_place(run_id, n)
        return None if place is None else place - 1

    async def pages(self, place: int) -> AsyncGenerator[list[FeedEvent], None]:
        """All that came after a place, and what comes, as soon as it is there. It does not end."""
        with self._reading():
            while True:
                changed = self._changed
                fed = self._find_recent(place)
                if fed is None:
                    fed = await self._read_page(place)
                if not fed:
                    await changed.wait()
                    continue
                place = fed[-1][0]
                if events := [event for _, events in fed for event in events]:
                    yield events

    async def follow(self, run_id: str) -> AsyncGenerator[RunEvent, None]:
        """The numbered events of a run that another process works on, each once, `RunEnded` last."""
        place, last = await self.end(), -1
        past = await list_events(self._journal, await self._journal.run(run_id))
        async with contextlib.aclosing(self.pages(place)) as pages:
            page = past
            while True:
                for each in page:
                    if each.run == run_id and each.number > last:
                        last = each.number
                        yield each.event
                        if isinstance(each.event, RunEnded):
                            return
                page = await anext(pages)

    @contextlib.contextmanager
    def _reading(self) -> Iterator[None]:
        self._readers += 1
        if self._task is None:
            self._task = asyncio.create_task(self._look_on(), name="event feed")
        try:
            yield
        finally:
            self._readers -= 1
            if not self._readers:
                self._task.cancel()
                self._task, self._since = None, LAST
                self._recent.clear()
                for page in self._pages.values():
                    page.cancel()
                self._pages.clear()

    def _find_recent(self, place: int) -> list[Fed] | None:
        """What came after a place, of what is kept; nothing when that does not go back so far."""
        if place < self._since:
            return None
        found: list[Fed] = []
        for each in reversed(self._recent):
            if each[0] <= place:
                break
            found.append(each)
        return found[::-1]

    async def _look_on(self) -> None:
        place: int | None = None
        while True:
            begins = place is None
            try:
                self.looks += 1
                if place is None:
                    place = self._since = await self.end()
                fed = await self._read(place)
            except StorageError as error:
                log.warning("feed.not_read", error=repr(error))
                fed = []
            if fed and place is not None:
                place = fed[-1][0]
                self._recent.extend(fed)
                while len(self._recent) > KEPT:
                    self._since = self._recent.popleft()[0]
            if fed or begins:
                changed, self._changed = self._changed, asyncio.Event()
                changed.set()
            if len(fed) < PAGE:
                await asyncio.sleep(LOOK_SECONDS)

    async def _read_page(self, place: int) -> list[Fed]:
        """The rest of the page that a place is on, read once for all who are there; nothing behind the last place."""
        while True:
            begin = place - place % PAGE
            page = self._pages.get(begin)
            if page is None:
                page = self._pages[begin] = asyncio.create_task(self._read(begin))
                page.add_done_callback(functools.partial(self._forget_page, begin))
                for old in list(self._pages)[:-KEPT_PAGES]:
                    del self._pages[old]
            fed = [each for each in await asyncio.shield(page) if place < each[0] <= begin + PAGE]
            if fed or await self.end() < begin + PAGE:
                return fed
            place = begin + PAGE  # what stood between was purged

    def _forget_page(self, begin: int, page: "asyncio.Task[list[Fed]]") -> None:
        """One that goes on, or could not be read, is read again."""
        fed = [] if page.cancelled() or page.exception() else page.result()
        if (not fed or fed[-1][0] < begin + PAGE) and self._pages.get(begin) is page:
            del self._pages[begin]

    async def _read(self, place: int) -> list[Fed]:
        places = await self._journal.store.feed(place, PAGE)
        by_run: dict[str, list[FeedPlace]] = {}
        for each in places:
            by_run.setdefault(each.run, []).append(each)
        fed: list[Fed] = []
        for run_id, of_run in by_run.items():
            fed += await self._read_run(run_id, of_run)
        return sorted(fed, key=lambda each: each[0])

    async def _read_run(self, run_id: str, places: Sequence[FeedPlace]) -> list[Fed]:
        """What became known of a run at each of these places."""
        try:
            stored = await self._journal.run(run_id)
            outcome = await self._journal.outcome(stored)
        except (UnknownRun, JournalDamaged):  # it was purged meanwhile, or nobody can tell what it is
            return [(each.seq, ()) for each in places]
        try:
            flow, _, stood = await self._journal.course(stored)
            made = list_made(run_id, flow, stood[-1])
            counts = [len(where.handoffs) for where in stood]
        except JournalDamaged:
            made, counts = [], [0]
        known = made if outcome is None else list_past(outcome)
        return [(each.seq, tuple(_select(stored, each.n, known, counts, outcome))) for each in places]


def _select(
    stored: StoredRun, n: int, known: Sequence[RunEvent], counts: Sequence[int], outcome: Outcome | None
) -> Iterator[FeedEvent]:
    """
    The events that became known with one entry of a journal.

    :param known: what the run has told so far, without its end.
    :param counts: how many handoffs there were when it began, and after each entry.
    """
    if n == FEED_END:
        first, last = counts[-1], len(known)
    elif n < len(counts):
        first, last = counts[n - 1] if n else -1, counts[n]
    else:  # it was overruled
        return
    for event in known:
        if first < (number_of(event) or 0) <= last:
            yield _number(stored, event)
    if n == FEED_END and outcome is not None:
        yield _number(stored, RunEnded(outcome=outcome))
