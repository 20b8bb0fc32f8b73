"""The tables of tickets and runs, and how their rows are read. Whatever stands in one, it hides no other."""

from collections.abc import Sequence
from typing import Any

import msgspec

from runtime.storage.damage import content, seconds, text
from runtime.storage.packing import unpack
from runtime.storage.records import RunEnding, StoredRun

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
    ending BLOB, version TEXT NOT NULL DEFAULT '',
    trace BLOB NOT NULL DEFAULT x'', intent TEXT NOT NULL DEFAULT '', seconds REAL
);
CREATE INDEX IF NOT EXISTS run_of_ticket ON run (ticket);
CREATE UNIQUE INDEX IF NOT EXISTS run_open_of_ticket ON run (ticket) WHERE ended IS NULL AND instr(id, '.') = 0;
CREATE INDEX IF NOT EXISTS run_open ON run (owner) WHERE ended IS NULL;
CREATE INDEX IF NOT EXISTS run_of_trace ON run (trace) WHERE trace != x'';
CREATE INDEX IF NOT EXISTS run_of_intent ON run (intent) WHERE intent != '';
CREATE INDEX IF NOT EXISTS run_of_workflow ON run (workflow);
CREATE INDEX IF NOT EXISTS run_of_status ON run (status);
CREATE INDEX IF NOT EXISTS run_by_start ON run (started);
CREATE INDEX IF NOT EXISTS run_by_seconds ON run (seconds) WHERE seconds IS NOT NULL;
CREATE TABLE IF NOT EXISTS event (
    run TEXT NOT NULL, n INTEGER NOT NULL, at REAL NOT NULL, sender TEXT NOT NULL, number INTEGER NOT NULL,
    event BLOB NOT NULL, PRIMARY KEY (run, n)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS record (
    kind TEXT NOT NULL, id TEXT NOT NULL, run TEXT NOT NULL, body BLOB NOT NULL, PRIMARY KEY (kind, id)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS record_of_run ON record (run) WHERE run != '';
CREATE TABLE IF NOT EXISTS feed (seq INTEGER PRIMARY KEY, run INTEGER NOT NULL, n INTEGER NOT NULL);
"""
"""
`seq` is the order of runs, which no clock tells. `boot` and `uptime` say when a run began by a clock that nobody sets.
`ending` holds the encoded outcome, and `version` says by which table the run goes. `trace` is the id of its trace,
with that of the caller's span behind it where there is one; `intent` is what it asks for, `seconds` how long it took.
`feed` has the order in which all of it became durable, whichever process wrote it: `run` is the `seq` of one, `n` the
number of its event, 0 when it was accepted, -1 when it ended. Of runs within runs it has none.
"""

OUTERMOST = "instr(id, '.') = 0"
"""Runs within a run have their parent's id with a number; it is the parent that is shown, resumed and cancelled."""


def with_those_within(column: str, run: str) -> str:
    """SQL: that a column names the run of this parameter, or one within it, whose id is its own with a number."""
    return f"({column} = {run} OR ({column} > {run} || '.' AND {column} < {run} || '/'))"


NEW_TICKET = "INSERT INTO ticket (id, subject, text, requester, status, created) VALUES (?, ?, ?, ?, 'open', ?)"
INSERT_TICKET = f"""
{NEW_TICKET} ON CONFLICT (id) DO UPDATE
SET subject = excluded.subject, text = excluded.text, status = 'open', note = '', closed_by = ''
"""
INSERT_RUN = f"""
INSERT INTO run (id, ticket, workflow, initial, started, boot, uptime, owner, version, trace) VALUES (
    CASE WHEN ?11 IS NULL OR NOT EXISTS (SELECT 1 FROM run WHERE ticket = ?2 AND seq > ?11 AND {OUTERMOST})
    THEN ?1 END, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10
)
"""
"""Where another process has begun a run of the ticket meanwhile, the id is NULL, which the table refuses."""
INSERT_EVENT = "INSERT INTO event VALUES (?, ?, ?, ?, ?, ?)"
FEED_START = "INSERT INTO feed (run, n) VALUES (last_insert_rowid(), 0)"
FEED_EVENT = "INSERT INTO feed (run, n) SELECT seq, ?2 FROM run WHERE id = ?1"
FEED_END_OF_OPEN = f"{FEED_EVENT} AND ended IS NULL"
"""Before the end itself is written, which may be told and then written twice."""
SET_INTENT = "UPDATE run SET intent = ? WHERE id = ?"
END_RUN = "UPDATE run SET ended = ?, status = ?, ending = ?, seconds = ? WHERE id = ?"
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
RUN_COLUMNS = """
id, ticket, workflow, version, initial, started, boot, uptime, owner, cancel, ended, status, ending, seq, trace, intent
"""


def read_run(row: Sequence[Any]) -> StoredRun:
    """A row as `RUN_COLUMNS` has it. What is of another kind than was written hides no other run: see `damage`."""
    (
        id_,
        ticket,
        workflow,
        version,
        initial,
        started,
        boot,
        uptime,
        owner,
        cancel,
        ended,
        status,
        ending,
        seq,
        trace,
        intent,
    ) = row
    return StoredRun(
        id=text(id_), ticket=text(ticket), workflow=text(workflow), version=text(version), initial=content(initial),
        started=seconds(started), boot=text(boot), uptime=seconds(uptime), owner=text(owner),
        cancel=cancel if isinstance(cancel, int) else 0, ended=None if ended is None else seconds(ended),
        status=text(status), ending=None if ending is None else _unpack(content(ending)), seq=seq,
        trace=content(trace).hex(), intent=text(intent),
    )  # fmt: skip


def _unpack(stored: bytes) -> bytes:
    try:
        return unpack(stored)
    except msgspec.DecodeError:
        return stored  # which nobody can decode either


def end_ticket(ending: RunEnding) -> list[tuple[str, Sequence[Any]]]:
    """How a ticket stands by the end of a run; a run within a run says nothing on it."""
    if "." in ending.run:
        return []
    return [(END_TICKET, (ending.status, ending.note, ending.ticket, ending.run))]
