"""How legal questions are answered without a model: the rules' guess, and what the sources say, quoted."""

from actors.evidence.claims import Claim
from actors.evidence.passages import SearchHits
from actors.legal.output_schemas import FieldsDraft, IntentDraft, LegalDraft, QuotedSources, Reply
from actors.ports import Completion, ModelRequest

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
    most = sum(each.score >= LOOKED_UP for each in passages) if looked_up else SOURCES
    claims = tuple(Claim(each.text, number, each.text) for number, each in enumerate(passages[:most], 1))
    return Completion(QuotedSources(claims, closeness="sure" if looked_up else "perhaps"), passages, judged=looked_up)


def reply(task: ModelRequest) -> Completion:  # noqa: ARG001 - it says what it can do, whatever it is told
    return Completion(Reply(""))


def find_in_text(task: ModelRequest) -> Completion:  # noqa: ARG001 - what is said plainly was found before
    return Completion(FieldsDraft())


ANSWERS = {IntentDraft: classify, LegalDraft: draft, Reply: reply, FieldsDraft: find_in_text}
