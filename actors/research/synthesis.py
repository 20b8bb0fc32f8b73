"""What a round adds to what is known: from the answers of a model, whoever it is, to a verified event. Pure."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec
import structlog

from actors.evidence.grounding import Shown, presumes
from actors.evidence.passages import Passage, Reason, SearchHits, last_heading
from actors.evidence.places import list_places
from actors.evidence.shortfalls import Shortfall
from actors.evidence.sources import Statement
from actors.evidence.trace_steps import CheckedClaim
from actors.ports import BudgetSpent, Completion, ModelFailed, PortFailed
from actors.research.analysis_summary import analysis_summary
from actors.research.comparison import Compared, choose_for_cell, question_on, set_side_by_side, tabulate
from actors.research.contradictions import contradictions
from actors.research.follow_ups import DIRECTIONS, limit
from actors.research.layout import statements
from actors.research.learnings import (
    VerifiedClaims,
    holding,
    merge,
    remove_repeats,
    verify_claims,
)
from actors.research.messages import AnalysisCompleted, AnalyzeSources, DirectionsFound
from actors.research.models import Analysis, Plan, Section
from actors.research.output_schemas import Answer
from actors.text.catalogue import say

STOPPED = Reason("not_looked_into")
OVERVIEW = 3

log = structlog.get_logger()


class ReadAnswer(NamedTuple):
    """The answer to one question, once somebody else has read its claims."""

    filled: Completion | PortFailed | None = None
    """Or why there is none; None: there was no time for it. Only what is borne out whole is `answered`."""
    dropped: int = 0
    """How many claims are gone from it."""
    checked: tuple[CheckedClaim, ...] = ()
    """Those, with what was said of them."""


class RoundFindings(NamedTuple):
    """What one round adds to what is known."""

    sections: tuple[Section, ...]
    statements: tuple[Statement, ...]
    """New ones only."""
    passages: tuple[Passage, ...]
    directions: tuple[str, ...]
    answered: bool
    degraded: str
    partial: str
    checked: tuple[tuple[str, tuple[CheckedClaim, ...]], ...] = ()
    """By question what became of each claim of its answer."""


def argue(
    message: AnalyzeSources, plan: Plan, found: Sequence[SearchHits], answers: Sequence[ReadAnswer]
) -> RoundFindings:
    """What the answers of a round add: verified statements, each said once. Pure."""
    number, language = message.brief.round, message.language
    sections, fresh, known = list[Section](), list[Statement](), all_statements(message.sections)
    filled = [_fill(answer.filled, findings) for answer, findings in zip(answers, found, strict=True)]
    asked = list(zip(plan.questions, filled, strict=True))
    compared = Compared(plan.sides, plan.criteria)
    cells = {question_on(*cell) for cell in compared.cells}
    checks = [_check(*each, answer, message, compared) for each, answer in zip(asked, answers, strict=True)]
    for n, (question, each) in enumerate(asked):
        held = checks[n]
        said = remove_repeats(held.statements, (*known, *fresh))
        fresh += said
        # what a report says elsewhere it does not repeat, but in a table
        shown = said or (held.statements if number == 1 or question in cells else ())
        if shown or number == 1:
            # of passages that were found a word would be blamed that says nothing of the rest
            why = "" if found[n].passages else found[n].explain(language)
            missing = STOPPED.say(language) if answers[n].filled is None else why or say("not_in_sources", language)
            whole = each.value.answered and bool(shown) and not held.dropped  # else nobody judged what is left
            sections.append(Section(question, shown, whole, "" if shown else missing, number))
    if dropped := sum(held.dropped for held in checks):
        log.warning("claims.dropped", count=dropped, round=number)
    passages = tuple(passage for each in filled for passage in each.passages)
    every = (*message.sections, *sections)
    done = {each.question for each in every if each.answered}  # in whichever round
    open_ends = _open(message, plan, every, _directions(message, asked), fresh, (*message.passages, *passages))
    return RoundFindings(
        sections=tuple(sections),
        statements=tuple(fresh),
        passages=passages,
        directions=open_ends,
        answered=bool(every) and not open_ends and all(each.question in done for each in every),
        degraded=next((each.degraded for each in filled if each.degraded), ""),
        partial=next((why for each in answers if (why := _why_partial(each.filled, language))), ""),
        checked=tuple((question, held.checked) for (question, _), held in zip(asked, checks, strict=True)),
    )


def _check(
    question: str, each: Completion, read: ReadAnswer, message: AnalyzeSources, compared: Compared
) -> VerifiedClaims:
    """
    The statements of one answer.

    Where nothing is left of what was claimed, the places that come closest stand in for it, and answer nothing.
    """
    held = verify_claims(each.value.claims, each.passages, message.brief.round, question, message.text)
    held = held._replace(dropped=held.dropped + read.dropped, checked=(*read.checked, *held.checked))
    if (each.value.claims or read.dropped) and not held.statements:
        places = verify_claims(list_places(each.passages), each.passages, message.brief.round)
        held = held._replace(statements=places.statements)
    headings = {passage.id: f"{passage.title} {passage.heading}" for passage in each.passages}
    return held._replace(statements=choose_for_cell(compared, question, held.statements, headings))


def _directions(message: AnalyzeSources, asked: Sequence[tuple[str, Completion]]) -> list[str]:
    """Where the answers point, as far as that takes nothing for given that nobody read."""
    return [
        line
        for question, filled in asked
        for line in filled.value.directions
        if not presumes(line, Shown(filled.passages, question, message.text))
    ]


def _fill(answer: Completion | PortFailed | None, findings: SearchHits) -> Completion:
    if isinstance(answer, Completion):
        return answer
    if findings.abstain:
        return Completion(Answer(), degraded=answer.code if answer else "")
    return Completion(Answer(list_places(findings.passages)), findings.passages, degraded=answer.code if answer else "")


def _why_partial(answer: Completion | PortFailed | None, language: str) -> str:
    """Why less was thought than ordered: no time, or no budget. A model that failed is a lesser answer, not a part."""
    if answer is None:
        return say("cut_short", language)
    if isinstance(answer, Completion):
        return answer.partial
    failed = isinstance(answer, ModelFailed) and not isinstance(answer, BudgetSpent)
    return "" if failed else answer.code


def _open(
    message: AnalyzeSources,
    plan: Plan,
    sections: Sequence[Section],
    found: Sequence[str],
    fresh: Sequence[Statement],
    passages: Sequence[Passage],
) -> tuple[str, ...]:
    """What is to be explored next: what earlier rounds left, what this one found, then questions without an answer."""
    asked = (message.brief.direction, *plan.questions)
    explored = [*asked, *(each.question for each in message.sections)]
    explored += (
        last_heading(each) for each in passages if each.id in {said.passage for said in all_statements(sections)}
    )
    unanswered = tuple(each.question for each in sections if not each.statements)
    answered = {each.question for each in sections if each.statements}
    left = tuple(each for each in message.directions if each not in asked and each not in answered)
    asked_once = unanswered if message.brief.round == 1 else ()
    open_ends = limit((*left, *found), explored, (*message.learnings, *fresh))
    return (*open_ends, *asked_once)[:DIRECTIONS]


def goes_on(message: AnalyzeSources, argued: RoundFindings) -> bool:
    """A further round is worth it: there is room for one, this one added something, and something is open."""
    rounds_left = message.brief.round < message.brief.depth
    return rounds_left and bool(argued.statements) and bool(argued.directions)  # what is answered leaves none


def conclude(message: AnalyzeSources, plan: Plan, argued: RoundFindings, found: Sequence[SearchHits]) -> Analysis:
    """What follows from the statements by rules: the overview, the comparison, and where sources disagree."""
    sections = (*message.sections, *argued.sections)
    before = message.analysis.comparison if message.analysis else None
    sides = plan.sides or (before.sides if before else ())
    criteria = plan.criteria or (tuple(row.attribute for row in before.rows) if before else ())
    passages = distinct((*message.passages, *argued.passages, *(p for f in found if not f.abstain for p in f.passages)))
    beside = set_side_by_side(sides, passages, message.brief.round)
    if criteria:
        beside = tabulate(Compared(sides, criteria), sections)
    analysis = Analysis(
        overview=tuple(each.statements[0] for each in sections if each.statements)[:OVERVIEW],
        comparison=beside or before,
        contradictions=contradictions(all_statements(sections), passages, message.brief.round),
    )
    return msgspec.structs.replace(analysis, summary=analysis_summary(analysis))


def report_round(
    message: AnalyzeSources,
    argued: RoundFindings,
    analysis: Analysis,
    found: Sequence[Passage],
    end: type[AnalysisCompleted | DirectionsFound],
    incomplete: tuple[Shortfall, ...] = (),
) -> AnalysisCompleted | DirectionsFound:
    """The event: all that is known by now, with the passages that it rests on."""
    every: tuple[Section, ...] = (*message.sections, *argued.sections)
    resting = (*all_statements(every), *message.learnings, *statements((), (), analysis))
    return end(
        sections=every,
        learnings=merge(message.learnings, argued.statements),
        passages=holding(distinct((*message.passages, *argued.passages, *found)), resting),
        directions=argued.directions,
        analysis=analysis,
        is_complete=argued.answered,
        partial=message.partial or argued.partial,
        degraded=message.degraded or argued.degraded,
        incomplete=incomplete,
    )


def all_statements(sections: Iterable[Section]) -> tuple[Statement, ...]:
    return tuple(each for section in sections for each in section.statements)


def distinct(passages: Iterable[Passage]) -> tuple[Passage, ...]:
    """Each once, the first as it is."""
    found: dict[str, Passage] = {}
    for each in passages:
        found.setdefault(each.id, each)
    return tuple(found.values())
