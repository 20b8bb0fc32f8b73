"""A journal over SQLite, and the database below one."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from actors.workflow.tables import Workflow
from runtime.storage.journal import RunJournal
from runtime.storage.sqlite.database import Database
from runtime.storage.sqlite.run_store import SqliteRuns
from runtime.storage.sqlite.schema import migrate


def open_journal(path: Path, flows: Mapping[str, Workflow], *more: Any, **options: Any) -> RunJournal:
    return RunJournal(SqliteRuns(Database(path, migrate=migrate)), flows, *more, **options)


def database_of(journal: RunJournal) -> Database:
    assert isinstance(journal.store, SqliteRuns)
    return journal.store._database
