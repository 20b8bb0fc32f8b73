"""A made-up helpdesk: answers with words of their own, texts that mix them with words that everybody uses."""

import random

from actors.evidence.claims import Resolution
from bench.solved_tickets import SolvedTicket

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
