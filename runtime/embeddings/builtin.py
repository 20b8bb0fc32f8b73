"""The built-in model's end in a worker process, which keeps the model open from call to call."""

import functools
from pathlib import Path

from runtime.embeddings import vectors, weights
from runtime.embeddings.sentence_model import SentenceModel


def embed(path: str, texts: list[str]) -> list[bytes]:
    """
    A vector for each text.

    :raises array_file.Damaged: the model's file cannot be used.
    :raises FileNotFoundError: there is none.
    """
    return vectors.pack(_load(path).encode(texts))


@functools.lru_cache(maxsize=1)
def _load(path: str) -> SentenceModel:
    return weights.read(Path(path))
