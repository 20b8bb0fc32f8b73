"""A made-up helpdesk: answers with words of their own, texts that mix them with words that everybody uses."""

import random
from collections.abc import Sequence

from actors.evidence.claims import Resolution
from bench.solved_tickets import SolvedTicket
from runtime.embeddings.embedder import EmbeddingFailed, Kind

COMMON = ["please", "help", "me", "with", "the", "my", "since", "today", "cannot", "get", "it", "again", "when", "try"]
ANSWERS = 20
TEXTS = 30


def _word(dice: random.Random) -> str:
    return "".join(dice.choice("bcdfghklmnprstvz") + dice.choice("aeiou") for _ in range(dice.randint(2, 4)))


def topics(count: int, seed: int = 1) -> list[list[str]]:
    """Words that only one topic has."""
    dice = random.Random(seed)
    pool = list(dict.fromkeys(_word(dice) for _ in range(count * 20)))
    return [pool[i * 8 : i * 8 + 8] for i in range(count)]


def text(topic: list[str], dice: random.Random) -> str:
    said = [*dice.sample(topic, 4), *dice.sample(COMMON, 5)]
    dice.shuffle(said)
    return " ".join(said)


def solved(count: int = ANSWERS, texts: int = TEXTS, *, confirmed: bool = True, seed: int = 1) -> list[SolvedTicket]:
    """Tickets of `count` topics, each topic with one answer."""
    dice = random.Random(seed)
    return [
        SolvedTicket(f"T{a}-{i}", text(topic, dice), Resolution(f"Answer {a}.", grade="suggested"), confirmed)
        for a, topic in enumerate(topics(count, seed))
        for i in range(texts)
    ]


class TopicEmbedder:
    """Knows which words belong to one topic, and counts what it is asked."""

    languages, floor = frozenset[str](), 0.3

    def __init__(self, known: Sequence[list[str]], name: str = "topics/1") -> None:
        self.name = name
        self.texts: list[str] = []
        """Every text that it was asked for."""
        self.fails = False
        self._topic = {word: number for number, topic in enumerate(known) for word in topic}
        self._width = len(known) + 1

    async def embed(self, texts: Sequence[str], *, kind: Kind, within: float) -> list[bytes]:
        if self.fails:
            raise EmbeddingFailed("The server of vectors is down.")
        self.texts += texts
        return [self._embed(text) for text in texts]

    def _embed(self, text: str) -> bytes:
        counts = [0] * self._width
        for word in text.split():
            counts[self._topic.get(word, -1)] += 1
        length = sum(each * each for each in counts) ** 0.5 or 1.0
        return bytes(round(127 * each / length) for each in counts)

    async def close(self) -> None:
        """It holds nothing."""
