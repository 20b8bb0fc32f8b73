"""What legal agents ask of a model, and the typed answers to it."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from actors.drafting.drafts import Draft
from actors.evidence.claims import Claim
from actors.roster import Intent


class IntentRequest(msgspec.Struct, frozen=True, gc=False):
    question: str
    intents: tuple[Intent, ...]
    fields: tuple[str, ...]
    """The fields of law that there are."""
    guess: str = ""
    """What rules make of it, and how sure they are."""
    background: str = ""
    """Who asks."""


class IntentDraft(msgspec.Struct, frozen=True, gc=False):
    """What a question asks for, and which fields of law it touches."""

    intent: Annotated[str, Meta(description="One of those under `intents`.")]
    fields: Annotated[tuple[str, ...], Meta(description="Of those under `fields`, the weightiest first.")]
    confidence: Annotated[float, Meta(ge=0.0, le=1.0)]
    entities: Annotated[tuple[str, ...], Meta(description="Laws, articles, parties, sums, dates, as written.")] = ()


class LegalDraftRequest(msgspec.Struct, frozen=True, gc=False):
    question: str
    field: str = ""
    """The field of law to look at; empty: all."""
    key_points: str = ""
    """What the classification says of it: the parties, sums, dates and laws that it names, its fields of law."""
    context: str = ""
    """Who asks, and what an agent before this one found out."""
    others: tuple[str, ...] = ()
    """To whom it may be passed on, each with what they handle."""


class LegalDraft(Draft, frozen=True, gc=False):
    """A specialist's answer: claims in the order in which they are to be read. No claims: the sources do not say."""


class QuotedSources(LegalDraft, frozen=True, gc=False):
    """A draft without a model: what the sources say, quoted, and how near it is to the question."""

    looked_up: bool = False


class MergeRequest(msgspec.Struct, frozen=True, gc=False):
    """What specialists for several fields of law said of one question, each with the number of its passage."""

    question: str
    opinions: tuple[str, ...]
    contrary: tuple[str, ...] = ()
    """Statements of them that rules find contrary to each other."""
    background: str = ""
    """Who asks."""


class Disagreement(msgspec.Struct, frozen=True, gc=False):
    """Where two specialists say the contrary."""

    one: Claim
    other: Claim
    why: Annotated[Claim, Meta(description="The rule or fact that makes the difference, with its own quote.")]


class MergedDraft(LegalDraft, frozen=True, gc=False):
    """One answer to the whole question: the claim that weighs most first."""

    disagreements: Annotated[tuple[Disagreement, ...], Meta(description="Empty: they agree.")] = ()


class FieldsRequest(msgspec.Struct, frozen=True, gc=False):
    """Whether a text says what a document needs."""

    text: str
    wanted: tuple[str, ...]
    """Names of fields, each with the question that it answers."""


class FilledField(msgspec.Struct, frozen=True, gc=False):
    name: str
    quote: Annotated[str, Meta(description="Words of the text, letter by letter, that say the value.")]
    value: Annotated[str, Meta(description="Part of the quote, as it stands there.")]


class FieldsDraft(msgspec.Struct, frozen=True, gc=False):
    """What a text says of the fields of a document. What it does not say is left out."""

    fields: tuple[FilledField, ...] = ()


class Reply(msgspec.Struct, frozen=True, gc=False):
    """A reply to talk that asks nothing of the law."""

    text: Annotated[
        str,
        Meta(
            description="At most three sentences, in the language of the question.", extra_json_schema={"shown": True}
        ),
    ]


class ReplyRequest(msgspec.Struct, frozen=True, gc=False):
    message: str


class CaseCell(Claim, frozen=True, gc=False, kw_only=True):
    """What one case says on one criterion; its passage is the case."""

    criterion: Annotated[str, Meta(description="A name of those under `criteria`.", extra_json_schema={"order": 0})]


class CaseDifference(msgspec.Struct, frozen=True, gc=False):
    """Where two cases differ, and what made the difference: each side with a quote of its own."""

    criterion: Annotated[str, Meta(description="A name of those under `criteria`.")]
    one: Claim
    other: Annotated[Claim, Meta(description="Of another case.")]


class CaseTableDraft(msgspec.Struct, frozen=True, gc=False):
    """Cases compared."""

    cells: Annotated[
        tuple[CaseCell, ...],
        Meta(description="For each case and each criterion of which it speaks; others are left out."),
    ]
    differences: tuple[CaseDifference, ...] = ()


class ComparisonRequest(msgspec.Struct, frozen=True, gc=False):
    """Each numbered passage is one case. They are compared on the criteria."""

    question: str
    language: str
    criteria: tuple[str, ...]
    """Names, each with its title."""
    context: str = ""


class ClauseRisk(msgspec.Struct, frozen=True, gc=False):
    """A clause that the law does not allow, or that hurts one side."""

    says: Annotated[Claim, Meta(description="What the clause says; its passage is the clause.")]
    rule: Annotated[Claim, Meta(description="What the article says that it meets; its passage is the article.")]
    risk: Literal["high", "medium", "low"]


class ReviewDraft(msgspec.Struct, frozen=True, gc=False):
    """The risks of a contract, the most serious first; a clause that is usual has none."""

    risks: Annotated[tuple[ClauseRisk, ...], Meta(description="Empty: no article shows one.")] = ()


class UnjudgedClauses(ReviewDraft, frozen=True, gc=False):
    """A review without a model: nobody judged the clauses."""


class ReviewRequest(msgspec.Struct, frozen=True, gc=False):
    """The first numbered passages are the clauses of a contract, those behind them articles."""

    question: str
    """What stands before the first clause."""
    kind: str
    clauses: int
    """So many of the passages are clauses."""
    context: str = ""
