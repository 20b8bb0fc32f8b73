"""How legal questions are answered without a model: the rules' guess, and what the sources say, quoted."""

from collections.abc import Sequence

from actors.evidence.claims import Claim
from actors.evidence.passages import CASE, Passage, SearchHits, was_looked_up
from actors.legal.case_table import ALIKE, fill_by_rules
from actors.legal.output_schemas import (
    CaseTableDraft,
    ComparisonRequest,
    FieldsDraft,
    IntentDraft,
    LegalDraft,
    MergedDraft,
    QuotedSources,
    Reply,
    ReviewDraft,
    UnjudgedClauses,
)
from actors.ports import Completion, ModelRequest

SOURCES = 3
"""So many are shown of what a search found; what was looked up is shown whole."""


def classify(task: ModelRequest) -> Completion:  # noqa: ARG001 - the classifier keeps the guess of the rules
    return Completion(IntentDraft("general_chat", (), 0.0))


def draft(task: ModelRequest) -> Completion:
    quoted = quote_sources(found := task.findings or SearchHits())
    return Completion(quoted, found.passages, judged=quoted.looked_up)


def quote_sources(found: SearchHits) -> QuotedSources:
    """The sources, quoted: those that were looked up as what was asked for, others as the nearest there are."""
    passages = found.passages
    named = [n for n, each in enumerate(passages) if was_looked_up(each)]
    chosen = named or choose_nearest(passages)[:SOURCES]
    claims = tuple(Claim(passages[n].text, n + 1, passages[n].text) for n in chosen)
    return QuotedSources(claims, looked_up=bool(named))


def choose_nearest(passages: Sequence[Passage]) -> list[int]:
    """What of all that was found may be shown, in the order of the search, without cases that are far behind."""
    best = max((each.score for each in passages if each.source.startswith(CASE)), default=0.0)
    return [n for n, each in enumerate(passages) if not each.source.startswith(CASE) or each.score >= ALIKE * best]


def leave_to_rules(task: ModelRequest) -> Completion:  # noqa: ARG001 - rules put together what specialists said
    return Completion(MergedDraft())


def reply(task: ModelRequest) -> Completion:  # noqa: ARG001 - it says what it can do, whatever it is told
    return Completion(Reply(""))


def find_in_text(task: ModelRequest) -> Completion:  # noqa: ARG001 - what is said plainly was found before
    return Completion(FieldsDraft())


def tabulate(task: ModelRequest) -> Completion:
    """Cases compared by what their sentences say."""
    passages = task.findings.passages if task.findings else ()
    asked: ComparisonRequest = task.material
    return Completion(fill_by_rules(asked.question, passages, asked.language), passages)


def list_clauses_unjudged(task: ModelRequest) -> Completion:
    """The clauses of a contract: rules find what bears on them, and judge none."""
    return Completion(UnjudgedClauses(), task.findings.passages if task.findings else ())


ANSWERS = {
    IntentDraft: classify, LegalDraft: draft, Reply: reply, FieldsDraft: find_in_text, CaseTableDraft: tabulate,
    ReviewDraft: list_clauses_unjudged, MergedDraft: leave_to_rules,
}  # fmt: skip
