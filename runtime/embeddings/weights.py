"""The built-in model's file: the published weights as int8, made on the user's machine, checked whenever it is read."""

import functools
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from runtime.embeddings import sentence_model as safetensors
from runtime.embeddings.sentence_model import MOST_TOKENS, SentenceModel, pack
from runtime.processes import array_file

MARK = array_file.Mark(b"terminus-meaning", 1)
_LEFT_OUT = ("pooler.", "embeddings.position_ids")
"""What a sentence's vector is not made from."""
_TOP = np.float32(127)


class _Header(msgspec.Struct, frozen=True):
    vocabulary: list[str]


def convert(published: Path, vocabulary: Path, to: Path) -> None:
    """
    Make the model's file: it is there whole, or not at all.

    :param published: the weights, a file of safetensors.
    :param vocabulary: a piece on each line.
    :raises safetensors.NotReadable: these are no weights.
    :raises OSError: a file cannot be read or written.
    """
    arrays: dict[str, NDArray[Any]] = {}
    for name, array in safetensors.read(published).items():
        if not name.startswith(_LEFT_OUT):
            arrays.update(_shrink(name, array[:MOST_TOKENS] if "position" in name else array))
    pieces = vocabulary.read_text(encoding="utf-8").removesuffix("\n").split("\n")
    array_file.write(to, MARK, msgspec.msgpack.encode(_Header(pieces)), arrays, rights=0o644)


def _shrink(name: str, array: NDArray[Any]) -> dict[str, NDArray[Any]]:
    """A matrix as int8 with a scale for each row, which loses next to nothing; the few other numbers as they are."""
    if array.ndim < 2 or len(array) <= 2:
        return {name: array}
    scales = np.abs(array).max(1) / _TOP
    scales[scales == 0] = 1
    return {name: np.rint(array / scales[:, None]).astype(np.int8), f"{name}/scale": scales.astype(np.float32)}


def read(path: Path) -> SentenceModel:
    """
    The model, ready to encode.

    :raises array_file.Damaged: the file is not whole, or of another version.
    :raises FileNotFoundError: there is none.
    """
    packed, arrays = array_file.read(path, MARK)
    try:
        return SentenceModel(msgspec.msgpack.decode(packed, type=_Header).vocabulary, arrays)
    except (msgspec.MsgspecError, KeyError, ValueError) as error:
        raise array_file.Damaged(f"the file is not the sentence model's: {error}") from error


def embed(path: str, _kind: str, texts: list[str]) -> list[bytes]:
    """
    A vector for each text, whatever its kind. For a worker process, which keeps the model open from call to call.

    :raises array_file.Damaged: the model's file cannot be used.
    :raises FileNotFoundError: there is none.
    """
    return pack(_load(path).encode(texts))


@functools.lru_cache(maxsize=1)
def _load(path: str) -> SentenceModel:
    return read(Path(path))
