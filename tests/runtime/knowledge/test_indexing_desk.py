"""A daemon makes the vectors that an index lacks, whoever has read its documents, and tells why where it cannot."""

import asyncio
import contextlib
import os
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from runtime.embeddings import weights
from runtime.embeddings.model_file import find_model_file
from runtime.engine.node import Node
from runtime.knowledge import FILE, indexing
from runtime.knowledge.index import MeaningState
from runtime.knowledge.indexing import LOCK, NICENESS, IndexingDesk, index, measure_meaning
from runtime.processes.file_lock import hold_lock
from runtime.processes.pool import Workers
from runtime.settings import EmbeddingsSettings, Settings, StorageSettings
from tests.patience import HANGS_SECONDS
from tests.runtime.embeddings.kit import write_published
from tests.runtime.knowledge.kit import library


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(indexing, "LOOK_SECONDS", 0.02)
    monkeypatch.setattr(indexing, "AGAIN_SECONDS", 0.02)


@pytest.fixture
async def node(tmp_path: Path) -> AsyncIterator[Node]:
    """With a tiny sentence model."""
    embeddings = EmbeddingsSettings(folder=str(tmp_path))
    weights.convert(*write_published(tmp_path), find_model_file(embeddings))
    settings = Settings(embeddings=embeddings, storage=StorageSettings(folder=str(tmp_path / "data")))
    async with Node.open(settings) as opened:
        yield opened


@contextlib.asynccontextmanager
async def desk(node: Node) -> AsyncIterator[IndexingDesk]:
    opened = IndexingDesk(node)
    try:
        yield opened
    finally:
        await opened.close()


async def until(condition: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(HANGS_SECONDS):
        while not await condition():  # noqa: ASYNC110 - what is written by other processes sets no event
            await asyncio.sleep(0)


async def is_ready(node: Node, texts: int = 1) -> bool:
    state = await measure_meaning(node.folder, node.workers, node.embedder)
    assert state is not None
    return texts <= state.texts == state.ready


async def test_it_makes_the_vectors_of_an_index_that_another_process_writes_beside_it(
    node: Node, tmp_path: Path
) -> None:
    workers = Workers(1)
    try:
        async with desk(node) as opened:
            await index([library(tmp_path / "library")], node.folder, workers, node.settings.knowledge)
            await until(lambda: is_ready(node))
            (tmp_path / "library" / "late.md").write_text("# Late\n\nThis page came later than all others.\n")
            await index([tmp_path / "library"], node.folder, workers, node.settings.knowledge)
            await until(lambda: is_ready(node, 8))
            assert opened.why_no_vectors == ""
    finally:
        workers.close()


async def test_what_it_reads_itself_is_found_by_its_words_before_vectors_are_made(node: Node, tmp_path: Path) -> None:
    async with desk(node) as opened:
        opened.start([str(library(tmp_path / "library"))])
        async with asyncio.timeout(HANGS_SECONDS):
            while opened.state.state == "running":  # noqa: ASYNC110 - it is told by a call
                await asyncio.sleep(0)
        assert (opened.state.state, opened.state.read) == ("done", 5)
        await until(lambda: is_ready(node))


async def test_while_somebody_reads_it_waits(node: Node, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    await index([library(tmp_path / "library")], node.folder, node.workers, node.settings.knowledge)
    looked = 0

    async def measure(*arguments: object) -> MeaningState:
        nonlocal looked
        looked += 1
        return MeaningState(9, 0)

    with monkeypatch.context() as patched:
        patched.setattr(indexing, "measure_meaning", measure)
        async with hold_lock(node.folder / LOCK, within=0.0, waits=lambda: None), desk(node):
            async with asyncio.timeout(HANGS_SECONDS):
                while looked < 3:  # noqa: ASYNC110 - it is told by a call
                    await asyncio.sleep(0)
            assert not await is_ready(node)


async def test_why_none_are_made_is_told_and_they_are_once_it_is_mended(node: Node, tmp_path: Path) -> None:
    file = find_model_file(node.settings.embeddings)
    whole = file.read_bytes()
    file.write_bytes(whole[:-1])
    await index([library(tmp_path / "library")], node.folder, node.workers, node.settings.knowledge)
    async with desk(node) as opened:
        async with asyncio.timeout(HANGS_SECONDS):
            while not opened.why_no_vectors:  # noqa: ASYNC110 - it is told by a call
                await asyncio.sleep(0)
        assert "model install" in opened.why_no_vectors
        file.write_bytes(whole)
        await until(lambda: is_ready(node))


async def test_vectors_of_another_model_give_way_once(node: Node, tmp_path: Path) -> None:
    await index([library(tmp_path / "library")], node.folder, node.workers, node.settings.knowledge)

    def name_other() -> None:
        with sqlite3.connect(node.folder / FILE) as db:
            db.execute("UPDATE vector_model SET name = 'other/1'")
        db.close()

    async with desk(node):
        await until(lambda: is_ready(node))
        name_other()
        (tmp_path / "library" / "late.md").write_text("# Late\n\nThis page came later than all others.\n")
        await index([tmp_path / "library"], node.folder, node.workers, node.settings.knowledge)
        assert node.embedder is not None
        state = await measure_meaning(node.folder, node.workers, node.embedder)
        assert state is not None
        assert state.ready == 0
    async with desk(node):
        await until(lambda: is_ready(node))


async def test_the_process_that_makes_vectors_gives_way_to_others() -> None:
    workers = Workers(1, NICENESS)
    try:
        number = await workers.call("os:getpid", within=HANGS_SECONDS, returns=int)
        assert os.getpriority(os.PRIO_PROCESS, number) == os.getpriority(os.PRIO_PROCESS, 0) + NICENESS
    finally:
        workers.close()
