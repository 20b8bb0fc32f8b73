"""A site, a client and the reading of a process, closed again."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from runtime.crawl.http_client import Client
from runtime.crawl.pages import Pages
from runtime.storage.effects import Effects
from runtime.storage.sqlite.database import Database
from runtime.storage.sqlite.effect_store import SCHEMA, SqliteEffects
from tests.runtime.crawl.kit import LOOPBACK, SOON, Here, make_pages, settings
from tests.site import Site, site


@pytest.fixture
async def web() -> AsyncIterator[Site]:
    async with site() as made:
        yield made


@pytest.fixture
async def client() -> AsyncIterator[Client]:
    made = Client(LOOPBACK, SOON)
    yield made
    await made.close()


@pytest.fixture
async def effects(tmp_path: Path) -> AsyncIterator[Effects]:
    database = Database(tmp_path / "terminus.db", SCHEMA)
    yield Effects(SqliteEffects(database), "r1")
    database.close()


@pytest.fixture
async def here() -> AsyncIterator[Here]:
    made = Here()
    yield made
    made.close()


@pytest.fixture
def pages(tmp_path: Path, client: Client, here: Here) -> Pages:
    return make_pages(settings(tmp_path), here, client, now=lambda: 1_800_000_000.0)
