"""Tickets as people look for them: what each one asks, and the latest in which a text stands."""

import sqlite3
from typing import Any

import msgspec

from runtime.memory.ticket_text import fold
from runtime.storage.damage import seconds, text
from runtime.storage.records import Asked, Listed, StoredRun, Wanted
from runtime.storage.sqlite.statements import OUTERMOST, RUN_COLUMNS, read_run
from runtime.tickets import whole

BATCH = 200
"""Rows that are read at once: a ticket may have megabytes."""
MOST_LOOKED_THROUGH = 100_000
"""So many of the latest runs are searched for a text."""

_COLUMNS = ", ".join(f"run.{name}" for name in RUN_COLUMNS.strip().split(", "))
_OUTERMOST = OUTERMOST.replace("(id", "(run.id")
_ASKED = "coalesce(t.text, ''), coalesce(t.subject, ''), coalesce(t.requester, ''), t.created, coalesce(t.note, '')"
_LISTED = f"""
SELECT {_COLUMNS}, {_ASKED} FROM run LEFT JOIN ticket AS t ON t.id = run.ticket
WHERE {_OUTERMOST} AND run.seq < ? AND (? = 0 OR run.status IN ('error', 'cancelled'))
AND (? = '' OR run.workflow = ?) AND run.started >= ? ORDER BY run.seq DESC LIMIT ?
"""
_OF_TICKET = f"SELECT {_ASKED} FROM ticket AS t WHERE id = ?"
_LATEST_OF_TICKET = f"SELECT max(seq) FROM run WHERE ticket = ? AND {OUTERMOST}"
_IDS = f"SELECT ticket, id FROM run WHERE {OUTERMOST} ORDER BY seq DESC LIMIT ?"


class _Case(msgspec.Struct):
    """What is read of a run's beginning: also of one that this version cannot go on with."""

    text: str = ""


_NOBODY = ("", "", "", None, "")


def read_question(db: sqlite3.Connection, run: StoredRun) -> Asked:
    found = _question_of(run, db.execute(_OF_TICKET, (run.ticket,)).fetchone() or _NOBODY)
    latest = db.execute(_LATEST_OF_TICKET, (run.ticket,)).fetchone()[0]
    return found if latest == run.seq else msgspec.structs.replace(found, note="")


def list_runs(db: sqlite3.Connection, wanted: Wanted) -> Listed:
    needle, runs, looked = fold(wanted.search), list[tuple[StoredRun, Asked]](), 0
    before = 2**63 - 1
    while looked < MOST_LOOKED_THROUGH:
        most = BATCH if needle else min(BATCH, wanted.count - len(runs))
        matching = (before, wanted.failed, wanted.workflow, wanted.workflow, wanted.since, most)
        rows = db.execute(_LISTED, matching).fetchall()
        for row in rows:
            run = read_run(row[: -len(_NOBODY)])
            looked, before = looked + 1, run.seq
            found = _question_of(run, row[-len(_NOBODY) :])
            if _holds(run, found, needle):
                runs.append((run, found))
                if len(runs) == wanted.count:
                    return Listed(runs, stopped=False)
        if len(rows) < most:
            return Listed(runs, stopped=False)
    return Listed(runs, stopped=True)


def latest_ids(db: sqlite3.Connection, most: int) -> list[str]:
    return [text(each) for row in db.execute(_IDS, (most,)) for each in row]


def _question_of(run: StoredRun, row: tuple[Any, ...]) -> Asked:
    said, about, requester, came, note = row
    question, subject = text(said), text(about)
    try:
        was = msgspec.msgpack.decode(run.initial, type=_Case).text
    except msgspec.MsgspecError:
        was = ""
    if was and was != whole(subject, question):
        question, subject = was, ""
    created = run.started if came is None else seconds(came)
    return Asked(question, subject, text(requester), created, text(note))


def _holds(run: StoredRun, found: Asked, needle: str) -> bool:
    if not needle:
        return True
    texts = (run.ticket, run.id, found.subject, found.requester, found.question)
    return any(needle in fold(text) for text in texts)
