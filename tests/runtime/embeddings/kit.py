"""A tiny sentence model with random weights, written as models are published, and its answers by the book."""

import json
import math
import struct
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

VOCABULARY = (
    "[PAD]", "[UNK]", "[CLS]", "[SEP]", "print", "##er", "##s", "##ing", "the", "is", "jam", "##med", "cafe", ".", "-",
    "$", "打", "印", "e", "##n", "##v", "p", "##r", "a",
)  # fmt: skip
WIDTH, HEADS, WIDER, LAYERS, PLACES = 64, 2, 96, 2, 160
Arrays = dict[str, NDArray[Any]]


def make_weights(seed: int = 7) -> Arrays:
    """All arrays of a model, by the names of the publication."""
    dice = np.random.default_rng(seed)

    def matrix(*shape: int) -> NDArray[np.float32]:
        return dice.normal(0, 0.2, shape).astype(np.float32)

    def norm(name: str) -> Arrays:
        return {f"{name}.weight": 1 + matrix(WIDTH), f"{name}.bias": matrix(WIDTH)}

    arrays: Arrays = {
        "embeddings.position_ids": np.arange(PLACES).reshape(1, -1),
        "embeddings.word_embeddings.weight": matrix(len(VOCABULARY), WIDTH),
        "embeddings.position_embeddings.weight": matrix(PLACES, WIDTH),
        "embeddings.token_type_embeddings.weight": matrix(2, WIDTH),
        "pooler.dense.weight": matrix(WIDTH, WIDTH),
        **norm("embeddings.LayerNorm"),
    }
    for n in range(LAYERS):
        layer = f"encoder.layer.{n}"
        shapes = {f"attention.self.{each}": (WIDTH, WIDTH) for each in ("query", "key", "value")} | {
            "attention.output.dense": (WIDTH, WIDTH), "intermediate.dense": (WIDER, WIDTH),
            "output.dense": (WIDTH, WIDER),
        }  # fmt: skip
        for name, shape in shapes.items():
            arrays |= {f"{layer}.{name}.weight": matrix(*shape), f"{layer}.{name}.bias": matrix(shape[0])}
        arrays |= norm(f"{layer}.attention.output.LayerNorm") | norm(f"{layer}.output.LayerNorm")
    return arrays


def pack_safetensors(arrays: Arrays) -> bytes:
    """The bytes of a file of safetensors."""
    kinds = {"float32": "F32", "float16": "F16", "int64": "I64", "float64": "F64"}
    table: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    body = b""
    for name, array in arrays.items():
        raw = array.tobytes()
        places = [len(body), len(body) + len(raw)]
        table[name] = {"dtype": kinds[str(array.dtype)], "shape": list(array.shape), "data_offsets": places}
        body += raw
    packed = json.dumps(table).encode()
    return struct.pack("<Q", len(packed)) + packed + body


def write_published(folder: Path, arrays: Arrays | None = None) -> tuple[Path, Path]:
    """Weights and vocabulary of the tiny model, as files."""
    weights, vocabulary = folder / "model.safetensors", folder / "vocab.txt"
    weights.write_bytes(pack_safetensors(make_weights() if arrays is None else arrays))
    vocabulary.write_text("\n".join(VOCABULARY) + "\n", encoding="utf-8")
    return weights, vocabulary


def expect(arrays: Arrays, tokens: list[int]) -> NDArray[np.float64]:
    """The unit vector of one text by the book: a loop over heads and tokens, exact GELU, double precision."""
    own = {name: array.astype(np.float64) for name, array in arrays.items()}

    def norm(rows: NDArray[np.float64], name: str) -> NDArray[np.float64]:
        even = (rows - rows.mean(1, keepdims=True)) / np.sqrt(rows.var(1, keepdims=True) + 1e-12)
        result: NDArray[np.float64] = even * own[f"{name}.weight"] + own[f"{name}.bias"]
        return result

    def linear(rows: NDArray[np.float64], name: str) -> NDArray[np.float64]:
        result: NDArray[np.float64] = rows @ own[f"{name}.weight"].T + own[f"{name}.bias"]
        return result

    def gelu(rows: NDArray[np.float64]) -> NDArray[np.float64]:
        exact: NDArray[np.float64] = np.vectorize(lambda x: x * 0.5 * (1 + math.erf(x / math.sqrt(2))))(rows)
        return exact

    rows = (
        own["embeddings.word_embeddings.weight"][tokens] + own["embeddings.position_embeddings.weight"][: len(tokens)]
    )
    rows = norm(rows + own["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
    for n in range(LAYERS):
        layer, seen = f"encoder.layer.{n}", np.zeros_like(rows)
        query, key, value = (linear(rows, f"{layer}.attention.self.{each}") for each in ("query", "key", "value"))
        for head in range(HEADS):
            part = slice(head * WIDTH // HEADS, (head + 1) * WIDTH // HEADS)
            for token in range(len(tokens)):
                heat = np.exp(key[:, part] @ query[token, part] / math.sqrt(WIDTH / HEADS))
                seen[token, part] = (heat / heat.sum()) @ value[:, part]
        rows = norm(linear(seen, f"{layer}.attention.output.dense") + rows, f"{layer}.attention.output.LayerNorm")
        wider = gelu(linear(rows, f"{layer}.intermediate.dense"))
        rows = norm(linear(wider, f"{layer}.output.dense") + rows, f"{layer}.output.LayerNorm")
    mean: NDArray[np.float64] = rows.mean(0)
    return mean / np.linalg.norm(mean)


def cosine(one: bytes, other: bytes) -> float:
    """Of the angle between two vectors as an embedder gives them."""
    first, second = np.frombuffer(one, np.int8).astype(float), np.frombuffer(other, np.int8).astype(float)
    return float(first @ second / np.linalg.norm(first) / np.linalg.norm(second))
