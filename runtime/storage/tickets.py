"""Tickets as people look for them: what each one asks, the latest in which a text stands, the ids that are like one."""

from typing import Any, NamedTuple

import msgspec

from runtime.memory.ticket_text import fold
from runtime.storage.damage import seconds, text
from runtime.storage.database import Database
from runtime.storage.journal import OUTERMOST, RUN_COLUMNS, StoredRun
from runtime.tickets import whole

BATCH = 200
"""Rows that are read at once: a ticket may have megabytes."""
MOST_LOOKED_THROUGH = 100_000
"""So many of the latest runs are searched for a text."""
MOST_IDS = 5_000
"""So many of the latest runs have ids that a mistyped one is compared with."""
MOST_NEAREST = 3
ID_CHARACTERS = 100
ALIKE = 0.75
"""Made-up ids share about half of their characters by chance."""

_COLUMNS = ", ".join(f"run.{name}" for name in RUN_COLUMNS.split(", "))
_OUTERMOST = OUTERMOST.replace("(id", "(run.id")
_ASKED = "coalesce(t.text, ''), coalesce(t.subject, ''), coalesce(t.requester, ''), t.created, coalesce(t.note, '')"
_LISTED = f"""
SELECT run.rowid, {_COLUMNS}, {_ASKED} FROM run LEFT JOIN ticket AS t ON t.id = run.ticket
WHERE {_OUTERMOST} AND run.rowid < ? AND (? = 0 OR run.status IN ('error', 'cancelled'))
AND (? = '' OR run.workflow = ?) AND run.started >= ? ORDER BY run.rowid DESC LIMIT ?
"""
_OF_TICKET = f"SELECT {_ASKED} FROM ticket AS t WHERE id = ?"
_LATEST_OF_TICKET = (
    "SELECT max(rowid) = (SELECT rowid FROM run WHERE id = ?) FROM run WHERE ticket = ? AND " + OUTERMOST
)
_IDS = f"SELECT ticket, id FROM run WHERE {OUTERMOST} ORDER BY rowid DESC LIMIT ?"


class Asked(msgspec.Struct, frozen=True):
    """What a run was asked, and by whom."""

    question: str
    """The text as it came in, without the subject."""
    subject: str
    requester: str
    created: float
    """Seconds since 1970 when the ticket came in for the first time."""
    note: str = ""
    """What was noted on the ticket when its latest run ended."""


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """Which runs are listed: all of this must hold."""

    search: str = ""
    """Stands in the question, the subject, the requester or an id, whatever its case."""
    failed: bool = False
    """It was ended by a limit, a failure or a person."""
    workflow: str = ""
    since: float = 0.0
    """It began no earlier than these seconds since 1970."""
    count: int = 20


class Listed(NamedTuple):
    """The latest runs that are as wanted, the newest first."""

    runs: list[tuple[StoredRun, Asked]]
    stopped: bool
    """There are older runs that nobody looked at."""


class _Case(msgspec.Struct):
    """What is read of a run's beginning: also of one that this version cannot go on with."""

    text: str = ""


def asked(database: Database, run: StoredRun) -> Asked:
    """What a run was asked. A ticket that came in again with another text does not change what its older runs say."""
    rows = database.read(_OF_TICKET, (run.ticket,))
    found = _asked(run, rows[0] if rows else ("", "", "", None, ""))
    latest = database.read(_LATEST_OF_TICKET, (run.id, run.ticket))
    return found if latest[0][0] else msgspec.structs.replace(found, note="")


def list_tickets(database: Database, wanted: Wanted) -> Listed:
    """Runs as wanted; their notes are those of their tickets."""
    needle, runs, looked = fold(wanted.search), list[tuple[StoredRun, Asked]](), 0
    before = 2**63 - 1
    while looked < MOST_LOOKED_THROUGH:
        most = BATCH if needle else min(BATCH, wanted.count - len(runs))
        matching = (before, wanted.failed, wanted.workflow, wanted.workflow, wanted.since, most)
        rows = database.read(_LISTED, matching)
        for rowid, *row in rows:
            looked, before = looked + 1, rowid
            run = StoredRun.of(row[: -len(_Ticket._fields)])
            found = _asked(run, tuple(row[-len(_Ticket._fields) :]))
            if _holds(run, found, needle):
                runs.append((run, found))
                if len(runs) == wanted.count:
                    return Listed(runs, stopped=False)
        if len(rows) < most:
            return Listed(runs, stopped=False)
    return Listed(runs, stopped=True)


def nearest_ids(database: Database, some_id: str) -> list[str]:
    """Ids of tickets and runs that somebody may have meant: those that begin so, else those that are alike."""
    import difflib  # only a mistake leads here

    given = some_id[:ID_CHARACTERS].casefold()
    known = {each.casefold(): each for row in reversed(database.read(_IDS, (MOST_IDS,))) for each in row}
    begin = [folded for folded in reversed(known) if given and folded.startswith(given)]
    near = begin[:MOST_NEAREST] or difflib.get_close_matches(given, known, MOST_NEAREST, ALIKE)
    return [known[folded] for folded in near]


class _Ticket(NamedTuple):
    text: str
    subject: str
    requester: str
    created: float | None
    note: str


def _asked(run: StoredRun, row: tuple[Any, ...]) -> Asked:
    said, about, requester, came, note = row
    ticket = _Ticket(text(said), text(about), text(requester), None if came is None else seconds(came), text(note))
    created = run.started if ticket.created is None else ticket.created
    try:
        was = msgspec.msgpack.decode(run.initial, type=_Case).text
    except msgspec.MsgspecError:
        was = ""
    question, subject = ticket.text, ticket.subject
    if was and was != whole(subject, question):
        question, subject = was, ""
    return Asked(question, subject, ticket.requester, created, ticket.note)


def _holds(run: StoredRun, found: Asked, needle: str) -> bool:
    if not needle:
        return True
    texts = (run.ticket, run.id, found.subject, found.requester, found.question)
    return any(needle in fold(text) for text in texts)
