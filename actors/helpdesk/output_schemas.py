"""What helpdesk agents ask of a model, and the typed answers to it."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from actors.roster import Intent
from actors.workflow.tables import EarlierMessage

Urgency = Literal["low", "normal", "high", "critical"]


class AnalysisRequest(msgspec.Struct, frozen=True, gc=False):
    ticket: str
    intents: tuple[Intent, ...] = ()
    """What a ticket may be about, besides something else."""
    said_before: tuple[EarlierMessage, ...] = ()
    """Of a follow-up: the conversation before it; so in each request that has it."""


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
    said_before: tuple[EarlierMessage, ...] = ()


class SummaryRequest(msgspec.Struct, frozen=True, gc=False):
    ticket: str
    resolution: str = ""
    said_before: tuple[EarlierMessage, ...] = ()


class Summary(msgspec.Struct, frozen=True, gc=False):
    """Two sentences at most for the ticket's history."""

    summary: Annotated[str, Meta(description="Two sentences at most.")]
