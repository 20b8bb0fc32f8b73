"""Opens the node for a command, and turns what may go wrong with it into sentences."""

import contextlib
import sqlite3
from collections.abc import AsyncIterator

from actors.reporting.report import Report
from actors.workflow.outcome import Outcome
from runtime.cli import Exit, UserError
from runtime.cli.view.result import RESEARCH
from runtime.messages import display, safe
from runtime.node import Busy, Node, NoReport
from runtime.program import command
from runtime.run_record import EndedRecord, ended
from runtime.settings import Settings
from runtime.storage.damage import REMEDY
from runtime.storage.journal import JournalDamaged, StoredRun, UnknownRun
from runtime.storage.private import DATABASE
from runtime.storage.tickets import asked, nearest_ids


@contextlib.asynccontextmanager
async def open_node(settings: Settings) -> AsyncIterator[Node]:
    """The node on the configured storage folder."""
    place = f"{settings.storage.folder}/{DATABASE}"
    try:
        async with Node.open(settings) as node:
            yield node
    except UnknownRun as error:
        raise UserError(str(error), Exit.NOT_FOUND) from None
    except Busy as error:
        raise UserError(str(error), Exit.FAILED) from None
    except JournalDamaged as error:
        raise UserError(f"{place}: {safe(str(error))}. {REMEDY}.", Exit.FAILED) from error
    except sqlite3.Error as error:
        remedy = f"Check the disk; {command('doctor')} says more"
        raise UserError(f"The database {place} cannot be used: {error}. {remedy}.", Exit.FAILED) from error


def find(node: Node, some_id: str) -> tuple[StoredRun, Outcome | None]:
    """
    A run, or the latest of a ticket, and how it ended if it has.

    :raises UserError: there is none; it names the ids that may have been meant.
    """
    try:
        return node.status(some_id)
    except UnknownRun as error:
        near = nearest_ids(node.database, some_id)
        if not near:
            raise
        meant = " or ".join(filter(None, (", ".join(near[:-1]), near[-1])))
        remedy = f"{command('status --search TEXT')} finds a ticket by its words"
        raise UserError(
            f"There is no ticket or run {display(some_id)}. Did you mean {meant}? {remedy}.", Exit.NOT_FOUND
        ) from error


def came_of(node: Node, outcome: Outcome) -> tuple[EndedRecord, Report | None]:
    """How a run ended, with what it was asked, and its report if it is a research that has one."""
    stored = node.journal.run(outcome.run)
    report = None
    if outcome.workflow == RESEARCH:
        with contextlib.suppress(NoReport):
            report = node.report(stored.ref)
    return ended(outcome, stored, asked(node.database, stored)), report
