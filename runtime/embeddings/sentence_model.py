"""
A sentence model of BERT's kind (MiniLM) in plain numpy: texts in, unit vectors out. It runs in worker processes only.

Texts are worked on in groups without padding: the linear layers see the tokens of a whole group as rows of one matrix,
and only attention looks at each text alone. A vector therefore does not depend on what else is in its group.
"""

import functools
import itertools
import struct
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

_LENGTH = struct.Struct("<Q")
_TABLE_BYTES = 1 << 20
KINDS: dict[str, np.dtype[Any]] = {"F32": np.dtype("<f4"), "F16": np.dtype("<f2"), "I64": np.dtype("<i8")}


class NotReadable(Exception):
    """The file is no safetensors file that can be read here; the text says why."""


class _Place(msgspec.Struct, frozen=True):
    dtype: str
    shape: list[int]
    data_offsets: tuple[int, int]


def read(path: Path) -> dict[str, NDArray[Any]]:
    """
    The arrays by their names, mapped, not loaded.

    :raises NotReadable: it is damaged, or holds a kind of number that nobody here needs.
    """
    with path.open("rb") as file:
        head = file.read(_LENGTH.size)
        length = int(_LENGTH.unpack(head)[0]) if len(head) == _LENGTH.size else 0
        if not 0 < length <= _TABLE_BYTES:
            raise NotReadable("its table is missing or too long")
        packed = file.read(length)
        if len(packed) < length:
            raise NotReadable("its table is cut off")
    try:
        table = msgspec.json.decode(packed, type=dict[str, msgspec.Raw])
        places = {name: msgspec.json.decode(raw, type=_Place) for name, raw in table.items() if name != "__metadata__"}
    except msgspec.MsgspecError as error:
        raise NotReadable(f"its table cannot be read: {error}") from None
    start = _LENGTH.size + length
    size = path.stat().st_size - start
    body: NDArray[np.uint8] = np.memmap(path, np.uint8, "r", start, (size,)) if size > 0 else np.empty(0, np.uint8)
    return {name: _array(name, body, place) for name, place in places.items()}


def _array(name: str, body: NDArray[np.uint8], place: _Place) -> NDArray[Any]:
    kind, (begin, end) = KINDS.get(place.dtype), place.data_offsets
    if kind is None:
        raise NotReadable(f"{name} holds numbers of the kind {place.dtype}")
    count = 1
    for each in place.shape:
        count *= each
    if min(place.shape, default=0) < 0 or not 0 <= begin <= end <= len(body) or end - begin != count * kind.itemsize:
        raise NotReadable(f"{name} does not stand where the table says")
    return body[begin:end].copy().view(kind).reshape(place.shape)


UNKNOWN, BEGIN, END = "[UNK]", "[CLS]", "[SEP]"
CONTINUED = "##"
"""Before a piece that does not begin its word."""
WORD_CHARACTERS = 100
"""A longer word is unknown, as it was when the model was trained."""
KEPT_WORDS = 50_000
IDEOGRAPHS = (
    range(0x3400, 0x4DC0), range(0x4E00, 0xA000), range(0xF900, 0xFB00), range(0x20000, 0x2A6E0),
    range(0x2A700, 0x2CEB0), range(0x2F800, 0x2FA20),
)  # fmt: skip


class _Characters(dict[int, str]):
    """What becomes of each character, for `str.translate`; found when it is first met."""

    def __missing__(self, code: int) -> str:
        self[code] = folded = _fold(chr(code))
        return folded


def _fold(character: str) -> str:
    """Lower case, or nothing for accents and control characters; what is a word by itself gets spaces around it."""
    kind = unicodedata.category(character)
    if (character.isspace() and kind != "Cc") or character in "\t\n\r":
        return " "
    if kind == "Mn" or kind[0] == "C" or character == "\ufffd":
        return ""
    code = ord(character)
    symbol = kind[0] == "S" and code < 128  # ASCII's symbols count as punctuation
    if kind[0] == "P" or symbol or any(code in block for block in IDEOGRAPHS):
        return f" {character} "
    return character.lower()


