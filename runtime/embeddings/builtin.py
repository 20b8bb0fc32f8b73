"""The built-in model's end in a worker process, which keeps the model open from call to call."""

import functools
from pathlib import Path

import numpy as np

from runtime.embeddings import weights
from runtime.embeddings.sentence_model import SentenceModel


def embed(path: str, texts: list[str]) -> list[bytes]:
    """
    A vector for each text: 127 times a unit vector, as int8.

    :raises array_file.Damaged: the model's file cannot be used.
    :raises FileNotFoundError: there is none.
    """
    units = _load(path).encode(texts)
    return [row.tobytes() for row in np.rint(units * 127).astype(np.int8)]


@functools.lru_cache(maxsize=1)
def _load(path: str) -> SentenceModel:
    return weights.read(Path(path))
