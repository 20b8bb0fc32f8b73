"""The legal family: its record."""

from typing import Annotated

import msgspec
from msgspec import Meta

from actors.legal.intent_rules import DOMAIN_FILES
from actors.legal.messages import Background, QuestionClassified, SeveralFieldsFound
from actors.legal.output_schemas import (
    CaseTableDraft,
    FieldsDraft,
    IntentDraft,
    LegalDraft,
    MergedDraft,
    Reply,
    ReviewDraft,
)
from actors.legal.workflow import GENERAL, LEGAL, LegalCase, add_specialists
from actors.text.languages import guess_language
from runtime.families.family import Family
from runtime.observe.span import FoundIntent
from runtime.settings import Settings
from runtime.tickets import Ticket

FIELDS = tuple(sorted(file.stem for file in DOMAIN_FILES.glob("*.toml")))
"""The fields of law that have a specialist of their own where a question touches several."""
RESEARCH = "legal_research"
"""Whose file they work by."""


class LegalOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a question may come with."""

    background: Annotated[str, Meta(max_length=4000)] = ""
    """What the agents may know of who asks: their trade, their family, earlier tickets."""


def make_case(ticket: Ticket, _: Settings) -> LegalCase:
    told = ticket.options.background if isinstance(ticket.options, LegalOptions) else ""
    return LegalCase(
        ticket_id=ticket.id, text=ticket.story, language=guess_language(ticket.whole),
        background=Background(ticket.requester, told),
    )  # fmt: skip


def read_intent(event: QuestionClassified | SeveralFieldsFound) -> FoundIntent:
    """What a question asks for, and of which fields of law it is."""
    found = event.classification
    return FoundIntent(found.intent, ", ".join(each.name for each in found.domains), found.confidence)


FAMILY: Family = Family(
    flow=LEGAL,
    label="legal question",
    runs="runtime.families.legal_runs:LegalRuns",
    make_case=make_case,
    order_of=lambda case: (case.text, case.background.told),
    options=LegalOptions,
    options_of=lambda case: LegalOptions(case.background.told),
    answers=dict.fromkeys(
        (CaseTableDraft, FieldsDraft, IntentDraft, LegalDraft, MergedDraft, Reply, ReviewDraft),
        "actors.legal.extractive_answers",
    ),
    played_by=dict.fromkeys(FIELDS, RESEARCH),
    document=lambda case: case.document,
    intents={QuestionClassified: read_intent, SeveralFieldsFound: read_intent},
    staff=lambda flow, roster: add_specialists(flow, roster.of(flow.name).workers - {GENERAL}, FIELDS),
)
