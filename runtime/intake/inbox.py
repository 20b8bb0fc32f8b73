"""What helpdesks told and what is to be looked at because of it, durable. Each delivery counts once."""

import hashlib
from collections.abc import AsyncIterator, Iterable, Sequence

import msgspec

from runtime.intake.events import HelpdeskEvent
from runtime.intake.loop_rules import Heard, History
from runtime.intake.writes import PREFIX, WRITE_BACK, WRITTEN, Decision, Origin, WriteBack, is_refused, read_write_back
from runtime.storage.errors import Conflict
from runtime.storage.port import RunStore
from runtime.storage.records import ORIGIN, Record, RecordKey
from runtime.times import DAY

DELIVERY, BELL, CURSOR, DECISION, CONNECTED = "delivery", "bell", "cursor", "decision", "connected"
SENDER = "sender"
MOST_HEARD = 1_000
"""Messages that are known of one sender."""
PAGE = 500
MOST_BELLS = 5_000
"""Deliveries whose tickets wait for a look; who sends more is told to come again, and the poll finds them."""
AGAIN = "again"
"""What the bell of a look that was put off is called; others are called after their delivery."""


class InboxFull(Exception):
    """Too many tickets wait for a look."""


class Bell(msgspec.Struct, frozen=True):
    """A ticket that is to be looked at."""

    source: str
    ticket: str
    since: float
    """Unix seconds."""
    not_before: float = 0.0
    records: tuple[str, ...] = ()
    """What was stored of it when it was read, one for each delivery; later ones outlive its settling."""


class SenderHistory(msgspec.Struct, frozen=True):
    """What is known of who writes to a helpdesk, for a day."""

    heard: tuple[Heard, ...] = ()
    told: float = 0.0
    """When people were told that this one writes too much, Unix seconds; 0: they were not."""
    left: tuple[str, ...] = ()
    """Tickets that were given to people since then, as digests."""

    def is_told(self, now: float) -> bool:
        """Whether people know, today, that this one writes too much; `now`: Unix seconds."""
        return now - self.told < DAY


