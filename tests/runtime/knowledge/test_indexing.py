"""Folders become an index: incrementally, whole at any moment, whatever the files are."""

import asyncio
import functools
import importlib.util
import os
import signal
import sqlite3
import sys
from pathlib import Path

import pytest

from runtime.knowledge import FILE, indexing_jobs
from runtime.knowledge.index import Index, close_indexes
from runtime.knowledge.indexing import LOCK, IndexFailed, IndexProgress, IndexReport, index
from runtime.knowledge.knowledge_index import KnowledgeIndex
from runtime.knowledge.readers.reader import read
from runtime.processes.file_lock import hold_lock
from runtime.processes.pool import Workers
from runtime.settings import KnowledgeSettings
from tests import ROOT
from tests.runtime.knowledge.kit import VPN, library

WITHIN = 20.0


async def build(folder: Path, store: Path, workers: Workers, settings: KnowledgeSettings | None = None) -> IndexReport:
    return await index([folder], store, workers, settings or KnowledgeSettings())


def whole(store: Path) -> bool:
    with sqlite3.connect(store / FILE) as db:
        checked = db.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
        db.execute("INSERT INTO terms (terms) VALUES ('integrity-check')")
        passages, terms = (db.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in ("passages", "terms"))
    db.close()
    return bool(checked and passages == terms)


async def test_only_what_is_new_or_changed_is_read_and_what_vanished_is_gone(tmp_path: Path, workers: Workers) -> None:
    folder, store = library(tmp_path / "library"), tmp_path / "store"
    first = await build(folder, store, workers)
    assert (first.files, first.read, first.unchanged, first.removed, first.skipped) == (5, 5, 0, 0, ())
    assert first.passages > 5
    assert first.megabytes > 0

    again = await build(folder, store, workers)
    assert (again.read, again.unchanged, again.passages) == (0, 5, 0)

    (folder / "vpn.md").write_text(VPN.replace("60 minutes", "90 minutes"))
    (folder / "printer.txt").unlink()
    third = await build(folder, store, workers)
    assert (third.files, third.read, third.unchanged, third.removed) == (4, 1, 3, 1)

    found = await KnowledgeIndex(store, workers).search("When does the VPN session key expire?", within=WITHIN)
    assert any("90 minutes" in passage.text for passage in found.passages)
    assert not any("60 minutes" in passage.text for passage in found.passages)
    assert whole(store)


async def test_progress_names_each_file_once(tmp_path: Path, workers: Workers) -> None:
    seen: list[IndexProgress] = []
    await index([library(tmp_path / "library")], tmp_path / "store", workers, KnowledgeSettings(), seen.append)
    assert [each.done for each in seen] == [1, 2, 3, 4, 5]
    assert {each.total for each in seen} == {5}
    assert {each.current for each in seen} == {
        "library/vpn.md",
        "library/printer.txt",
        "library/sub/account.html",
        "library/sub/chinese.md",
        "library/sub/korean.md",
    }


async def test_what_cannot_be_read_is_listed_with_its_reason(tmp_path: Path, workers: Workers) -> None:
    folder = library(tmp_path / "library")
    (folder / "binary.md").write_bytes(b"\x7fELF\0\0\0")
    (folder / "empty.txt").write_text(" \n")
    (folder / "huge.md").write_text("word " * 50_000)
    (folder / "loop").symlink_to(folder)
    (folder / "gone.md").symlink_to(folder / "nowhere.md")
    (folder / "out.md").symlink_to(tmp_path / "secret.md")
    (tmp_path / "secret.md").write_text("The secret words.")
    (folder / "ok.md").symlink_to(folder / "vpn.md")
    (folder / ".hidden.md").write_text("Hidden words.")
    (folder / "picture.png").write_bytes(b"\x89PNG")
    (folder / "_sources").mkdir()
    (folder / "_sources" / "vpn.txt").write_text("The same words once more.")
    os.mkfifo(folder / "pipe.md")
    report = await build(folder, tmp_path / "store", workers, KnowledgeSettings(file_megabytes=0.1))
    assert dict(report.skipped) == {
        "library/binary.md": "binary content",
        "library/empty.txt": "empty",
        "library/huge.md": "0.25 MB is over the limit of 0.1 MB (knowledge.file_megabytes)",
        "library/loop": "a link to a folder",
        "library/gone.md": "a broken link",
        "library/out.md": "a link that leads out of the folder",
        "library/pipe.md": "not a regular file",
    }
    assert report.read == 6
    assert report.ignored == 3
    again = await build(folder, tmp_path / "store", workers, KnowledgeSettings(file_megabytes=0.1))
    assert again.skipped == report.skipped
    assert again.read == 0


