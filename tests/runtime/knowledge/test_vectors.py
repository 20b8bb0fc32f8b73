"""Vectors beside the index: only what is new is made, what was made is kept, and without them all goes on."""

import asyncio
import contextlib
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from runtime.embeddings.embedder import Kind
from runtime.knowledge import FILE
from runtime.knowledge.index import MeaningState
from runtime.knowledge.indexing import IndexBusy, IndexProgress, IndexReport, index, make_vectors, measure_meaning
from runtime.knowledge.knowledge_index import KnowledgeIndex
from runtime.processes.pool import Workers
from runtime.settings import KnowledgeSettings
from tests.runtime.knowledge.kit import VPN, library
from tests.runtime.knowledge.meaning_kit import WIDTH, WordEmbedder

WITHIN = 20.0


async def build(
    folder: Path, store: Path, workers: Workers, embedder: WordEmbedder | None, seen: list[IndexProgress] | None = None
) -> IndexReport:
    show = (lambda _: None) if seen is None else seen.append
    return await index([folder], store, workers, KnowledgeSettings(), show, embedder)


def vectors(store: Path) -> list[bytes]:
    with sqlite3.connect(store / FILE) as db:
        found = [row[0] for row in db.execute("SELECT vector FROM vectors")]
    db.close()
    return found


async def test_every_passage_gets_one_and_what_is_unchanged_keeps_it(tmp_path: Path, workers: Workers) -> None:
    folder, store, embedder = library(tmp_path / "library"), tmp_path / "store", WordEmbedder()
    first = await build(folder, store, workers, embedder)
    assert first.vectors == first.passages == len(embedder.texts) > 5
    assert {len(vector) for vector in vectors(store)} == {WIDTH}
    assert any(text.startswith("VPN handbook > Renew the session\nThe session key") for text in embedder.texts)

    embedder.texts.clear()
    (folder / "vpn.md").write_text(VPN.replace("60 minutes", "90 minutes"))
    (folder / "copy.md").write_text(VPN.replace("60 minutes", "90 minutes"))
    again = await build(folder, store, workers, embedder)
    assert len(embedder.texts) == again.vectors == 1  # one section changed, and its copy is the same text
    assert "90 minutes" in embedder.texts[0]


async def test_vectors_of_a_vanished_document_go_with_it(tmp_path: Path, workers: Workers) -> None:
    folder, store = library(tmp_path / "library"), tmp_path / "store"
    before = (await build(folder, store, workers, WordEmbedder())).vectors
    (folder / "printer.txt").unlink()
    await build(folder, store, workers, WordEmbedder())
    assert 0 < len(vectors(store)) < before


async def test_another_model_makes_all_anew_and_the_progress_says_so(tmp_path: Path, workers: Workers) -> None:
    folder, store = library(tmp_path / "library"), tmp_path / "store"
    first = await build(folder, store, workers, WordEmbedder())
    seen: list[IndexProgress] = []
    other = await build(folder, store, workers, WordEmbedder("words/2"), seen)
    assert (other.read, other.vectors) == (0, first.vectors)
    meaning = [each for each in seen if each.phase == "meaning"]
    assert (meaning[0].done, meaning[-1].done, meaning[-1].total) == (0, other.vectors, other.vectors)
    assert {each.current for each in meaning} == {"the meaning of passages, with another model"}


async def test_a_folder_without_vectors_gets_them_when_it_is_indexed_again(tmp_path: Path, workers: Workers) -> None:
    folder, store = library(tmp_path / "library"), tmp_path / "store"
    without = await build(folder, store, workers, None)
    assert (without.vectors, without.words_only, vectors(store)) == (0, "", [])
    found = await KnowledgeIndex(store, workers, embedder=WordEmbedder()).search(
        "When does the VPN session key expire?", within=WITHIN
    )
    assert "60 minutes" in found.passages[0].text
    assert found.meaning is None
    assert (await build(folder, store, workers, WordEmbedder())).vectors == without.passages


async def test_what_a_failing_model_has_made_is_kept_and_the_next_index_goes_on(
    tmp_path: Path, workers: Workers
) -> None:
    folder, store = tmp_path / "many", tmp_path / "store"
    folder.mkdir()
    for number in range(300):
        (folder / f"{number}.md").write_text(
            f"# Room {number}\n\nThe room with the number {number} has {number} seats."
        )
    failing = WordEmbedder()
    failing.fails_after = 200
    first = await build(folder, store, workers, failing)
    assert first.words_only == "The server of vectors is down."
    assert first.without_vectors + first.vectors == first.passages == 300
    assert first.vectors == len(vectors(store)) > 0

    second = await build(folder, store, workers, WordEmbedder())
    assert (second.read, second.vectors, second.without_vectors) == (0, first.without_vectors, 0)


