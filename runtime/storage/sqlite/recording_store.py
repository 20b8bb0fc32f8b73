"""What runs got from outside, in SQLite: a row a run, and what many of them got alike only once."""

import sqlite3
import time
from collections.abc import Iterable, Mapping

import structlog

from runtime.storage.packing import unpack
from runtime.storage.sqlite.database import Database, Statement
from runtime.storage.sqlite.run_store import pack_later

SCHEMA = """
CREATE TABLE IF NOT EXISTS recording (run TEXT PRIMARY KEY, body BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS part (digest BLOB PRIMARY KEY, used INTEGER NOT NULL, body BLOB NOT NULL);
"""
"""`used`: when a part was needed last, in seconds since 1970, up to `STALE_SECONDS` behind: most uses write nothing."""
STALE_SECONDS = 3600

_KEEP = "INSERT OR REPLACE INTO recording VALUES (?, ?)"
_KEEP_PART = f"""
INSERT INTO part VALUES (?, ?, ?) ON CONFLICT (digest)
DO UPDATE SET used = excluded.used WHERE excluded.used > part.used + {STALE_SECONDS}
"""
AT_ONCE = 20
"""Recordings that go in one transaction, so that no run waits long for its own."""
_OLDER = """
SELECT recording.run FROM recording JOIN run ON run.id = recording.run WHERE run.ended < ? LIMIT ?
"""
_FORGET = "DELETE FROM recording WHERE run = ?"
FORGET_PARTS = f"""
DELETE FROM part WHERE used + {STALE_SECONDS} < (
    SELECT coalesce(min(run.started), 1e300) FROM recording JOIN run ON run.id = recording.run
)
"""
"""A part that was needed last before the oldest recording began is needed by none."""

log = structlog.get_logger()


class SqliteRecordings:
    """`runtime.storage.port.RecordingStore`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def keep(self, run: str, body: bytes, parts: Mapping[bytes, bytes]) -> None:
        """As `RecordingStore.keep`."""
        now = int(time.time()) + 1
        known: list[Statement] = [(_KEEP_PART, (digest, now, part)) for digest, part in parts.items()]
        self._database.write((*known, (_KEEP, (run, pack_later(body)))), _log_error, lazily=True)

    async def load(self, run: str) -> bytes:
        """As `RecordingStore.load`."""
        rows = await self._database.read(
            lambda db: db.execute("SELECT body FROM recording WHERE run = ?", (run,)).fetchall()
        )
        return unpack(rows[0][0]) if rows else b""

    async def forget(self, before: float) -> int:
        """As `RecordingStore.forget`."""
        count = 0
        while found := await self._database.read(lambda db: db.execute(_OLDER, (before, AT_ONCE)).fetchall()):
            await self._database.run(*((_FORGET, run) for run in found))
            count += len(found)
        if count:
            await self._database.run((FORGET_PARTS, ()))
        return count

    async def load_parts(self, digests: Iterable[bytes]) -> dict[bytes, bytes]:
        """As `RecordingStore.load_parts`."""
        wanted = sorted(set(digests))
        return await self._database.read(lambda db: dict(_parts(db, wanted)))


def _parts(db: sqlite3.Connection, digests: Iterable[bytes]) -> Iterable[tuple[bytes, bytes]]:
    for digest in digests:
        yield from db.execute("SELECT digest, body FROM part WHERE digest = ?", (digest,))


def _log_error(error: Exception | None) -> None:
    if error is not None:
        log.error("recording.not_written", error=repr(error))