async def test_a_file_whose_reading_takes_too_long_is_stopped_and_not_tried_again(
    tmp_path: Path, workers: Workers
) -> None:
    folder, hasty = library(tmp_path / "library"), KnowledgeSettings(file_seconds=0.005)
    (folder / "long.md").write_text("# Long\n\nA sentence of a long document stands here.\n" * 20_000)
    report = await build(folder, tmp_path / "store", workers, hasty)
    reason = "took longer than 0.005 s to read (knowledge.file_seconds)"
    assert ("library/long.md", reason) in report.skipped  # a busy machine may be late with the small ones, too
    assert {each for _, each in report.skipped} == {reason}
    patient = await build(folder, tmp_path / "store", workers)
    assert patient.read == len(report.skipped)
    assert patient.skipped == ()
    assert whole(tmp_path / "store")


async def test_two_folders_of_one_name_keep_apart(tmp_path: Path, workers: Workers) -> None:
    for parent in ("red", "blue"):
        (tmp_path / parent / "html").mkdir(parents=True)
        (tmp_path / parent / "html" / "a.md").write_text(
            f"# Colour\n\nThe colour of the {parent} house is known to all.\n"
        )
    folders = [tmp_path / parent / "html" for parent in ("red", "blue")]
    report = await index(folders, tmp_path / "store", workers, KnowledgeSettings())
    assert report.read == 2
    found = await KnowledgeIndex(tmp_path / "store", workers).search("What is the colour of the house?", within=WITHIN)
    assert {passage.source for passage in found.passages} == {"red/html/a.md", "blue/html/a.md"}
    assert (await index(folders[:1], tmp_path / "store", workers, KnowledgeSettings())).removed == 0


@pytest.mark.parametrize(("name", "why"), [("nowhere", "there is no folder"), ("file.md", "is not a folder")])
async def test_a_folder_that_is_none_is_named(tmp_path: Path, workers: Workers, name: str, why: str) -> None:
    (tmp_path / "file.md").write_text("Words.")
    with pytest.raises(IndexFailed, match=why):
        await build(tmp_path / name, tmp_path / "store", workers)


async def test_two_indexers_at_once_leave_one_whole_index(tmp_path: Path, workers: Workers) -> None:
    folder, store, others = tmp_path / "many", tmp_path / "store", Workers(2)
    folder.mkdir()
    for number in range(30):
        (folder / f"{number}.md").write_text(f"# Topic {number}\n\nThe answer about topic number{number} is simple.\n")
    try:
        reports = await asyncio.gather(build(folder, store, workers), build(folder, store, others))
    finally:
        others.close()
    assert all(report.read + report.unchanged == 30 and report.skipped == () for report in reports)
    assert whole(store)
    with sqlite3.connect(store / FILE) as db:
        assert db.execute("SELECT count(*), count(DISTINCT path) FROM documents").fetchone() == (30, 30)
    db.close()


