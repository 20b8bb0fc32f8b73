"""Which provider makes vectors, and what the built-in one does when its file is not as it should be."""

import asyncio
from pathlib import Path

import pytest
from msgspec import structs

from runtime.embeddings import weights
from runtime.embeddings.embedder import BUILTIN_NAME, Embedder, EmbeddingFailed
from runtime.embeddings.model_file import find_model_file, models_folder
from runtime.embeddings.providers import open_embedder
from runtime.engine.node import Node
from runtime.processes.pool import Workers
from runtime.settings import EmbeddingsSettings, Settings, StorageSettings
from tests.patience import HANGS_SECONDS
from tests.runtime.embeddings.kit import cosine, write_published

TEXTS = [f"the printer is {word}" for word in ("jam", "jammed", "print", "a cafe") * 6]


def settings(folder: Path, **others: object) -> Settings:
    return Settings(embeddings=EmbeddingsSettings(**{"folder": str(folder), **others}))  # type: ignore[arg-type]


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    weights.convert(*write_published(tmp_path), find_model_file(settings(tmp_path).embeddings))
    return tmp_path


def open_one(settings: Settings, workers: Workers) -> Embedder:
    embedder = open_embedder(settings, workers)
    assert embedder is not None
    return embedder


def test_models_are_kept_in_the_cache_of_the_user_unless_a_folder_is_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert models_folder(EmbeddingsSettings()) == tmp_path / "cache" / "terminus" / "models"
    for unusable in ("", "relative"):
        monkeypatch.setenv("XDG_CACHE_HOME", unusable)
        assert models_folder(EmbeddingsSettings()) == tmp_path / ".cache" / "terminus" / "models"
    assert models_folder(EmbeddingsSettings(folder=str(tmp_path))) == tmp_path


def test_a_user_without_a_home_has_the_cache_of_the_system(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(number: int) -> None:
        raise KeyError(number)

    monkeypatch.delenv("HOME")
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr("pwd.getpwuid", fail)

    assert models_folder(EmbeddingsSettings()) == Path("/var/cache/terminus/models")


async def test_without_the_models_file_or_when_it_is_not_wanted_nothing_makes_vectors(
    tmp_path: Path, installed: Path, workers: Workers
) -> None:
    assert open_embedder(settings(tmp_path / "empty"), workers) is None
    assert open_embedder(settings(tmp_path / "empty", provider="builtin"), workers) is None
    assert open_embedder(settings(installed, provider="none"), workers) is None
    assert open_one(settings(installed), workers).name == BUILTIN_NAME


async def test_a_node_has_one_for_all_who_need_vectors(installed: Path, tmp_path: Path) -> None:
    own = structs.replace(settings(installed), storage=StorageSettings(folder=str(tmp_path / "data")))
    async with Node.open(own) as node:
        assert node.embedder is not None
        assert len(await node.embedder.embed(["jam"], kind="query", within=HANGS_SECONDS)) == 1

    with pytest.raises(EmbeddingFailed):  # its processes are gone
        await node.embedder.embed(["jam"], kind="query", within=HANGS_SECONDS)


async def test_texts_of_many_batches_come_back_in_their_order(installed: Path, workers: Workers) -> None:
    embedder = open_one(settings(installed), workers)

    together = await embedder.embed(TEXTS, kind="passage", within=HANGS_SECONDS)

    assert len(together) == len(TEXTS)
    for text, vector in zip(TEXTS[:4], together, strict=False):
        [alone] = await embedder.embed([text], kind="query", within=HANGS_SECONDS)
        assert cosine(alone, vector) > 0.999
    assert cosine(together[0], together[3]) < 0.999
    assert await embedder.embed([], kind="query", within=HANGS_SECONDS) == []


async def test_a_text_may_be_anything(installed: Path, workers: Workers) -> None:
    embedder = open_one(settings(installed), workers)

    vectors = await embedder.embed(["", "\ud800 jam", "x" * 10_000_000, " "], kind="passage", within=HANGS_SECONDS)

    assert {len(vector) for vector in vectors} == {64}


async def test_prefixes_are_put_before_texts_and_that_of_passages_makes_another_name(
    installed: Path, workers: Workers
) -> None:
    plain = open_one(settings(installed), workers)
    embedder = open_one(settings(installed, query_prefix="jam ", passage_prefix="the "), workers)

    [query] = await embedder.embed(["printer"], kind="query", within=HANGS_SECONDS)
    [passage] = await embedder.embed(["printer"], kind="passage", within=HANGS_SECONDS)

    assert [query, passage] == await plain.embed(["jam printer", "the printer"], kind="query", within=HANGS_SECONDS)
    assert embedder.name != plain.name


async def test_a_damaged_file_fails_with_what_to_do(installed: Path, workers: Workers) -> None:
    file = find_model_file(settings(installed).embeddings)
    embedder = open_one(settings(installed), workers)
    file.write_bytes(file.read_bytes()[:-1])

    with pytest.raises(EmbeddingFailed, match=r"not whole.*model install"):
        await embedder.embed(["jam"], kind="query", within=HANGS_SECONDS)

    file.unlink()
    with pytest.raises(EmbeddingFailed, match="model install"):
        await embedder.embed(["jam"], kind="query", within=HANGS_SECONDS)


async def test_what_takes_too_long_fails_in_its_time_and_the_next_call_is_served(
    installed: Path, workers: Workers
) -> None:
    embedder = open_one(settings(installed), workers)

    with pytest.raises(EmbeddingFailed, match="too long"):
        await embedder.embed(TEXTS, kind="passage", within=0.001)

    assert len(await embedder.embed(TEXTS, kind="passage", within=HANGS_SECONDS)) == len(TEXTS)


async def test_who_is_cancelled_stops_at_once(installed: Path, workers: Workers) -> None:
    embedder = open_one(settings(installed), workers)
    asked = asyncio.create_task(embedder.embed(TEXTS * 200, kind="passage", within=HANGS_SECONDS))
    await embedder.embed(["jam"], kind="query", within=HANGS_SECONDS)
    asked.cancel()

    with pytest.raises(asyncio.CancelledError):
        await asked
