"""The end of `fastembed` in a worker process: other models than the built-in one, many languages among them."""

import functools
from pathlib import Path
from typing import Any

import numpy as np

from runtime.embeddings import vectors
from runtime.embeddings.model_file import find_note

THREADS = 1
"""Worker processes run side by side."""


class NotUsable(Exception):
    """It is not installed, or the model is not there; the text says which."""


def embed(model: str, folder: str, texts: list[str]) -> list[bytes]:
    """
    A vector for each text. Nothing is downloaded: a ticket that waits for gigabytes has no answer.

    :raises NotUsable: it is not installed, or the model is not.
    """
    return vectors.pack(np.stack(list(_load(model, folder).embed(texts))))


def download(model: str, folder: str) -> None:
    """
    Have the library take a model into a folder, from where it is published.

    :raises NotUsable: it could not.
    """
    _open(model, folder, local_files_only=False)
    try:
        find_note(model, Path(folder)).touch()
    except OSError as error:
        raise NotUsable(f"{error.filename} cannot be written ({error.strerror})") from error


@functools.lru_cache(maxsize=1)
def _load(model: str, folder: str) -> Any:
    if not find_note(model, Path(folder)).is_file():
        raise NotUsable(f"{model} is not in {folder}")
    return _open(model, folder, local_files_only=True)


def _open(model: str, folder: str, *, local_files_only: bool) -> Any:
    try:
        from fastembed import TextEmbedding
        from loguru import logger
    except ImportError:
        raise NotUsable("fastembed is not installed") from None
    logger.disable("fastembed")  # what goes wrong is raised, too
    try:
        return TextEmbedding(model, cache_dir=folder, threads=THREADS, local_files_only=local_files_only)
    except Exception as error:  # whatever its library finds wrong
        raise NotUsable(f"fastembed cannot load {model}: {error}") from error
