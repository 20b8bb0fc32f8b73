"""What a research did to the world and got from it, durable before it is used: after a crash nothing is done twice."""

import asyncio
import uuid
from typing import Any

import msgspec
import structlog

from actors.workflow.outcome import Spent
from runtime.storage.sqlite.database import Database
from runtime.storage.sqlite.tables import with_those_within

SCHEMA = """
CREATE TABLE IF NOT EXISTS effect (
    run TEXT NOT NULL, kind TEXT NOT NULL, key TEXT NOT NULL, value BLOB NOT NULL, PRIMARY KEY (run, kind, key)
) WITHOUT ROWID;
"""

FORGET = f"""
DELETE FROM effect WHERE {with_those_within("run", "?1")}
AND EXISTS (SELECT 1 FROM run WHERE id = ?1 AND ended IS NOT NULL)
"""
"""Those of a run that has ended, and of the runs within it. The end of one that could not be recorded comes later."""
_LEFT = """
SELECT run, kind, key FROM effect
WHERE EXISTS (SELECT 1 FROM run WHERE id = effect.run AND ended IS NOT NULL) OR NOT EXISTS (
    SELECT 1 FROM run WHERE id = substr(effect.run, 1, instr(effect.run || '.', '.') - 1) AND ended IS NULL
) LIMIT ?
"""
SWEEP = f"DELETE FROM effect WHERE (run, kind, key) IN ({_LEFT})"
SWEPT = 1_000
"""Rows in one transaction."""
SPENT = "spent"
CALLS = ("calls", "tokens_in", "tokens_out", "estimated")
"""The fields of `Spent`, as they are added up."""

log = structlog.get_logger()


class Effects:
    """The effects of one run, the runs of its deeper rounds included."""

    __slots__ = ("_any", "_database", "_over", "_run")

    def __init__(self, database: Database, run: str) -> None:
        """:param run: the id of the outermost run."""
        self._database = database
        self._run = run
        self._any = self._over = False

    def get(self, kind: str, key: str, type_: Any) -> Any:
        """What an earlier try got, of this type (which may be a union), or nothing."""
        rows = self._rows("key = ?", kind, key)
        return msgspec.msgpack.decode(rows[0][0], type=type_) if rows else None

    def all(self, kind: str, type_: Any) -> list[Any]:
        """Everything of a kind, in the order of the keys."""
        rows = self._rows("TRUE ORDER BY key", kind)
        return [msgspec.msgpack.decode(row[0], type=type_) for row in rows]

    async def put(self, kind: str, key: str, value: Any) -> None:
        """Return when it is durable; the same key again changes nothing."""
        if self._over:
            return
        body, self._any = msgspec.msgpack.encode(value), True
        statement = ("INSERT OR IGNORE INTO effect VALUES (?, ?, ?, ?)", (self._run, kind, key, body))
        await asyncio.shield(asyncio.ensure_future(self._database.run(statement)))

    def spent(self, thing: str) -> float:
        """How much of something was used up, by this process and by those before it."""
        spent: list[tuple[str, float]] = self.all(SPENT, tuple[str, float])
        return sum(amount for kind, amount in spent if kind == thing)

    def spend(self, thing: str, amount: float) -> None:
        """Add to that, with the next commit: nobody waits for it."""
        if self._over:
            return  # an answer that came after the end
        body, self._any = msgspec.msgpack.encode((thing, amount)), True
        statement = ("INSERT INTO effect VALUES (?, ?, ?, ?)", (self._run, SPENT, uuid.uuid4().hex, body))
        self._database.write((statement,), _logged, lazily=True)

    def forget(self) -> None:
        """The run has ended: its journal holds all that is of use."""
        self._over = True
        if self._any:
            self._database.write(((FORGET, (self._run,)),), _logged, lazily=True)

    def _rows(self, where: str, *key: str) -> list[Any]:
        sql = f"SELECT value FROM effect WHERE run = ? AND kind = ? AND {where}"
        rows = self._database.rows(sql, (self._run, *key))
        self._any = self._any or bool(rows)
        return rows


def sweep(database: Database) -> None:
    """Let go of what a process left that died between the end of a run and its last word: a bounded part, lazily."""
    if database.rows(_LEFT, (1,)):
        database.write(((SWEEP, (SWEPT,)),), _logged, lazily=True)


class ModelAccount:
    """`runtime.llm.models.Account` over the effects of a run."""

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
