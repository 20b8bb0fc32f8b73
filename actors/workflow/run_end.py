"""The outcome of a run, put together by the Orchestrator at its end and by whoever reads the journal later."""

import math
from collections.abc import Sequence

import msgspec
from structlog.typing import FilteringBoundLogger

from actors.workflow.outcome import (
    MOST_ROUNDS,
    Child,
    EndReason,
    Handoff,
    Outcome,
    Question,
    Spent,
    Status,
    explain_end,
    limit_questions,
    marker,
)
from actors.workflow.tables import ORCHESTRATOR, Case, Run, Workflow

ENDS = frozenset(EndReason)
"""Reasons of handoffs that close a case; `verify` keeps states from being named so."""
WITHOUT_TERMINATOR: dict[EndReason, Status] = {EndReason.CANCELLED: "cancelled"}


class RunEnd(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """What the fold of the events does not tell about an end."""

    why: EndReason
    by: str
    seconds: float
    spent: Spent = Spent()
    refused: int = 0


MOST = 2**53 - 1
"""The largest count that every reader of JSON takes for what it is."""


def limit_spending(spent: Spent) -> Spent:
    """What was spent in numbers that can be stored and shown; nonsense becomes an estimate."""
    if spent == Spent():
        return spent
    calls, tokens_in, tokens_out = (_limit(each) for each in (spent.calls, spent.tokens_in, spent.tokens_out))
    limited = Spent(calls, tokens_in, tokens_out, estimated=bool(spent.estimated))
    return limited if limited == spent else msgspec.structs.replace(limited, estimated=True)


def _limit(count: float) -> int:
    return 0 if math.isnan(count) else int(min(max(count, 0), MOST))


def state_after(handoffs: Sequence[Handoff], number: int, first: str) -> str:
    """
    The state that a handoff led to, or that it was made in.

    :param number: of the handoff; the first is 1.
    :param first: the state that a run begins in.
    """
    for made in reversed(handoffs[: number + 1]):  # an answer is followed by the handoff of the state that it led to
        if made.source == ORCHESTRATOR and made.reason not in ENDS:
            return made.reason
    return first


def conclude(run_id: str, flow: Workflow, run: Run, ending: RunEnd, children: tuple[Child, ...] = ()) -> Outcome:
    """Put together the one outcome of a run."""
    case, why = run.case, ending.why
    status = case.status if ending.by else WITHOUT_TERMINATOR.get(why, "error")
    questions: tuple[Question, ...] = ()
    if status == "needs_input":
        status, why, questions = _judge_questions(case, why)
    return Outcome(
        run=run_id, ticket=case.ticket_id, workflow=flow.name, why=why, by=ending.by, status=status,
        state=state_after(run.handoffs, len(run.handoffs), flow.first),
        resolution=case.resolution, vouched=case.vouched, summary=case.summary,
        handoffs=run.handoffs, children=children,
        marker=marker(flow.closed) if ending.by else "", loop=run.loop if why is EndReason.LOOP_DETECTED else (),
        seconds=ending.seconds, detail=case.detail or explain_end(why, case.language, flow.max_handoffs),
        unavailable=case.unavailable, incomplete=case.incomplete, degraded=case.degraded,
        spent=ending.spent, refused=ending.refused, language=case.language, questions=questions,
    )  # fmt: skip


def _judge_questions(case: Case, why: EndReason) -> tuple[Status, EndReason, tuple[Question, ...]]:
    """Whether the person behind a ticket can be asked what its terminator asks: it is something, and not too often."""
    questions = limit_questions(case.questions)
    if not questions:
        return "error", EndReason.ANSWERS_REFUSED if why is EndReason.COMPLETED else why, ()
    if len(case.answers) >= MOST_ROUNDS:
        return "error", EndReason.ASKED_TOO_OFTEN, questions
    return "needs_input", why, questions


def final_agent(outcome: Outcome) -> str:
    """Who ended the run; of one that was sealed, who had control then."""
    if outcome.by or not outcome.handoffs:
        return outcome.by or ORCHESTRATOR
    last = outcome.handoffs[-1]
    return last.source if last.target == ORCHESTRATOR else last.target


def log_end(log: FilteringBoundLogger, outcome: Outcome) -> None:
    """Every end of a run is logged by this, whoever found it."""
    if outcome.loop:
        log.error("loop.detected", pattern=[f"{source} -> {target}" for source, target in outcome.loop])
    elif outcome.why not in {EndReason.COMPLETED, EndReason.CANCELLED}:
        log.error("run.failed", reason=outcome.why, detail=outcome.detail)
    log.info(
        "workflow.terminated", reason=outcome.why, agent=final_agent(outcome), by=outcome.by, marker=outcome.marker,
        status=outcome.status, seconds=round(outcome.seconds, 3), handoffs=len(outcome.handoffs),
    )  # fmt: skip
