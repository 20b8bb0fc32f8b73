"""Opens the node for a command, and turns what may go wrong with it into sentences."""

import contextlib
import sqlite3
from collections.abc import AsyncIterator

from runtime.commands import Exit, UserError
from runtime.node import DATABASE, Busy, Node
from runtime.settings import Settings
from runtime.storage.journal import JournalDamaged, UnknownRun


@contextlib.asynccontextmanager
async def opened(settings: Settings) -> AsyncIterator[Node]:
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
        raise UserError(f"{place}: {error}. Use the version of Terminus that wrote it.", Exit.FAILED) from error
    except sqlite3.Error as error:
        remedy = "Check the disk; `python -m runtime doctor` says more"
        raise UserError(f"The database {place} cannot be used: {error}. {remedy}.", Exit.FAILED) from error
