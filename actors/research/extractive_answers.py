"""The model without key and network, for research: plans by rules, answers in verbatim quotes. Deterministic."""

from collections.abc import Callable

import msgspec

from actors.evidence.claims import Claim
from actors.evidence.heading_types import QUADRANTS, alternatives, quadrant
from actors.evidence.passages import SearchHits, Span
from actors.extractive.decompose import in_task
from actors.extractive.query_profile import asked_by
from actors.extractive.quote_candidates import Quote
from actors.extractive.quote_selection import chosen_of
from actors.extractive.standalone import standalone_parts
from actors.ports import Completion, ModelRequest
from actors.research.excerpts import excerpts, is_near
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

COVERED = 0.6
"""An excerpt that says so much of the question by itself is taken for its answer. Nobody has judged it: that is said by
`Completion.judged`."""
RATED = 3
"""Quotes of one part of a landscape."""


def answer(task: ModelRequest) -> Answer:
    """The excerpts that come closest to a question, the best first. They lead nowhere: rules know no open ends."""
    request: AnswerRequest = task.material
    findings, question = task.findings or SearchHits(), request.question
    if not findings.passages or (findings.abstain and not is_near(findings)):
        return Answer()
    asked = asked_by(in_task(question, request.task), request.task, findings.weights)
    chosen = excerpts(findings, asked, request.learnings)
    claims = tuple(each.claim() for each in chosen)
    covered = max((asked.share(each.context) for each in chosen), default=0.0)  # by one of them, not by all together
    return Answer(claims, answered=bool(claims) and (covered >= COVERED or is_near(findings)))


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
