"""Pairs of characters, and words of other scripts, as numbers: what a search over statutes counts."""

import re
import zlib
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

Keys = NDArray[np.int64]
_WORD = re.compile(r"[a-z0-9]{2,}")
_WORDS_FROM = 1 << 43
"""Above every pair of characters."""
_BLOCKS = ((0x3400, 0x9FFF), (0xAC00, 0xD7A3), (0x3040, 0x30FF))
CHUNK = 4_000_000
"""Characters that are counted at once, so that memory stays bounded."""


def bigrams_of(text: str) -> Keys:
    """The keys of a text, as often as they occur."""
    return _keys(text.lower())[0]


def characters_of(texts: Sequence[str]) -> tuple[NDArray[np.int64], Keys]:
    """The characters of scripts without spaces, each as often as it occurs: its text, by its place, and its code."""
    codes, dense = _read("\n".join(texts))
    at = np.flatnonzero(dense)
    return np.searchsorted(_ends(texts), at, side="right"), codes[at]


def bigrams_of_all(texts: Iterable[str]) -> dict[str, NDArray[np.generic]]:
    """Postings: for each key (`keys`, sorted) its texts and counts from `starts` on; and each text's length."""
    parts: list[NDArray[np.int64]] = []
    lengths: list[int] = []
    batch: list[str] = []
    size = first = 0
    for text in texts:
        batch.append(text.lower())
        size += len(text)
        if size >= CHUNK:
            parts.append(_count(batch, first, lengths))
            first, batch, size = first + len(batch), [], 0
    parts.append(_count(batch, first, lengths))
    rows = np.concatenate(parts, axis=1)
    rows = rows[:, np.lexsort((rows[1], rows[0]))]
    keys, starts = np.unique(rows[0], return_index=True)
    return {
        "keys": keys,
        "starts": np.append(starts, rows.shape[1]).astype(np.int64),
        "docs": rows[1].astype(np.int32),
        "counts": np.minimum(rows[2], 65_535).astype(np.uint16),
        "lengths": np.array(lengths, np.float32),
    }


def _count(texts: list[str], first: int, lengths: list[int]) -> NDArray[np.int64]:
    """Rows of key, text and count of some texts, which are numbered from `first` on."""
    if not texts:
        return np.empty((3, 0), np.int64)
    keys, places = _keys("\n".join(texts))
    owners = np.searchsorted(_ends(texts), places, side="right")
    lengths += np.bincount(owners, minlength=len(texts)).tolist()
    order = np.lexsort((owners, keys))
    keys, owners = keys[order], owners[order]
    new = np.ones(len(keys), bool)
    new[1:] = (keys[1:] != keys[:-1]) | (owners[1:] != owners[:-1])
    at = np.flatnonzero(new)
    counts = np.diff(np.append(at, len(keys)))
    return np.stack([keys[at], owners[at] + first, counts])


def _keys(text: str) -> tuple[Keys, NDArray[np.int64]]:
    """All keys of a text, and where each begins."""
    codes, dense = _read(text)
    pairs = np.flatnonzero(dense[:-1] & dense[1:])
    keys = codes[pairs] << 21 | codes[pairs + 1]
    words = [(zlib.crc32(each.group().encode()) + _WORDS_FROM, each.start()) for each in _WORD.finditer(text)]
    if words:
        others = np.array(words, np.int64)
        keys, pairs = np.concatenate([keys, others[:, 0]]), np.concatenate([pairs, others[:, 1]])
    return keys, pairs


def _read(text: str) -> tuple[Keys, NDArray[np.bool_]]:
    """The codes of a text's characters, and which of them are of scripts without spaces."""
    codes = np.frombuffer(text.encode("utf-32-le", "replace"), np.uint32).astype(np.int64)
    dense = np.zeros(len(codes), bool)
    for low, high in _BLOCKS:
        dense |= (codes >= low) & (codes <= high)
    return codes, dense


def _ends(texts: Sequence[str]) -> NDArray[np.int64]:
    """Where each of some texts ends, when they stand in one, a line break behind each."""
    return np.cumsum([len(each) + 1 for each in texts])
