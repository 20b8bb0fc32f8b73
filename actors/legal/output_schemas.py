"""What legal agents ask of a model, and the typed answers to it."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from actors.drafting.drafts import Draft
from actors.evidence.places import Closeness

IntentName = Literal[
    "legal_consultation", "case_search", "regulation_query", "document_draft", "contract_review", "general_chat"
]


class IntentRequest(msgspec.Struct, frozen=True, gc=False):
    question: str
    fields: tuple[str, ...]
    """The fields of law that there are."""
    guess: str = ""
    """What rules make of it, and how sure they are."""


class IntentDraft(msgspec.Struct, frozen=True, gc=False):
    """What a question asks for, and which fields of law it touches."""

    intent: IntentName
    fields: Annotated[tuple[str, ...], Meta(description="Of those under `fields`, the weightiest first.")]
    confidence: Annotated[float, Meta(ge=0.0, le=1.0)]
    entities: Annotated[tuple[str, ...], Meta(description="Laws, articles, parties, sums, dates, as written.")] = ()


class LegalDraftRequest(msgspec.Struct, frozen=True, gc=False):
    question: str
    field: str = ""
    """The field of law to look at; empty: all."""
    understood: str = ""
    """What the classification says of it."""
    context: str = ""
    """What an agent before this one found out."""
    others: tuple[str, ...] = ()
    """To whom it may be passed on, each with what they handle."""


class LegalDraft(Draft, frozen=True, gc=False):
    """A specialist's answer: claims in the order in which they are to be read. No claims: the sources do not say."""


class QuotedSources(LegalDraft, frozen=True, gc=False):
    """A draft without a model: what the sources say, quoted, and how near it is to the question."""

    closeness: Closeness = "perhaps"


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
