"""Tickets as people look for them: what each one asks, and the latest in which a text stands."""

import contextlib
import sqlite3
import time
from typing import Any

import msgspec

from runtime.memory.ticket_text import fold
from runtime.storage.damage import seconds, text
from runtime.storage.records import ACTION, SUBMITTER, Action, Asked, Listed, StoredRun, Wanted
from runtime.storage.run_agents import list_agents
from runtime.storage.sqlite.statements import OUTERMOST, RUN_COLUMNS, read_run, with_those_within
from runtime.tickets import whole

BATCH = 200
"""Rows that are read at once: a ticket may have megabytes."""
MOST_LOOKED_THROUGH = 100_000
"""So many of the latest runs are searched for a text."""
MOST_DECODED = 10_000
"""So many of those that fit otherwise are looked at for an agent."""

_COLUMNS = ", ".join(f"run.{name}" for name in RUN_COLUMNS.strip().split(", "))
_OUTERMOST = OUTERMOST.replace("(id", "(run.id")
_ASKED = "coalesce(t.text, ''), coalesce(t.subject, ''), coalesce(t.requester, ''), t.created, coalesce(t.note, '')"
_FITTING = f"SELECT run.seq FROM run WHERE {_OUTERMOST} AND run.seq < ? {{}} ORDER BY run.seq DESC"
"""Asked once and read as far as needed: with a `LIMIT` for each batch, each would work the filters out again."""
_LISTED = f"""
SELECT {_COLUMNS}, {_ASKED} FROM run LEFT JOIN ticket AS t ON t.id = run.ticket
WHERE run.seq IN ({{}}) ORDER BY run.seq DESC
"""
_OF_STATUS = "AND run.status = ?"
_LATEST = f"""
AND NOT EXISTS (SELECT 1 FROM run AS later WHERE later.ticket = run.ticket AND later.seq > run.seq
AND {OUTERMOST.replace("(id", "(later.id")})
"""
_FAILED = "AND run.seq IN (SELECT seq FROM run WHERE status IN ('error', 'cancelled'))"
_OF_WORKFLOW = "AND run.workflow = ?"
_OF_SUBMITTER = f"""
AND run.seq IN (
    SELECT mine.seq FROM record AS whose JOIN run AS mine ON mine.id = whose.run
    WHERE whose.kind = '{SUBMITTER}' AND whose.id > ? || char(10) AND whose.id < ? || char(11)
)
"""
"""By their ids, which begin with who it was and a line end, that stands in nobody's name."""
_OF_INTENT = "AND run.intent != '' AND run.intent = ?"
_SINCE = "AND run.seq >= (SELECT coalesce(min(+seq), 9e18) FROM run WHERE started >= ?) AND run.started >= ?"
_SLOW = """
AND run.seq IN (
    SELECT seq FROM run WHERE seconds >= ? UNION ALL SELECT seq FROM run WHERE ended IS NULL AND +started <= ?
)
"""
"""
Each is answered by an index of its own: the inequality of an intent says that the partial one will do, and a `+` keeps
one from being used that would look through most of the table.
"""
_SENDERS = f"SELECT 1 FROM event WHERE {with_those_within('run', ':run')} AND sender = :agent LIMIT 1"
_OF_TICKET = f"SELECT {_ASKED} FROM ticket AS t WHERE id = ?"
_LATEST_OF_TICKET = f"SELECT max(seq) FROM run WHERE ticket = ? AND {OUTERMOST}"
_ACTIONS = "SELECT body FROM record WHERE kind = ? AND id > ? || '/' AND id < ? || '0' LIMIT ?"
"""By their ids, which begin with the run's and a slash: "0" follows it in every table of characters."""
MOST_ACTIONS = 1000
_INTENTS = """
WITH RECURSIVE found (intent) AS (
    SELECT min(intent) FROM run WHERE intent != ''
    UNION ALL SELECT (SELECT min(intent) FROM run WHERE intent != '' AND intent > found.intent) FROM found
    WHERE found.intent IS NOT NULL
)
SELECT intent FROM found WHERE intent IS NOT NULL
"""
"""From one to the next by their index: `DISTINCT` would look at each run, and a page asks for this."""
_IDS = f"SELECT ticket, id FROM run WHERE {OUTERMOST} ORDER BY seq DESC LIMIT ?"


class _Case(msgspec.Struct):
    """What is read of a run's beginning: also of one that this version cannot go on with."""

    text: str = ""


_NOBODY = ("", "", "", None, "")


