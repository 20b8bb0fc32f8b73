"""
What callers and watchers of a run get: events, questions, the outcome. Outcomes are data;
exceptions are for broken connections.
"""

import enum
import re
from collections.abc import Sequence
from typing import Literal

import msgspec

from actors.evidence.claims import Resolution
from actors.evidence.shortfalls import Shortfall, explain_shortfalls, name_shortfalls
from actors.text.catalogue import say
from actors.text.truncate import shorten
from bus import Event

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


TERMINATE = "TERMINATE_WORKFLOW"
"""The marker of a terminator's word, as a wire tag: no text is searched for it."""

Status = Literal["resolved", "suggested", "not_found", "needs_input", "error", "cancelled"]
"""`needs_input`: the terminator asks the person behind the ticket, and the ticket goes on with the answers."""


class EndReason(enum.StrEnum):
    """Why a run ended."""

    COMPLETED = "completed"
    LOOP_DETECTED = "loop_detected"
    """The same handoffs three times in a row."""
    MAX_HANDOFFS_EXCEEDED = "max_handoffs_exceeded"
    TIMED_OUT = "timed_out"
    """The run's own time was over."""
    STEP_TIMED_OUT = "step_timed_out"
    """An agent answered none of its tries in time."""
    STEP_FAILED = "step_failed"
    """An agent failed at each of its tries."""
    ANSWERS_REFUSED = "answers_refused"
    """None of an agent's tries was an answer to what it was asked."""
    ASKED_TOO_OFTEN = "asked_too_often"
    """It lacked something still when the person had been asked as often as may be."""
    CANCELLED = "cancelled"
    CANCEL_FORCED = "cancel_forced"
    """Cancelled, and an agent did not hand in what it had in time."""
    CRASHED_REPEATEDLY = "crashed_repeatedly"
    """The process died with this run too often."""
    WORKFLOW_CHANGED = "workflow_changed"
    """It was begun by another version of its table, which does not know what to do with it."""
    STORAGE_FAILED = "storage_failed"
    ORCHESTRATOR_FAILED = "orchestrator_failed"


def explain_end(why: EndReason, language: str, max_handoffs: int) -> str:
    """What a person reads of an end when nothing more is known; nothing of one that was planned."""
    return "" if why is EndReason.COMPLETED else say(f"end_{why}", language, most=max_handoffs, rounds=MOST_ROUNDS)


def marker(kind: type[Event]) -> str:
    """The name that an event has for people who debug, such as `WORKFLOW_COMPLETE`; most events have none."""
    tag = kind.__struct_config__.tag
    return "" if tag == kind.__name__ else str(tag)


class Handoff(msgspec.Struct, frozen=True, gc=False):
    """Control passed from one agent to another, in either direction."""

    source: str
    target: str
    reason: str
    at: float = 0.0
    """Seconds since the run began."""
    marker: str = ""
    """Of the answer that led to it."""


class Child(msgspec.Struct, frozen=True, gc=False):
    """A run that played a role in another run, with a count of handoffs of its own."""

    run: str
    workflow: str
    handoff: int
    """The number of the handoff, in the run above it, that it worked on; the first is 1."""
    handoffs: tuple[Handoff, ...] = ()
    children: tuple["Child", ...] = ()


class Spent(msgspec.Struct, frozen=True, gc=False):
    """What a run cost."""

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    estimated: bool = False
    """Some server did not say, so tokens were estimated from the text."""


class Outcome(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The one end of a run, as its caller gets it."""

    run: str
    ticket: str
    workflow: str
    status: Status
    why: EndReason
    by: str
    """The agent that ended it; empty when it was sealed without one."""
    state: str
    """The last state before the end: how far it came."""
    resolution: Resolution | None = None
    vouched: bool = False
    """The resolution is a remembered one that a person called right, or that a model judged when it was given."""
    summary: str = ""
    handoffs: tuple[Handoff, ...] = ()
    children: tuple[Child, ...] = ()
    """The runs within this one. Each has a bound of its own, so their handoffs are not counted here."""
    marker: str = ""
    """`TERMINATE_WORKFLOW` when the terminator said so; empty when the run was sealed without it."""
    loop: tuple[tuple[str, str], ...] = ()
    """The repeating pattern of (source, target), when that is why it ended."""
    seconds: float = 0.0
    detail: str = ""
    """One sentence for the user when it did not end as planned."""
    unavailable: tuple[str, ...] = ()
    incomplete: tuple[Shortfall, ...] = ()
    """What the searches behind it lacked: "not found" is no fact then."""
    degraded: str = ""
    """Why a lesser model answered than the configured one: a code, which the catalogue has a sentence for."""
    spent: Spent = Spent()
    refused: int = 0
    """Messages that were not accepted."""
    language: str = ""
    """ISO 639-1 code of what the ticket is written in; what is said around the answer is said in it. Empty: unknown."""
    questions: tuple[Question, ...] = ()
    """What the person behind the ticket is asked: of `needs_input`, and of a run that had asked too often."""


def say_headline(outcome: Outcome, language: str) -> str:
    """How it ended, in a line."""
    is_open = outcome.status == "not_found" and outcome.incomplete
    return say("headline_incomplete" if is_open else f"headline_{outcome.status}", language)


def explain_incomplete(outcome: Outcome, language: str) -> str:
    """What the searches behind it lacked, in a sentence; empty: nothing that is not said of its end already."""
    if name_shortfalls(outcome.incomplete, language) in outcome.detail:
        return ""
    lacks = [each for each in outcome.incomplete if each.detail not in outcome.unavailable]
    return explain_shortfalls("search_incomplete", lacks, language) if lacks else ""


class RunBegan(Event, frozen=True):
    run: str
    ticket: str
    workflow: str
    agent: str
    """The first agent to be asked."""
    language: str = ""
    """ISO 639-1 code of what the ticket is written in; empty when it cannot be told."""


class HandoffMade(Event, frozen=True):
    number: int
    source: str
    target: str
    reason: str
    state: str
    seconds: float
    marker: str = ""


class AnswerRefused(Event, frozen=True):
    sender: str
    reason: str


class AnswerReady(Event, frozen=True, tag="answer"):
    """The answer is there and recorded; what the run still does, such as the note on the ticket, changes none of it."""

    resolution: Resolution
    unverified: tuple[str, ...] = ()
    """What watchers were told while it was being written, and is not in it: it could not be verified."""


class RunEnded(Event, frozen=True):
    outcome: Outcome


RunEvent = RunBegan | HandoffMade | AnswerRefused | AnswerReady | RunEnded
"""What is published while a run goes on; nothing of it is journalled."""
