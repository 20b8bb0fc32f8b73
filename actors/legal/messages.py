"""What the agents of the legal family ask of each other (imperative) and report (past tense)."""

import msgspec

from actors.documents.template import Document
from actors.evidence.claims import Resolution
from actors.evidence.shortfalls import Searched
from actors.legal.classification import Classification
from actors.workflow.outcome import TERMINATE, AnswerRound, Question, Status
from actors.workflow.tables import Findings, Handover, MemberResult
from bus import Event, Request


class QuestionClassified(Event, frozen=True):
    """One specialist is enough."""

    classification: Classification
    assigned: str
    language: str
    degraded: str


class SeveralFieldsFound(Event, frozen=True):
    """The question touches several fields of law: a specialist for each is asked, side by side."""

    classification: Classification
    team: tuple[str, ...]
    """The fields, the most certain first."""
    language: str
    degraded: str


class Stated(msgspec.Struct, frozen=True, gc=False):
    """A statement of an opinion, and the number of the citation that bears it out."""

    text: str
    number: int


class Background(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """Who asks, as far as they let it be known: every agent of their question reads it, as data."""

    requester: str = ""
    told: str = ""

    def __str__(self) -> str:
        said = {"asked by": self.requester, "told of themselves": self.told}
        return "\n".join(f"{name}: {text}" for name, text in said.items() if text)


class OpinionGiven(Event, Searched, frozen=True):
    """What one specialist makes of the question."""

    resolution: Resolution | None
    """None: its sources do not say."""
    advice: bool
    """It speaks of the law, so a disclaimer stands below it."""
    unavailable: tuple[str, ...]
    degraded: str
    detail: str = ""
    """Why there is no answer, or what is to be said of it."""
    statements: tuple[Stated, ...] = ()
    """All that it says, for who makes one answer of several."""
    notes: tuple[str, ...] = ()
    """What is said besides, such as what was left out; it stands in the resolution, too."""
    document: Document | None = None
    """What a tool made for the person."""


class DocumentDrafted(Event, frozen=True):
    """The document that was asked for, filled with what the person said."""

    resolution: Resolution
    document: Document
    advice: bool
    degraded: str


class FactsMissing(Event, frozen=True):
    """What the person has to say before there can be an answer."""

    questions: tuple[Question, ...]
    advice: bool


class QuestionClosed(Event, frozen=True, tag=TERMINATE):
    """The registrar's word, and only from its address: the end of the run."""

    status: Status
    resolution: Resolution | None = None
    summary: str | None = None
    detail: str | None = None


class ClassifyQuestion(Request[QuestionClassified | SeveralFieldsFound], frozen=True):
    text: str
    background: Background = Background()
    refused: tuple[str, ...] = ()


class AnswerQuestion(Request[OpinionGiven | DocumentDrafted | FactsMissing | Handover], frozen=True):
    ticket_id: str
    text: str
    classification: Classification | None
    context: str
    """What an agent before this one found out."""
    language: str
    degraded: str
    detail: str
    """Why a specialist that was asked before gave no answer; empty when none was."""
    answers: tuple[AnswerRound, ...] = ()
    """What the person answered to the questions of earlier runs."""
    background: Background = Background()
    handed_over: Findings = Findings()
    """What an agent before this one read."""
    refused: tuple[str, ...] = ()

    @property
    def shared(self) -> str:
        """What all agents of the question may know besides it."""
        return "\n".join(filter(None, (str(self.background), self.context)))


class MergeOpinions(Request[OpinionGiven], frozen=True):
    text: str
    opinions: tuple[MemberResult[OpinionGiven], ...]
    language: str
    degraded: str
    background: Background = Background()
    refused: tuple[str, ...] = ()


class CloseQuestion(Request[QuestionClosed], frozen=True):
    ticket_id: str
    resolution: Resolution | None
    advice: bool
    language: str
    reason: str
    """"completed", or why the run is cut short."""
    detail: str
    opinions: tuple[MemberResult[OpinionGiven], ...]
    """What specialists had said by then, where several were asked."""
    questions: tuple[Question, ...] = ()
    """What the person is to be asked."""