async def test_texts_in_a_language_that_the_model_does_not_know_are_left_to_their_words(
    tmp_path: Path, workers: Workers
) -> None:
    folder, store, embedder = library(tmp_path / "library"), tmp_path / "store", WordEmbedder()
    embedder.languages = frozenset({"en"})

    first = await build(folder, store, workers, embedder)
    asked = list(embedder.texts)
    again = await build(folder, store, workers, embedder)

    assert 0 < first.vectors == len(asked) < first.passages
    assert not any("\u3400" < letter < "\ud7a3" for text in asked for letter in text)
    assert (again.vectors, len(embedder.texts), again.without_vectors) == (0, len(asked), 0)


class Watched(WordEmbedder):
    """Something happens before each few texts."""

    def __init__(self, happens: Callable[[], None] = lambda: None, name: str = "words/1") -> None:
        super().__init__(name)
        self.happens = happens
        self.asked, self.free = asyncio.Event(), asyncio.Event()
        self.free.set()

    async def embed(self, texts: Sequence[str], *, kind: Kind, within: float) -> list[bytes]:
        self.happens()
        self.asked.set()
        await asyncio.sleep(0)  # who is cancelled hears of it here
        await self.free.wait()
        return await super().embed(texts, kind=kind, within=within)


async def test_words_are_searched_and_folders_read_while_vectors_are_made(tmp_path: Path, workers: Workers) -> None:
    store, other, embedder = tmp_path / "store", tmp_path / "other", Watched()
    embedder.free.clear()
    other.mkdir()
    (other / "badge.md").write_text("# Badge\n\nA new badge is printed at the front desk within an hour.\n")
    making = asyncio.create_task(build(library(tmp_path / "library"), store, workers, embedder))
    await embedder.asked.wait()

    await index([other], store, workers, KnowledgeSettings(wait_seconds=0.0))
    found = await KnowledgeIndex(store, workers).search("Where is a new badge printed?", within=WITHIN)
    with pytest.raises(IndexBusy):
        await make_vectors(store, workers, WordEmbedder(), within=0.0)
    before = await measure_meaning(store, workers, embedder)
    embedder.free.set()
    report = await making

    assert found.passages[0].source == "other/badge.md"
    assert before == MeaningState(report.passages + 1, 0)
    assert report.vectors == report.passages + 1, "of what was read meanwhile, too"
    assert await measure_meaning(store, workers, embedder) == MeaningState(report.vectors, report.vectors)
    assert await measure_meaning(store, workers, WordEmbedder("words/2")) == MeaningState(report.vectors, 0)


async def test_two_that_make_vectors_make_none_twice(tmp_path: Path, workers: Workers) -> None:
    folder, store, seen = library(tmp_path / "library"), tmp_path / "store", list[IndexProgress]()
    texts = (await build(folder, store, workers, None)).passages
    one, other = Watched(), Watched()
    one.free.clear()
    making = asyncio.create_task(make_vectors(store, workers, one))
    await one.asked.wait()
    waiting = asyncio.create_task(make_vectors(store, workers, other, seen.append))
    while not seen:  # noqa: ASYNC110 - it is told by a call
        await asyncio.sleep(0)
    one.free.set()

    assert (await making, await waiting) == ((texts, 0, ""), (0, 0, ""))
    assert (seen[0].waiting, other.texts) == (True, [])


async def test_one_that_was_stopped_keeps_what_it_made_and_the_next_goes_on(tmp_path: Path, workers: Workers) -> None:
    folder, store = library(tmp_path / "library"), tmp_path / "store"
    texts = (await build(folder, store, workers, None)).passages
    stopped = Watched()
    making = asyncio.create_task(make_vectors(store, workers, stopped, at_once=2))

    def stop() -> None:
        if len(stopped.texts) == 4:
            making.cancel()

    stopped.happens = stop
    with contextlib.suppress(asyncio.CancelledError):
        await making

    assert len(vectors(store)) == 4
    assert (await make_vectors(store, workers, WordEmbedder())).made == texts - 4


async def test_an_index_that_is_deleted_meanwhile_is_not_made_again(tmp_path: Path, workers: Workers) -> None:
    folder, store = library(tmp_path / "library"), tmp_path / "store"
    await build(folder, store, workers, None)

    def delete() -> None:
        for each in store.glob(f"{FILE}*"):
            each.unlink()

    made = await make_vectors(store, workers, Watched(delete), at_once=2)

    assert (made.made, made.failure) == (0, "Another process makes vectors with another model, or the index is gone.")
    assert not (store / FILE).exists()
    assert (await make_vectors(store, workers, WordEmbedder())) == (0, 0, "")
    assert not (store / FILE).exists()


async def test_vectors_of_two_models_are_never_mixed(tmp_path: Path, workers: Workers) -> None:
    folder, store = library(tmp_path / "library"), tmp_path / "store"
    await build(folder, store, workers, None)

    def take_over() -> None:
        with sqlite3.connect(store / FILE) as db:
            db.execute("UPDATE vector_model SET name = 'words/2'")
        db.close()

    made = await make_vectors(store, workers, Watched(take_over), at_once=2)

    assert (made.made, vectors(store)) == (0, [])
    assert made.failure.startswith("Another process makes vectors with another model")
    assert await make_vectors(store, workers, WordEmbedder(), anew=False) == (0, 0, "")
    assert (await make_vectors(store, workers, WordEmbedder(), anew=True)).made > 5