def read_question(db: sqlite3.Connection, run: StoredRun) -> Asked:
    found = _question_of(run, db.execute(_OF_TICKET, (run.ticket,)).fetchone() or _NOBODY)
    latest = db.execute(_LATEST_OF_TICKET, (run.ticket,)).fetchone()[0]
    note = found.note if latest == run.seq else ""
    return msgspec.structs.replace(found, note=note, actions=_read_actions(db, run.id))


def _read_actions(db: sqlite3.Connection, run: str) -> tuple[Action, ...]:
    """Who did what to a run, the first first; what cannot be read hides no others."""
    actions = []
    for (body,) in db.execute(_ACTIONS, (ACTION, run, run, MOST_ACTIONS)):
        with contextlib.suppress(msgspec.MsgspecError, TypeError):
            actions.append(msgspec.msgpack.decode(body, type=Action))
    return tuple(sorted(actions, key=lambda each: each.at))


def list_runs(db: sqlite3.Connection, wanted: Wanted) -> Listed:
    where, values = _make_conditions(wanted)
    before = wanted.before or 2**63 - 1
    with contextlib.closing(db.execute(_FITTING.format(where), (before, *values))) as fitting:
        return _look_through(db, fitting, wanted, before)


def _look_through(db: sqlite3.Connection, fitting: sqlite3.Cursor, wanted: Wanted, before: int) -> Listed:
    needle, runs, looked = fold(wanted.search), list[tuple[StoredRun, Asked]](), 0
    while looked < (wanted.looks or (MOST_DECODED if wanted.agent else MOST_LOOKED_THROUGH)):
        most = BATCH if needle or wanted.agent else min(BATCH, wanted.count - len(runs))
        numbers = [number for (number,) in fitting.fetchmany(most)]
        for row in db.execute(_LISTED.format(",".join("?" * len(numbers))), numbers).fetchall():
            run = read_run(row[: -len(_NOBODY)])
            looked, before = looked + 1, run.seq
            found = _question_of(run, row[-len(_NOBODY) :])
            if _holds(run, found, needle) and (not wanted.agent or _asked_agent(db, run, wanted.agent)):
                runs.append((run, found))
                if len(runs) == wanted.count:
                    return Listed(runs, stopped=False, last=before)
        if len(numbers) < most:
            return Listed(runs, stopped=False, last=before)
    return Listed(runs, stopped=True, last=before)


def _make_conditions(wanted: Wanted) -> tuple[str, list[object]]:
    """SQL of the filters that are there, and its values."""
    given: tuple[tuple[object, str, tuple[object, ...]], ...] = (
        (wanted.status, _OF_STATUS, (wanted.status,)),
        (wanted.failed, _FAILED, ()),
        (wanted.latest, _LATEST, ()),
        (wanted.by, _OF_SUBMITTER, (wanted.by, wanted.by)),
        (wanted.workflow, _OF_WORKFLOW, (wanted.workflow,)),
        (wanted.intent, _OF_INTENT, (wanted.intent,)),
        (wanted.since, _SINCE, (wanted.since, wanted.since)),
        (wanted.slow, _SLOW, (wanted.slow, time.time() - wanted.slow)),
    )
    there = [each for each in given if each[0]]
    return " ".join(sql for _, sql, _ in there), [value for _, _, values in there for value in values]


def _asked_agent(db: sqlite3.Connection, run: StoredRun, agent: str) -> bool:
    """Whether an agent was asked in a run or within it; of one that goes on, whether it has answered."""
    try:
        if run.ending is not None:
            return agent in list_agents(run.ending)
    except msgspec.MsgspecError:
        pass  # its events tell more
    return db.execute(_SENDERS, {"run": run.id, "agent": agent}).fetchone() is not None


def latest_ids(db: sqlite3.Connection, most: int) -> list[str]:
    return [text(each) for row in db.execute(_IDS, (most,)) for each in row]


def list_intents(db: sqlite3.Connection) -> list[str]:
    return [text(each) for row in db.execute(_INTENTS) for each in row]


def _question_of(run: StoredRun, row: tuple[Any, ...]) -> Asked:
    said, about, requester, came, note = row
    question, subject = text(said), text(about)
    try:
        was = msgspec.msgpack.decode(run.initial, type=_Case).text
    except msgspec.MsgspecError:
        was = ""
    if was and was not in {question, whole(subject, question)}:
        question, subject = was, ""
    created = run.started if came is None else seconds(came)
    return Asked(question, subject, text(requester), created, text(note))


def _holds(run: StoredRun, found: Asked, needle: str) -> bool:
    if not needle:
        return True
    texts = (run.ticket, run.id, found.subject, found.requester, found.question)
    return any(needle in fold(text) for text in texts)
