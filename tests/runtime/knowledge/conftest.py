"""Worker processes and an indexed library."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from runtime.knowledge import files, search
from runtime.knowledge.indexing import index
from runtime.knowledge.port import FILE, KnowledgeIndex
from runtime.settings import KnowledgeSettings
from runtime.workers import Workers
from tests.runtime.knowledge.kit import library


@pytest.fixture
def workers() -> Iterator[Workers]:
    pool = Workers(2)
    yield pool
    pool.close()


@pytest.fixture
async def knowledge(tmp_path: Path, workers: Workers) -> KnowledgeIndex:
    await index([library(tmp_path / "library")], tmp_path / "store", workers, KnowledgeSettings())
    return KnowledgeIndex(tmp_path / "store", workers)


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The same library, indexed and searched in this process, as a worker process does it."""
    folder = tmp_path_factory.mktemp("shared")
    path = str(folder / FILE)
    listed = files.listing(path, str(library(folder / "library")))
    for each in listed.files:
        assert files.take(path, listed.folder, listed.root, each, 20.0, 10.0).status == "read"
    files.finish(path)
    yield path
    files.close()
    search.close()
