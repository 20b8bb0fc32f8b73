"""
The legal workflow. Read the table top to bottom: it is the whole process.

A question of one field goes to one specialist, who may hand it over to another. One of several fields goes to a
specialist for each, side by side; what they say is merged. Whoever fails is stood in for by the general agent.
"""

import enum
from collections.abc import Iterable

import msgspec

from actors.documents.template import Document
from actors.legal import messages as m
from actors.legal.classification import Classification
from actors.workflow.tables import Case, FanOut, MemberResult, Step, Workflow
from actors.workflow.verify import verify

CLASSIFIER, GENERAL, MERGER, REGISTRAR = "intent_classifier", "legal_general", "opinion_merger", "registrar"
SEATS = 6
"""So many specialists side by side fit in the handoffs of one run."""


class State(enum.StrEnum):
    CLASSIFYING = "classifying"
    ANSWERING = "answering"
    CONSULTING = "consulting"
    MERGING = "merging"
    STANDING_IN = "standing_in"
    CLOSING = "closing"
    CLOSED = "closed"


class LegalCase(Case, frozen=True, kw_only=True, gc=False):
    """All that is known about one legal question."""

    text: str
    classification: Classification | None = None
    assigned: str = ""
    """The specialist to begin with; empty: the general agent."""
    team: tuple[str, ...] = ()
    """The fields of law to ask about side by side."""
    opinions: tuple[MemberResult[m.OpinionGiven], ...] = ()
    advice: bool = False
    statements: tuple[m.Stated, ...] = ()
    notes: tuple[str, ...] = ()
    background: m.Background = m.Background()
    document: Document | None = None


S = State

LEGAL = Workflow(
    name="legal",
    case=LegalCase,
    terminator=REGISTRAR,
    close=m.CloseQuestion,
    closed=m.QuestionClosed,
    final=S.CLOSED,
    steps={
        S.CLASSIFYING: Step(
            CLASSIFIER,
            m.ClassifyQuestion,
            {m.QuestionClassified: S.ANSWERING, m.SeveralFieldsFound: S.CONSULTING},
            on_failed=S.STANDING_IN,
        ),
        S.ANSWERING: Step(
            GENERAL,
            m.AnswerQuestion,
            {m.OpinionGiven: S.CLOSING, m.DocumentDrafted: S.CLOSING, m.FactsMissing: S.CLOSING},
            peers=frozenset({GENERAL}),
            pick="assigned",
            on_failed=S.STANDING_IN,
        ),
        S.CONSULTING: FanOut(
            (GENERAL,), m.AnswerQuestion, m.OpinionGiven, "opinions",
            on_all=S.MERGING, on_some=S.MERGING, on_none=S.STANDING_IN, pick="team", at_most=SEATS,
        ),
        S.MERGING: Step(MERGER, m.MergeOpinions, {m.OpinionGiven: S.CLOSING}, on_failed=S.CLOSING),
        S.STANDING_IN: Step(GENERAL, m.AnswerQuestion, {m.OpinionGiven: S.CLOSING}, on_failed=S.CLOSING),
        S.CLOSING: Step(REGISTRAR, m.CloseQuestion, {m.QuestionClosed: S.CLOSED}),
    },
)  # fmt: skip
verify(LEGAL)


def add_specialists(flow: Workflow, names: Iterable[str], fields: Iterable[str]) -> Workflow:
    """
    The table in which these take questions, too.

    :param names: agents to whom a question of one field may go, and who may hand it over to each other.
    :param fields: fields of law, each with a specialist of its own where several are asked.
    """
    one, several = flow.steps[S.ANSWERING], flow.steps[S.CONSULTING]
    assert isinstance(one, Step)  # noqa: S101 - see above
    steps = {
        **flow.steps,
        S.ANSWERING: msgspec.structs.replace(one, peers=one.peers.union(names)),
        S.CONSULTING: msgspec.structs.replace(several, team=tuple(fields) or (GENERAL,)),
    }
    return msgspec.structs.replace(flow, steps=steps)
