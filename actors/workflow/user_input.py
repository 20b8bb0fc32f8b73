"""What a run asks of the person behind its ticket, and what that person answered: values, and how many there may be."""

import re
from collections.abc import Sequence

import msgspec

from actors.text.truncate import shorten

MOST_ROUNDS = 5
"""How often a ticket may be asked; who still lacks something then ends honestly."""
MOST_QUESTIONS = 20
MOST_CHOICES = 20
NAME_CHARACTERS = 60
ASK_CHARACTERS = 500
EXAMPLE_CHARACTERS = 200
NAME = re.compile(rf"\w[\w.-]{{0,{NAME_CHARACTERS - 1}}}")
"""A name stands before the `=` of `--set`, so it has none in it, and no white space."""


class Question(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """One thing that a run cannot go on without, or would be better with."""

    name: str
    """By which it is answered, such as `plaintiff`."""
    ask: str
    """A sentence for the person, in the language of the ticket."""
    example: str = ""
    choices: tuple[str, ...] = ()
    """The answer is one of these; empty: any text."""
    optional: bool = False


class GivenAnswer(msgspec.Struct, frozen=True, gc=False):
    """What a person answered to the question of this name."""

    name: str
    value: str


class AnswerRound(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """What a person answered to the questions of one run."""

    run: str
    """Whose questions they were."""
    given: tuple[GivenAnswer, ...] = ()
    text: str = ""
    """What was answered in free words."""
    key: str = ""
    """The `Idempotency-Key` that they came with."""
    asked: tuple[str, ...] = ()
    """The questions, as they were put to that person."""


def limit_questions(questions: Sequence[Question]) -> tuple[Question, ...]:
    """The questions that can be asked: each name once, in bounds of number and length."""
    known: dict[str, Question] = {}
    for each in questions:
        if NAME.fullmatch(each.name) and each.ask.strip():
            known.setdefault(each.name, _limit(each))
    return tuple(known.values())[:MOST_QUESTIONS]


def _limit(question: Question) -> Question:
    choices = tuple(dict.fromkeys(shorten(each, EXAMPLE_CHARACTERS) for each in question.choices if each.strip()))
    return msgspec.structs.replace(
        question, ask=shorten(question.ask, ASK_CHARACTERS), example=shorten(question.example, EXAMPLE_CHARACTERS),
        choices=choices[:MOST_CHOICES],
    )  # fmt: skip


def collect_values(rounds: Sequence[AnswerRound]) -> dict[str, str]:
    """All that was answered by name; what was answered last counts."""
    return {each.name: each.value for one in rounds for each in one.given}


def list_values(one: AnswerRound) -> tuple[str, ...]:
    """All that was answered in a round, whether to a question or in free words."""
    return tuple(filter(None, (*(each.value for each in one.given), one.text)))


def join_texts(text: str, rounds: Sequence[AnswerRound]) -> str:
    """A ticket's text with what was answered in free words below it."""
    return "\n\n".join(filter(None, (text, *(each.text for each in rounds))))