async def test_an_indexer_waits_for_another_says_so_and_gives_up_with_a_sentence(
    tmp_path: Path, workers: Workers
) -> None:
    folder, store, seen = library(tmp_path / "library"), tmp_path / "store", list[IndexProgress]()
    store.mkdir()
    never, ever = KnowledgeSettings(wait_seconds=0.0), KnowledgeSettings()
    async with hold_lock(store / LOCK, within=0.0, waits=lambda: None):
        with pytest.raises(IndexFailed, match=r"Another process has been indexing .* 0 s .*try again"):
            await index([folder], store, workers, never)
        assert not (store / FILE).exists()
        waiting = asyncio.create_task(index([folder], store, workers, ever, seen.append))
        while not seen:  # noqa: ASYNC110 - it is told by a call
            await asyncio.sleep(0)
        assert (seen[0].waiting, waiting.done(), (store / FILE).exists()) == (True, False, False)
    assert (await waiting).read == 5
    assert not any(each.waiting for each in seen[1:])


KILLED = """
import asyncio, sys
from runtime.knowledge.indexing import index
from runtime.settings import KnowledgeSettings
from runtime.processes.pool import Workers

async def main():
    workers = Workers(2)
    await index([sys.argv[1]], sys.argv[2], workers, KnowledgeSettings(), lambda each: print(each.done, flush=True))

asyncio.run(main())
"""


async def test_killed_in_the_middle_the_index_is_whole_and_the_next_run_goes_on(
    tmp_path: Path, workers: Workers
) -> None:
    folder, store = tmp_path / "many", tmp_path / "store"
    folder.mkdir()
    for number in range(60):
        (folder / f"{number}.md").write_text(f"# Topic {number}\n\n" + f"Sentence about topic number{number}.\n\n" * 40)
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        KILLED,
        str(folder),
        str(store),
        stdout=asyncio.subprocess.PIPE,
        cwd=ROOT,
    )
    assert process.stdout is not None
    while int(await process.stdout.readline()) < 20:
        pass
    process.send_signal(signal.SIGKILL)
    await process.communicate()
    assert whole(store)
    report = await build(folder, store, workers)
    assert report.read + report.unchanged == 60
    assert report.unchanged >= 20
    assert report.skipped == ()
    assert whole(store)


async def test_the_text_of_a_document_is_kept_and_every_passage_is_a_slice_of_it(
    tmp_path: Path, workers: Workers
) -> None:
    folder, store = library(tmp_path / "library"), tmp_path / "store"
    await build(folder, store, workers)
    found = await KnowledgeIndex(store, workers).search("VPN session printer account 密码 비밀번호", within=WITHIN)
    assert len({passage.source for passage in found.passages}) > 2
    with sqlite3.connect(store / FILE) as db:
        for passage in found.passages:
            text = Index(db).find_text(passage.source)
            assert text is not None
            assert text[passage.start : passage.end] == passage.text
            if not passage.source.endswith(".html"):
                assert text == (folder.parent / passage.source).read_text()
    db.close()


async def test_an_index_of_another_version_is_made_anew(tmp_path: Path, workers: Workers) -> None:
    folder, store, earlier = library(tmp_path / "library"), tmp_path / "store", Workers(1)
    await build(folder, store, earlier)
    earlier.close()
    with sqlite3.connect(store / FILE) as db:
        db.execute("PRAGMA user_version = 999")
    db.close()
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "a.md").write_text("# Other\n\nWords.\n")
    report = await build(tmp_path / "other", store, workers)
    assert (report.read, report.skipped) == (1 + 5, ()), "the folders that it named are read again, too"
    assert (await build(folder, store, workers)).unchanged == 5


def test_a_file_that_only_lacks_its_reader_is_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, database = tmp_path / "library", str(tmp_path / "store" / FILE)
    folder.mkdir()
    (folder / "a.pdf").write_bytes(b"%PDF-1.7\n")
    listed = indexing_jobs.listing(database, str(folder))
    take = functools.partial(indexing_jobs.take, database, listed.folder, listed.root, "a.pdf", 1.0, 1.0, "")
    try:
        with monkeypatch.context() as lacking:
            lacking.setattr(importlib.util, "find_spec", lambda _: None)
            assert "pip install pypdf" in take().reason
        monkeypatch.setattr(indexing_jobs, "read", lambda name, data: read(f"{name}.md", data))
        assert take().status == "read"
    finally:
        close_indexes()
