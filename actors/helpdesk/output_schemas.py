"""What helpdesk agents ask of a model, and the typed answers to it."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from actors.evidence.claims import Claim
from actors.evidence.places import PartPlaces
from actors.roster import Intent

Urgency = Literal["low", "normal", "high", "critical"]


class AnalysisRequest(msgspec.Struct, frozen=True, gc=False):
    ticket: str
    intents: tuple[Intent, ...] = ()
    """What a ticket may be about, besides something else."""


class Analysis(msgspec.Struct, frozen=True, gc=False):
    """What kind of ticket this is."""

    intent: str
    """The name of one; those that there are differ by installation, so the type cannot say it."""
    urgency: Urgency
    question: Annotated[str, Meta(description="What the person wants, in one or two sentences.")]
    """What the person wants, in their own words, without greetings and signatures: what is searched for."""
    language: Annotated[str, Meta(description="ISO 639-1 code of the ticket's language.")] = ""
    """ISO 639-1 code, or empty when it cannot be told."""


class DraftRequest(msgspec.Struct, frozen=True, gc=False):
    ticket: str
    analysis: Analysis | None = None
    context: str = ""
    """What an agent before this one found out."""
    suggestion: str = ""
    """What answered a ticket like this one."""
    others: tuple[str, ...] = ()
    """To whom it may be passed on, each with what they handle."""


class HandoverRequest(msgspec.Struct, frozen=True, gc=False):
    to: Annotated[str, Meta(description="One of those under `others`.")]
    reason: str


class Draft(msgspec.Struct, frozen=True, gc=False):
    """A worker's answer: claims in the order in which they are to be read. No claims: not found."""

    claims: Annotated[tuple[Claim, ...], Meta(description="Empty: the passages do not say.")] = ()
    pass_on: HandoverRequest | None = None
    """Another worker who is better for this; then there are no claims."""


class Excerpts(Draft, frozen=True, gc=False):
    """A draft without a model: no statements, but the places where somebody may look. Its claims are their quotes."""

    parts: tuple[PartPlaces, ...] = ()


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
    statements: tuple[ReadStatement, ...]


class StatementVerdict(msgspec.Struct, frozen=True, gc=False):
    number: int
    verdict: Literal["entailed", "contradicted", "not_said"]


class SecondReading(msgspec.Struct, frozen=True, gc=False):
    """What somebody who did not write them holds of an answer's statements."""

    verdicts: tuple[StatementVerdict, ...]


class SummaryRequest(msgspec.Struct, frozen=True, gc=False):
    ticket: str
    resolution: str = ""


class Summary(msgspec.Struct, frozen=True, gc=False):
    """Two sentences at most for the ticket's history."""

    summary: Annotated[str, Meta(description="Two sentences at most.")]
