"""What a research did to the world and got from it, durable before it is used: after a crash nothing is done twice."""

import asyncio
from typing import Any

import msgspec

from runtime.storage.database import Database

SCHEMA = """
CREATE TABLE IF NOT EXISTS effect (
    run TEXT NOT NULL, kind TEXT NOT NULL, key TEXT NOT NULL, value BLOB NOT NULL, PRIMARY KEY (run, kind, key)
) WITHOUT ROWID;
"""


class Effects:
    """The effects of one run, the runs of its deeper rounds included."""

    __slots__ = ("_database", "_run")

    def __init__(self, database: Database, run: str) -> None:
        """:param run: the id of the outermost run."""
        self._database = database
        self._run = run

    def get(self, kind: str, key: str, type_: Any) -> Any:
        """What an earlier try got, of this type (which may be a union), or nothing."""
        rows = self._database.read(
            "SELECT value FROM effect WHERE run = ? AND kind = ? AND key = ?", (self._run, kind, key)
        )
        return msgspec.msgpack.decode(rows[0][0], type=type_) if rows else None

    def all(self, kind: str, type_: Any) -> list[Any]:
        """Everything of a kind, in the order of the keys."""
        rows = self._database.read(
            "SELECT value FROM effect WHERE run = ? AND kind = ? ORDER BY key", (self._run, kind)
        )
        return [msgspec.msgpack.decode(row[0], type=type_) for row in rows]

    async def put(self, kind: str, key: str, value: Any) -> None:
        """Return when it is durable; the same key again changes nothing."""
        body = msgspec.msgpack.encode(value)
        statement = ("INSERT OR IGNORE INTO effect VALUES (?, ?, ?, ?)", (self._run, kind, key, body))
        await asyncio.shield(asyncio.ensure_future(self._database.run(statement)))
