"""What a research did to the world and got from it, durable before it is used: after a crash nothing is done twice."""

import asyncio
import uuid
from typing import Any

import msgspec
import structlog

from actors.outcome import Spent
from runtime.storage.database import Database

SCHEMA = """
CREATE TABLE IF NOT EXISTS effect (
    run TEXT NOT NULL, kind TEXT NOT NULL, key TEXT NOT NULL, value BLOB NOT NULL, PRIMARY KEY (run, kind, key)
) WITHOUT ROWID;
"""

SPENT = "spent"
CALLS = ("calls", "tokens_in", "tokens_out", "estimated")
"""The fields of `Spent`, as they are added up."""

log = structlog.get_logger()


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

    def spent(self, thing: str) -> float:
        """How much of something was used up, by this process and by those before it."""
        spent: list[tuple[str, float]] = self.all(SPENT, tuple[str, float])
        return sum(amount for kind, amount in spent if kind == thing)

    def spend(self, thing: str, amount: float) -> None:
        """Add to that, with the next commit: nobody waits for it."""
        body = msgspec.msgpack.encode((thing, amount))
        statement = ("INSERT INTO effect VALUES (?, ?, ?, ?)", (self._run, SPENT, uuid.uuid4().hex, body))
        self._database.write((statement,), _logged, lazily=True)

    def forget(self) -> None:
        """The run has ended: its journal holds all that is of use."""
        self._database.write((("DELETE FROM effect WHERE run = ?", (self._run,)),), _logged, lazily=True)


class ModelAccount:
    """`runtime.models.Account` over the effects of a run."""

    __slots__ = ("_effects",)

    def __init__(self, effects: Effects) -> None:
        self._effects = effects

    def spent(self) -> Spent:
        calls, tokens_in, tokens_out, estimated = (int(self._effects.spent(each)) for each in CALLS)
        return Spent(calls, tokens_in, tokens_out, bool(estimated))

    def note(self, spent: Spent) -> None:
        for name, amount in zip(CALLS, msgspec.structs.astuple(spent), strict=True):
            if amount:
                self._effects.spend(name, float(amount))


def _logged(error: Exception | None) -> None:
    if error is not None:
        log.error("effect.not_written", error=repr(error))
