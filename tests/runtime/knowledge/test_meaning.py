"""A search joins words and meaning: each finds what the other misses, and words alone are enough to go on."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from actors.evidence.passages import SearchHits
from runtime.knowledge.indexing import index
from runtime.knowledge.knowledge_index import KnowledgeIndex
from runtime.processes.pool import Workers
from runtime.settings import KnowledgeSettings
from tests.runtime.knowledge.meaning_kit import WordEmbedder

WITHIN = 20.0
PAGES = {
    "laptop": "# Loans\n\nEvery colleague may borrow a laptop from the service desk for one week.",
    "broken": "# Damage\n\nWhat is broken goes back to the service desk, with a note of what happened.",
    "car": "# Fleet\n\nThe vehicle is booked one day ahead, and the mileage is written down.",
    "network": "# Network\n\nA network cable goes into the port behind the desk; the port is open after an error.",
    "cable": "# Cables\n\nThe network port of each room has a cable of its own, and an error lamp for the network.",
    "E4711": "# Lamps\n\nWhen the lamp shows E4711, press the green button for ten seconds.",
}


@pytest.fixture
async def store(tmp_path: Path, workers: Workers) -> Path:
    folder, store = tmp_path / "desk", tmp_path / "store"
    folder.mkdir()
    for name, text in PAGES.items():
        (folder / f"{name}.md").write_text(text)
    await index([folder], store, workers, KnowledgeSettings(), embedder=WordEmbedder())
    return store


async def search(
    store: Path, workers: Workers, question: str, embedder: WordEmbedder | None, sources: Sequence[str] | None = None
) -> SearchHits:
    return await KnowledgeIndex(store, workers, embedder=embedder).search(question, within=WITHIN, sources=sources)


def pages(found: SearchHits) -> list[str]:
    return list(dict.fromkeys(Path(passage.source).stem for passage in found.passages))


async def test_what_words_find_is_put_in_order_by_meaning(store: Path, workers: Workers) -> None:
    question = "The network cable of my car is on the service desk."
    assert pages(await search(store, workers, question, None))[0] != "car"
    found = await search(store, workers, "The desk, a week, ahead: my vehicle, the car", WordEmbedder())
    assert pages(found)[0] == "car"
    assert found.incomplete == ()


async def test_the_nearest_passage_is_said_with_its_cosine(store: Path, workers: Workers) -> None:
    near = await search(store, workers, "The vehicle?", WordEmbedder())
    assert near.meaning is not None
    assert near.meaning.best > 0.9
    assert max(score for score in near.meaning.passages if score is not None) == near.meaning.best


async def test_what_is_near_nothing_in_meaning_is_not_found(store: Path, workers: Workers) -> None:
    embedder = WordEmbedder()
    far = await search(store, workers, "The cloud, the cloud, the cloud: one week of it?", embedder)
    assert far.passages == ()
    assert far.abstain == "The documents hold nothing on this."
    assert (await search(store, workers, "The cloud, the cloud, the cloud: one week of it?", None)).passages


async def test_only_the_documents_named_are_searched_by_meaning_too(store: Path, workers: Workers) -> None:
    question = "My laptop is broken: the vehicle, the service desk?"
    found = await search(store, workers, question, WordEmbedder(), ["desk/laptop.md", "desk/car.md"])
    assert pages(found) == ["laptop", "car"]


@pytest.mark.parametrize("how", ["hangs", "fails"])
async def test_without_the_embedder_the_search_goes_on_by_words_and_says_so(
    store: Path, workers: Workers, how: str
) -> None:
    embedder = WordEmbedder()
    embedder.hangs, embedder.fails_after = how == "hangs", 0
    found = await search(store, workers, "What does E4711 on the lamp mean?", embedder)
    assert pages(found)[0] == "E4711"
    assert found.meaning is None
    assert found.words_only == (
        "The sentence model took too long." if how == "hangs" else "The server of vectors is down."
    )
    assert [each.code for each in found.incomplete] == ["no_meaning"]


async def test_vectors_of_another_model_are_not_compared(store: Path, workers: Workers) -> None:
    found = await search(store, workers, "My notebook is kaputt", WordEmbedder("words/2"))
    assert found.meaning is None
    assert [each.code for each in found.incomplete] == ["no_vectors"]


async def test_a_page_without_vectors_is_found_by_its_words_among_those_that_have_some(
    store: Path, workers: Workers, tmp_path: Path
) -> None:
    (tmp_path / "desk" / "late.md").write_text("# Stairs\n\nThe staircase is cleaned on Mondays.")
    await index([tmp_path / "desk"], store, workers, KnowledgeSettings())
    found = await search(store, workers, "When is the staircase cleaned?", WordEmbedder())
    assert pages(found)[0] == "late"
    assert [each.code for each in found.incomplete] == ["no_vectors"], "of one page they are still to be made"


async def test_a_question_in_a_language_that_the_model_does_not_know_goes_by_words(
    store: Path, workers: Workers, tmp_path: Path
) -> None:
    (tmp_path / "desk" / "passwort.md").write_text("# Passwort\n\nDas Passwort wird im Portal neu gesetzt.")
    embedder = WordEmbedder()
    embedder.languages = frozenset({"en"})
    await index([tmp_path / "desk"], store, workers, KnowledgeSettings(), embedder=embedder)
    embedder.texts.clear()

    found = await search(store, workers, "Wie setze ich mein Passwort im Portal zurück?", embedder)

    assert pages(found)[0] == "passwort"
    assert (found.meaning, found.words_only, embedder.texts) == (None, "", [])
    assert (await search(store, workers, "How do I book the car?", embedder)).meaning is not None


async def test_a_page_whose_language_the_model_does_not_know_lacks_nothing(
    store: Path, workers: Workers, tmp_path: Path
) -> None:
    (tmp_path / "desk" / "fuhrpark.md").write_text("# Laptop\n\nDer Laptop wird mit dem Wagen zum Kunden gebracht.")
    embedder = WordEmbedder()
    await index([tmp_path / "desk"], store, workers, KnowledgeSettings(), embedder=embedder)

    found = await search(store, workers, "Where do I borrow a laptop?", embedder)

    assert {"laptop", "fuhrpark"} <= set(pages(found))
    assert found.incomplete == ()


async def test_what_no_word_of_the_question_names_is_found_where_the_model_knows_all_languages(
    store: Path, workers: Workers
) -> None:
    question, embedder = "kaputt", WordEmbedder()
    assert (await search(store, workers, question, embedder)).passages == ()
    embedder.languages = frozenset()
    assert pages(await search(store, workers, question, embedder))[0] == "broken"
    only = await search(store, workers, question, embedder, ["desk/car.md"])
    assert {"car"} >= set(pages(only))
