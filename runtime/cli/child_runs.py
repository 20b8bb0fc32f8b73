"""The runs within a run, as the journal holds them: the rounds of a research, or the research of a ticket."""

from actors.workflow.tables import Case
from runtime.families import FAMILIES, find
from runtime.families.family import Round
from runtime.storage.errors import UnknownRun
from runtime.storage.journal import RunJournal
from runtime.storage.records import StoredRun


def round_of(workflow: str, case: Case) -> Round | None:
    """Which round a run of this case is."""
    return next((family.round_of(case) for family in FAMILIES if family.name == workflow), None)


async def below(journal: RunJournal, stored: StoredRun) -> list[StoredRun]:
    """The runs that a run handed on to, each followed by those below it."""
    found, roles = list[StoredRun](), find(stored.workflow).children
    for number, handoff in enumerate((await journal.fold(stored)).handoffs, 1):
        if handoff.target not in roles:
            continue
        try:
            deeper = await journal.run(f"{stored.id}.{number}")
        except UnknownRun:
            continue  # the process died before it was begun
        found += [deeper, *await below(journal, deeper)]
    return found