class WordPiece:
    """A vocabulary, and how texts are taken apart by it."""

    def __init__(self, vocabulary: Sequence[str]) -> None:
        """:param vocabulary: the pieces in the order of their numbers."""
        self._numbers = {piece: number for number, piece in enumerate(vocabulary)}
        self._longest = max(map(len, vocabulary))
        self._characters = _Characters()
        self._begin, self._end, self._unknown = (self._numbers[each] for each in (BEGIN, END, UNKNOWN))
        self._pieces = functools.lru_cache(KEPT_WORDS)(self._split)

    def encode(self, text: str, most: int) -> list[int]:
        """The numbers of a text's first pieces between those of begin and end, at most `most` in all."""
        words = unicodedata.normalize("NFD", text).translate(self._characters).split()
        pieces = itertools.chain.from_iterable(map(self._pieces, words))
        return [self._begin, *itertools.islice(pieces, most - 2), self._end]

    def _split(self, word: str) -> tuple[int, ...]:
        """The longest pieces that there are, from the left; a word with a part that is none is unknown as a whole."""
        numbers = tuple(self._take(word)) if len(word) <= WORD_CHARACTERS else (self._unknown,)
        return (self._unknown,) if self._unknown in numbers else numbers

    def _take(self, word: str) -> Iterator[int]:
        start = 0
        while start < len(word):
            before = CONTINUED if start else ""
            for end in range(min(len(word), start + self._longest), start, -1):
                if (number := self._numbers.get(before + word[start:end])) is not None:
                    yield number
                    start = end
                    break
            else:
                yield self._unknown
                return


Floats = NDArray[np.float32]
Spans = list[slice]
"""Where each text of a group stands among the rows."""

MOST_TOKENS = 128
"""Of a text; more were measured to find no better."""
GROUP_TOKENS = 512
"""Rows of one group: the matrices of a layer stay in the processor's cache."""
SLAB = 4096
"""Vectors that are widened at once: the copy stays in the processor's cache."""
GELU_ROWS = 32
HEAD_WIDTH = 32
TINY = np.float32(1e-12)


class Linear(NamedTuple):
    """A layer `x @ weights + bias`; weights are (in, out)."""

    weights: Floats
    bias: Floats

    def apply(self, rows: Floats) -> Floats:
        result: Floats = rows @ self.weights
        result += self.bias
        return result


class Norm(NamedTuple):
    """Layer normalisation, in place."""

    weight: Floats
    bias: Floats

    def apply(self, rows: Floats) -> Floats:
        rows -= rows.mean(1, keepdims=True)
        variance = np.einsum("ij,ij->i", rows, rows)[:, None] / np.float32(rows.shape[1])
        rows *= self.weight / np.sqrt(variance + TINY)
        rows += self.bias
        return rows


class Layer(NamedTuple):
    """One layer of the encoder."""

    query_key_value: Linear
    attention: Linear
    attention_norm: Norm
    widen: Linear
    narrow: Linear
    norm: Norm

    def apply(self, rows: Floats, spans: Spans) -> Floats:
        projected = self.query_key_value.apply(rows)
        seen = np.concatenate([_attend(projected[span]) for span in spans])
        rows = self.attention_norm.apply(self.attention.apply(seen) + rows)
        return self.norm.apply(self.narrow.apply(_double_gelu(self.widen.apply(rows))) + rows)


class SentenceModel:
    """The model in memory; `weights.py` reads it."""

    def __init__(self, vocabulary: Sequence[str], arrays: Mapping[str, NDArray[Any]]) -> None:
        """
        :param arrays: by the names of the publication; of an int8 matrix, `NAME/scale` has the scale of each row.
        :raises KeyError: one is missing.
        """
        self._pieces = WordPiece(vocabulary)
        self._words = arrays["embeddings.word_embeddings.weight"]
        self._scales = arrays["embeddings.word_embeddings.weight/scale"].astype(np.float32)[:, None]
        kind = widen(arrays, "embeddings.token_type_embeddings.weight")[0]
        self._places = widen(arrays, "embeddings.position_embeddings.weight")[:MOST_TOKENS] + kind
        self._norm = _norm(arrays, "embeddings.LayerNorm")
        self._layers = [_layer(arrays, f"encoder.layer.{n}") for n in range(_count_layers(arrays))]

    def encode(self, texts: Sequence[str]) -> Floats:
        """A unit vector for each text, as (texts, width)."""
        tokens = [self._pieces.encode(text, MOST_TOKENS) for text in texts]
        return np.concatenate([self._encode(group) for group in _group(tokens)])

    def _encode(self, group: list[list[int]]) -> Floats:
        ends = np.cumsum([len(each) for each in group])
        spans = [slice(end - len(each), end) for each, end in zip(group, ends.tolist(), strict=True)]
        numbers = np.concatenate(group)
        rows: Floats = self._words[numbers] * self._scales[numbers]
        for span in spans:
            rows[span] += self._places[: span.stop - span.start]
        rows = self._norm.apply(rows)
        for layer in self._layers:
            rows = layer.apply(rows, spans)
        means = np.stack([rows[span].mean(0) for span in spans])
        unit: Floats = means / np.linalg.norm(means, axis=1, keepdims=True)
        return unit


