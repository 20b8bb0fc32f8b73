"""An index of another version is made anew by whoever needs it; what stops on the way goes on from there."""

import asyncio
import contextlib
import sqlite3
from pathlib import Path

import pytest

from runtime.knowledge import FILE
from runtime.knowledge.index import find_lapsed
from runtime.knowledge.indexing import IndexProgress, index
from runtime.knowledge.knowledge_index import KnowledgeFailed, KnowledgeIndex
from runtime.processes.file_lock import hold_lock
from runtime.processes.pool import Workers
from runtime.settings import KnowledgeSettings
from tests.runtime.knowledge.kit import library
from tests.runtime.knowledge.meaning_kit import WordEmbedder

WITHIN = 60.0
QUESTION = "When does the VPN session key expire?"


@pytest.fixture
async def store(tmp_path: Path, workers: Workers) -> Path:
    """A store whose index another version made."""
    store = tmp_path / "store"
    await index([library(tmp_path / "library")], store, workers, KnowledgeSettings())
    with contextlib.closing(sqlite3.connect(store / FILE)) as db:
        db.execute("PRAGMA user_version = 3")
    return store


async def test_a_search_makes_it_anew_and_finds_what_its_folders_hold(store: Path, workers: Workers) -> None:
    knowledge = KnowledgeIndex(store, workers)
    both = await asyncio.gather(*(knowledge.search(QUESTION, within=WITHIN) for _ in range(2)))
    await knowledge.close()
    assert ["60 minutes" in found.passages[0].text for found in both] == [True, True]
    assert find_lapsed(str(store / FILE)) == []


async def test_one_that_was_stopped_half_way_is_not_taken_for_whole(
    store: Path, workers: Workers, tmp_path: Path
) -> None:
    done = asyncio.Event()
    working = asyncio.create_task(
        index([], store, workers, KnowledgeSettings(), lambda progress: done.set() if progress.done else None)
    )
    await done.wait()
    working.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await working
    assert find_lapsed(str(store / FILE)) == [str(tmp_path / "library")]

    knowledge = KnowledgeIndex(store, workers)
    found = await knowledge.search(QUESTION, within=WITHIN)
    await knowledge.close()
    assert "60 minutes" in found.passages[0].text


async def test_a_folder_that_is_gone_is_said_and_not_waited_for_again(
    store: Path, workers: Workers, tmp_path: Path
) -> None:
    (tmp_path / "library").rename(tmp_path / "elsewhere")
    report = await index([], store, workers, KnowledgeSettings())
    assert [folder for folder, _ in report.gone] == [str(tmp_path / "library")]
    assert "there is no folder" in report.gone[0][1]
    assert find_lapsed(str(store / FILE)) == []


async def test_while_another_process_makes_it_the_search_waits_as_long_as_its_caller_can(
    store: Path, workers: Workers
) -> None:
    knowledge = KnowledgeIndex(store, workers)
    async with hold_lock(store / "knowledge.lock", within=5.0, waits=lambda: None):
        with pytest.raises(KnowledgeFailed, match="under way"):
            await knowledge.search(QUESTION, within=1.0)
    found = await knowledge.search(QUESTION, within=WITHIN)
    await knowledge.close()
    assert "60 minutes" in found.passages[0].text


async def test_vectors_outlive_the_version_and_are_not_waited_for(
    store: Path, workers: Workers, tmp_path: Path
) -> None:
    await index([tmp_path / "library"], store, workers, KnowledgeSettings(), embedder=WordEmbedder())
    with contextlib.closing(sqlite3.connect(store / FILE)) as db:
        db.execute("PRAGMA user_version = 3")
    again, seen = WordEmbedder(), list[IndexProgress]()
    report = await index([], store, workers, KnowledgeSettings(), seen.append, again)
    assert (report.read, again.texts) == (5, [])

    with contextlib.closing(sqlite3.connect(store / FILE)) as db:
        db.execute("PRAGMA user_version = 3")
        db.execute("DELETE FROM vectors")
        db.commit()
    hanging = WordEmbedder()
    hanging.hangs = True
    knowledge = KnowledgeIndex(store, workers, embedder=hanging)
    found = await knowledge.search(QUESTION, within=WITHIN)
    await knowledge.close()
    assert "60 minutes" in found.passages[0].text
