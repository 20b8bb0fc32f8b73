"""An embedder for tests that knows a few words which mean the same, and counts what it is asked."""

import asyncio
import math
from collections.abc import Sequence

from actors.text.tokenizer import tokens
from runtime.embeddings.embedder import EmbeddingFailed, Kind

SAME = (
    "notebook laptop", "kaputt broken", "car vehicle", "print paper sheet", "cloud sky", "tablet slate",
    "forgot lost password login account locked", "expire renew session", "code error cable network port",
)  # fmt: skip
WIDTH = 64
_GROUPS = {token: number for number, words in enumerate(SAME) for token in tokens(words)}


class WordEmbedder:
    """Texts are near each other that have words of the same groups; all others point a way of their own."""

    def __init__(self, name: str = "words/1") -> None:
        self.name = name
        self.languages = frozenset({"en", "zh", "ko"})
        self.floor = 0.3
        self.texts: list[str] = []
        """Every text that it was asked for."""
        self.fails_after: int | None = None
        """So many texts it makes vectors of; None: of any number."""
        self.hangs = False

    async def embed(self, texts: Sequence[str], *, kind: Kind, within: float) -> list[bytes]:
        if self.hangs:
            await asyncio.sleep(min(within, 0.05))
            raise EmbeddingFailed("The sentence model took too long.")
        if self.fails_after is not None and len(self.texts) + len(texts) > self.fails_after:
            raise EmbeddingFailed("The server of vectors is down.")
        self.texts += texts
        return [embed(text) for text in texts]

    async def close(self) -> None:
        """It holds nothing."""


def embed(text: str) -> bytes:
    """The vector of a text: a dimension a group, and one for what belongs to none."""
    counts = [0.0] * WIDTH
    for token in tokens(text):
        counts[_GROUPS.get(token, WIDTH - 1)] += 1.0 if token in _GROUPS else 0.05
    length = math.sqrt(sum(each * each for each in counts)) or 1.0
    return bytes(round(127 * each / length) & 0xFF for each in counts)