def widen(arrays: Mapping[str, NDArray[Any]], name: str) -> Floats:
    """An array as it was published, whatever it is stored as."""
    array = arrays[name].astype(np.float32)
    if (scales := arrays.get(f"{name}/scale")) is not None:
        array *= scales.astype(np.float32)[:, None]
    return array


def _count_layers(arrays: Mapping[str, NDArray[Any]]) -> int:
    return len([name for name in arrays if name.endswith(".attention.output.dense.bias")])


def _norm(arrays: Mapping[str, NDArray[Any]], name: str) -> Norm:
    return Norm(widen(arrays, f"{name}.weight"), widen(arrays, f"{name}.bias"))


def _linear(arrays: Mapping[str, NDArray[Any]], *names: str) -> Linear:
    """Layers beside each other as one; published weights are (out, in)."""
    weights = np.concatenate([widen(arrays, f"{name}.weight") for name in names])
    return Linear(np.ascontiguousarray(weights.T), np.concatenate([widen(arrays, f"{name}.bias") for name in names]))


def _layer(arrays: Mapping[str, NDArray[Any]], name: str) -> Layer:
    """What can be multiplied once, here, is not multiplied with every token."""
    own = f"{name}.attention.self"
    query_key_value = _linear(arrays, f"{own}.query", f"{own}.key", f"{own}.value")
    width = len(query_key_value.bias) // 3
    query_key_value.weights[:, :width] *= HEAD_WIDTH**-0.5
    query_key_value.bias[:width] *= HEAD_WIDTH**-0.5
    narrow = _linear(arrays, f"{name}.output.dense")
    narrow.weights[:] *= 0.5  # it comes after twice GELU
    return Layer(
        query_key_value=query_key_value,
        attention=_linear(arrays, f"{name}.attention.output.dense"),
        attention_norm=_norm(arrays, f"{name}.attention.output.LayerNorm"),
        widen=_linear(arrays, f"{name}.intermediate.dense"),
        narrow=narrow,
        norm=_norm(arrays, f"{name}.output.LayerNorm"),
    )


def _group(tokens: list[list[int]]) -> Iterator[list[list[int]]]:
    """Neighbours, as many as fit into a group."""
    group: list[list[int]] = []
    size = 0
    for each in tokens:
        if group and size + len(each) > GROUP_TOKENS:
            yield group
            group, size = [], 0
        group.append(each)
        size += len(each)
    yield group


def _attend(projected: Floats) -> Floats:
    """Attention within one text, all heads at once: (tokens, 3 x width) in, (tokens, width) out."""
    length, width = len(projected), projected.shape[1] // 3
    query, key, value = projected.reshape(length, 3, -1, HEAD_WIDTH).transpose(1, 2, 0, 3)
    heat: Floats = query @ key.transpose(0, 2, 1)
    heat -= heat.max(2, keepdims=True)
    np.exp(heat, out=heat)
    seen: Floats = heat @ value
    seen /= heat.sum(2, keepdims=True)
    return seen.transpose(1, 0, 2).reshape(length, width)


def _double_gelu(rows: Floats) -> Floats:
    """Twice GELU by its approximation with tanh, in place, a few rows at a time: so they stay in the cache."""
    for start in range(0, len(rows), GELU_ROWS):
        part = rows[start : start + GELU_ROWS]
        inner = part * part
        inner *= np.float32(0.044715 * (2 / np.pi) ** 0.5)
        inner += np.float32((2 / np.pi) ** 0.5)
        inner *= part
        np.tanh(inner, out=inner)
        inner += np.float32(1)
        part *= inner
    return rows


def pack(rows: NDArray[Any]) -> list[bytes]:
    """Each row, (rows, width) of floats, as 127 times its unit vector in int8; a row of zeros stays one."""
    rows = rows.astype(np.float32)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    lengths[lengths == 0] = 1
    return [row.tobytes() for row in np.rint(rows * (127 / lengths)).astype(np.int8)]


def multiply(rows: NDArray[np.int8], vector: bytes) -> Floats:
    """The dot product of each of the packed rows, (rows, width), with a packed vector: whole numbers, exact."""
    found, wide = np.empty(len(rows), np.float32), np.frombuffer(vector, np.int8).astype(np.float32)
    for start in range(0, len(rows), SLAB):
        found[start : start + SLAB] = rows[start : start + SLAB].astype(np.float32) @ wide
    return found
