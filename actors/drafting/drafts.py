"""Drafts: answers in the making, of any family, and what is asked while their claims are checked."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from actors.evidence.claims import Claim


class HandoverRequest(msgspec.Struct, frozen=True, gc=False):
    to: Annotated[str, Meta(description="One of those under `others`.")]
    reason: str


class AskBack(msgspec.Struct, frozen=True, gc=False):
    question: Annotated[str, Meta(description="To the person, in their language: one, and short.")]
    between: Annotated[tuple[int, ...], Meta(description="The numbers of the passages that it decides between.")]


class Draft(msgspec.Struct, frozen=True, gc=False):
    """A worker's answer: claims in the order in which they are to be read. No claims: not found."""

    claims: Annotated[tuple[Claim, ...], Meta(description="Empty: the passages do not say.")] = ()
    pass_on: HandoverRequest | None = None
    """Another worker who is better for this; then there are no claims."""
    ask_back: AskBack | None = None
    """Instead of claims, where passages answer different cases and nobody has said which it is."""


class Excerpts(Draft, frozen=True, gc=False):
    """A draft without a model: no statements, but the places where somebody may look. Its claims are their quotes."""


class RefusedClaim(msgspec.Struct, frozen=True, gc=False):
    """A claim that was not borne out."""

    text: str
    quote: str
    passage: int
    """The number of its passage among those that are shown now; 0: it named none."""
    why: str


class RepairRequest(msgspec.Struct, frozen=True, gc=False):
    ticket: str
    thrown_away: tuple[RefusedClaim, ...]


class ReadStatement(msgspec.Struct, frozen=True, gc=False):
    """A statement beside what it rests on."""

    number: int
    statement: str
    quote: str
    heading: str
    before: str
    """What the source says right before the quote."""


class ReadingRequest(msgspec.Struct, frozen=True, gc=False):
    ticket: str
    """What the statements are to answer."""
    statements: tuple[ReadStatement, ...]


class StatementVerdict(msgspec.Struct, frozen=True, gc=False):
    number: int
    verdict: Literal["entailed", "contradicted", "not_said"]
    answers: Annotated[bool, Meta(description="Whether the ticket asks for this.")] = True


class SecondReading(msgspec.Struct, frozen=True, gc=False):
    """What somebody who did not write them holds of an answer's statements."""

    verdicts: tuple[StatementVerdict, ...]
