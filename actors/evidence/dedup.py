"""When two texts are one text. Pure."""

import hashlib
import heapq
import re

from actors.text.tokenizer import CJK

SKETCH = 128
"""Hashes that stand for a text."""
ALIKE = 0.6
"""Share of word triples that two texts have in common when they are one text with changes."""

_WORD = re.compile(rf"[{CJK}]|[^\W_{CJK}]+")


def hash_of(text: str) -> str:
    """SHA-256 of a text, white space folded, in hexadecimal."""
    return hashlib.sha256(" ".join(text.split()).encode("utf-8", "surrogatepass")).hexdigest()


def sketch_of(text: str) -> tuple[int, ...]:
    """The smallest hashes of a text's word triples (bottom-k MinHash), ascending: the same in every process."""
    words = _WORD.findall(text.casefold())
    triples = {" ".join(words[n : n + 3]) for n in range(max(1, len(words) - 2))} if words else set()
    return tuple(heapq.nsmallest(SKETCH, {_number(each) for each in triples}))


def _number(triple: str) -> int:
    return int.from_bytes(hashlib.blake2b(triple.encode("utf-8", "surrogatepass"), digest_size=8).digest())


def alike(one: tuple[int, ...], other: tuple[int, ...]) -> bool:
    """Whether two sketches are of one text with small changes."""
    smallest = heapq.nsmallest(SKETCH, {*one, *other})
    both = {*one} & {*other}
    return bool(smallest) and sum(each in both for each in smallest) >= ALIKE * len(smallest)
