"""Worker processes and an indexed library."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from runtime.knowledge import FILE, indexing_jobs
from runtime.knowledge.index import close_indexes
from runtime.knowledge.indexing import index
from runtime.knowledge.knowledge_index import KnowledgeIndex
from runtime.processes.pool import Workers
from runtime.settings import KnowledgeSettings
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
    listed = indexing_jobs.listing(path, str(library(folder / "library")))
    for each in listed.files:
        assert indexing_jobs.take(path, listed.folder, listed.root, each, 20.0, 10.0, "").status == "read"
    indexing_jobs.finish(path)
    yield path
    close_indexes()
