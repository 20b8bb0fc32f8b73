"""The model without key and network, for research: plans by rules, answers in verbatim quotes. Deterministic."""

from collections.abc import Callable

import msgspec

from actors.evidence.claims import Claim
from actors.evidence.heading_types import QUADRANTS, alternatives, quadrant
from actors.evidence.passages import SearchHits, Span
from actors.extractive.query_profile import asked_by
from actors.extractive.quote_candidates import Quote, candidates
from actors.extractive.quote_selection import chosen_of, readable
from actors.extractive.standalone import standalone_parts
from actors.ports import Completion, ModelRequest
from actors.research.follow_ups import found_in
from actors.research.output_schemas import (
    Answer,
    AnswerRequest,
    Landscape,
    LandscapeRequest,
    Overview,
    PlanDraft,
    Rival,
)  # fmt: skip
from actors.research.planning import draft_plan
from actors.text.keywords import terms

QUOTES = 4
COVERED = 0.5
"""Quotes that leave no more of the question unsaid are taken for its answer. Nobody has judged them: that is said by
`Completion.judged`."""
RATED = 3
"""Quotes of one part of a landscape."""


def answer(task: ModelRequest) -> Answer:
    """The sentences that bear on a question, in an order to read them in, and what leads on from them."""
    request: AnswerRequest = task.material
    findings, question = task.findings or SearchHits(), request.question
    if findings.abstain or not findings.passages:
        return Answer()
    asked = asked_by(question, request.task, findings.weights)
    chosen = chosen_of(candidates(findings, asked), request.learnings, QUOTES)
    claims = tuple(each.claim() for each in readable(chosen))
    open_ends = found_in(
        findings.passages, request.task, request.explored,
        quoted={each.passage.heading for each in chosen}, pages={each.passage.source for each in chosen},
    )  # fmt: skip
    covered = asked.share(frozenset[str]().union(*(each.context for each in chosen)))
    return Answer(claims, open_ends, bool(claims) and covered >= COVERED)


def landscape(task: ModelRequest) -> Landscape:
    """What is said under headings such as "Limitations": the sources' own judgement, none of ours."""
    request: LandscapeRequest = task.material
    findings, about = task.findings or SearchHits(), terms(request.task)
    rated: dict[str, list[Quote]] = {}
    rivals: dict[str, list[Quote]] = {}
    for number, passage in enumerate(findings.passages, 1):
        if not about & terms(f"{passage.title} {passage.heading}"):
            continue
        place = standalone_parts(passage, Span(0, len(passage.text)), bool)
        if place is None:
            continue
        quote = Quote(0.0, number, passage, place)
        if part := quadrant(passage.heading):
            rated.setdefault(part, []).append(quote)
        elif name := alternatives(passage.heading):
            rivals.setdefault(name, []).append(quote)
    said = {part: tuple(each.claim() for each in chosen_of(quotes, (), RATED)) for part, quotes in rated.items()}
    named = tuple(Rival(n, tuple(q.claim() for q in chosen_of(quotes, (), 1))) for n, quotes in rivals.items())
    empty: tuple[Claim, ...] = ()
    return Landscape(named[:RATED], said.get("features", empty), *(said.get(part, empty) for part in QUADRANTS))


def _fill(answer: Callable[[ModelRequest], msgspec.Struct]) -> Callable[[ModelRequest], Completion]:
    def fill(task: ModelRequest) -> Completion:
        return Completion(answer(task), task.findings.passages if task.findings else ())

    return fill


ANSWERS = {
    PlanDraft: _fill(lambda task: draft_plan(task.material)),
    Answer: _fill(answer),
    Landscape: _fill(landscape),
    Overview: _fill(lambda _: Overview()),  # a report shows quotes where their question is answered
}
