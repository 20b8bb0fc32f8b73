"""
Tickets that go with all that belongs to them. Blocking: for commands and worker processes.

With a ticket go its runs and the runs within them, their events and effects, the ticket itself, its state file,
backups and pages, its lines in the log, what was recorded of its helpdesk, and what memory learnt from it. By age,
what a person has judged stays in memory: a confirmed answer is what the helpdesk knows, a rejected one must not come
back. A ticket that is named, or whose requester is, goes from memory altogether. The model of memory, which knows
words of texts, is made again without it.
"""

import time
from collections.abc import Iterable
from pathlib import Path

import msgspec

from runtime.settings import DAY
from runtime.storage.private import DATABASE
from runtime.storage.sqlite.purging import (
    Connection,
    delete,
    describe,
    forget_parts,
    names_of,
    older_than,
    open_database,
)  # fmt: skip
from runtime.upkeep.belongings import forget_files, forget_lines, forget_recordings, model_files

PAUSE_SHARE = 1.0
"""Between two transactions, of the time that the last one took: a daemon's own commits come in between."""
LEAST_PAUSE_SECONDS = 0.002


class Purged(msgspec.Struct):
    """What went."""

    tickets: list[str] = msgspec.field(default_factory=list)
    running: list[str] = msgspec.field(default_factory=list)
    """Left, because they are being worked on."""
    runs: int = 0
    remembered: int = 0
    files: int = 0
    lines: int = 0
    """Of the log."""
    longest_seconds: float = 0.0
    """Of one transaction, in which nobody else could write."""
    more: bool = False
    """The time was up before all had gone."""


def purge(
    folder: Path, tickets: Iterable[str], *, judged: bool, seconds: float = float("inf"), before: float = 0.0
) -> Purged:  # fmt: skip
    """
    Let tickets go, one transaction each. Stopped at any moment, the rest goes when it is asked for again.

    :param judged: also answers of theirs that a person confirmed or rejected, and what was recorded of their helpdesks.
    :param seconds: after so many, the rest is left.
    :param before: what was recorded of a helpdesk before this moment goes, too; Unix seconds.
    :raises StorageError: the database could not be written.
    :raises OSError: a file could not be removed.
    """
    until = time.monotonic() + seconds
    purged, names = Purged(), set[str]()
    with open_database(folder) as db:
        for ticket in tickets:
            if time.monotonic() > until:
                purged.more = True
                break
            names |= _let_go(db, folder, ticket, purged, judged=judged)
        forget_parts(db)
    purged.files += forget_files(folder, names)  # what was written in the moments after the end
    purged.files += forget_recordings(folder, before=before)
    if purged.remembered:
        for path in model_files(folder / DATABASE):
            path.unlink(missing_ok=True)
    purged.lines = forget_lines(folder, names)
    return purged


def retain(folder: str, keep_days: float, seconds: float) -> Purged:
    """Let go of what ended longer ago than that, for so many seconds; for a worker process."""
    place = Path(folder)
    before = time.time() - keep_days * DAY
    with open_database(place) as db:
        tickets = older_than(db, before)
    return purge(place, tickets, judged=False, seconds=seconds, before=before)


def _let_go(db: Connection, folder: Path, ticket: str, purged: Purged, *, judged: bool) -> set[str]:
    """Let one ticket go; returns the ids under which others may still speak of it."""
    names = names_of(db, ticket)
    if not describe(db, ticket, judged=judged).running:
        purged.files += forget_files(folder, names)  # first: a row that is left says that there is more to do
        if judged:  # what is only old goes when it is old itself
            purged.files += forget_recordings(folder, ticket)
        began = time.monotonic()
        if (done := delete(db, ticket, judged=judged)) is not None:
            took = time.monotonic() - began
            purged.tickets.append(ticket)
            purged.runs, purged.remembered = purged.runs + done[0], purged.remembered + done[1]
            purged.longest_seconds = max(purged.longest_seconds, took)
            time.sleep(max(LEAST_PAUSE_SECONDS, took * PAUSE_SHARE))
            return names
    purged.running.append(ticket)
    return set()
