"""What runs got from the world, in SQLite."""

from runtime.storage.background import Then
from runtime.storage.sqlite.database import Database
from runtime.storage.sqlite.statements import with_those_within

SCHEMA = """
CREATE TABLE IF NOT EXISTS effect (
    run TEXT NOT NULL, kind TEXT NOT NULL, key TEXT NOT NULL, value BLOB NOT NULL, PRIMARY KEY (run, kind, key)
) WITHOUT ROWID;
"""
_FORGET = f"""
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
_SWEEP = f"DELETE FROM effect WHERE (run, kind, key) IN ({_LEFT})"
_INSERT = "INSERT OR IGNORE INTO effect VALUES (?, ?, ?, ?)"


class SqliteEffects:
    """The port `EffectStore`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def load(self, run: str) -> list[tuple[str, str, bytes]]:
        sql = "SELECT kind, key, value FROM effect WHERE run = ?"
        return await self._database.read(lambda db: db.execute(sql, (run,)).fetchall())

    async def put(self, run: str, kind: str, key: str, value: bytes) -> None:
        await self._database.run((_INSERT, (run, kind, key, value)))

    def put_lazily(self, run: str, kind: str, key: str, value: bytes, then: Then) -> None:
        self._database.write(((_INSERT, (run, kind, key, value)),), then, lazily=True)

    def forget(self, run: str, then: Then) -> None:
        self._database.write(((_FORGET, (run,)),), then, lazily=True)

    async def sweep(self, most: int) -> None:
        if await self._database.read(lambda db: db.execute(_LEFT, (1,)).fetchone()):
            await self._database.run((_SWEEP, (most,)))
