"""Databases and memories under test, closed after each."""

import asyncio
import contextlib
import shutil
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from bench.solved_tickets import remember_all
from runtime.embeddings.embedder import Embedder
from runtime.memory.ticket_memory import TicketMemory
from runtime.processes.pool import Workers
from runtime.settings import MemorySettings
from runtime.storage.sqlite.database import Database
from runtime.storage.sqlite.memory_store import SCHEMA, SqliteMemory
from tests.runtime.memory.kit import solved

Open = Callable[..., TicketMemory]
QUIET = MemorySettings(learn_after=1_000_000, lookup_seconds=30.0)
"""Learns only when a test says so."""


@pytest.fixture
async def opened(tmp_path: Path) -> AsyncIterator[Open]:
    """Open the memory of the test's folder, as often as wanted."""
    async with contextlib.AsyncExitStack() as stack:

        def start(
            settings: MemorySettings = QUIET,
            *,
            has_model: bool = False,
            embedder: Embedder | None = None,
        ) -> TicketMemory:
            database, workers = Database(tmp_path / "terminus.db", SCHEMA), Workers(size=1)
            store = SqliteMemory(database)
            memory = TicketMemory(store, workers, settings, has_model=has_model, embedder=embedder)
            stack.callback(database.close)
            stack.callback(workers.close)
            stack.push_async_callback(memory.close)
            return memory

        yield start


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a store that has learnt, made once."""
    folder = tmp_path_factory.mktemp("trained")

    async def make() -> None:
        database, workers = Database(folder / "terminus.db", SCHEMA), Workers(size=1)
        memory = TicketMemory(SqliteMemory(database), workers, QUIET)
        try:
            await remember_all(memory, solved())
            await memory.learn()
        finally:
            await memory.close()
            workers.close()
            database.close()

    asyncio.run(make())
    return folder


@pytest.fixture
def learnt(trained: Path, tmp_path: Path, opened: Open) -> Open:
    """Like `opened`, over a copy of the store that has learnt."""
    shutil.copytree(trained, tmp_path, dirs_exist_ok=True)
    return opened