class Inbox:
    """Of one process, over the storage."""

    def __init__(self, store: RunStore) -> None:
        self._store = store
        self._waiting: set[str] = set()
        """The records of all bells."""
        self._connected: dict[str, float] = {}
        """By helpdesk: since when it is looked after, Unix seconds."""

    async def load(self, sources: Iterable[str], now: float) -> None:
        """Know the bells that an earlier process left, and since when each helpdesk is looked after."""
        self._waiting |= {each.id for each in await self._all(BELL)}
        self._connected = {each.id: float(each.body) for each in await self._all(CONNECTED)}
        new = {each: now for each in sources if each not in self._connected}
        if new:  # those that an earlier version looked after, which kept no time, are not new
            new |= dict.fromkeys(new.keys() & await self._find_earlier(), 0.0)
            await self._store.put(*(Record(kind=CONNECTED, id=each, body=str(at).encode()) for each, at in new.items()))
        self._connected |= new

    async def _find_earlier(self) -> set[str]:
        """Helpdesks that told something or were asked before."""
        kinds = (CURSOR, BELL, DELIVERY)
        return {each.id.partition("/")[0] for kind in kinds async for page in self._pages(kind) for each in page}

    def find_connection_time(self, source: str) -> float:
        """Since when a helpdesk is looked after, Unix seconds; 0: before anybody noted it."""
        return self._connected.get(source, 0.0)

    @property
    def count_waiting(self) -> int:
        """Tickets that wait for a look."""
        return len({each.rpartition("/")[0] for each in self._waiting})

    async def take(self, event: HelpdeskEvent, now: float) -> bool:
        """
        Keep an event, and ring for its ticket; both are durable when this returns.

        :returns: whether it is new.
        :raises InboxFull: too many tickets wait already.
        """
        if len(self._waiting) >= MOST_BELLS:
            raise InboxFull
        told = event.id or hashlib.sha256(msgspec.msgpack.encode(event)).hexdigest()
        digest = hashlib.sha256(told.encode()).hexdigest()[:32]  # an id may be a mail's, which says whose it was
        delivery = Record(kind=DELIVERY, id=f"{event.source}/{digest}", body=msgspec.msgpack.encode(now))
        bell = _make_bell(Bell(event.source, event.ticket, now), digest)
        waited = bell.id in self._waiting
        self._waiting.add(bell.id)  # before it is written: it may be looked at and settled before this goes on
        try:
            await self._store.put(delivery, bell)
        except BaseException as error:
            if not waited:
                self._waiting.discard(bell.id)
            if isinstance(error, Conflict):
                return False
            raise
        return True

    async def forget_deliveries(self, before: float) -> int:
        """Deliveries that came before this moment count as new if they come again; returns how many."""
        count = 0
        async for page in self._pages(DELIVERY):
            old = [RecordKey(DELIVERY, each.id) for each in page if _read_time(each) < before]
            if old:
                await self._store.put(remove=old)
            count += len(old)
        return count

    async def bells(self, source: str, now: float) -> list[Bell]:
        """Tickets of a helpdesk that are to be looked at now, those that have waited longest first."""
        found: dict[str, Bell] = {}
        for record in await self._all(BELL):
            bell = msgspec.msgpack.decode(record.body, type=Bell)
            if bell.source == source and bell.not_before <= now and len(found) < PAGE:
                first = found.get(bell.ticket, bell)
                found[bell.ticket] = Bell(
                    source, bell.ticket, min(first.since, bell.since), records=(*first.records, record.id)
                )
        return sorted(found.values(), key=lambda each: each.since)

    async def settle(self, bell: Bell, again: float = 0.0) -> None:
        """
        A ticket was looked at; what has rung since stays.

        :param again: when it is to be looked at again all the same, Unix seconds.
        """
        later = [_make_bell(Bell(bell.source, bell.ticket, bell.since, again), AGAIN)] if again else []
        kept = {each.id for each in later}
        gone = [each for each in bell.records if each not in kept]
        self._waiting = (self._waiting | kept) - set(gone)
        await self._store.put(*later, remove=[RecordKey(BELL, each) for each in gone])

    async def history(self, ticket: str) -> History:
        """
        What we did about a ticket so far.

        :param ticket: our id of it.
        """
        found = [
            msgspec.msgpack.decode(each.body, type=Origin)
            for each in await self._store.records(ORIGIN, after=f"{ticket}/", most=PAGE)
            if each.id.startswith(f"{ticket}/")
        ]
        answered = frozenset({each.message for each in found} | {each.mail for each in found} - {""})
        connected = self._connected.get(ticket.removeprefix(PREFIX).partition(".")[0], 0.0)
        return History(tuple(each.at for each in found), answered, connected)

    async def sender(self, source: str, who: str) -> SenderHistory:
        """
        What somebody wrote to a helpdesk of late.

        :param who: as the helpdesk names them; kept as a digest.
        """
        name = _name_sender(source, who)
        found = await self._store.records(SENDER, after=name[:-1], most=2)
        return next(
            (msgspec.msgpack.decode(each.body, type=SenderHistory) for each in found if each.id == name),
            SenderHistory(),
        )

    async def hear(self, source: str, who: str, known: SenderHistory, new: Heard) -> None:
        """A run is about to be made of a message; the same one again changes nothing."""
        if all(each.message != new.message for each in known.heard):
            heard = [each for each in known.heard if new.at - each.at < DAY][-MOST_HEARD:]
            await self._keep_sender(source, who, msgspec.structs.replace(known, heard=(*heard, new)))

    async def leave(self, source: str, who: str, known: SenderHistory, ticket: str, now: float) -> None:
        """A ticket of a sender was left to people, who were told of the sender if they had not been today."""
        told, left = (known.told, known.left) if known.is_told(now) else (now, ())
        left = (*left, ticket)[-MOST_HEARD:]
        await self._keep_sender(source, who, msgspec.structs.replace(known, told=told, left=left))

    async def _keep_sender(self, source: str, who: str, sender: SenderHistory) -> None:
        body = msgspec.msgpack.encode(sender)
        await self._store.put(Record(kind=SENDER, id=_name_sender(source, who), body=body, replaces=True))

    async def forget_senders(self, before: float) -> int:
        """Senders that nobody heard of since then, Unix seconds, are not known any more; returns how many."""
        count = 0
        async for page in self._pages(SENDER):
            known = [(each.id, msgspec.msgpack.decode(each.body, type=SenderHistory)) for each in page]
            old = [
                RecordKey(SENDER, name)
                for name, each in known
                if max((*(heard.at for heard in each.heard), each.told)) < before
            ]
            if old:
                await self._store.put(remove=old)
            count += len(old)
        return count

    async def origin(self, ticket: str, run: str) -> Origin | None:
        """Where a run came from."""
        name = f"{ticket}/{run}"
        for each in await self._store.records(ORIGIN, run=run):
            if each.id == name:
                return msgspec.msgpack.decode(each.body, type=Origin)
        return None

    async def write_backs(self, source: str) -> list[tuple[str, WriteBack]]:
        """Runs whose end is still to be told to a helpdesk."""
        found = [(each.id, read_write_back(each)) for each in await self._all(WRITE_BACK)]
        return [(run, each) for run, each in found if each.source == source]

    async def find_write_back(self, run: str) -> WriteBack | None:
        """What is or was written because of a run."""
        return (await self.find_write_backs([run])).get(run)

    async def find_write_backs(self, runs: Sequence[str]) -> dict[str, WriteBack]:
        """The same of many runs, in one look."""
        return {each.run: read_write_back(each) for each in await self._store.records_of(runs, WRITTEN, WRITE_BACK)}

    async def keep(self, run: str, write_back: WriteBack, *, decided: bool = False) -> None:
        """
        Keep how far a write-back has come; one that is over is put away.

        :param decided: what a person said about it has gone into it.
        """
        gone = [RecordKey(DECISION, run)] if decided else []
        if write_back.is_over:
            await self._store.put(write_back.encode(run, WRITTEN), remove=[RecordKey(WRITE_BACK, run), *gone])
        else:
            await self._store.put(write_back.encode(run), remove=gone)

    async def decide(self, run: str, decision: Decision) -> bool:
        """
        Keep a person's word apart from the write-back, which whoever writes may hold in another state just now.

        :returns: false: nothing of this run waits for a word, or it has one.
        """
        write_back = await self.find_write_back(run)
        waits = write_back is not None and write_back.waits
        try:
            if waits:
                await self._store.put(Record(kind=DECISION, id=run, run=run, body=msgspec.msgpack.encode(decision)))
        except Conflict:
            return False
        # Another word may have been carried out between the look and the keeping: then that one counts.
        after = await self.find_write_back(run) if waits else None
        if after is not None and not after.waits:
            await self._store.put(remove=[RecordKey(DECISION, run)])
            return is_refused(after) is not decision.approved
        return waits

    async def decisions(self) -> dict[str, Decision]:
        """What people said about suggestions, by run, as far as it has not gone into their write-backs."""
        return {each.id: msgspec.msgpack.decode(each.body, type=Decision) for each in await self._all(DECISION)}

    async def drop(self, run: str) -> None:
        """Nothing is to be told of this run."""
        await self._store.put(remove=[RecordKey(WRITE_BACK, run)])

    async def cursor(self, source: str) -> str:
        """Where the next poll begins."""
        known = await self._store.records(CURSOR, most=PAGE)
        return next((each.body.decode() for each in known if each.id == source), "")

    async def move_cursor(self, source: str, cursor: str) -> None:
        """What stands before it has been taken in."""
        await self._store.put(Record(kind=CURSOR, id=source, body=cursor.encode(), replaces=True))

    async def _all(self, kind: str) -> Sequence[Record]:
        return [each async for page in self._pages(kind) for each in page]

    async def _pages(self, kind: str) -> AsyncIterator[Sequence[Record]]:
        after = ""
        while page := await self._store.records(kind, after=after, most=PAGE):
            after = page[-1].id
            yield page


def _name_sender(source: str, who: str) -> str:
    return f"{source}/{hashlib.sha256(who.casefold().encode(errors='replace')).hexdigest()[:32]}"


def _read_time(delivery: Record) -> float:
    try:
        return msgspec.msgpack.decode(delivery.body, type=float)
    except msgspec.MsgspecError:  # of an earlier version
        return 0.0


def _make_bell(bell: Bell, name: str) -> Record:
    body = msgspec.msgpack.encode(bell)
    return Record(kind=BELL, id=f"{bell.source}/{bell.ticket}/{name}", body=body, replaces=True)
