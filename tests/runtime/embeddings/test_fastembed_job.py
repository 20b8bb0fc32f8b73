"""The library runs in a worker process, where it is installed; a small one that answers like it stands in for it."""

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from runtime.embeddings import fastembed_job
from runtime.embeddings.embedder import FASTEMBED_MODEL, EmbeddingFailed, open_embedder
from runtime.embeddings.fastembed_job import NotUsable
from runtime.embeddings.model_file import find_note
from runtime.processes.pool import Workers
from runtime.settings import EmbeddingsSettings, Settings
from tests.patience import HANGS_SECONDS

LIBRARY = """
from pathlib import Path
import numpy as np

class TextEmbedding:
    def __init__(self, model_name, cache_dir, threads, local_files_only):
        self.file = Path(cache_dir, model_name.replace("/", "--"))
        if not self.file.exists():
            if local_files_only:
                raise ValueError(f"Could not load model {model_name} from any source.")
            self.file.parent.mkdir(parents=True, exist_ok=True)
            self.file.write_text("weights")

    def embed(self, documents):
        for document in documents:
            yield np.array([3.0, 4.0, float(document == "a")], np.float32)
"""


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where this process and its workers look for libraries first."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.setenv("PYTHONPATH", str(folder))
    monkeypatch.syspath_prepend(folder)
    fastembed_job._load.cache_clear()
    yield folder
    for name in ("fastembed", "loguru"):
        sys.modules.pop(name, None)


@pytest.fixture
def library(site: Path, tmp_path: Path) -> Path:
    """Where the library keeps its models; it is installed for this test."""
    (site / "fastembed.py").write_text(LIBRARY, encoding="utf-8")
    (site / "loguru.py").write_text("class logger:\n    disable = print\n", encoding="utf-8")
    return tmp_path / "models"


def settings(folder: Path, model: str = "") -> Settings:
    return Settings(embeddings=EmbeddingsSettings(provider="fastembed", model=model, folder=str(folder)))


async def test_its_vectors_are_made_in_a_worker_process(library: Path, workers: Workers) -> None:
    fastembed_job.download(FASTEMBED_MODEL, str(library))
    embedder = open_embedder(settings(library), workers)
    assert embedder is not None

    vectors = await embedder.embed(["b", "a"], kind="query", within=HANGS_SECONDS)

    assert np.frombuffer(vectors[0], np.int8).tolist() == [76, 102, 0]
    assert embedder.name == f"fastembed/{FASTEMBED_MODEL}"


async def test_a_ticket_never_waits_for_a_download(library: Path, workers: Workers) -> None:
    embedder = open_embedder(settings(library, "some/model"), workers)
    assert embedder is not None

    with pytest.raises(EmbeddingFailed, match=r"some/model is not in .*model install"):
        await embedder.embed(["a"], kind="query", within=HANGS_SECONDS)


async def test_a_model_that_vanished_is_not_downloaded_by_a_ticket_either(library: Path, workers: Workers) -> None:
    fastembed_job.download("some/model", str(library))
    (library / "some--model").unlink()
    embedder = open_embedder(settings(library, "some/model"), workers)
    assert embedder is not None

    with pytest.raises(EmbeddingFailed, match=r"fastembed cannot load some/model: Could not load.*model install"):
        await embedder.embed(["a"], kind="query", within=HANGS_SECONDS)
    assert not (library / "some--model").exists()


async def test_where_it_is_not_installed_it_says_how_to(site: Path, tmp_path: Path, workers: Workers) -> None:
    (site / "fastembed.py").write_text("raise ImportError('as if it were not there')", encoding="utf-8")
    find_note(FASTEMBED_MODEL, tmp_path).touch()
    embedder = open_embedder(settings(tmp_path), workers)
    assert embedder is not None

    with pytest.raises(EmbeddingFailed, match=r"fastembed is not installed.*pip install -e '\.\[fastembed\]'"):
        await embedder.embed(["a"], kind="query", within=HANGS_SECONDS)
    with pytest.raises(NotUsable, match="not installed"):
        fastembed_job.download("some/model", str(tmp_path))
