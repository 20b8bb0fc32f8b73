"""The runs within a run, as the journal holds them: the rounds of a research, or the research of a ticket."""

from collections.abc import Iterator

from runtime.families import FAMILIES
from runtime.storage.journal import SqliteJournal, StoredRun, UnknownRun

ROLES = frozenset(role for family in FAMILIES for role in family.children)
"""Those that a whole run plays: a round deeper, and the research that a ticket of the helpdesk asks for."""


def below(journal: SqliteJournal, stored: StoredRun) -> Iterator[StoredRun]:
    """The runs that a run handed on to, each followed by those below it."""
    for number, handoff in enumerate(journal.fold(stored).handoffs, 1):
        if handoff.target not in ROLES:
            continue
        try:
            deeper = journal.run(f"{stored.id}.{number}")
        except UnknownRun:
            continue  # the process died before it was begun
        yield deeper
        yield from below(journal, deeper)
