"""How legal questions are answered without a model: the rules' guess, and what the sources say, quoted."""

from actors.evidence.claims import Claim
from actors.evidence.passages import SearchHits
from actors.legal.acting_party import choose_bearing
from actors.legal.case_table import fill_by_rules
from actors.legal.output_schemas import (
    CaseTableDraft,
    ComparisonRequest,
    FieldsDraft,
    IntentDraft,
    LegalDraft,
    QuotedSources,
    Reply,
    ReviewDraft,
    UnjudgedClauses,
)
from actors.ports import Completion, ModelRequest
from actors.text.languages import guess_language

LOOKED_UP = 1.0
"""Confidence of what was named and looked up: it is what was asked for."""
SOURCES = 3
"""So many are shown of what a search found; what was looked up is shown whole."""


def classify(task: ModelRequest) -> Completion:  # noqa: ARG001 - the classifier keeps the guess of the rules
    return Completion(IntentDraft("general_chat", (), 0.0))


def draft(task: ModelRequest) -> Completion:
    """The sources, quoted: those that were looked up as what was asked for, others as the nearest there are."""
    found = task.findings or SearchHits()
    passages, looked_up = found.passages, found.confidence >= LOOKED_UP
    if looked_up:
        chosen = [n for n, each in enumerate(passages) if each.score >= LOOKED_UP]
    else:
        question = task.material.question
        chosen = choose_bearing(question, [each.text for each in passages], guess_language(question))[:SOURCES]
    claims = tuple(Claim(passages[n].text, n + 1, passages[n].text) for n in chosen)
    return Completion(QuotedSources(claims, closeness="sure" if looked_up else "perhaps"), passages, judged=looked_up)


def reply(task: ModelRequest) -> Completion:  # noqa: ARG001 - it says what it can do, whatever it is told
    return Completion(Reply(""))


def find_in_text(task: ModelRequest) -> Completion:  # noqa: ARG001 - what is said plainly was found before
    return Completion(FieldsDraft())


def tabulate(task: ModelRequest) -> Completion:
    """Cases compared by what their sentences say."""
    passages = task.findings.passages if task.findings else ()
    asked: ComparisonRequest = task.material
    return Completion(fill_by_rules(asked.question, passages, asked.language), passages)


def leave_unjudged(task: ModelRequest) -> Completion:
    """The clauses of a contract: rules find what bears on them, and judge none."""
    return Completion(UnjudgedClauses(), task.findings.passages if task.findings else ())


ANSWERS = {
    IntentDraft: classify, LegalDraft: draft, Reply: reply, FieldsDraft: find_in_text, CaseTableDraft: tabulate,
    ReviewDraft: leave_unjudged,
}  # fmt: skip
