"""The rows of tickets and runs: their tables, their types, and the statements that write them."""

from collections.abc import Sequence
from typing import Any

import msgspec

from runtime.storage.damage import content, seconds, text

SCHEMA = """
CREATE TABLE IF NOT EXISTS ticket (
    id TEXT PRIMARY KEY, subject TEXT NOT NULL, text TEXT NOT NULL, requester TEXT NOT NULL,
    status TEXT NOT NULL, note TEXT NOT NULL DEFAULT '', closed_by TEXT NOT NULL DEFAULT '', created REAL NOT NULL
);
CREATE TABLE IF NOT EXISTS run (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE, ticket TEXT NOT NULL, workflow TEXT NOT NULL, initial BLOB NOT NULL, started REAL NOT NULL,
    boot TEXT NOT NULL DEFAULT '', uptime REAL NOT NULL DEFAULT 0,
    owner TEXT NOT NULL, cancel INTEGER NOT NULL DEFAULT 0, ended REAL, status TEXT NOT NULL DEFAULT 'running',
    ending BLOB
);
CREATE INDEX IF NOT EXISTS run_of_ticket ON run (ticket);
CREATE UNIQUE INDEX IF NOT EXISTS run_open_of_ticket ON run (ticket) WHERE ended IS NULL AND instr(id, '.') = 0;
CREATE INDEX IF NOT EXISTS run_open ON run (owner) WHERE ended IS NULL;
CREATE TABLE IF NOT EXISTS event (
    run TEXT NOT NULL, n INTEGER NOT NULL, at REAL NOT NULL, sender TEXT NOT NULL, number INTEGER NOT NULL,
    event BLOB NOT NULL, PRIMARY KEY (run, n)
) WITHOUT ROWID;
"""
"""
`seq` is the order of runs, which no clock tells. `boot` and `uptime` say when a run began by a clock that nobody sets.
`ending` holds what the events do not tell; everything else of an outcome is their fold.
"""

NEW_TICKET = "INSERT INTO ticket (id, subject, text, requester, status, created) VALUES (?, ?, ?, ?, 'open', ?)"
INSERT_TICKET = f"""
{NEW_TICKET} ON CONFLICT (id) DO UPDATE
SET subject = excluded.subject, text = excluded.text, status = 'open', note = '', closed_by = ''
"""
OUTERMOST = "instr(id, '.') = 0"
"""Runs within a run have their parent's id with a number; it is the parent that is shown, resumed and cancelled."""


def with_those_within(column: str, run: str) -> str:
    """SQL: that a column names the run of this parameter, or one within it, whose id is its own with a number."""
    return f"({column} = {run} OR ({column} > {run} || '.' AND {column} < {run} || '/'))"


INSERT_RUN = f"""
INSERT INTO run (id, ticket, workflow, initial, started, boot, uptime, owner) VALUES (
    CASE WHEN ?9 IS NULL OR NOT EXISTS (SELECT 1 FROM run WHERE ticket = ?2 AND seq > ?9 AND {OUTERMOST}) THEN ?1 END,
    ?2, ?3, ?4, ?5, ?6, ?7, ?8
)
"""
"""Where another process has begun a run of the ticket meanwhile, the id is NULL, which the table refuses."""
END_RUN = "UPDATE run SET ended = ?, status = ?, ending = ? WHERE id = ?"
END_TICKET = f"""
UPDATE ticket SET status = ?1, note = iif(?2 = '', note, ?2) WHERE id = ?3 AND NOT EXISTS (
    SELECT 1 FROM run WHERE ticket = ?3 AND seq > (SELECT seq FROM run WHERE id = ?4) AND {OUTERMOST}
)
"""
"""A run that is not the latest of its ticket says nothing on it any more."""
CLOSE_TICKET = """
UPDATE ticket SET status = ?, note = ?, closed_by = ? WHERE id = ? AND closed_by != ?
AND NOT EXISTS (SELECT 1 FROM run WHERE id = ? AND ended IS NOT NULL)
"""
"""What comes from an agent whose run was ended without it changes nothing any more."""
RUN_COLUMNS = "id, ticket, workflow, initial, started, owner, cancel, ended, status, ending, seq, boot, uptime"
RUN_PREFIX = "run:"
"""Where a ticket and a run have the same id, this before it means the run."""


class StoredRun(msgspec.Struct, frozen=True):
    """A row of `run`."""

    id: str
    ticket: str
    workflow: str
    initial: bytes
    started: float
    """Seconds since 1970."""
    owner: str
    cancel: int
    ended: float | None
    status: str
    ending: bytes | None
    seq: int
    """The order of runs."""
    boot: str
    uptime: float
    """When it began, as `boottime.since_boot` tells."""

    @classmethod
    def of(cls, row: Sequence[Any]) -> "StoredRun":
        """A row as `RUN_COLUMNS` has it. What is of another kind than was written hides no other run: see `damage`."""
        id_, ticket, workflow, initial, started, owner, cancel, ended, status, ending, seq, boot, uptime = row
        return cls(
            text(id_), text(ticket), text(workflow), content(initial), seconds(started), text(owner),
            cancel if isinstance(cancel, int) else 0, None if ended is None else seconds(ended), text(status),
            None if ending is None else content(ending), seq, text(boot), seconds(uptime),
        )  # fmt: skip

    @property
    def ref(self) -> str:
        """Means this run, whatever tickets are called."""
        return f"{RUN_PREFIX}{self.id}"
