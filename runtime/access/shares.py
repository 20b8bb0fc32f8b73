"""Links that open one ticket to whoever has them: made by its owner, for a while, and kept as a hash."""

import hashlib
import hmac
import secrets
import time
from collections.abc import Awaitable, Callable

import msgspec
import structlog

from runtime.service_error import ServiceError
from runtime.storage.port import RunStore
from runtime.storage.records import NewRun, Record, RecordKey

log = structlog.get_logger()

KIND = "share"
MOST_OF_A_TICKET = 20
Knows = Callable[[str, float], Awaitable[bool]]


class Share(msgspec.Struct, frozen=True, kw_only=True):
    """What is kept of a link, of which nobody can make the link again."""

    id: str
    ticket: str
    run: str
    """The one that was shared; those that go on with it are, too."""
    by: str
    """Who made it, as `Principal.by`."""
    digest: bytes
    created: float
    """Seconds since 1970."""
    expires: float
    """Seconds since 1970."""


class ShareBook:
    """The links of one storage folder. They go with the run that was shared, and with the access of who made them."""

    def __init__(self, store: RunStore, knows: Knows) -> None:
        """:param knows: whether a principal, by name, is let in still who was at a time, in seconds since 1970."""
        self._store = store
        self._knows = knows

    async def create(self, run: NewRun, by: str, seconds: float) -> tuple[Share, str]:
        """
        A link to the ticket of this run for so many seconds, and its code, which nobody can read again.

        :raises ServiceError: the ticket has as many as may be.
        """
        known = await self._read(run.ticket)
        good = [each for each in known if await self._is_good(each)]
        if len(good) >= MOST_OF_A_TICKET:
            raise ServiceError(f"{run.ticket} has {MOST_OF_A_TICKET} links already. Take one away.", "conflict")
        code, now = secrets.token_urlsafe(32), time.time()
        share = Share(
            id=secrets.token_hex(6), ticket=run.ticket, run=run.id, by=by, digest=_digest(code), created=now,
            expires=now + seconds,
        )  # fmt: skip
        record = Record(kind=KIND, id=_name(share), run=run.id, body=msgspec.msgpack.encode(share))
        await self._store.put(record, remove=tuple(RecordKey(KIND, _name(each)) for each in known if each not in good))
        log.info("share.created", ticket=share.ticket, id=share.id, by=by)
        return share, code

    async def read_all(self, ticket: str) -> list[Share]:
        """The links to a ticket that are good, the oldest first."""
        good = [each for each in await self._read(ticket) if await self._is_good(each)]
        return sorted(good, key=lambda each: each.created)

    async def revoke(self, ticket: str, key: str) -> bool:
        """Take a link away; whether there was one of this id."""
        found = [each for each in await self._read(ticket) if each.id == key]
        await self._store.put(remove=tuple(RecordKey(KIND, _name(each)) for each in found))
        if found:
            log.info("share.revoked", ticket=ticket, id=key)
        return bool(found)

    async def find(self, ticket: str, code: str) -> Share | None:
        """The link to this ticket that has this code, if it is good; in a time that tells nothing of the code."""
        given, found = _digest(code), None
        for each in await self._read(ticket):
            if hmac.compare_digest(given, each.digest):
                found = each
        return found if found and await self._is_good(found) else None

    async def _is_good(self, share: Share) -> bool:
        return time.time() < share.expires and await self._knows(share.by, share.created)

    async def _read(self, ticket: str) -> list[Share]:
        """What cannot be read opens nothing."""
        start = f"{ticket}/"
        records = await self._store.records(KIND, after=start, most=2 * MOST_OF_A_TICKET)
        found = []
        for each in records:
            if each.id.startswith(start):
                try:
                    found.append(msgspec.msgpack.decode(each.body, type=Share))
                except msgspec.MsgspecError as error:
                    log.warning("share.damaged", name=each.id, error=str(error))
        return found


def _name(share: Share) -> str:
    return f"{share.ticket}/{share.id}"


def _digest(code: str) -> bytes:
    return hashlib.sha256(code.encode("utf-8", "surrogateescape")).digest()
