"""Folders of the index: listed, removed, kept while they are out of reach; twins; what was ignored."""

import sqlite3
from pathlib import Path

import pytest

from runtime.knowledge import FILE
from runtime.knowledge.indexing import IndexReport, index, list_folders, remove_folder
from runtime.knowledge.knowledge_index import KnowledgeIndex
from runtime.processes.pool import Workers
from runtime.settings import KnowledgeSettings
from runtime.storage.private import DATABASE
from tests.runtime.knowledge.kit import library

WITHIN = 20.0
TEXT = "Opening a door\n==============\n\nTurn the brass key twice, then push the left wing gently.\n"
PAGE = """<html><head><title>Opening a door</title></head><body><h1>Opening a door</h1>
<p>Turn the brass key twice, then push the left wing gently. It closes by itself.</p></body></html>"""


async def build(folder: Path, store: Path, workers: Workers) -> IndexReport:
    return await index([folder], store, workers, KnowledgeSettings())


def tables(store: Path) -> dict[str, int]:
    with sqlite3.connect(store / FILE) as db:
        names = ("folders", "documents", "passages", "terms")
        counts = {name: db.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in names}
    db.close()
    return counts


async def test_a_folder_is_listed_with_what_was_ignored_and_skipped(tmp_path: Path, workers: Workers) -> None:
    folder, store = library(tmp_path / "library"), tmp_path / "store"
    assert await list_folders(store, workers) == []
    for number in range(5):
        (folder / f"{number}.png").write_bytes(b"x")
    (folder / ".hidden.md").write_text("Hidden.")
    (folder / "empty.md").write_text("")
    report = await build(folder, store, workers)
    (listed,) = await list_folders(store, workers)
    assert (listed.name, listed.path, listed.is_there) == ("library", str(folder), True)
    assert (listed.documents, listed.passages) == (5, report.passages)
    assert listed.record.skipped == (("library/empty.md", "empty"),)
    assert [(kind.kind, kind.count, kind.examples) for kind in listed.record.ignored] == [
        (".png", 5, ("0.png", "1.png", "2.png")),
        ("hidden", 1, (".hidden.md",)),
    ]
    assert listed.record.indexed.startswith("20")
    assert report.kinds == listed.record.ignored


async def test_reports_of_ours_are_no_documents(tmp_path: Path, workers: Workers) -> None:
    folder, store = library(tmp_path / "library"), tmp_path / "store"
    storage = folder / "task-data"
    storage.mkdir()
    (storage / DATABASE).write_bytes(b"")
    (storage / "RS-1.md").write_text("# A report\n\nIts words were read elsewhere.\n")

    await build(folder, store, workers)

    (listed,) = await list_folders(store, workers)
    assert listed.documents == 5
    assert [(kind.kind, kind.examples) for kind in listed.record.ignored] == [("in task-data", ("task-data",))]


@pytest.mark.parametrize("by", ["name", "path"])
async def test_a_removed_folder_leaves_nothing_and_the_others_stay(tmp_path: Path, workers: Workers, by: str) -> None:
    folder, other, store = library(tmp_path / "library"), tmp_path / "other", tmp_path / "store"
    other.mkdir()
    (other / "a.md").write_text("# Badge\n\nA new badge is printed at the front desk within an hour.\n")
    await index([folder, other], store, workers, KnowledgeSettings())
    assert await remove_folder("nowhere", store, workers, KnowledgeSettings()) is None
    named = "library" if by == "name" else str(folder)
    assert await remove_folder(named, store, workers, KnowledgeSettings()) == 5
    assert tables(store) == {"folders": 1, "documents": 1, "passages": 1, "terms": 1}
    found = await KnowledgeIndex(store, workers).search("Where is a new badge printed?", within=WITHIN)
    assert {passage.source for passage in found.passages} == {"other/a.md"}
    assert (await build(folder, store, workers)).read == 5


async def test_nothing_is_removed_where_there_is_no_index(tmp_path: Path, workers: Workers) -> None:
    assert await remove_folder("library", tmp_path / "store", workers, KnowledgeSettings()) is None


@pytest.mark.parametrize("how", ["gone", "empty"])
async def test_a_drive_that_is_not_mounted_costs_no_document(tmp_path: Path, workers: Workers, how: str) -> None:
    folder, store = library(tmp_path / "library"), tmp_path / "store"
    await build(folder, store, workers)
    folder.rename(tmp_path / "elsewhere")
    if how == "empty":
        folder.mkdir()
    report = await build(folder, store, workers)
    assert (report.files, report.removed, report.vanished) == (0, 0, ((str(folder), 5),))
    assert tables(store)["documents"] == 5
    (listed,) = await list_folders(store, workers)
    assert (listed.documents, listed.is_there) == (5, how == "empty")
    assert await remove_folder(str(folder), store, workers, KnowledgeSettings()) == 5


async def test_what_vanished_is_forgotten_and_named(tmp_path: Path, workers: Workers) -> None:
    folder, store = library(tmp_path / "library"), tmp_path / "store"
    await build(folder, store, workers)
    (folder / "printer.txt").unlink()
    report = await build(folder, store, workers)
    assert (report.removed, report.forgotten, report.vanished) == (1, ("library/printer.txt",), ())


async def test_a_text_and_the_page_made_from_it_are_one_document_until_the_page_goes(
    tmp_path: Path, workers: Workers
) -> None:
    folder, store = tmp_path / "library", tmp_path / "store"
    folder.mkdir()
    (folder / "door.txt").write_text(TEXT)
    (folder / "door.html").write_text(PAGE)
    (folder / "other.txt").write_text("Windows\n=======\n\nThey are opened by the handle on their right side.\n")
    (folder / "other.html").write_text(PAGE)
    for _ in range(2):
        report = await build(folder, store, workers)
        assert (report.files, report.twins, report.skipped) == (4, 1, ())
    (folder / "door.html").unlink()
    report = await build(folder, store, workers)
    assert (report.read, report.twins, report.removed) == (1, 0, 1)
    (folder / "door.html").write_text(PAGE)
    assert (await build(folder, store, workers)).twins == 1


async def test_a_folder_called_as_many_are_bears_the_name_of_its_manual(tmp_path: Path, workers: Workers) -> None:
    folder = library(tmp_path / "handbook" / "en-US" / "html")
    await build(folder, tmp_path / "store", workers)
    (listed,) = await list_folders(tmp_path / "store", workers)
    assert listed.name == "handbook/en-US/html"
